/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Loads a profile for Devel::NYTProf::Data; see data.h. When all events are read, files become
 * FileInfo objects, and subs, files and calls are linked.
 */
#define PERL_NO_GET_CONTEXT
#include <EXTERN.h>
#include <perl.h>

#include "data_evals.h"
#include "data_events.h"
#include "formats/stream/format.h"
#include "glue.h"

/* The next file by id, from *fid on, or NULL. */
static struct nytp_data_file *next_file(const struct nytp_data *data, U32 *fid)
{
    while (*fid < data->n_files)
        if (data->files[(*fid)++] != NULL)
            return data->files[*fid - 1];
    return NULL;
}

static void free_data(pTHX_ void *at)
{
    struct nytp_data *const data = at;
    U32 fid = 0;
    for (struct nytp_data_file *file; (file = next_file(data, &fid)) != NULL;) {
        for (int level = 0; level < NYTP_LEVELS; level++)
            free(file->times[level].at);
        SvREFCNT_dec(file->name);
        Safefree(file);
    }
    free(data->files);
    free(data->open.at);
    SvREFCNT_dec((SV *)data->foreign);
    Safefree(data);
}

/* Adds a member to the object. */
static SV *put_member(pTHX_ HV *profile, const char *name, SV *value)
{
    (void)hv_store(profile, name, (I32)strlen(name), newRV_noinc(value), 0);
    return value;
}

static SV *new_count(pTHX_ uint64_t count)
{
    return count <= UV_MAX ? newSVuv((UV)count) : newSVnv((NV)count);
}

static SV *weak_ref(pTHX_ void *target)
{
    SV *const ref = newRV_inc((SV *)target);
    sv_rvweaken(ref);
    return ref;
}

static NV seconds(const struct nytp_data *data, NV ticks)
{
    return data->ticks_per_sec > 0 ? ticks / data->ticks_per_sec : 0;
}

/* Returns a time, or undef if no times were recorded. */
static SV *new_seconds(pTHX_ const struct nytp_data *data, NV seconds)
{
    return data->has_no_times ? newSV(0) : newSVnv(seconds);
}

static void put_derived_attributes(pTHX_ const struct nytp_data *data, bool whole)
{
    HV *const hash = data->attributes;
    SV **const overhead = hv_fetchs(hash, "cumulative_overhead_ticks", 0);
    const NV overhead_s =
        overhead != NULL && looks_like_number(*overhead) ? seconds(data, SvNV(*overhead)) : 0;
    const NV statements_s = seconds(data, (NV)data->total_ticks);
    if (data->has_processes) {
        (void)hv_stores(hash, "profiler_start_time", newSVnv(data->start_s));
        (void)hv_stores(hash, "profiler_end_time", newSVnv(data->end_s));
        (void)hv_stores(hash, "profiler_duration", newSVnv(data->duration_s));
    }
    (void)hv_stores(hash, "profiler_active",
                    new_seconds(aTHX_ data, data->duration_s - overhead_s));
    (void)hv_stores(hash, "complete", newSVsv(boolSV(whole && data->open.n == 0)));
    (void)hv_stores(hash, "total_stmts_measured", new_count(aTHX_ data->n_times));
    (void)hv_stores(hash, "total_stmts_discounted", new_count(aTHX_ data->n_discounts));
    (void)hv_stores(hash, "total_stmts_duration", new_seconds(aTHX_ data, statements_s));
    (void)hv_stores(hash, "total_sub_calls", new_count(aTHX_ data->n_sub_calls));
}

/* ---- times ---- */

static AV *new_times(pTHX_ const struct nytp_data *data, const struct nytp_data_lines *lines)
{
    U32 n = lines->n;
    while (n > 0 && !lines->at[n - 1].seen)
        n--;
    if (n == 0)
        return NULL;
    AV *const by_line = newAV();
    av_extend(by_line, n - 1);
    for (U32 line = 0; line < n; line++) {
        if (!lines->at[line].seen)
            continue;
        AV *const time = newAV();
        av_extend(time, 1);
        av_push(time, new_seconds(aTHX_ data, seconds(data, (NV)lines->at[line].ticks)));
        av_push(time, newSVuv(lines->at[line].count));
        av_store(by_line, line, newRV_noinc((SV *)time));
    }
    return by_line;
}

