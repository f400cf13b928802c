/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The choice of arcs when a profile's tree changes; see nytp_profile_rebuild() in totals.h.
 *
 * Three lists are compared callee by callee: the known arcs, the arcs of the tree before the
 * change, and those of the tree now. A group is the arcs of one callee, caller and recording.
 * A group with the same sums before and now is unchanged.
 */
#include "arcs_before.h"

#include "formats/base/arena.h"
#include "formats/base/wide.h"
#include "formats/base/strings.h"

#include <stdlib.h>
#include <string.h>

/* A part of a sorted list of arcs. */
struct run {
    const struct nytp_arc *arcs;
    uint32_t n;
};

static int compare_callee(const struct nytp_arc *a, const struct nytp_arc *b)
{
    return nytp_compare_u64(a->callee, b->callee);
}

static int compare_group(const struct nytp_arc *a, const struct nytp_arc *b)
{
    NYTP_RETURN_ORDER(a->callee, b->callee);
    NYTP_RETURN_ORDER(a->caller, b->caller);
    return nytp_compare_u64(a->recording, b->recording);
}

static int by_callee(const void *x, const void *y)
{
    const struct nytp_arc *a = x, *b = y;
    const int order = compare_group(a, b);
    if (order != 0)
        return order;
    NYTP_RETURN_ORDER(a->file, b->file);
    return nytp_compare_u64(a->line, b->line);
}

static void add_arc(struct nytp_arc *to, const struct nytp_arc *from)
{
    to->calls += from->calls;
    to->incl_ticks += from->incl_ticks;
    to->excl_ticks += from->excl_ticks;
    to->reci_ticks = nytp_ticks_sum(to->reci_ticks, from->reci_ticks);
    if (to->rec_depth < from->rec_depth)
        to->rec_depth = from->rec_depth;
}

static void sort_arcs(struct nytp_arc_list *list)
{
    struct nytp_arc *const arcs = list->arcs;
    uint32_t kept = 0;
    if (list->n > 0)
        qsort(arcs, list->n, sizeof *arcs, by_callee);
    for (uint32_t i = 0; i < list->n; i++) {
        if (kept > 0 && by_callee(&arcs[kept - 1], &arcs[i]) == 0)
            add_arc(&arcs[kept - 1], &arcs[i]);
        else
            arcs[kept++] = arcs[i];
    }
    list->n = kept;
}

/* ---- the known arcs ---- */

/* Copies the arcs of n recordings from `first` on, and numbers these from 0. */
static bool copy_recordings(const struct nytp_arc_list *list, uint32_t first, uint32_t n,
                            struct nytp_arc_list *copy)
{
    for (uint32_t i = 0; i < list->n; i++) {
        if (list->arcs[i].recording < first || list->arcs[i].recording - first >= n)
            continue;
        if (!nytp_grow(&copy->arcs, &copy->capacity, copy->n, sizeof *copy->arcs))
            return false;
        copy->arcs[copy->n] = list->arcs[i];
        copy->arcs[copy->n++].recording -= first;
    }
    return true;
}

bool nytp_arcs_before_init(struct nytp_arcs_before *before, const struct nytp_profile *p)
{
    const struct nytp_arc_list all = {.arcs = p->arcs, .n = p->n_arcs};
    *before = (struct nytp_arcs_before){0};
    if (!copy_recordings(&all, 0, UINT32_MAX, &before->known) ||
        !nytp_profile_tree_arcs(p, &before->of_tree)) {
        nytp_arcs_before_free(before);
        return false;
    }
    sort_arcs(&before->known);
    sort_arcs(&before->of_tree);
    return true;
}

void nytp_arcs_before_free(struct nytp_arcs_before *before)
{
    free(before->known.arcs);
    free(before->of_tree.arcs);
    *before = (struct nytp_arcs_before){0};
}

static void renumber_arcs(struct nytp_arc_list *list, const uint32_t *sub_of,
                          const uint32_t *file_of)
{
    struct nytp_arc *const arcs = list->arcs;
    for (uint32_t i = 0; i < list->n; i++) {
        if (sub_of != NULL) {
            arcs[i].caller = sub_of[arcs[i].caller];
            arcs[i].callee = sub_of[arcs[i].callee];
        }
        if (file_of != NULL)
            arcs[i].file = file_of[arcs[i].file];
    }
    sort_arcs(list);
}

void nytp_arcs_before_renumber(struct nytp_arcs_before *before, const uint32_t *sub_of,
                               const uint32_t *file_of)
{
    if (sub_of == NULL && file_of == NULL)
        return;
    renumber_arcs(&before->known, sub_of, file_of);
    renumber_arcs(&before->of_tree, sub_of, file_of);
}

bool nytp_arcs_before_of_recordings(struct nytp_arcs_before *some,
                                    const struct nytp_arcs_before *before, uint32_t first,
                                    uint32_t n)
{
    *some = (struct nytp_arcs_before){0};
    if (copy_recordings(&before->known, first, n, &some->known) &&
        copy_recordings(&before->of_tree, first, n, &some->of_tree))
        return true;
    nytp_arcs_before_free(some);
    return false;
}

/* ---- comparing ---- */

typedef int compare_fn(const struct nytp_arc *a, const struct nytp_arc *b);

/* Cuts the arcs that are equal to `like` off a list, and all before them. Returns the former.
 */
static struct run take_run(struct run *list, const struct nytp_arc *like, compare_fn *compare)
{
    uint32_t first = 0, end;
    while (first < list->n && compare(&list->arcs[first], like) < 0)
        first++;
    for (end = first; end < list->n && compare(&list->arcs[end], like) == 0;)
        end++;
    const struct run run = {list->arcs + first, end - first};
    *list = (struct run){list->arcs + end, list->n - end};
    return run;
}

