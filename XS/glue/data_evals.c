/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Merges string evals; see data_evals.h. First files are merged. Then the survivor gets the
 * subs of its merged evals, and last the calls that came from them.
 */
#define PERL_NO_GET_CONTEXT
#include <EXTERN.h>
#include <perl.h>

#include "data_evals.h"
#include "data_events.h"
#include "formats/base/fnv1a.h"
#include "formats/model/sibling_evals.h"

static struct nytp_str text_at(pTHX_ const struct nytp_data_file *file, SSize_t line)
{
    SV **const text = file->source == NULL ? NULL : av_fetch(file->source, line, 0);
    STRLEN len = 0;
    const char *const ptr = text == NULL ? NULL : SvPV_const(*text, len);
    return (struct nytp_str){.ptr = ptr, .len = (uint32_t)len};
}

/* Returns 0 if no source was kept. */
static uint64_t hash_source(pTHX_ const struct nytp_data_file *file)
{
    uint64_t hash = NYTP_FNV1A_64_START;
    bool any = false;
    for (SSize_t line = 1;; line++) {
        const struct nytp_str text = text_at(aTHX_ file, line);
        if (text.ptr == NULL)
            return any ? hash | 1 : 0;
        any = true;
        hash = nytp_fnv1a_64(nytp_fnv1a_64(hash, text.ptr, text.len), "\n", 1);
    }
}

static SSize_t last_line(pTHX_ const struct nytp_data_file *file)
{
    return file->source == NULL ? 0 : av_len(file->source);
}

static bool same_source(const void *context, uint32_t fid_a, uint32_t fid_b)
{
    const struct nytp_data *const data = context;
    dTHXa(data->perl);
    const struct nytp_data_file *const a = data->files[fid_a], *const b = data->files[fid_b];
    const SSize_t last_a = last_line(aTHX_ a), last_b = last_line(aTHX_ b);
    for (SSize_t line = 1; line <= last_a || line <= last_b; line++) {
        const struct nytp_str x = text_at(aTHX_ a, line), y = text_at(aTHX_ b, line);
        if (x.len != y.len || (x.len > 0 && memcmp(x.ptr, y.ptr, x.len) != 0))
            return false;
    }
    return true;
}

/* Takes over times of lines. Times of blocks and subs stay with each eval, so that a sum over
 * all file ids is right at those levels. */
static bool take_over_times(struct nytp_data *data, struct nytp_data_file *into,
                            const struct nytp_data_file *from)
{
    const struct nytp_data_lines *const lines = &from->times[NYTP_LEVEL_LINE];
    for (U32 line = 0; line < lines->n; line++) {
        if (!lines->at[line].seen)
            continue;
        struct nytp_data_time *const sum =
            nytp_data_time_at(data, &into->times[NYTP_LEVEL_LINE], line);
        if (sum == NULL)
            return false;
        sum->ticks += lines->at[line].ticks;
        sum->count += lines->at[line].count;
        sum->seen = true;
    }
    return true;
}

/* Sets merged_into of the files that go, and gives their times to the survivors. */
static bool merge_files(pTHX_ struct nytp_data *data, U32 max_siblings)
{
    struct nytp_sibling_eval *evals;
    Newx(evals, data->n_files + 1, struct nytp_sibling_eval);
    SAVEFREEPV(evals);
    U32 n = 0;
    for (U32 fid = 0; fid < data->n_files; fid++) {
        const struct nytp_data_file *const file = data->files[fid];
        if (file != NULL && file->ran != NULL)
            evals[n++] = (struct nytp_sibling_eval){
                .file = fid,
                .ran_file = file->ran->fid,
                .ran_line = file->eval_line,
                .hash = hash_source(aTHX_ file),
                .has_evals = file->has_evals,
            };
    }
    nytp_sibling_evals_merge(evals, n, max_siblings, same_source, data);
    for (U32 i = 0; i < n; i++) {
        if (evals[i].merged_into == evals[i].file)
            continue;
        struct nytp_data_file *const from = data->files[evals[i].file];
        struct nytp_data_file *const into = data->files[evals[i].merged_into];
        from->merged_into = into;
        into->n_merged++;
        into->src_varied |= evals[i].other_source;
        if (!take_over_times(data, into, from))
            return false;
    }
    return true;
}

