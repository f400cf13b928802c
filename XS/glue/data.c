/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Makes the Perl structures of Devel::NYTProf::Data from a summary: positional arrays whose
 * indices are published constants (Devel::NYTProf::Constants), so they are part of the
 * interface.
 *
 * Everything is summed in C first; each Perl structure is made once, at its final size.
 */
#define PERL_NO_GET_CONTEXT
#include <EXTERN.h>
#include <perl.h>

#include "formats/stream/format.h"
#include "formats/by_position/summary.h"
#include "glue.h"

#define NONE NYTP_SUMMARY_NONE

enum file_index {
    FILE_NAME,
    FILE_EVAL_FID,
    FILE_EVAL_LINE,
    FILE_FID,
    FILE_FLAGS,
    FILE_SIZE,
    FILE_MTIME,
    FILE_PROFILE,
    FILE_EVAL_FI,
    FILE_HAS_EVALS,
    FILE_SUBS_DEFINED,
    FILE_SUBS_CALLED,
    FILE_ELEMENTS,
    FILE_META = 13
};

enum sub_index {
    SUB_FID,
    SUB_FIRST_LINE,
    SUB_LAST_LINE,
    SUB_CALL_COUNT,
    SUB_INCL,
    SUB_EXCL,
    SUB_NAME,
    SUB_PROFILE,
    SUB_REC_DEPTH,
    SUB_RECI,
    SUB_CALLED_BY,
    SUB_ELEMENTS,
    SUB_META
};

/* Input and output of the conversion. */
struct build {
    const struct nytp_summary *summary;
    HV *profile;
    HV *file_stash, *sub_stash;
    SV **files; /* by index: FileInfo arrays, borrowed; NULL: merged away */
};

static SV *new_str(pTHX_ struct nytp_str text)
{
    SV *sv = newSVpvn(text.ptr, text.len);
    if (text.utf8)
        SvUTF8_on(sv);
    return sv;
}

static SV *new_name(pTHX_ const struct build *b, struct nytp_summary_name name)
{
    return new_str(aTHX_ nytp_summary_str(b->summary, name));
}

static void hash_put(pTHX_ HV *hash, struct nytp_str key, SV *value)
{
    if (hv_store(hash, key.ptr, key.utf8 ? -(I32)key.len : (I32)key.len, value, 0) == NULL)
        SvREFCNT_dec(value);
}

static SV *new_count(pTHX_ uint64_t count)
{
    return count <= UV_MAX ? newSVuv((UV)count) : newSVnv((NV)count);
}

static SV *weak_ref(pTHX_ SV *target)
{
    SV *ref = newRV_inc(target);
    sv_rvweaken(ref);
    return ref;
}

/* Returns the hash under a decimal key, made if absent. */
static HV *hash_under(pTHX_ HV *hash, U32 number)
{
    char key[12];
    const int len = my_snprintf(key, sizeof key, "%lu", (unsigned long)number);
    SV **slot = hv_fetch(hash, key, len, 1);
    if (!SvROK(*slot))
        sv_setsv(*slot, sv_2mortal(newRV_noinc((SV *)newHV())));
    return (HV *)SvRV(*slot);
}

static void put_pairs(pTHX_ const struct build *b, const char *member,
                      const struct nytp_summary_pairs *pairs)
{
    HV *hash = newHV();
    for (U32 i = 0; i < pairs->n; i++)
        hash_put(aTHX_ hash, nytp_summary_str(b->summary, pairs->at[i].key),
                 new_name(aTHX_ b, pairs->at[i].value));
    (void)hv_store(b->profile, member, strlen(member), newRV_noinc((SV *)hash), 0);
}

static NV seconds(const struct build *b, NV ticks)
{
    return b->summary->ticks_per_sec > 0 ? ticks / (NV)b->summary->ticks_per_sec : 0;
}

/* Returns a time, or undef if no times were recorded. */
static SV *new_seconds(pTHX_ const struct build *b, NV seconds)
{
    return b->summary->has_no_times ? newSV(0) : newSVnv(seconds);
}

