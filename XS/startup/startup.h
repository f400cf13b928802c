/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Watches what a program loads, for nytp startup: each file that is required or done and each
 * BEGIN block is a stretch of time inside the one that it came from, so that the stretches' own
 * times add up to the whole. The ops keep their meaning; nothing stands on perl's stack of
 * callers that the program could see.
 *
 * At the end of the program a file of lines is written, their fields separated by tabs; bytes
 * up to space, 127 and '%' are %XX:
 *   file|begin|hit NUMBER PARENT BEGAN_NS ENDED_NS SVS NAME ASKER LINE PATH MISSES
 *   sub FILE            for each named sub that was defined in Perl
 *   end
 * Number 0 is the whole, its own parent. A hit is a require of what is loaded already. ASKER
 * and LINE are where it was asked for, PATH is empty where loading failed, MISSES counts the
 * entries of @INC that were looked at in vain.
 */
#ifndef NYTP_STARTUP_H
#define NYTP_STARTUP_H

#include "XS/perl/perl_compat.h"

/* Begin now; what is found goes to the file `path`. */
void nytp_startup_watch(pTHX_ const char *path);

/* The time ends here. Without this call it does with the program. */
void nytp_startup_stop(pTHX);

#endif
