/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Times of statements on their lines.
 */
#ifndef NYTP_SUMMARY_TIMES_H
#define NYTP_SUMMARY_TIMES_H

#include "summary_store.h"

/* A time record of a file that is known; a run of them, for the sink. */
bool nytp_summary_add_time(struct nytp_summary *summary, uint32_t file,
                           const struct nytp_event *event);
bool nytp_summary_add_statements(struct nytp_sink *sink, const struct nytp_run *run,
                                 uint64_t offset);

#endif
