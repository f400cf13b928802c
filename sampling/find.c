/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Finds the stack of one moment; see find.h and formats/sampling.md.
 */
#include "find.h"

enum {
    MOST_LOOKED = 512, /* innermost calls that are looked through */
    MOST_BLOCKS = 8,   /* contexts that a call has above its own */
    MOST_ABOVE = 8,    /* places above the top, at which a call was that has returned */
};

/* The steps below share this. */
struct search {
    const struct nytp_reading *reading;
    const struct nytp_call_memory *memory;
    struct nytp_found *found;
};

static const struct nytp_call *call_at(const struct nytp_reading *reading, uint32_t i)
{
    return nytp_calls_at(&reading->calls, i);
}

static bool is_in(const struct nytp_reading *reading, uint64_t statement, uint32_t n,
                  bool otherwise)
{
    if (reading->facts->is_in == NULL)
        return true;
    return reading->facts->is_in(reading, statement, n > 0 ? call_at(reading, n - 1) : NULL,
                                 otherwise);
}

/* The code of the innermost of `n` calls as a caller (call_memory.h); 0: not known. */
static uint64_t caller_of(const struct nytp_reading *reading, uint32_t n)
{
    if (n == 0)
        return NYTP_CALLER_MAIN;
    const struct nytp_call *const call = call_at(reading, n - 1);
    return nytp_is_eval(call) ? call->site | 1 : call->pad;
}

static bool is_known_by_statement(uint64_t caller)
{
    return (caller & 1) != 0;
}

static struct nytp_seen_call seen_call_at(const struct nytp_reading *reading, uint32_t i)
{
    const struct nytp_call *const below = i > 0 ? call_at(reading, i - 1) : NULL;
    struct nytp_seen_call seen = {.call = *call_at(reading, i),
                                  .caller = caller_of(reading, i),
                                  .caller_stack = below != NULL ? below->stack : 0,
                                  .caller_place = below != NULL ? below->place : -1};
    if (is_known_by_statement(seen.caller) && reading->facts->line_of != NULL) {
        seen.line = reading->facts->line_of(reading, seen.call.site);
        seen.call.site = 0;
    }
    return seen;
}

/* ---- links ---- */

/* Returns whether the context of call i names the caller that is read below it: perl writes the
 * callee and the caller's pad into it at once, and both are read in one piece. */
static bool names_caller(const struct nytp_reading *reading, uint32_t i)
{
    const uint64_t below = i > 0 ? call_at(reading, i - 1)->list : reading->main_list;
    return below != 0 && call_at(reading, i)->caller == below;
}

static bool says_caller(const struct nytp_reading *reading, uint32_t i)
{
    return call_at(reading, i)->caller != 0;
}

/* The next level of a recursion, from the same statement as the level below. */
static bool is_next_level(const struct nytp_reading *reading, uint32_t i)
{
    const struct nytp_call *const call = call_at(reading, i);
    const struct nytp_call *const below = i > 0 ? call_at(reading, i - 1) : NULL;
    return below != NULL && below->code == call->code && below->depth + 1 == call->depth &&
           below->site == call->site && below->stack == call->stack;
}

/* Returns whether call i was made by call i - 1. */
static bool is_link(const struct search *search, uint32_t i)
{
    const struct nytp_reading *const reading = search->reading;
    if (i < reading->n_lasting)
        return true;
    const bool is_doubtful = call_at(reading, i)->is_doubtful;
    if (says_caller(reading, i) && !is_doubtful)
        return names_caller(reading, i);
    const struct nytp_seen_call seen = seen_call_at(reading, i);
    return nytp_seen_same(search->memory, &seen) != NULL ||
           (is_next_level(reading, i) && !is_doubtful);
}

/* The lowest of the links that hold, down from that of call end - 1; n_lasting: all do. */
static uint32_t first_link(const struct search *search, uint32_t end)
{
    while (end > search->reading->n_lasting && is_link(search, end - 1))
        end--;
    return end;
}

/* ---- learning ---- */

/* A call at the top may be shown with the statement of the next one. */
static bool is_complete(const struct nytp_reading *reading, uint32_t i)
{
    const struct nytp_call *const call = call_at(reading, i);
    return i < reading->n_lasting || call->stack != reading->stack ||
           call->place < reading->top;
}

