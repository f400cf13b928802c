/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Allocated memory beside the stacks of a tree that shows something else.
 */
#ifndef NYTP_STACK_BYTES_H
#define NYTP_STACK_BYTES_H

#include "stacktree.h"

struct nytp_stack_bytes {
    int64_t allocated, in_use; /* its own bytes, at least 0 */
};

/* By stack of `tree`, which is of the same profile, process and options, by time. NULL when
 * memory is out; the caller frees it. */
struct nytp_stack_bytes *nytp_stack_bytes_new(const struct nytp_profile *profile,
                                              const struct nytp_export_options *options,
                                              uint32_t process,
                                              const struct nytp_stacktree *tree);

#endif
