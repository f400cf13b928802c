/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Adds the times of statements to their lines.
 */
#ifndef NYTP_SUMMARY_TIMES_H
#define NYTP_SUMMARY_TIMES_H

#include "summary_store.h"

/* Adds a time record of a known file. Returns false with the summary's error set. */
bool nytp_summary_add_time(struct nytp_summary *summary, uint32_t file,
                           const struct nytp_event *event);

/* The sink's function for runs of them. */
bool nytp_summary_add_statements(struct nytp_sink *sink, const struct nytp_run *run,
                                 uint64_t offset);

#endif
