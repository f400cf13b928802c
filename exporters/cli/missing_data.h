/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Data that an exporter would use and a recording lacks, such as call events for a time line. A
 * message names the option to record with. Each reason is reported once, however many inputs
 * there are.
 */
#ifndef NYTP_MISSING_DATA_H
#define NYTP_MISSING_DATA_H

#include "exporters/base/exporter.h"

#define NYTP_LACK_REASONS 9

/* Zeroed = nothing is lacking. */
struct nytp_missing_data {
    struct {
        const char *path; /* the first input for which the reason holds */
        uint32_t n_inputs;
        bool is_known; /* that input has the option's value */
    } of[NYTP_LACK_REASONS];
};

/* Note what one input lacks. `path` must live as long as `missing`. */
void nytp_missing_data_add(struct nytp_missing_data *missing,
                           const struct nytp_exporter *exporter,
                           const struct nytp_profile *profile, const char *path);

/* Other words are said of sources. */
void nytp_missing_data_forget_sources(struct nytp_missing_data *missing);

/* Write a reason's message, one line without its end; false when the reason does not hold. */
bool nytp_missing_data_message(const struct nytp_missing_data *missing, size_t reason,
                               char *text, size_t size);

#endif
