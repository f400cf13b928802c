/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Measures what a program loads, for `nytp startup`. Each file that is required or done and
 * each BEGIN block is a stretch of time inside the one that it came from, so that their own
 * times add up to the whole. Ops keep their meaning, and nothing appears on perl's stack of
 * callers.
 *
 * At the end of the program a file of lines is written, with fields separated by tabs. Bytes up
 * to space, 127 and '%' are %XX:
 *   file|begin|hit NUMBER PARENT BEGAN_NS ENDED_NS SVS NAME ASKER LINE PATH MISSES
 *   sub FILE            for each named sub that was defined in Perl
 *   end
 * Number 0 is the whole, its own parent. A hit is a require of a loaded file. ASKER and LINE
 * are the place of the request. PATH is empty if loading failed. MISSES counts the @INC entries
 * tried in vain.
 */
#ifndef NYTP_STARTUP_H
#define NYTP_STARTUP_H

#include "XS/perl/perl_compat.h"

/* Begins now; results go to the file `path`. */
void nytp_startup_watch(pTHX_ const char *path);

/* Ends the time now, not at the program's end. */
void nytp_startup_stop(pTHX);

#endif
