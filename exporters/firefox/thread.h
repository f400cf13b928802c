/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A process as threads of the Firefox Profiler's format. The timeline has one weighted sample
 * for each stretch of time with the same stack, and one of no length at its end. The totals
 * are exact to the line and have one sample per distinct stack; their positions on the time
 * axis mean nothing. Labels (DB::label) are markers of the timeline, named by their key.
 * Allocations of stacks are in the totals.
 */
#ifndef NYTP_FIREFOX_THREAD_H
#define NYTP_FIREFOX_THREAD_H

#include "exporters/base/exporter.h"

/* The data of threads. Pointers are borrowed. */
struct nytp_firefox_process {
    const struct nytp_profile *profile;
    uint32_t index;         /* of the process */
    const bool *is_waiting; /* by sub */
    double first_start_s;   /* of all processes: nytp_first_start_s() */
};

/* Both write a JSON object. Return false if memory is out. Some processes have only totals. */
bool nytp_firefox_put_timeline(const struct nytp_firefox_process *of, struct nytp_out *out);

/* `is_second`: the process also has a timeline, before it. */
bool nytp_firefox_put_totals(const struct nytp_firefox_process *of,
                             const struct nytp_export_options *user, bool is_second,
                             struct nytp_out *out);

#endif
