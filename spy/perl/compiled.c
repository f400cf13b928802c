/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Stacks of moments in which perl compiles; see compiled.h.
 */
#include "compiled.h"

#include "moment.h"
#include "running_op.h"

enum {
    MOST_ABOVE = 8, /* contexts above the top, where an eval was that has ended */
};

static uint64_t address_of_compiling(const struct nytp_walker *walker)
{
    return walker->look.of.at[NYTP_PL_compiling];
}

/* The innermost of `n` calls; NULL: the main program. */
static const struct nytp_call *innermost(const struct nytp_walker *walker, uint32_t n)
{
    return n > 0 ? &walker->calls[n - 1] : NULL;
}

static uint32_t n_calls(const struct nytp_walker *walker)
{
    return walker->reading.calls.n_upper;
}

bool nytp_find_innermost(struct nytp_walker *walker, int32_t end_both, struct nytp_found *found)
{
    const int32_t end = nytp_contexts_of(walker, 0).n;
    *found = (struct nytp_found){.n_open = 0};
    if (!nytp_are_same_below(walker) || end_both != end ||
        !nytp_moment_calls(walker, end, end_both))
        return false;
    found->n_open = n_calls(walker);
    return true;
}

bool nytp_find_main_compiled(struct nytp_walker *walker, struct nytp_spied_moment *moment,
                             struct nytp_found *found)
{
    /* It has not begun: it has no depth, which stands behind CvFLAGS. Else it is a sub of it,
     * whose statements perl goes through as if they ran. */
    const struct nytp_layout *const layout = walker->names->perl->layout;
    struct nytp_words *const words = walker->names->words;
    const uint64_t cv = walker->look.main_cv;
    const uint64_t body = cv == 0 ? 0 : nytp_word(words, cv + (uint64_t)layout->sv_any);
    *found = (struct nytp_found){.n_open = 0};
    if (body == 0 || nytp_word(words, body + (uint64_t)layout->cv_flags) >> 32 != 0 ||
        !nytp_moment_calls(walker, nytp_contexts_of(walker, 0).n, 0) || n_calls(walker) > 0)
        return false;
    moment->curcop = address_of_compiling(walker);
    return true;
}

/* The first context above the top that is of a call; `end`: none is. */
static int32_t find_above(const struct nytp_contexts *contexts, int32_t above, int32_t end)
{
    struct nytp_call call;
    const int32_t last = above + MOST_ABOVE < end ? above + MOST_ABOVE : end;
    while (above < last && !nytp_context_call(contexts, above, &call))
        above++;
    return above;
}

/* The innermost eval where the variables were read, from then on in the first reading of the
 * stack in use, which is the nearer one. It may be over since: perl leaves it above the top.
 * Then it is the innermost call of the reading. False: it is none, or a sub may have been there
 * that has run another one. */
static bool find_eval(struct nytp_walker *walker)
{
    const struct nytp_stack_info *const info = &walker->look.infos[0];
    const struct nytp_contexts contexts = nytp_contexts_of(walker, 0);
    const int32_t end = (int32_t)info->n_first, above = info->low_first + 1;
    struct nytp_call left;
    if (!nytp_are_same_below(walker))
        return false;
    memcpy(nytp_look_reading(&walker->look, 0, false, info->n_deep),
           nytp_look_reading(&walker->look, 0, true, info->n_deep),
           (info->n_first - info->n_deep) * (size_t)contexts.layout->cx_size);
    if (!nytp_moment_calls(walker, above, 0))
        return false;
    const int32_t at = find_above(&contexts, above, end);
    if (at < end && nytp_context_call(&contexts, at, &left) && nytp_is_eval(&left)) {
        if (nytp_may_be_in(walker, left.site, innermost(walker, n_calls(walker)), false))
            return nytp_moment_calls(walker, at + 1, 0);
        if (nytp_is_in_some_sub(walker, left.site))
            return false;
    }
    const uint32_t n = n_calls(walker);
    const struct nytp_call *const top = innermost(walker, n);
    return top != NULL && top->stack == info->address && nytp_is_eval(top) &&
           nytp_may_be_in(walker, top->site, innermost(walker, n - 1),
                          nytp_contexts_are_cleared(contexts.layout));
}

static bool is_with_call(struct nytp_walker *walker, struct nytp_spied_moment *moment,
                         struct nytp_found *found)
{
    const struct nytp_seen_call *const seen =
        nytp_find_call_of(&walker->reading, walker->memory, n_calls(walker), moment->curpad);
    if (seen == NULL)
        return false;
    moment->op_type = nytp_op_type_at(walker, moment);
    found->left[0] = seen->call;
    found->left[0].site = innermost(walker, n_calls(walker))->site;
    found->n_left = 1;
    return nytp_may_be_in(walker, moment->curcop, &seen->call, true) &&
           nytp_are_still_calls(walker, found);
}

bool nytp_find_ended(struct nytp_walker *walker, struct nytp_spied_moment *moment,
                     struct nytp_found *found)
{
    *found = (struct nytp_found){.n_open = 0};
    if (!find_eval(walker))
        return false;
    found->n_open = n_calls(walker);
    const uint64_t site = innermost(walker, found->n_open)->site;
    const bool is_unknown =
        nytp_seen_with(walker->memory, moment->curpad, walker->reading.stack) == NULL;
    if (moment->curcop == site) { /* compiled, and it has not begun */
        found->n_open--;
        return is_unknown &&
               nytp_may_be_in(walker, site, innermost(walker, found->n_open), false);
    }
    if (moment->curcop != address_of_compiling(walker) &&
        nytp_is_in_some_sub(walker, moment->curcop))
        return is_with_call(walker, moment, found);
    moment->op = 0;
    moment->op_type = 0;
    moment->curcop = site;
    return is_unknown;
}

bool nytp_find_compiled(struct nytp_walker *walker, int32_t end_both, struct nytp_found *found)
{
    const bool is_found = find_eval(walker);
    *found = (struct nytp_found){.n_open = n_calls(walker)};
    if (is_found)
        return true;
    if (!nytp_find_innermost(walker, end_both, found))
        return false;
    const struct nytp_call *const top = innermost(walker, found->n_open);
    return top != NULL && nytp_is_eval(top);
}

bool nytp_is_compiled_yet(struct nytp_walker *walker, const struct nytp_call *call)
{
    const struct nytp_layout *const layout = walker->names->perl->layout;
    const struct nytp_stack_info *const info = &walker->look.infos[0];
    const uint64_t context =
        info->contexts + (uint64_t)(uint32_t)call->place * (uint64_t)layout->cx_size;
    uint64_t in_use = 0, site = 0, curcop = 0;
    int32_t top = -1;
    const struct nytp_piece pieces[] = {
        {walker->look.of.at[NYTP_PL_curstackinfo], &in_use, sizeof in_use},
        {walker->look.of.at[NYTP_PL_curcop], &curcop, sizeof curcop},
        {info->address + (uint64_t)layout->si_cxix, &top, sizeof top},
        {context + (uint64_t)layout->cx_oldcop, &site, sizeof site}};
    const size_t n = sizeof pieces / sizeof *pieces;
    return nytp_memory_scattered(walker->names->perl->memory, pieces, n) == n &&
           in_use == info->address && curcop == address_of_compiling(walker) &&
           top == call->place && site == call->site;
}