static bool is_certain(const struct search *search, uint32_t i, int64_t hit)
{
    const struct nytp_reading *const reading = search->reading;
    if (i < reading->n_lasting && (int64_t)i <= hit)
        return !says_caller(reading, i) || names_caller(reading, i);
    return says_caller(reading, i) && names_caller(reading, i) &&
           !call_at(reading, i)->is_doubtful;
}

static void learn(const struct search *search, struct nytp_call_memory *memory, uint32_t i,
                  int64_t hit)
{
    const struct nytp_reading *const reading = search->reading;
    const struct nytp_call *const call = call_at(reading, i);
    const struct nytp_call *const below = i > 0 ? call_at(reading, i - 1) : NULL;
    const uint64_t caller = caller_of(reading, i);
    const bool is_asked =
        call->kind == NYTP_FRAME_SUB && call->pad != 0 && caller != 0 &&
        (below == NULL || (below->kind != NYTP_FRAME_FORMAT && below->pad != call->pad));
    if (!is_asked || !is_certain(search, i, hit) ||
        (!is_complete(reading, i) &&
         nytp_seen_from(memory, call->pad, call->stack, caller) != NULL) ||
        !is_in(reading, call->site, i, true))
        return;
    const struct nytp_seen_call seen = seen_call_at(reading, i);
    nytp_remember_call(memory, &seen);
}

/* ---- calls that have returned ---- */

/* The number of those of the first n calls that are below this place of a stack. */
static uint32_t open_below(const struct nytp_reading *reading, uint32_t n, uint64_t stack,
                           int32_t place)
{
    while (n > 0 && call_at(reading, n - 1)->stack == stack &&
           call_at(reading, n - 1)->place >= place)
        n--;
    return n;
}

/* The place of the innermost of n calls, if it is in this stack; else -1. */
static int32_t top_of(const struct nytp_reading *reading, uint32_t n, uint64_t stack)
{
    const struct nytp_call *const call = n > 0 ? call_at(reading, n - 1) : NULL;
    return call != NULL && call->stack == stack ? call->place : -1;
}

/* The statement that made a call from memory, by the innermost of n calls. That of an eval is
 * left in the context of the call until the next one comes: so the same must have been called
 * from that line before. 0: not known. */
static uint64_t site_of(const struct search *search, const struct nytp_seen_call *seen,
                        uint32_t n)
{
    const struct nytp_reading *const reading = search->reading;
    struct nytp_seen_call wanted = *seen;
    if (seen->call.site != 0 || reading->facts->site_at == NULL || n == 0)
        return seen->call.site;
    const int32_t distance = seen->call.place - seen->caller_place;
    const uint64_t site =
        reading->facts->site_at(reading, top_of(reading, n, reading->stack) + distance);
    wanted.line = reading->facts->line_of(reading, site);
    return nytp_seen_same(search->memory, &wanted) != NULL ? site : 0;
}

/* Returns whether the innermost of n calls may have made this call, which it made before. */
static bool is_caller(const struct search *search, const struct nytp_seen_call *seen,
                      uint32_t n, struct nytp_call *call)
{
    if (seen == NULL || first_link(search, n) > search->reading->n_lasting)
        return false;
    *call = seen->call;
    call->site = site_of(search, seen, n);
    return is_in(search->reading, call->site, n, seen->call.site != 0);
}

const struct nytp_seen_call *nytp_find_call_of(const struct nytp_reading *reading,
                                               const struct nytp_call_memory *memory,
                                               uint32_t n, uint64_t pad)
{
    return nytp_seen_from(memory, pad, reading->stack, caller_of(reading, n));
}

static uint32_t fewest_looked(const struct nytp_reading *reading)
{
    const uint32_t n = nytp_calls_n(&reading->calls);
    const uint32_t fewest = n > MOST_LOOKED ? n - MOST_LOOKED : 0;
    return fewest > reading->n_far ? fewest : reading->n_far;
}

/* The innermost code that made a call with this pad before: as the number of its calls; -1:
 * none. */
