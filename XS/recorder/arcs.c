/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What calls of one sub from one place cost so far; see arcs.h.
 */
#include "arcs.h"

static struct nytp_rec_arc *arc_find(struct nytp_recorder *rec,
                                     const struct nytp_rec_frame *frame, uint32_t hash)
{
    size_t at = hash;
    struct nytp_rec_arc *arc;
    while ((arc = nytp_index_next(&rec->arcs, hash, &at)) != NULL)
        if (arc->callee_sub == frame->sub && arc->caller_sub == frame->caller &&
            arc->line == frame->line && arc->fid == frame->fid)
            return arc;
    return NULL;
}

struct nytp_rec_arc *nytp_arc_find(struct nytp_recorder *rec,
                                   const struct nytp_rec_frame *frame)
{
    const uint32_t hash = nytp_hash_u64(((uint64_t)frame->fid << 32 | frame->line) ^
                                        (uint64_t)frame->caller->id * 0x9E3779B1u ^
                                        (uint64_t)frame->sub->id << 20);
    struct nytp_rec_arc *arc = arc_find(rec, frame, hash);
    if (arc == NULL) {
        Newxz(arc, 1, struct nytp_rec_arc);
        arc->fid = frame->fid;
        arc->line = frame->line;
        arc->caller_sub = frame->caller;
        arc->callee_sub = frame->sub;
        frame->caller->called = true;
        nytp_index_add(&rec->arcs, hash, arc);
    }
    frame->sub->last_arc = arc;
    return arc;
}

void nytp_arcs_clear(struct nytp_recorder *rec)
{
    for (size_t i = 0; i < rec->arcs.size; i++)
        Safefree(rec->arcs.entries[i].item);
    nytp_index_clear(&rec->arcs);
    for (uint32_t i = 1; i <= rec->subs.n; i++) {
        rec->subs.all[i]->last_arc = NULL;
        rec->subs.all[i]->returned_normally = rec->subs.all[i]->called = false;
    }
}

static void free_arc(void *arc)
{
    Safefree(arc);
}

/* Callee, caller, place: the order in the file. */
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

static double seconds(int64_t ticks)
{
    return (double)ticks / NYTP_TICKS_PER_SEC;
}

/* "This sub is an xsub or builtin", as readers expect to be told. */
static void write_marker(struct nytp_recorder *rec, const struct nytp_rec_sub *sub)
{
    const struct nytp_call_totals none = {0};
    nytp_write_sub_callers(rec->writer, 0, 0, "", 0, &none, sub->name, sub->name_len);
}

static void write_arc(struct nytp_recorder *rec, const struct nytp_rec_arc *arc)
{
    const struct nytp_call_totals totals = {
        .count = arc->count > UINT32_MAX ? UINT32_MAX : (uint32_t)arc->count,
        .rec_depth = arc->rec_depth,
        .incl_s = seconds(arc->incl_ticks),
        .excl_s = seconds(arc->excl_ticks),
        .reci_s = seconds(arc->reci_ticks),
    };
    nytp_write_sub_callers(rec->writer, arc->fid, arc->line, arc->caller_sub->name,
                           arc->caller_sub->name_len, &totals, arc->callee_sub->name,
                           arc->callee_sub->name_len);
}

static void write_markers(struct nytp_recorder *rec)
{
    for (uint32_t i = 1; i <= rec->subs.n; i++) {
        const struct nytp_rec_sub *const sub = rec->subs.all[i];
        if (sub->called && nytp_sub_is_foreign(sub))
            write_marker(rec, sub);
    }
}

/* Of the profile's end, whose readers add up what they find about an arc. */
static bool arc_stays(void *recorder, void *item)
{
    struct nytp_recorder *const rec = recorder;
    struct nytp_rec_arc *const arc = item;
    if (arc->caller_sub->in_use && arc->callee_sub->in_use)
        return true;
    if (arc->count > 0)
        write_arc(rec, arc);
    if (arc->callee_sub->last_arc == arc)
        arc->callee_sub->last_arc = NULL;
    Safefree(arc);
    return false;
}

bool nytp_arcs_release(struct nytp_recorder *rec)
{
    return nytp_index_filter(&rec->arcs, arc_stays, rec);
}

/* What place `i` of the index holds, if there is anything to tell of it; else NULL. */
static const struct nytp_rec_arc *arc_to_write(const struct nytp_recorder *rec, size_t i)
{
    const struct nytp_rec_arc *const arc = rec->arcs.entries[i].item;
    return arc != NULL && arc->count > 0 ? arc : NULL;
}

void nytp_arcs_write_unsorted(struct nytp_recorder *rec)
{
    write_markers(rec);
    for (size_t i = 0; i < rec->arcs.size; i++) {
        const struct nytp_rec_arc *const arc = arc_to_write(rec, i);
        if (arc != NULL)
            write_arc(rec, arc);
    }
}

void nytp_arcs_write(struct nytp_recorder *rec)
{
    const struct nytp_rec_arc **sorted;
    size_t n = 0;
    Newx(sorted, rec->arcs.used + 1, const struct nytp_rec_arc *);
    for (size_t i = 0; i < rec->arcs.size; i++) {
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

void nytp_arcs_free(struct nytp_recorder *rec)
{
    nytp_index_free(&rec->arcs, free_arc);
}