static void put_derived_attributes(pTHX_ const struct build *b, bool whole)
{
    const struct nytp_summary *t = b->summary;
    HV *hash = (HV *)SvRV(*hv_fetchs(b->profile, "attribute", 0));
    SV **overhead = hv_fetchs(hash, "cumulative_overhead_ticks", 0);
    const NV overhead_s = overhead != NULL ? seconds(b, SvNV(*overhead)) : 0;
    if (t->has_processes) {
        (void)hv_stores(hash, "profiler_start_time", newSVnv(t->start_s));
        (void)hv_stores(hash, "profiler_end_time", newSVnv(t->end_s));
        (void)hv_stores(hash, "profiler_duration", newSVnv(t->duration_s));
    }
    (void)hv_stores(hash, "profiler_active", new_seconds(aTHX_ b, t->duration_s - overhead_s));
    (void)hv_stores(hash, "complete", newSVsv(boolSV(whole && t->open.n == 0)));
    (void)hv_stores(hash, "total_stmts_measured", new_count(aTHX_ t->n_times));
    (void)hv_stores(hash, "total_stmts_discounted", new_count(aTHX_ t->n_discounts));
    (void)hv_stores(hash, "total_stmts_duration", new_seconds(aTHX_ b, seconds(b, (NV)t->total_ticks)));
    (void)hv_stores(hash, "total_sub_calls", new_count(aTHX_ t->n_sub_calls));
}

static AV *new_times(pTHX_ const struct build *b, const struct nytp_summary_lines *lines)
{
    U32 n = lines->n;
    while (n > 0 && !lines->at[n - 1].seen)
        n--;
    if (n == 0)
        return NULL;
    AV *by_line = newAV();
    av_extend(by_line, n - 1);
    for (U32 line = 0; line < n; line++) {
        if (!lines->at[line].seen)
            continue;
        AV *time = newAV();
        av_extend(time, 1);
        av_push(time, new_seconds(aTHX_ b, seconds(b, (NV)lines->at[line].ticks)));
        av_push(time, newSVuv(lines->at[line].count));
        av_store(by_line, line, newRV_noinc((SV *)time));
    }
    return by_line;
}

static void put_times(pTHX_ const struct build *b, const char *member, enum nytp_level level)
{
    AV *by_fid = newAV();
    for (U32 f = 0; f < b->summary->files.n; f++) {
        AV *by_line = new_times(aTHX_ b, &b->summary->files.at[f].times[level]);
        if (by_line != NULL)
            av_store(by_fid, b->summary->files.at[f].fid, newRV_noinc((SV *)by_line));
    }
    (void)hv_store(b->profile, member, strlen(member), newRV_noinc((SV *)by_fid), 0);
}

static void put_levels(pTHX_ const struct build *b)
{
    static const struct {
        const char *member, *name;
    } levels[NYTP_LEVELS] = {
        [NYTP_LEVEL_LINE] = {"fid_line_time", "line"},
        [NYTP_LEVEL_BLOCK] = {"fid_block_time", "block"},
        [NYTP_LEVEL_SUB] = {"fid_sub_time", "sub"},
    };
    HV *modes = newHV();
    for (int level = 0; level < NYTP_LEVELS; level++) {
        if (level != NYTP_LEVEL_LINE && !b->summary->has_blocks)
            continue;
        put_times(aTHX_ b, levels[level].member, (enum nytp_level)level);
        (void)hv_store(modes, levels[level].member, strlen(levels[level].member),
                       newSVpv(levels[level].name, 0), 0);
    }
    (void)hv_stores(b->profile, "profile_modes", newRV_noinc((SV *)modes));
}

static void put_source(pTHX_ const struct build *b)
{
    AV *by_fid = newAV();
    for (U32 f = 0; f < b->summary->files.n; f++) {
        const struct nytp_summary_file *file = &b->summary->files.at[f];
        U32 n = file->n_source;
        while (n > 0 && file->source[n - 1].ptr == NULL)
            n--;
        if (n == 0)
            continue;
        AV *by_line = newAV();
        av_extend(by_line, n - 1);
        for (U32 line = 0; line < n; line++) {
            const struct nytp_summary_text text = file->source[line];
            if (text.ptr != NULL)
                av_store(by_line, line,
                         new_str(aTHX_(struct nytp_str){text.ptr, text.len, text.utf8}));
        }
        av_store(by_fid, file->fid, newRV_noinc((SV *)by_line));
    }
    (void)hv_stores(b->profile, "fid_srclines", newRV_noinc((SV *)by_fid));
}

