/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Sums of the calls of one sub from one place; see arcs.h.
 */
#include "arcs.h"

#include "XS/state/state.h"

static struct nytp_rec_arc *arc_find(struct nytp_recorder *rec, const struct nytp_rec_sub *sub,
                                     const struct nytp_call_site *site, uint32_t hash)
{
    size_t at = hash;
    struct nytp_rec_arc *arc;
    while ((arc = nytp_index_next(&rec->calls.arcs, hash, &at)) != NULL)
        if (arc->callee_sub == sub && arc->caller_sub == site->caller &&
            arc->line == site->line && arc->fid == site->fid)
            return arc;
    return NULL;
}

static NYTP_COLD struct nytp_rec_arc *arc_add(struct nytp_recorder *rec,
                                              struct nytp_rec_sub *sub,
                                              const struct nytp_call_site *site, uint32_t hash)
{
    struct nytp_rec_arc *arc;
    nytp_excluded_time_begin(rec);
    Newxz(arc, 1, struct nytp_rec_arc);
    arc->fid = site->fid;
    arc->line = site->line;
    arc->caller_sub = site->caller;
    arc->callee_sub = sub;
    site->caller->called = sub->called = true;
    nytp_index_add(&rec->calls.arcs, hash, arc);
    nytp_excluded_time_end(rec);
    return arc;
}

struct nytp_rec_arc *nytp_arc_find(struct nytp_recorder *rec, struct nytp_rec_sub *sub,
                                   const struct nytp_call_site *site)
{
    const uint32_t hash =
        nytp_hash_u64(((uint64_t)site->fid << 32 | site->line) ^
                      (uint64_t)site->caller->id * 0x9E3779B1u ^ (uint64_t)sub->id << 20);
    struct nytp_rec_arc *arc = arc_find(rec, sub, site, hash);
    if (arc == NULL)
        arc = arc_add(rec, sub, site, hash);
    sub->last_arc = arc;
    return arc;
}

/* Derives from the arcs which subs were called. */
static void call_subs(struct nytp_recorder *rec)
{
    for (uint32_t i = 1; i <= rec->subs->n; i++) {
        rec->subs->all[i]->last_arc = NULL;
        rec->subs->all[i]->returned_normally = rec->subs->all[i]->called = false;
    }
    for (size_t i = 0; i < rec->calls.arcs.size; i++) {
        const struct nytp_rec_arc *const arc = rec->calls.arcs.entries[i].item;
        if (arc == NULL)
            continue;
        arc->caller_sub->called = arc->callee_sub->called = true;
        arc->callee_sub->returned_normally = true;
    }
}

/* No sub has been called yet. */
void nytp_arcs_begin_file(struct nytp_recorder *rec)
{
    for (size_t i = 0; i < rec->calls.arcs.size; i++)
        Safefree(rec->calls.arcs.entries[i].item);
    nytp_index_clear(&rec->calls.arcs);
    rec->cache.sites_version++;
    call_subs(rec);
}

