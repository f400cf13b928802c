/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * SUB_INFO records: where the subs are.
 */
#ifndef NYTP_INFOS_H
#define NYTP_INFOS_H

#include "state.h"

/* What is known by now; all when the profile is being closed. */
void nytp_infos_write(pTHX_ struct nytp_recorder *rec, bool closing);
void nytp_infos_write_known(struct nytp_recorder *rec); /* what needs no look at perl */

/* Subs that are not in use are about to be freed. */
void nytp_infos_forget_unused(struct nytp_recorder *rec);

#endif
