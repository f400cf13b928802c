/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What an exporter would use and a recording does not hold, such as call events for a time
 * line, so that the user can be told which option to record with. Each reason is told once,
 * however many inputs there are.
 */
#ifndef NYTP_LACKS_H
#define NYTP_LACKS_H

#include "exporters/base/exporter.h"

#define NYTP_LACK_REASONS 7

/* Zeroed = nothing is lacking. */
struct nytp_lacks {
    struct {
        const char *path; /* the first input for which the reason holds */
        uint32_t n_inputs;
    } of[NYTP_LACK_REASONS];
};

/* Note what one input lacks. `path` must live as long as the lacks. */
void nytp_lacks_add(struct nytp_lacks *lacks, const struct nytp_exporter *exporter,
                    const struct nytp_profile *profile, const char *path);

/* Write a reason's message, one line without its end; false when the reason does not hold. */
bool nytp_lacks_message(const struct nytp_lacks *lacks, size_t reason, char *text, size_t size);

#endif
