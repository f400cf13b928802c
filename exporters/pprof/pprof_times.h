/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Time and duration of the recording for pprof's message.
 */
#ifndef NYTP_PPROF_TIMES_H
#define NYTP_PPROF_TIMES_H

#include "formats/model/model.h"

/* Returns the start of the first process since 1970, or 0 if unknown. */
int64_t nytp_pprof_start_nanoseconds(const struct nytp_profile *profile);

/* Returns the time from the first start, `start`, to the last end. For a single process it is
 * at least the profiled time, since pprof prints that as a percentage of it. */
int64_t nytp_pprof_duration_nanoseconds(const struct nytp_profile *profile, int64_t start);

/* Returns the length of a tick, at least 1. */
int64_t nytp_pprof_tick_nanoseconds(const struct nytp_profile *profile);

#endif
