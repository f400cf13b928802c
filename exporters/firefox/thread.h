/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A process as threads of the Firefox Profiler's format: the timeline, one weighted sample for
 * each stretch of time in which the stack is the same, and one of no length at its end; and the
 * totals, exact to the line, one sample per distinct stack, where positions on the time axis
 * mean nothing. Labels (DB::label) are markers of the timeline, named by their key; what stacks
 * allocated is in the totals.
 */
#ifndef NYTP_FIREFOX_THREAD_H
#define NYTP_FIREFOX_THREAD_H

#include "exporters/base/exporter.h"

/* What threads are made of. Pointers are borrowed. */
struct nytp_firefox_process {
    const struct nytp_profile *profile;
    uint32_t index;         /* of the process */
    const bool *is_waiting; /* by sub */
    double first_start_s;   /* of all processes: nytp_first_start_s() */
};

/* Each writes a JSON object; false when memory is out. A process without a timeline has totals
 * alone. */
bool nytp_firefox_put_timeline(const struct nytp_firefox_process *of, struct nytp_out *out);

/* `is_second`: behind the timeline of the same process. */
bool nytp_firefox_put_totals(const struct nytp_firefox_process *of,
                             const struct nytp_export_options *user, bool is_second,
                             struct nytp_out *out);

#endif