/* Returns the name of an anonymous sub of a merged eval or of its survivor,
 * "Pkg::__ANON__[FILE:LINE]", with the survivor's FILE; or NULL if the sub has no such name. */
static SV *survivor_name(pTHX_ AV *sub, const struct nytp_data_file *file)
{
    static const char mark[] = "::__ANON__[";
    const struct nytp_data_file *const survivor =
        file->merged_into == NULL ? file : file->merged_into;
    SV *const name = *av_fetch(sub, SUB_NAME, 0);
    STRLEN len, from_len, to_len;
    const char *const text = SvPV_const(name, len);
    const char *const from = SvPV_const(file->name, from_len);
    const char *const to = SvPV_const(survivor->name, to_len);
    STRLEN at = 0;
    while (at + sizeof mark - 1 + from_len < len &&
           memcmp(text + at, mark, sizeof mark - 1) != 0)
        at++;
    at += sizeof mark - 1;
    if (at + from_len >= len || memcmp(text + at, from, from_len) != 0)
        return NULL;
    SV *const made = sv_2mortal(newSVpvn_flags(text, at, SvUTF8(name)));
    sv_catpvn_nomg(made, to, to_len);
    sv_catpvn_nomg(made, text + at + from_len, len - at - from_len);
    return made;
}

static int by_name(pTHX_ SV *const a, SV *const b)
{
    return sv_cmp(*av_fetch((AV *)a, SUB_NAME, 0), *av_fetch((AV *)b, SUB_NAME, 0));
}

/* Returns, sorted by name, the subs that merged evals and their survivors define. They are
 * borrowed. */
static SV **subs_of_merged(pTHX_ const struct nytp_data *data, SSize_t *n)
{
    SV **found;
    Newx(found, HvUSEDKEYS(data->subs) + 1, SV *);
    SAVEFREEPV(found);
    *n = 0;
    hv_iterinit(data->subs);
    for (HE *entry; (entry = hv_iternext(data->subs)) != NULL;) {
        AV *const sub = (AV *)SvRV(HeVAL(entry));
        const struct nytp_data_file *const file =
            nytp_data_file(data, SvUV(*av_fetch(sub, SUB_FID, 0)));
        if (file != NULL && (file->merged_into != NULL || file->n_merged > 0))
            found[(*n)++] = (SV *)sub;
    }
    sortsv(found, *n, by_name);
    return found;
}

/* Adds calls by line to others, whose arrays are taken where there is none yet. */
static void add_calls_by_line(pTHX_ HV *into, HV *from)
{
    hv_iterinit(from);
    for (HE *entry; (entry = hv_iternext(from)) != NULL;) {
        AV *const call = (AV *)SvRV(HeVAL(entry));
        SV **const known = hv_fetch(into, HeKEY(entry), HeKLEN(entry), 0);
        if (known == NULL) {
            (void)hv_store(into, HeKEY(entry), HeKLEN(entry), newRV_inc((SV *)call), 0);
            continue;
        }
        AV *const sum = (AV *)SvRV(*known);
        nytp_data_add_sums(aTHX_ sum, call, &nytp_sums_of_call);
        HV *const callers = (HV *)SvRV(*av_fetch(call, CALL_CALLERS, 0));
        hv_iterinit(callers);
        for (HE *caller; (caller = hv_iternext(callers)) != NULL;)
            (void)hv_store_ent((HV *)SvRV(*av_fetch(sum, CALL_CALLERS, 0)),
                               hv_iterkeysv(caller), newSV(0), 0);
    }
}

