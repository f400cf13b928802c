/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A sink that passes on the events under some labels, as if nothing else had been recorded. A
 * call has the time that it had under them, and counts if it begins under them. A process whose
 * label of the whole profile fits is passed on as it is.
 *
 * Labels of a whole profile may come at its end, so that inputs are read twice: first by the
 * scan, which tells what of each process is wanted.
 */
#ifndef NYTP_LABEL_SELECTION_H
#define NYTP_LABEL_SELECTION_H

#include "formats/stream/event.h"

#include <stdbool.h>

struct nytp_label_selection;

/* There are up to 32 conditions, bit 0 to `n - 1`, all of which have to hold. Gives those of
 * this key that hold for the value, and in *of_key all of this key. */
typedef uint32_t nytp_label_match_fn(void *context, struct nytp_str key, struct nytp_str value,
                                     uint32_t *of_key);

/* Returns NULL if memory is out. */
struct nytp_label_selection *nytp_label_selection_new(unsigned n, nytp_label_match_fn *match,
                                                      void *context);
void nytp_label_selection_free(struct nytp_label_selection *selection);

/* For the first reading of an input, from its begin to its end. */
struct nytp_sink *nytp_label_selection_scan(struct nytp_label_selection *selection);

/* Returns whether the scan met anything that is wanted. */
bool nytp_label_selection_is_met(const struct nytp_label_selection *selection);

/* For the second reading; wanted events go to `next`. Call it again for each further recording
 * of an input: it continues after the last one. */
struct nytp_sink *nytp_label_selection_sink(struct nytp_label_selection *selection,
                                            struct nytp_sink *next);

/* Returns whether parts of a process are wanted, and not all of it. */
bool nytp_label_selection_takes_parts(const struct nytp_label_selection *selection);

/* Returns whether any of this recording is or may be wanted: no process began in it. */
bool nytp_label_selection_has_passed(const struct nytp_label_selection *selection);

#endif
