/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * When most of a process's memory was in use, by samples, and which of them were in use then:
 * known to the sample, since they are told in their order.
 */
#ifndef NYTP_MEMORY_PEAK_H
#define NYTP_MEMORY_PEAK_H

#include "builder_state.h"

/* Where the process in progress is on its axis of time, as recorded. */
int64_t nytp_memory_ticks_now(const struct nytp_builder *builder);

/* A sample has been added that is in use now: is there more than ever in this process? */
void nytp_memory_peak_note(struct nytp_builder *builder);

/* The process in progress ends: note its peak in it, and in the samples of that. */
void nytp_memory_peak_end(struct nytp_builder *builder);

#endif
