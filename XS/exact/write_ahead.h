/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Work before a call that may block: a program that hangs in it and is killed should show
 * where. So the buffer is written to disk with the names of open calls, which otherwise only
 * their returns give (formats/stream/comments/open_calls.h). calls.c calls this for builtins
 * that may wait, and for xsubs and builtins whose last call took long.
 */
#ifndef NYTP_WRITE_AHEAD_H
#define NYTP_WRITE_AHEAD_H

#include "XS/perl/perl_compat.h"

struct nytp_recorder;

/* The innermost call, just entered, may block. Does nothing with flush=0, or if such flushes
 * have taken too much time lately (stream.h). */
void nytp_write_ahead(pTHX_ struct nytp_recorder *rec) NYTP_COLD;

/* Notes that the current file has the names of the frames up to this serial. */
void nytp_recorded_serial_set(struct nytp_recorder *rec, uint32_t serial);

#endif