static int64_t find_caller(const struct search *search, uint64_t pad, struct nytp_call *call)
{
    const uint32_t fewest = fewest_looked(search->reading);
    for (int64_t n = nytp_calls_n(&search->reading->calls); n >= fewest; n--) {
        const struct nytp_seen_call *const seen =
            nytp_find_call_of(search->reading, search->memory, (uint32_t)n, pad);
        if (is_caller(search, seen, (uint32_t)n, call))
            return n;
    }
    return -1;
}

/* Returns whether remembered calls are unchanged: perl reuses the memory of pads. */
static bool are_still_calls(const struct search *search)
{
    const struct nytp_found *const found = search->found;
    for (uint32_t i = 0; i < found->n_left; i++)
        if (!search->reading->facts->has_pad(search->reading, &found->left[i]))
            return false;
    return true;
}

static bool take_one(const struct search *search, uint32_t n, const struct nytp_call *call)
{
    search->found->n_open = n;
    search->found->left[0] = *call;
    search->found->n_left = 1;
    return are_still_calls(search);
}

/* The call has just returned to the innermost code: it was right above the top. */
static bool has_just_returned(const struct search *search)
{
    const struct nytp_reading *const reading = search->reading;
    const uint32_t n = nytp_calls_n(&reading->calls);
    const int32_t distance = reading->top + 1 - top_of(reading, n, reading->stack);
    const struct nytp_seen_call *const seen = nytp_seen_above(
        search->memory, reading->pad, reading->stack, caller_of(reading, n), distance);
    struct nytp_call call;
    return distance > 0 && is_caller(search, seen, n, &call) && take_one(search, n, &call);
}

static bool was_made_before(const struct search *search)
{
    struct nytp_call call;
    const int64_t n = find_caller(search, search->reading->pad, &call);
    return n >= 0 && take_one(search, (uint32_t)n, &call);
}

/* The call with this pad that was seen at this place, the one that was seen where that was
 * called from, and so on, down to one whose caller is still there. `is_over`: the calls at the
 * places of its callers have come since. */
static bool follow_at(const struct search *search, uint64_t pad, int32_t place, bool is_over)
{
    const struct nytp_reading *const reading = search->reading;
    struct nytp_found *const found = search->found;
    uint64_t stack = reading->stack;
    found->n_open = nytp_calls_n(&reading->calls);
    for (found->n_left = 0; found->n_left < NYTP_MOST_LEFT;) {
        found->n_open = open_below(reading, found->n_open, stack, place);
        const uint32_t n = found->n_open;
        const struct nytp_seen_call *seen =
            nytp_seen_above(search->memory, pad, stack, caller_of(reading, n),
                            place - top_of(reading, n, stack));
        struct nytp_call *const next = &found->left[found->n_left++];
        if (is_caller(search, seen, n, next))
            return are_still_calls(search);
        seen = nytp_seen_at(search->memory, pad, stack, place);
        if (seen == NULL || is_known_by_statement(seen->caller))
            return false;
        *next = seen->call;
        if (seen->caller_stack != stack) {
            if (seen->caller_place < 0 || (is_over && reading->is_interruption))
                return false;
            found->n_open = open_below(reading, found->n_open, stack, 0);
            stack = seen->caller_stack;
        }
        if (seen->caller_place <= (is_over ? -1 : top_of(reading, found->n_open, stack)))
            return false;
        pad = seen->caller;
        place = seen->caller_place;
    }
    return false;
}

/* The same wherever they were. */
static bool follow_calls(const struct search *search)
{
    struct nytp_found *const found = search->found;
    uint64_t pad = search->reading->pad;
    for (found->n_left = 0; found->n_left < NYTP_MOST_LEFT;) {
        struct nytp_call *const next = &found->left[found->n_left++];
        const int64_t n = find_caller(search, pad, next);
        if (n >= 0) {
            found->n_open = (uint32_t)n;
            return are_still_calls(search);
        }
        const struct nytp_seen_call *const seen =
            nytp_seen_with(search->memory, pad, search->reading->stack);
        if (seen == NULL || is_known_by_statement(seen->caller))
            return false;
        *next = seen->call;
        pad = seen->caller;
    }
    return false;
}

/* If calls came since in place of its callers, and have stayed, it rather was above them, and
 * was over when the top was read. */
