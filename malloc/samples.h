/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Samples: taking them, queueing them, and noticing that a sampled block is freed.
 */
#ifndef NYTP_MALLOC_SAMPLES_H
#define NYTP_MALLOC_SAMPLES_H

#include "addresses.h"
#include "interface.h"

#include <stdatomic.h>
#include <stddef.h>

/* Bytes until the thread's next sample. A thread that takes no samples has more than it can
 * ever use up. The TLS model makes it accessible without a call. */
extern NYTP_OWN _Thread_local uint64_t nytp_bytes_to_sample
    __attribute__((tls_model("initial-exec")));

/* Call when this block has used up the thread's distance. */
void nytp_sample_made(void *block, size_t size);

/* Call before freeing a block (or NULL). Returns its sample, for one of the two functions
 * below, or NULL if it has none. */
static inline struct nytp_sample *nytp_sample_of_freed(const void *block)
{
    return nytp_filter_may_hold(block) ? nytp_address_take(block) : NULL;
}

void nytp_sample_freed(struct nytp_sample *sample);
void nytp_sample_not_freed(const void *block, struct nytp_sample *sample);

#endif
