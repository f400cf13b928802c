/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Merges the string evals of one place.
 */
#ifndef NYTP_SUMMARY_EVALS_H
#define NYTP_SUMMARY_EVALS_H

#include "summary_store.h"

/* Merges sibling string evals (formats/model/sibling_evals.h). The lowest file id stays and
 * takes over calls, subs and times of lines, not of blocks and subs. Anonymous subs of the same
 * line of merged evals become one. */
bool nytp_summary_merge_evals(struct nytp_summary *summary, uint32_t max_siblings);

#endif
