/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What the formats of several files are made from: a summary and a model from one reading, of
 * one stream. Several inputs are merged into one stream first.
 */
#ifndef NYTP_REPORT_INPUT_H
#define NYTP_REPORT_INPUT_H

#include "formats/model/model.h"
#include "formats/by_position/summary.h"

/* Gives every event to two sinks; stops when either does. The first one gets no statements
 * without a file: tmon.out has time that no line is known of.
 *
 * Where only what recording cost needs the second, it is left out from the first statement on
 * if no process has told its costs by then. Should one tell them later, `late_costs` says that
 * the input is to be read again. */
struct nytp_tee {
    struct nytp_sink sink;
    struct nytp_sink *first, *second; /* second may be NULL */
    bool only_for_costs;              /* set after nytp_tee_init() */
    bool has_costs, left_out, late_costs;
};
void nytp_tee_init(struct nytp_tee *tee, struct nytp_sink *first, struct nytp_sink *second);

/* A summary of subs and calls made from the model, for recordings that hold no sums of their
 * own (tmon.out). NULL when memory is out. */
struct nytp_summary *nytp_summary_of_profile(const struct nytp_profile *profile);

/* Add them to a summary that is not finished yet. False when memory is out. */
bool nytp_summary_add_profile(struct nytp_summary *summary, const struct nytp_profile *profile);

/* Told of an input that could not be read to its end, and what came before of it was used. */
typedef void nytp_bad_input_fn(void *context, const char *path, const struct nytp_error *error);

/* Merge the inputs into a temporary file. Its path (free() it, unlink() it), or NULL with
 * *error set when it cannot be written. */
char *nytp_merge_inputs(char *const *paths, int n, nytp_bad_input_fn *bad, void *context,
                        struct nytp_error *error);

#endif
