/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Before a call that may block: a program that hangs in it and is killed is to show where. So
 * what was recorded is put on disk with the names of the open calls, which else only their
 * returns tell (formats/stream/comments/open_calls.h). calls.c calls this for builtins that may
 * wait, and for xsubs and builtins whose last call took long.
 */
#ifndef NYTP_WRITE_AHEAD_H
#define NYTP_WRITE_AHEAD_H

#include "XS/perl/perl_compat.h"

struct nytp_recorder;

/* The innermost call, just entered, may block. Nothing happens if flushes of this kind have
 * taken too much time lately (stream.h), or with flush=0. */
void nytp_write_ahead(pTHX_ struct nytp_recorder *rec) NYTP_COLD;

/* In the file that is written from now on, the frames up to this serial have told their names.
 */
void nytp_told_serial_set(struct nytp_recorder *rec, uint32_t serial);

#endif