/* Returns the smallest group at the heads of two lists, or NULL if both are empty. */
static const struct nytp_arc *first_of(struct run x, struct run y)
{
    if (x.n == 0 || y.n == 0)
        return x.n > 0 ? x.arcs : y.n > 0 ? y.arcs : NULL;
    return compare_group(x.arcs, y.arcs) <= 0 ? x.arcs : y.arcs;
}

static struct nytp_arc sum_of(struct run run)
{
    struct nytp_arc sum = {0};
    for (uint32_t i = 0; i < run.n; i++)
        add_arc(&sum, &run.arcs[i]);
    return sum;
}

static bool same_calls(struct run x, struct run y)
{
    const struct nytp_arc a = sum_of(x), b = sum_of(y);
    return a.calls == b.calls && a.excl_ticks == b.excl_ticks;
}

static bool is_untouched(struct run was, struct run is)
{
    const struct nytp_arc a = sum_of(was), b = sum_of(is);
    return a.calls == b.calls && a.excl_ticks == b.excl_ticks && a.incl_ticks == b.incl_ticks &&
           a.reci_ticks == b.reci_ticks;
}

static bool is_callee_untouched(struct run was, struct run is)
{
    while (was.n > 0 || is.n > 0) {
        const struct nytp_arc *const like = first_of(was, is);
        const struct run was_group = take_run(&was, like, compare_group);
        if (!is_untouched(was_group, take_run(&is, like, compare_group)))
            return false;
    }
    return true;
}

static bool have_callers(struct run known, const bool *present)
{
    for (uint32_t i = 0; i < known.n; i++)
        if (!present[known.arcs[i].caller])
            return false;
    return true;
}

static void append_run(struct nytp_arc_list *list, struct run run)
{
    if (run.n > 0)
        memcpy(list->arcs + list->n, run.arcs, run.n * sizeof *run.arcs);
    list->n += run.n;
}

/* Returns part * now / whole, or 0 if `part` is not between 0 and `whole`. */
static int64_t share_of(int64_t part, int64_t now, int64_t whole)
{
    return whole <= 0 || part <= 0 || part > whole ? 0 : nytp_mul_div_signed(part, now, whole);
}

/* For calls that are the same but contain a change: scales the known inclusive times to the
 * tree's present sum. */
static void fit_inclusive(struct nytp_arc *arcs, struct run known, struct run is)
{
    const struct nytp_arc was_sum = sum_of(known), is_sum = sum_of(is);
    int64_t incl = is_sum.incl_ticks, reci = is_sum.reci_ticks;
    for (uint32_t i = known.n; i-- > 0;) {
        arcs[i].incl_ticks =
            i == 0 ? incl : share_of(arcs[i].incl_ticks, is_sum.incl_ticks, was_sum.incl_ticks);
        arcs[i].reci_ticks =
            i == 0 ? reci : share_of(arcs[i].reci_ticks, is_sum.reci_ticks, was_sum.reci_ticks);
        incl -= arcs[i].incl_ticks;
        reci -= arcs[i].reci_ticks;
    }
}

static void choose_groups(struct run known, struct run was, struct run is,
                          struct nytp_arc_list *list)
{
    while (is.n > 0) {
        const struct nytp_arc *const like = is.arcs;
        const struct run known_group = take_run(&known, like, compare_group);
        const struct run was_group = take_run(&was, like, compare_group);
        const struct run is_group = take_run(&is, like, compare_group);
        const bool keep = same_calls(was_group, is_group) && same_calls(known_group, is_group);
        append_run(list, keep ? known_group : is_group);
        if (keep && !is_untouched(was_group, is_group))
            fit_inclusive(list->arcs + list->n - known_group.n, known_group, is_group);
    }
}

static bool *present_subs(const struct nytp_profile *p)
{
    bool *present = calloc((size_t)p->n_subs + 1, sizeof *present);
    for (uint32_t i = 0; present != NULL && i < p->n_nodes; i++)
        present[p->nodes[i].sub] = true;
    return present;
}

bool nytp_arcs_before_choose(const struct nytp_profile *p,
                             const struct nytp_arcs_before *before,
                             struct nytp_arc_list *of_tree, struct nytp_arc_list *chosen)
{
    bool *present = present_subs(p);
    sort_arcs(of_tree);
    *chosen = (struct nytp_arc_list){0};
    const bool ok =
        nytp_reserve(&chosen->arcs, &chosen->capacity,
                     (uint64_t)before->known.n + of_tree->n + 1, sizeof *chosen->arcs) &&
        present != NULL;
    struct run known = {before->known.arcs, before->known.n};
    struct run was = {before->of_tree.arcs, before->of_tree.n},
               is = {of_tree->arcs, of_tree->n};
    while (ok && is.n > 0) {
        const struct nytp_arc *const like = is.arcs;
        const struct run known_arcs = take_run(&known, like, compare_callee);
        const struct run was_arcs = take_run(&was, like, compare_callee);
        const struct run is_arcs = take_run(&is, like, compare_callee);
        if (known_arcs.n > 0 && same_calls(known_arcs, is_arcs) &&
            is_callee_untouched(was_arcs, is_arcs) && have_callers(known_arcs, present))
            append_run(chosen, known_arcs);
        else
            choose_groups(known_arcs, was_arcs, is_arcs, chosen);
    }
    free(present);
    return ok;
}
