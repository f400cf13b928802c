/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What a process, or a parent of it, allocated before its recording began, and what is in use
 * still, as an earlier file's recorder knew it (formats/stream/comments/bytes_records.h). It
 * has calls of its own, which become contexts when the process ends: until then the calls that
 * are open may turn out to lie deeper than they seem (callstack.h), and these do not lie in
 * them.
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
