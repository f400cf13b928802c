/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Memory that a process or its parent allocated before the recording began and still has in
 * use. The recorder of an earlier file reports it (formats/stream/comments/bytes_records.h).
 * It has calls of its own, which lie in none of the open ones. They become contexts when the
 * process ends, because open calls may until then turn out to be deeper than they seem
 * (callstack.h).
 */
#ifndef NYTP_IN_USE_BEFORE_H
#define NYTP_IN_USE_BEFORE_H

#include "builder_state.h"

#include "formats/stream/comments/bytes_records.h"

/* A call is told, whose calling place is in this file. One that does not follow those that were
 * told is passed over. False with the builder's error set; here and below. */
bool nytp_in_use_before_call(struct nytp_builder *builder, const struct nytp_in_use_call *call,
                             uint32_t file);

/* A sample is told, which is in the tree and belongs to none of its nodes. */
bool nytp_in_use_before_block(struct nytp_builder *builder,
                              const struct nytp_bytes_record *record, uint32_t file,
                              uint32_t sample);

/* The process in progress ends. */
bool nytp_in_use_before_book(struct nytp_builder *builder);

void nytp_in_use_before_free(struct nytp_builder *builder);

#endif
