/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What the formats of several files are made from: a summary and a model from one reading, of one
 * stream. Several inputs are merged into one stream first.
 */
#ifndef NYTP_REPORT_INPUT_H
#define NYTP_REPORT_INPUT_H

#include "../../formats/core/model.h"
#include "../../formats/core/summary.h"

/* Gives every event to two sinks; stops when either does. */
struct nytp_tee {
    struct nytp_sink sink;
    struct nytp_sink *first, *second; /* second may be NULL */
};
void nytp_tee_init(struct nytp_tee *tee, struct nytp_sink *first, struct nytp_sink *second);

/* Told of an input that could not be read to its end, and what came before of it was used. */
typedef void nytp_bad_input_fn(void *context, const char *path, const struct nytp_error *error);

/* Merge the inputs into a temporary file. Its path (free() it, unlink() it), or NULL with *error set
 * when it cannot be written. */
char *nytp_merge_inputs(char *const *paths, int n, nytp_bad_input_fn *bad, void *context,
                        struct nytp_error *error);

#endif