/* For qsort(). Sorts by callee, caller and place: the same program gives the same profile. */
static int compare_arcs(const void *left, const void *right)
{
    const struct nytp_rec_arc *const a = *(struct nytp_rec_arc *const *)left;
    const struct nytp_rec_arc *const b = *(struct nytp_rec_arc *const *)right;
    if (a->callee_sub != b->callee_sub)
        return a->callee_sub->id < b->callee_sub->id ? -1 : 1;
    if (a->caller_sub != b->caller_sub)
        return a->caller_sub->id < b->caller_sub->id ? -1 : 1;
    if (a->fid != b->fid)
        return a->fid < b->fid ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static double seconds(const struct nytp_recorder *rec, int64_t ticks)
{
    return rec->on.counts ? 0 : (double)ticks / NYTP_TICKS_PER_SEC;
}

static struct nytp_str name_of(const struct nytp_rec_sub *sub)
{
    return (struct nytp_str){.ptr = sub->name, .len = (uint32_t)sub->name_len};
}

static void write_arc(struct nytp_recorder *rec, const struct nytp_rec_arc *arc)
{
    const struct nytp_sub_callers calls = {
        .fid = arc->fid,
        .line = arc->line,
        .count = arc->count > UINT32_MAX ? UINT32_MAX : (uint32_t)arc->count,
        .rec_depth = arc->rec_depth,
        .incl_s = seconds(rec, arc->incl_ticks),
        .excl_s = seconds(rec, arc->excl_ticks),
        .reci_s = seconds(rec, arc->reci_ticks),
        .caller = name_of(arc->caller_sub),
        .callee = name_of(arc->callee_sub),
    };
    nytp_write_sub_callers(rec->writer, &calls);
}

/* A SUB_CALLERS record without place and caller marks the sub as an xsub or builtin. */
static void write_markers(struct nytp_recorder *rec)
{
    struct nytp_sub_callers marker = {.caller = {.ptr = ""}};
    for (uint32_t i = 1; i <= rec->subs->n; i++) {
        const struct nytp_rec_sub *const sub = rec->subs->all[i];
        if (!sub->called || !nytp_sub_is_foreign(sub))
            continue;
        marker.callee = name_of(sub);
        nytp_write_sub_callers(rec->writer, &marker);
    }
}

/* An arc of resumed calls has time but no call. */
static bool is_worth_telling(const struct nytp_rec_arc *arc)
{
    return arc->count > 0 || (arc->fid != 0 && arc->incl_ticks + arc->reci_ticks > 0);
}

/* Returns whether the arc's file is that of a string eval that has ended. */
static bool is_from_past_eval(const struct nytp_recorder *rec, const struct nytp_rec_arc *arc)
{
    const struct nytp_rec_file *const file = arc->fid == 0 ? NULL : rec->files->all[arc->fid];
    return arc->fid != 0 && (file == NULL || (file->is_eval && !file->in_use));
}

/* An arc is written now if its caller, callee or file is about to be freed. It may come again:
 * readers add up all records of an arc. */
static bool arc_stays(void *recorder, void *item)
{
    struct nytp_recorder *const rec = recorder;
    struct nytp_rec_arc *const arc = item;
    if (arc->caller_sub->in_use && arc->callee_sub->in_use && !is_from_past_eval(rec, arc))
        return true;
    if (is_worth_telling(arc))
        write_arc(rec, arc);
    if (arc->callee_sub->last_arc == arc)
        arc->callee_sub->last_arc = NULL;
    Safefree(arc);
    return false;
}

bool nytp_arcs_release(struct nytp_recorder *rec)
{
    rec->cache.sites_version++;
    return nytp_index_filter(&rec->calls.arcs, arc_stays, rec);
}

/* Returns entry `i` of the index if it is to be written, else NULL. */
static const struct nytp_rec_arc *arc_to_write(const struct nytp_recorder *rec, size_t i)
{
    const struct nytp_rec_arc *const arc = rec->calls.arcs.entries[i].item;
    return arc != NULL && is_worth_telling(arc) ? arc : NULL;
}

static void write_unsorted(struct nytp_recorder *rec)
{
    write_markers(rec);
    for (size_t i = 0; i < rec->calls.arcs.size; i++) {
        const struct nytp_rec_arc *const arc = arc_to_write(rec, i);
        if (arc != NULL)
            write_arc(rec, arc);
    }
}

/* The order is independent of addresses. */
static void write_sorted(struct nytp_recorder *rec)
{
    const struct nytp_rec_arc **sorted;
    size_t n = 0;
    Newx(sorted, rec->calls.arcs.used + 1, const struct nytp_rec_arc *);
    for (size_t i = 0; i < rec->calls.arcs.size; i++) {
        const struct nytp_rec_arc *const arc = arc_to_write(rec, i);
        if (arc != NULL)
            sorted[n++] = arc;
    }
    qsort(sorted, n, sizeof *sorted, compare_arcs);
    write_markers(rec);
    for (size_t i = 0; i < n; i++)
        write_arc(rec, sorted[i]);
    Safefree(sorted);
}

/* Writes all arcs, and markers of xsubs and builtins. */
void nytp_arcs_end_file(struct nytp_recorder *rec)
{
    if (rec->options.subs)
        (rec->run.without_perl ? write_unsorted : write_sorted)(rec);
}

void nytp_arcs_resume(struct nytp_recorder *rec)
{
    rec->cache.sites_version++;
    call_subs(rec);
}

void nytp_arcs_free(struct nytp_recorder *rec)
{
    nytp_index_free(&rec->calls.arcs, nytp_free);
}
