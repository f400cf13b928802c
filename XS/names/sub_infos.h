/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * SUB_INFO records: for each sub its file and lines. They are written from the queue
 * (info_queue.h) now and then, and all at the end: a sub's lines make no sense to readers
 * without them. Xsubs and builtins have no lines. They are shown in a file of their package,
 * which is chosen at the end.
 */
#ifndef NYTP_SUB_INFOS_H
#define NYTP_SUB_INFOS_H

#include "XS/perl/perl_compat.h"

struct nytp_recorder;

/* Writes all infos known by now. */
void nytp_sub_infos_write(pTHX_ struct nytp_recorder *rec);

#endif
