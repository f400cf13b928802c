/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Recorded moments as numbers, one in a line, its parts ended by semicolons. Addresses are numbers from 8 up, the same for the same
 * address of a file; odd ones stay odd.
 *     m PAD STACK MAIN_PAD MAIN_LIST LASTING THERE FAR LEARNED TOP INTERRUPTION
 *     c CODE SITE PAD LIST CALLER STACK ROOT PLACE DEPTH KIND HIDDEN     a call, outermost first
 *     p CODE PAD DEPTH ANSWER        a question: has_pad
 *     i STATEMENT CODE OTHERWISE ANSWER   is_in
 *     s PLACE ANSWER                 site_at
 *     l STATEMENT ANSWER             line_of
 *     r CALLER STACK PLACE LINE      the last call was remembered outside of the search
 *     f FOUND CODE SITE CODE SITE …  the stack that was found, outermost first
 */
#ifndef NYTP_T_MOMENTS_H
#define NYTP_T_MOMENTS_H

#include "sampling/find.h"

#include <inttypes.h>

#define NYTP_MOMENT_LINE                                                                       \
    "m %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64                                           \
    " %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNd32 " %d"
#define NYTP_CALL_LINE                                                                         \
    "c %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64                   \
    " %" SCNu64 " %" SCNd32 " %" SCNd32 " %" SCNu32 " %d"

#endif