static void put_levels(pTHX_ const struct nytp_data *data)
{
    static const struct {
        const char *member, *name;
    } levels[NYTP_LEVELS] = {
        [NYTP_LEVEL_LINE] = {"fid_line_time", "line"},
        [NYTP_LEVEL_BLOCK] = {"fid_block_time", "block"},
        [NYTP_LEVEL_SUB] = {"fid_sub_time", "sub"},
    };
    HV *const modes = (HV *)put_member(aTHX_ data->profile, "profile_modes", (SV *)newHV());
    const int n = data->has_blocks ? NYTP_LEVELS : 1;
    for (int level = 0; level < n; level++) {
        const char *const member = levels[level].member;
        AV *const by_fid = (AV *)put_member(aTHX_ data->profile, member, (SV *)newAV());
        (void)hv_store(modes, member, (I32)strlen(member), newSVpv(levels[level].name, 0), 0);
        U32 fid = 0;
        for (struct nytp_data_file *file; (file = next_file(data, &fid)) != NULL;) {
            AV *const by_line = new_times(aTHX_ data, &file->times[level]);
            if (by_line != NULL)
                av_store(by_fid, file->fid, newRV_noinc((SV *)by_line));
        }
    }
}

/* ---- files ---- */

/* In damaged input a file may be its own ancestor. Cuts the link that closes the ring. */
static void cut_eval_rings(const struct nytp_data *data)
{
    U32 fid = 0;
    for (struct nytp_data_file *file; (file = next_file(data, &fid)) != NULL;) {
        struct nytp_data_file *at = file;
        for (; at->walk == 0 && at->ran != NULL; at = at->ran)
            at->walk = file->fid;
        if (at->walk == file->fid)
            at->ran = NULL;
        at->walk = file->fid;
    }
}

/* Finds the file that ran each eval. */
static void find_eval_parents(const struct nytp_data *data)
{
    U32 fid = 0;
    for (struct nytp_data_file *file; (file = next_file(data, &fid)) != NULL;)
        file->ran = file->eval_fid == file->fid ? NULL : nytp_data_file(data, file->eval_fid);
    cut_eval_rings(data);
    fid = 0;
    for (struct nytp_data_file *file; (file = next_file(data, &fid)) != NULL;)
        if (file->ran != NULL)
            file->ran->has_evals = true;
}

static SV *new_meta_files(pTHX_ const struct nytp_data_file *file)
{
    HV *const meta = newHV();
    (void)hv_stores(meta, "merged_fids", newRV_noinc((SV *)newAV()));
    if (file->src_varied)
        (void)hv_stores(meta, "merged_fids_src_varied", newSVuv(file->n_merged));
    return newRV_noinc((SV *)meta);
}

static AV *new_file(pTHX_ const struct nytp_data *data, const struct nytp_data_file *file)
{
    AV *const av = newAV();
    av_extend(av, FILE_META);
    const bool is_eval = file->ran != NULL;
    av_store(av, FILE_NAME, newSVsv(file->name));
    av_store(av, FILE_EVAL_FID, is_eval ? newSVuv(file->eval_fid) : newSVsv(&PL_sv_no));
    av_store(av, FILE_EVAL_LINE, is_eval ? newSVuv(file->eval_line) : newSVsv(&PL_sv_no));
    av_store(av, FILE_FID, newSVuv(file->fid));
    av_store(av, FILE_FLAGS, newSVuv(file->flags));
    av_store(av, FILE_SIZE, newSVuv(file->size));
    av_store(av, FILE_MTIME, newSVuv(file->mtime_s));
    av_store(av, FILE_PROFILE, weak_ref(aTHX_ data->profile));
    av_store(av, FILE_EVAL_FI, newSV(0));
    av_store(av, FILE_HAS_EVALS, newSV(0));
    av_store(av, FILE_SUBS_DEFINED, newRV_noinc((SV *)newHV()));
    av_store(av, FILE_SUBS_CALLED, newRV_noinc((SV *)newHV()));
    if (file->n_merged > 0)
        av_store(av, FILE_META, new_meta_files(aTHX_ file));
    return av;
}

