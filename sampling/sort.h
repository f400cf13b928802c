/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Finds the stack of a moment in which a sort's stack was in use. The block of a sort has the
 * pad of the call that the sort stands in, on the stack below.
 */
#ifndef NYTP_SAMPLING_SORT_H
#define NYTP_SAMPLING_SORT_H

#include "find.h"

struct nytp_stack_below {
    uint64_t stack; /* 0: not known */
    int32_t top;
};

/* As nytp_find_stack(); the stack in use is a sort's. Sets found->is_sort. */
bool nytp_find_in_sort(const struct nytp_reading *reading, const struct nytp_stack_below *below,
                       struct nytp_call_memory *memory, struct nytp_found *found);

#endif
