/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Time and duration of the recording; see pprof_times.h. For several inputs it is the span
 * from the first start to the last end.
 */
#include "pprof_times.h"

#include "formats/base/units.h"

/* Converts seconds of a clock to nanoseconds; 0 if they are no time of day. */
static int64_t nanoseconds(double seconds)
{
    return seconds > 0 && seconds < 9e9 ? (int64_t)(seconds * 1e9) : 0;
}

int64_t nytp_pprof_start_nanoseconds(const struct nytp_profile *profile)
{
    int64_t start = 0;
    for (uint32_t i = 0; i < profile->n_processes; i++) {
        const struct nytp_process *process = &profile->processes[i];
        int64_t s = nanoseconds(process->start_s);
        if (s == 0)
            s = nanoseconds(profile->recordings[process->recording].basetime_s);
        if (s != 0 && (start == 0 || s < start))
            start = s;
    }
    return start;
}

int64_t nytp_pprof_duration_nanoseconds(const struct nytp_profile *profile, int64_t start)
{
    int64_t end = 0;
    for (uint32_t i = 0; i < profile->n_processes; i++) {
        const int64_t s = nanoseconds(profile->processes[i].end_s);
        end = s > end ? s : end;
    }
    struct nytp_scale scale;
    nytp_scale_init(&scale, nytp_unit_find("ns"), profile->ticks_per_sec);
    const int64_t total = nytp_scale_once(&scale, profile->total_ticks);
    const int64_t wall = end > start && start > 0 ? end - start : 0;
    return wall > total || (profile->n_processes > 1 && wall > 0) ? wall : total;
}

int64_t nytp_pprof_tick_nanoseconds(const struct nytp_profile *profile)
{
    const int64_t ns = profile->ticks_per_sec > 0 ? 1000000000 / profile->ticks_per_sec : 0;
    return ns > 0 ? ns : 1;
}
