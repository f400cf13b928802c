/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Makes a summary (summary_store.h) of the events of one input.
 */
#ifndef NYTP_SUMMARY_H
#define NYTP_SUMMARY_H

#include "summary_store.h"

/* Returns NULL if memory is out. */
struct nytp_summary *nytp_summary_new(void);

/* Sorts the files, finds the file that ran each eval, sums the subs. Returns false with
 * summary->error set. */
bool nytp_summary_finish(struct nytp_summary *summary);

#endif