/* Links a string eval and the file that ran it, which has a lower or a higher id. */
static void link_eval(pTHX_ const struct nytp_data_file *file)
{
    av_store(file->info, FILE_EVAL_FI, weak_ref(aTHX_ file->ran->info));
    SV *const evals = *av_fetch(file->ran->info, FILE_HAS_EVALS, 0);
    if (!SvROK(evals))
        sv_setsv(evals, sv_2mortal(newRV_noinc((SV *)newAV())));
    av_push((AV *)SvRV(evals), newRV_inc((SV *)file->info));
}

/* A file merged into another of a lower id leaves an empty object: stock programs expect it. */
static void put_files(pTHX_ const struct nytp_data *data)
{
    HV *const stash = gv_stashpvs("Devel::NYTProf::FileInfo", GV_ADD);
    AV *const by_fid = (AV *)put_member(aTHX_ data->profile, "fid_fileinfo", (SV *)newAV());
    U32 fid = 0;
    for (struct nytp_data_file *file; (file = next_file(data, &fid)) != NULL;) {
        file->info = file->merged_into == NULL ? new_file(aTHX_ data, file) : NULL;
        SV *const ref = newRV_noinc((SV *)(file->info != NULL ? file->info : newAV()));
        av_store(by_fid, file->fid, sv_bless(ref, stash));
        if (file->info == NULL) {
            HV *const meta = (HV *)SvRV(*av_fetch(file->merged_into->info, FILE_META, 0));
            av_push((AV *)SvRV(*hv_fetchs(meta, "merged_fids", 0)), newSVuv(file->fid));
        }
    }
    fid = 0;
    for (struct nytp_data_file *file; (file = next_file(data, &fid)) != NULL;)
        if (file->info != NULL && file->ran != NULL && file->ran->info != NULL)
            link_eval(aTHX_ file);
}

/* ---- subs ---- */

static void forget_times(pTHX_ AV *av, const struct nytp_sums_at *at)
{
    av_store(av, at->incl, newSV(0));
    av_store(av, at->excl, newSV(0));
    av_store(av, at->reci, newSV(0));
}

/* Lists the calls of a sub in the files that they came from. */
static void link_calls(pTHX_ const struct nytp_data *data, SV *name, HV *called_by)
{
    hv_iterinit(called_by);
    for (HE *of_file; (of_file = hv_iternext(called_by)) != NULL;) {
        const struct nytp_data_file *const file =
            nytp_data_file(data, (U32)strtoul(HeKEY(of_file), NULL, 10));
        HV *const by_line = (HV *)SvRV(HeVAL(of_file));
        hv_iterinit(by_line);
        for (HE *of_line; (of_line = hv_iternext(by_line)) != NULL;) {
            AV *const call = (AV *)SvRV(HeVAL(of_line));
            if (data->has_no_times)
                forget_times(aTHX_ call, &nytp_sums_of_call);
            if (file == NULL || file->info == NULL)
                continue;
            HV *const called = (HV *)SvRV(*av_fetch(file->info, FILE_SUBS_CALLED, 0));
            const U32 line = (U32)strtoul(HeKEY(of_line), NULL, 10);
            (void)hv_store_ent(nytp_data_hash_under(aTHX_ called, line), name,
                               newRV_inc((SV *)call), 0);
        }
    }
}

/* Links a sub with its file and its calls. A sub without a known file is listed under the first
 * file, as in stock; its lines are undef, or 0 for an xsub or opcode. */