static SV *new_meta_files(pTHX_ const struct nytp_summary_file *file)
{
    HV *meta = newHV();
    (void)hv_stores(meta, "merged_fids", newRV_noinc((SV *)newAV()));
    if (file->src_varied)
        (void)hv_stores(meta, "merged_fids_src_varied", newSVuv(file->n_merged));
    return newRV_noinc((SV *)meta);
}

static AV *new_file(pTHX_ const struct build *b, const struct nytp_summary_file *file)
{
    AV *av = newAV();
    av_extend(av, FILE_META);
    const bool is_eval = file->eval_file != NONE;
    av_store(av, FILE_NAME, new_name(aTHX_ b, file->name));
    av_store(av, FILE_EVAL_FID, is_eval ? newSVuv(file->eval_fid) : newSVsv(&PL_sv_no));
    av_store(av, FILE_EVAL_LINE, is_eval ? newSVuv(file->eval_line) : newSVsv(&PL_sv_no));
    av_store(av, FILE_FID, newSVuv(file->fid));
    av_store(av, FILE_FLAGS, newSVuv(file->flags));
    av_store(av, FILE_SIZE, newSVuv(file->size));
    av_store(av, FILE_MTIME, newSVuv(file->mtime_s));
    av_store(av, FILE_PROFILE, weak_ref(aTHX_(SV *) b->profile));
    av_store(av, FILE_EVAL_FI, newSV(0));
    av_store(av, FILE_HAS_EVALS, newSV(0));
    av_store(av, FILE_SUBS_DEFINED, newRV_noinc((SV *)newHV()));
    av_store(av, FILE_SUBS_CALLED, newRV_noinc((SV *)newHV()));
    if (file->n_merged > 0)
        av_store(av, FILE_META, new_meta_files(aTHX_ file));
    return av;
}

/* A file merged into another, of a lower id, leaves an empty object, as stock programs expect. */
static void put_files(pTHX_ struct build *b)
{
    AV *by_fid = newAV();
    if (b->summary->files.n > 0)
        av_extend(by_fid, b->summary->files.at[b->summary->files.n - 1].fid);
    for (U32 f = 0; f < b->summary->files.n; f++) {
        const struct nytp_summary_file *file = &b->summary->files.at[f];
        const bool gone = file->merged_into != NONE;
        AV *av = gone ? newAV() : new_file(aTHX_ b, file);
        SV *ref = newRV_noinc((SV *)av);
        sv_bless(ref, b->file_stash);
        av_store(by_fid, file->fid, ref);
        b->files[f] = gone ? NULL : (SV *)av;
        if (gone) {
            HV *meta = (HV *)SvRV(*av_fetch((AV *)b->files[file->merged_into], FILE_META, 0));
            av_push((AV *)SvRV(*hv_fetchs(meta, "merged_fids", 0)), newSVuv(file->fid));
        }
    }
    (void)hv_stores(b->profile, "fid_fileinfo", newRV_noinc((SV *)by_fid));
}

static void link_evals(pTHX_ const struct build *b)
{
    for (U32 f = 0; f < b->summary->files.n; f++) {
        const U32 parent = b->summary->files.at[f].eval_file;
        if (parent == NONE || b->files[f] == NULL || b->files[parent] == NULL)
            continue;
        av_store((AV *)b->files[f], FILE_EVAL_FI, weak_ref(aTHX_ b->files[parent]));
        SV **evals = av_fetch((AV *)b->files[parent], FILE_HAS_EVALS, 1);
        if (!SvROK(*evals))
            sv_setsv(*evals, sv_2mortal(newRV_noinc((SV *)newAV())));
        av_push((AV *)SvRV(*evals), newRV_inc(b->files[f]));
    }
}

