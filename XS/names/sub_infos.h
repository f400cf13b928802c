/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * SUB_INFO records: for each sub the file and the lines that it was compiled in. They are
 * written from the queue (info_queue.h), now and then while the program runs and all at its
 * end, for readers need them before a sub's lines make sense. Xsubs and builtins have no lines:
 * they are shown in a file of their package, which only the end can choose.
 */
#ifndef NYTP_SUB_INFOS_H
#define NYTP_SUB_INFOS_H

#include "XS/perl/index.h"
#include "XS/perl/perl_compat.h"

struct nytp_recorder;

/* The part of the state that sub_infos.c writes. */
struct nytp_rec_sub_infos {
    struct nytp_index packages; /* while what only the end tells is written; else empty */
};

/* Write what is known by now; all when the profile is being closed. */
void nytp_sub_infos_write(pTHX_ struct nytp_recorder *rec, bool closing);

/* Write what needs no look at perl and no memory: for signals. */
void nytp_sub_infos_write_known(struct nytp_recorder *rec);

void nytp_sub_infos_free(struct nytp_recorder *rec);

#endif