static void prefer_above(const struct search *search)
{
    const struct nytp_reading *const reading = search->reading;
    struct nytp_found above = {.n_left = 0};
    const struct search again = {reading, search->memory, &above};
    if (reading->n_lasting <= search->found->n_open)
        return;
    for (int32_t i = 1; i <= MOST_ABOVE; i++) {
        if (!follow_at(&again, reading->pad, reading->top + i, false))
            continue;
        if (above.n_left > 1)
            *search->found = above;
        return;
    }
}

/* It was at the top, but for blocks of its own. */
static bool was_near_top(const struct search *search)
{
    const uint64_t pad = search->reading->pad;
    const int32_t top = search->reading->top;
    for (int32_t place = top; place >= 0 && place > top - MOST_BLOCKS; place--) {
        if (follow_at(search, pad, place, false))
            return true;
        if (follow_at(search, pad, place, true)) {
            prefer_above(search);
            return true;
        }
    }
    return false;
}

/* ---- the stack ---- */

static uint32_t first_to_learn(const struct nytp_reading *reading)
{
    const uint32_t fewest = fewest_looked(reading);
    return reading->n_learned > fewest ? reading->n_learned : fewest;
}

/* The number of the innermost call with this pad; -1: none of those that are looked through. */
static int64_t find_pad(const struct nytp_reading *reading, uint64_t pad)
{
    const uint32_t fewest = fewest_looked(reading);
    for (uint32_t n = nytp_calls_n(&reading->calls); n > fewest; n--)
        if (call_at(reading, n - 1)->pad == pad)
            return n - 1;
    return -1;
}

/* The calls up to `hit` are of the moment but those below the broken link of call i, which have
 * come since: a stack below that in use is read some time after it. */
static bool mend_below(const struct search *search, uint32_t i, uint32_t hit)
{
    const struct nytp_call *const call = call_at(search->reading, i);
    if (call->stack != search->reading->stack ||
        !follow_at(search, call->pad, call->place, true))
        return false;
    search->found->from = i + 1;
    search->found->end = hit + 1;
    return true;
}

/* Returns whether the calls up to `hit` are from their callers' code: one that has just come
 * may have the statement of the one before in its place. */
static bool are_in_callers(const struct nytp_reading *reading, uint32_t hit)
{
    uint32_t i = reading->n_lasting < hit ? reading->n_lasting : hit;
    while (i <= hit && is_in(reading, call_at(reading, i)->site, i, true))
        i++;
    return i > hit;
}

/* The stack whose innermost call is `hit`, in the reading. */
static bool take_hit(const struct search *search, uint32_t hit)
{
    const uint32_t first = first_link(search, hit + 1);
    if (first <= search->reading->n_lasting) {
        search->found->n_open = hit + 1;
        return are_in_callers(search->reading, hit);
    }
    return first - 1 < hit && mend_below(search, first - 1, hit);
}

/* Nothing is known of the innermost code: the calls that were there. */
static void take_there(const struct search *search)
{
    const struct nytp_reading *const reading = search->reading;
    uint32_t n = reading->n_lasting;
    while (n < reading->n_there && is_link(search, n))
        n++;
    *search->found = (struct nytp_found){.n_open = n};
}

bool nytp_find_stack(const struct nytp_reading *reading, struct nytp_call_memory *memory,
                     struct nytp_found *found)
{
    const struct search search = {reading, memory, found};
    const int64_t hit = find_pad(reading, reading->pad);
    const uint32_t n = nytp_calls_n(&reading->calls);
    *found = (struct nytp_found){.n_open = 0};
    for (uint32_t i = first_to_learn(reading); i < n; i++)
        learn(&search, memory, i, hit);
    if (hit >= 0 && take_hit(&search, (uint32_t)hit))
        return true;
    if (hit < 0 && reading->pad == reading->main_pad && reading->pad != 0) {
        found->n_open = 0;
        return true;
    }
    if (has_just_returned(&search) || was_made_before(&search) || was_near_top(&search) ||
        follow_calls(&search))
        return true;
    take_there(&search);
    return false;
}

const struct nytp_call *nytp_found_at(const struct nytp_reading *reading,
                                      const struct nytp_found *found, uint32_t i)
{
    if (i < found->n_open)
        return call_at(reading, i);
    i -= found->n_open;
    if (i < found->n_left)
        return &found->left[found->n_left - 1 - i];
    return call_at(reading, found->from + i - found->n_left);
}