static AV *new_call(pTHX_ const struct build *b, const struct nytp_summary_call *call)
{
    AV *av = newAV();
    av_extend(av, 7);
    av_push(av, newSVuv(call->count));
    av_push(av, new_seconds(aTHX_ b, call->incl_s));
    av_push(av, new_seconds(aTHX_ b, call->excl_s));
    av_push(av, newSVnv(0)); /* two spare slots */
    av_push(av, newSVnv(0));
    av_push(av, new_seconds(aTHX_ b, call->reci_s));
    av_push(av, newSVuv(call->rec_depth));
    HV *callers = newHV();
    for (U32 c = call->first_caller; c != NONE; c = b->summary->callers.at[c].next)
        hash_put(aTHX_ callers, nytp_summary_str(b->summary, b->summary->callers.at[c].name),
                 newSV(0));
    av_push(av, newRV_noinc((SV *)callers));
    return av;
}

static void put_call(pTHX_ const struct build *b, HV *called_by, struct nytp_str callee,
                     const struct nytp_summary_call *call)
{
    AV *av = new_call(aTHX_ b, call);
    char key[12];
    const int len = my_snprintf(key, sizeof key, "%lu", (unsigned long)call->line);
    (void)hv_store(hash_under(aTHX_ called_by, call->fid), key, len, newRV_noinc((SV *)av), 0);
    const U32 f = nytp_summary_file_of(b->summary, call->fid);
    if (f == NONE || b->files[f] == NULL)
        return;
    HV *by_line = (HV *)SvRV(*av_fetch((AV *)b->files[f], FILE_SUBS_CALLED, 0));
    hash_put(aTHX_ hash_under(aTHX_ by_line, call->line), callee, newRV_inc((SV *)av));
}

static void put_called_by(pTHX_ const struct build *b, AV *av,
                          const struct nytp_summary_sub *sub)
{
    if (sub->first_call == NONE && !sub->is_foreign)
        return;
    HV *called_by = newHV();
    av_store(av, SUB_CALLED_BY, newRV_noinc((SV *)called_by));
    if (sub->is_foreign)
        (void)hash_under(aTHX_ called_by, 0);
    const struct nytp_str name = nytp_summary_str(b->summary, sub->name);
    for (U32 c = sub->first_call; c != NONE; c = b->summary->calls.at[c].next)
        put_call(aTHX_ b, called_by, name, &b->summary->calls.at[c]);
}

static SV *new_meta_subs(pTHX_ const struct build *b, const struct nytp_summary_sub *sub)
{
    HV *meta = newHV();
    AV *names = newAV();
    for (U32 s = sub->first_merged; s != NONE; s = b->summary->subs.at[s].next_merged)
        av_push(names, new_name(aTHX_ b, b->summary->subs.at[s].name));
    (void)hv_stores(meta, "merged_sub_names", newRV_noinc((SV *)names));
    return newRV_noinc((SV *)meta);
}

/* A sub without a known file is listed under the first file, as in stock; its lines are undef,
 * or 0 for an xsub or opcode. */
static AV *new_sub(pTHX_ const struct build *b, const struct nytp_summary_sub *sub)
{
    AV *av = newAV();
    av_extend(av, SUB_META);
    const bool has_lines = sub->has_range || sub->is_foreign;
    av_store(av, SUB_FID, newSVuv(sub->fid != 0 ? sub->fid : 1));
    av_store(av, SUB_FIRST_LINE,
             has_lines ? newSVuv(sub->is_foreign ? 0 : sub->first_line) : newSV(0));
    av_store(av, SUB_LAST_LINE,
             has_lines ? newSVuv(sub->is_foreign ? 0 : sub->last_line) : newSV(0));
    av_store(av, SUB_CALL_COUNT, new_count(aTHX_ sub->count));
    av_store(av, SUB_INCL, new_seconds(aTHX_ b, sub->incl_s));
    av_store(av, SUB_EXCL, new_seconds(aTHX_ b, sub->excl_s));
    av_store(av, SUB_NAME, new_name(aTHX_ b, sub->name));
    av_store(av, SUB_PROFILE, weak_ref(aTHX_(SV *) b->profile));
    av_store(av, SUB_REC_DEPTH, newSVuv(sub->rec_depth));
    av_store(av, SUB_RECI, new_seconds(aTHX_ b, sub->reci_s));
    put_called_by(aTHX_ b, av, sub);
    if (sub->first_merged != NONE)
        av_store(av, SUB_META, new_meta_subs(aTHX_ b, sub));
    return av;
}

