/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The options of a builder (build.h): what a profile keeps of its input.
 */
#ifndef NYTP_BUILD_OPTIONS_H
#define NYTP_BUILD_OPTIONS_H

#include "formats/stream/event.h"

#include <stdbool.h>
#include <stdint.h>

struct nytp_build_options {
    bool sources;       /* keep source lines */
    bool blocks;        /* keep which block and sub each line's statements were in */
    bool as_recorded;   /* take nothing off for what recording cost */
    uint32_t max_spans; /* keep a timeline of at most this many calls; 0 = none */
    bool (*spans_of)(struct nytp_name sub); /* only of calls of these subs, and of calls
                                               around one; NULL = of all */
    uint64_t max_nodes; /* limit on distinct contexts; 0 = the default limit */
};

#endif
