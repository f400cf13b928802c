/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later */
#ifndef NYTP_MERGE_EVALS_H
#define NYTP_MERGE_EVALS_H

#include "formats/model/model.h"

/* String evals that one line ran become one file "(eval 0)[...]", and their subs of one name
 * become one sub: the numbers of evals differ from run to run and from process to process, and
 * hide that it is the same code. */
bool nytp_merge_evals(struct nytp_profile *profile, struct nytp_error *error);

#endif
