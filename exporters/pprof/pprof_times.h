/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * When a profile was recorded and for how long, as pprof's message has it.
 */
#ifndef NYTP_PPROF_TIMES_H
#define NYTP_PPROF_TIMES_H

#include "formats/model/model.h"

/* When the first process started, since 1970; 0 when no recording tells. */
int64_t nytp_pprof_start_nanoseconds(const struct nytp_profile *profile);

/* How long that is from the first start, `start`, to the last end. For a single process it is
 * at least its profiled time, since pprof prints that as a percentage of this. */
int64_t nytp_pprof_duration_nanoseconds(const struct nytp_profile *profile, int64_t start);

/* How long a tick of the clock is, at least 1. */
int64_t nytp_pprof_tick_nanoseconds(const struct nytp_profile *profile);

#endif