static void link_sub(pTHX_ const struct nytp_data *data, AV *sub)
{
    SV *const name = *av_fetch(sub, SUB_NAME, 0), *const fid = *av_fetch(sub, SUB_FID, 0);
    if (SvUV(fid) == 0)
        sv_setuv(fid, 1);
    if (hv_exists_ent(data->foreign, name, 0)) {
        sv_setuv(*av_fetch(sub, SUB_FIRST_LINE, 0), 0);
        sv_setuv(*av_fetch(sub, SUB_LAST_LINE, 0), 0);
    }
    if (data->has_no_times)
        forget_times(aTHX_ sub, &nytp_sums_of_sub);
    av_store(sub, SUB_PROFILE, weak_ref(aTHX_ data->profile));
    const struct nytp_data_file *const file = nytp_data_file(data, (U32)SvUV(fid));
    if (file != NULL && file->info != NULL)
        (void)hv_store_ent((HV *)SvRV(*av_fetch(file->info, FILE_SUBS_DEFINED, 0)), name,
                           newRV_inc((SV *)sub), 0);
    SV **const called_by = av_fetch(sub, SUB_CALLED_BY, 0);
    if (called_by != NULL)
        link_calls(aTHX_ data, name, (HV *)SvRV(*called_by));
}

static void link_subs(pTHX_ const struct nytp_data *data)
{
    HV *const stash = gv_stashpvs("Devel::NYTProf::SubInfo", GV_ADD);
    hv_iterinit(data->subs);
    for (HE *entry; (entry = hv_iternext(data->subs)) != NULL;) {
        link_sub(aTHX_ data, (AV *)SvRV(HeVAL(entry)));
        sv_bless(HeVAL(entry), stash);
    }
}

static struct nytp_data *new_data(pTHX)
{
    struct nytp_data *data;
    Newxz(data, 1, struct nytp_data);
    SAVEDESTRUCTOR_X(free_data, data);
#ifdef MULTIPLICITY
    data->perl = aTHX;
#endif
    nytp_data_set_sink(data);
    data->foreign = newHV();
    data->profile = newHV();
    data->attributes = (HV *)put_member(aTHX_ data->profile, "attribute", (SV *)newHV());
    data->options = (HV *)put_member(aTHX_ data->profile, "option", (SV *)newHV());
    data->subs = (HV *)put_member(aTHX_ data->profile, "sub_subinfo", (SV *)newHV());
    data->sources = (AV *)put_member(aTHX_ data->profile, "fid_srclines", (SV *)newAV());
    return data;
}

/* Reads all events. On an error returns false with *error set; the data before stays. */
static bool read_events(const char *path, struct nytp_data *data, struct nytp_error *error)
{
    struct nytp_source *const source = nytp_source_open(path, error);
    if (source == NULL)
        return false;
    const bool ok = nytp_read(source, NULL, &data->sink, error);
    nytp_source_free(source);
    if (data->error.status != NYTP_OK)
        *error = data->error;
    return ok;
}

SV *nytp_glue_load(pTHX_ const char *path, bool merge, U32 max_siblings, bool partial)
{
    struct nytp_error error = {0};
    ENTER;
    SAVETMPS;
    struct nytp_data *const data = new_data(aTHX);
    SV *result = newRV_noinc((SV *)data->profile);
    const bool whole = read_events(path, data, &error);
    bool usable = whole || (partial && data->ticks_per_sec > 0);
    if (usable) {
        data->error = (struct nytp_error){0};
        find_eval_parents(data);
        usable = !merge || nytp_data_merge_evals(aTHX_ data, max_siblings);
        if (!usable)
            error = data->error;
    }
    SV *const text = nytp_glue_error_text(aTHX_ path, &error);
    if (usable) {
        put_derived_attributes(aTHX_ data, whole);
        put_levels(aTHX_ data);
        put_files(aTHX_ data);
        link_subs(aTHX_ data);
        if (!whole)
            (void)hv_stores(data->profile, "load_error", newSVsv(text));
    } else {
        SvREFCNT_dec(result);
        result = newSVsv(text);
    }
    FREETMPS;
    LEAVE;
    return result;
}
