/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A profile file: its name, its header, its end, and what is said about it.
 */
#ifndef NYTP_PROFILE_H
#define NYTP_PROFILE_H

#include "state.h"

/* The name as given, absolute, so that a child finds the place after a chdir. */
void nytp_profile_set_path(struct nytp_recorder *rec, const char *path);
/* By option file=, which may hold placeholders. */
void nytp_profile_set_path_by_options(struct nytp_recorder *rec);

/* Open the file and write its header. False when that fails, which is said. */
bool nytp_profile_open(pTHX_ struct nytp_recorder *rec);

/* The part of the stream that only the end can tell. */
void nytp_profile_write_closing(pTHX_ struct nytp_recorder *rec);
/* As much of it as can be told inside a signal: allocates nothing. */
void nytp_profile_write_closing_without_perl(struct nytp_recorder *rec);

void nytp_profile_say_end(struct nytp_recorder *rec);
/* start=no is set where something else is to enable the profiler, which it may not do. */
void nytp_profile_say_if_never_enabled(struct nytp_recorder *rec);

#endif
