/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Finds the stack of a sort's block; see sort.h.
 */
#include "sort.h"

/* The number of calls that are not on the stack in use. */
static uint32_t count_below(const struct nytp_reading *reading)
{
    uint32_t n = nytp_calls_n(&reading->calls);
    while (n > 0 && nytp_calls_at(&reading->calls, n - 1)->stack == reading->stack)
        n--;
    return n;
}

/* A pad that was seen on the sort's own stack is that of a sub that the block calls. The calls
 * of the stack below may have returned since. */
bool nytp_find_in_sort(const struct nytp_reading *reading, const struct nytp_stack_below *below,
                       struct nytp_call_memory *memory, struct nytp_found *found)
{
    const uint32_t n = nytp_calls_n(&reading->calls), n_below = count_below(reading);
    const bool is_known = nytp_find_stack(reading, memory, found);
    const bool is_called = nytp_seen_with(memory, reading->pad, reading->stack) != NULL;
    if (is_known)
        found->is_sort = !is_called && found->n_left == 0 && nytp_found_n(found) == n_below;
    if (is_known || is_called || n_below < n || below->stack == 0)
        return is_known;
    struct nytp_reading again = *reading;
    again.stack = below->stack;
    again.top = below->top;
    again.n_learned = n;
    const bool is_sort = nytp_find_stack(&again, memory, found);
    found->is_sort = is_sort;
    return is_sort;
}
