/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Samples: which thread takes them, where they wait to be told, and what happens when a sampled
 * block is freed.
 */
#ifndef NYTP_MALLOC_SAMPLES_H
#define NYTP_MALLOC_SAMPLES_H

#include "addresses.h"
#include "interface.h"

#include <stdatomic.h>
#include <stddef.h>

/* The thread's next block of at least as many bytes is sampled. A thread that takes no samples
 * has more than it can ever use up. The model of its storage lets it be reached without a call.
 */
extern NYTP_OWN _Thread_local uint64_t nytp_bytes_to_sample
    __attribute__((tls_model("initial-exec")));

/* The thread has used up its distance with this block. */
void nytp_sample_made(void *block, size_t size);

/* This block, which may be there, is about to be freed. Its sample, for one of the two below;
 * NULL: it is not sampled. */
static inline struct nytp_sample *nytp_sample_of_freed(const void *block)
{
    return nytp_filter_may_hold(block) ? nytp_address_take(block) : NULL;
}

void nytp_sample_freed(struct nytp_sample *sample);
void nytp_sample_not_freed(const void *block, struct nytp_sample *sample);

#endif
