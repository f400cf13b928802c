/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The curve of a process's memory while the input is read: what was in core where a comment
 * tells it, and what was in use there by the samples and values (SVs) told so far.
 */
#ifndef NYTP_MEMORY_POINTS_H
#define NYTP_MEMORY_POINTS_H

#include "builder_state.h"

/* A comment tells that so many bytes are in core. False with the builder's error set. */
bool nytp_memory_points_note(struct nytp_builder *builder, int64_t resident);

/* The points become the profile's; none lies behind the end of its process. */
void nytp_memory_points_take(struct nytp_builder *builder, struct nytp_profile *p);

#endif