static void put_subs(pTHX_ const struct build *b)
{
    HV *by_name = newHV();
    hv_ksplit(by_name, b->summary->subs.n);
    for (U32 s = 0; s < b->summary->subs.n; s++) {
        const struct nytp_summary_sub *sub = &b->summary->subs.at[s];
        if (sub->merged_into != NONE)
            continue;
        const struct nytp_str name = nytp_summary_str(b->summary, sub->name);
        AV *av = new_sub(aTHX_ b, sub);
        SV *ref = newRV_noinc((SV *)av);
        sv_bless(ref, b->sub_stash);
        hash_put(aTHX_ by_name, name, ref);
        const U32 f = nytp_summary_file_of(b->summary, sub->fid != 0 ? sub->fid : 1);
        if (f != NONE && b->files[f] != NULL)
            hash_put(aTHX_(HV *) SvRV(*av_fetch((AV *)b->files[f], FILE_SUBS_DEFINED, 0)), name,
                     newRV_inc((SV *)av));
    }
    (void)hv_stores(b->profile, "sub_subinfo", newRV_noinc((SV *)by_name));
}

static SV *build_profile(pTHX_ const struct nytp_summary *summary, bool whole)
{
    struct build b = {
        .summary = summary,
        .profile = newHV(),
        .file_stash = gv_stashpvs("Devel::NYTProf::FileInfo", GV_ADD),
        .sub_stash = gv_stashpvs("Devel::NYTProf::SubInfo", GV_ADD),
    };
    SV *const profile = newRV_noinc((SV *)b.profile);
    Newxz(b.files, summary->files.n + 1, SV *);
    put_pairs(aTHX_ & b, "attribute", &summary->attributes);
    put_pairs(aTHX_ & b, "option", &summary->options);
    put_derived_attributes(aTHX_ & b, whole);
    put_levels(aTHX_ & b);
    put_source(aTHX_ & b);
    put_files(aTHX_ & b);
    link_evals(aTHX_ & b);
    put_subs(aTHX_ & b);
    Safefree(b.files);
    return profile;
}

/* Fills the summary. On an error returns false with *error set; the data before stays. */
static bool read_summary(const char *path, struct nytp_summary *summary,
                         struct nytp_error *error)
{
    struct nytp_source *source = nytp_source_open(path, error);
    if (source == NULL)
        return false;
    const bool ok = nytp_read(source, NULL, &summary->sink, error);
    nytp_source_free(source);
    if (summary->error.status != NYTP_OK)
        *error = summary->error;
    return ok;
}

SV *nytp_glue_load(pTHX_ const char *path, bool merge, U32 max_siblings, bool partial)
{
    struct nytp_error error = {0};
    struct nytp_summary *summary = nytp_summary_new();
    if (summary == NULL)
        croak("%s: out of memory", path);
    const bool whole = read_summary(path, summary, &error);
    const bool usable = whole || (partial && summary->ticks_per_sec > 0);
    summary->error = (struct nytp_error){0};
    if (!usable || !nytp_summary_finish(summary) ||
        (merge && !nytp_summary_merge_evals(summary, max_siblings))) {
        SV *text = nytp_glue_error_text(aTHX_ path, whole ? &summary->error : &error);
        nytp_summary_free(summary);
        return newSVsv(text);
    }
    SV *profile = build_profile(aTHX_ summary, whole);
    if (!whole)
        (void)hv_stores((HV *)SvRV(profile), "load_error",
                        newSVsv(nytp_glue_error_text(aTHX_ path, &error)));
    nytp_summary_free(summary);
    return profile;
}
