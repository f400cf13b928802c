/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Puts the events of a recording into the structures of data.h. Include perl.h before it.
 */
#ifndef NYTP_DATA_EVENTS_H
#define NYTP_DATA_EVENTS_H

#include "data.h"

extern const struct nytp_sums_at nytp_sums_of_sub, nytp_sums_of_call;

/* Sets the callbacks of `sink`. */
void nytp_data_set_sink(struct nytp_data *data);

/* Returns the slot of a line, whose array grows as needed, or NULL with data->error set. */
struct nytp_data_time *nytp_data_time_at(struct nytp_data *data, struct nytp_data_lines *lines,
                                         U32 line);

/* Adds the sums of one array to those of another. */
void nytp_data_add_sums(pTHX_ AV *into, AV *from, const struct nytp_sums_at *at);

/* Returns the hash under a decimal key, made if absent. */
HV *nytp_data_hash_under(pTHX_ HV *hash, U32 number);

/* Returns the calls of a sub, SUB_CALLED_BY, made if absent. */
HV *nytp_data_called_by(pTHX_ AV *sub);

/* Returns a new text, which is UTF-8 for perl if the recording says so and it is. */
SV *nytp_data_new_text(pTHX_ struct nytp_str text);

#endif