/* Gives the calls of a sub to another, which keeps a list of the names it took over. */
static void take_over_sub(pTHX_ AV *into, AV *from)
{
    nytp_data_add_sums(aTHX_ into, from, &nytp_sums_of_sub);
    SV **const called_by = av_fetch(from, SUB_CALLED_BY, 0);
    if (called_by != NULL) {
        HV *const files = (HV *)SvRV(*called_by);
        hv_iterinit(files);
        for (HE *entry; (entry = hv_iternext(files)) != NULL;)
            add_calls_by_line(aTHX_ nytp_data_hash_under(aTHX_ nytp_data_called_by(aTHX_ into),
                                                         (U32)strtoul(HeKEY(entry), NULL, 10)),
                              (HV *)SvRV(HeVAL(entry)));
    }
    SV **meta = av_fetch(into, SUB_META, 0);
    if (meta == NULL) {
        HV *const hash = newHV();
        (void)hv_stores(hash, "merged_sub_names", newRV_noinc((SV *)newAV()));
        meta = av_store(into, SUB_META, newRV_noinc((SV *)hash));
    }
    av_push((AV *)SvRV(*hv_fetchs((HV *)SvRV(*meta), "merged_sub_names", 0)),
            newSVsv(*av_fetch(from, SUB_NAME, 0)));
}

/* Gives the subs of merged evals to the survivors. If anonymous subs become one, the first by
 * name keeps its name, as in stock readers. */
static void merge_subs(pTHX_ struct nytp_data *data)
{
    SSize_t n;
    SV **const subs = subs_of_merged(aTHX_ data, &n);
    HV *const known = (HV *)sv_2mortal((SV *)newHV());
    for (SSize_t i = 0; i < n; i++) {
        AV *const sub = (AV *)subs[i];
        SV *const fid = *av_fetch(sub, SUB_FID, 0);
        const struct nytp_data_file *const file = nytp_data_file(data, SvUV(fid));
        if (file->merged_into != NULL)
            sv_setuv(fid, file->merged_into->fid);
        SV *const name = survivor_name(aTHX_ sub, file);
        HE *const first = name == NULL ? NULL : hv_fetch_ent(known, name, 0, 0);
        if (first != NULL) {
            take_over_sub(aTHX_(AV *) SvRV(HeVAL(first)), sub);
            SV *const own_name = sv_mortalcopy(*av_fetch(sub, SUB_NAME, 0));
            (void)hv_delete_ent(data->subs, own_name, G_DISCARD, 0);
        } else if (name != NULL) {
            (void)hv_store_ent(known, name, newRV_inc((SV *)sub), 0);
        }
    }
}

static int by_number(const void *a, const void *b)
{
    const U32 x = *(const U32 *)a, y = *(const U32 *)b;
    return x < y ? -1 : x > y;
}

/* Lets calls that came from merged evals come from the survivors. The evals are taken in the
 * order of their ids, so that sums are the same each time. */
static void move_calls(pTHX_ const struct nytp_data *data, HV *called_by)
{
    U32 *fids, n = 0;
    Newx(fids, HvUSEDKEYS(called_by) + 1, U32);
    hv_iterinit(called_by);
    for (HE *entry; (entry = hv_iternext(called_by)) != NULL;) {
        const U32 fid = (U32)strtoul(HeKEY(entry), NULL, 10);
        const struct nytp_data_file *const file = nytp_data_file(data, fid);
        if (file != NULL && file->merged_into != NULL)
            fids[n++] = fid;
    }
    qsort(fids, n, sizeof *fids, by_number);
    for (U32 i = 0; i < n; i++) {
        char key[12];
        const int len = my_snprintf(key, sizeof key, "%lu", (unsigned long)fids[i]);
        HV *const into =
            nytp_data_hash_under(aTHX_ called_by, data->files[fids[i]]->merged_into->fid);
        add_calls_by_line(aTHX_ into, nytp_data_hash_under(aTHX_ called_by, fids[i]));
        (void)hv_delete(called_by, key, len, G_DISCARD);
    }
    Safefree(fids);
}

bool nytp_data_merge_evals(pTHX_ struct nytp_data *data, U32 max_siblings)
{
    if (!merge_files(aTHX_ data, max_siblings))
        return false;
    merge_subs(aTHX_ data);
    hv_iterinit(data->subs);
    for (HE *entry; (entry = hv_iternext(data->subs)) != NULL;) {
        SV **const called_by = av_fetch((AV *)SvRV(HeVAL(entry)), SUB_CALLED_BY, 0);
        if (called_by != NULL)
            move_calls(aTHX_ data, (HV *)SvRV(*called_by));
    }
    return true;
}
