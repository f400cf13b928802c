/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * How a profile (model.h) is made of one input. Whoever reads an input makes a builder, gives
 * its sink to nytp_read(), and finishes it, also when the reading failed halfway:
 *
 *     struct nytp_builder *builder = nytp_builder_new(&options, path, &error);
 *     bool whole = nytp_read(source, NULL, nytp_builder_sink(builder), &read_error);
 *     profile = nytp_builder_finish(builder, whole ? NULL : &read_error, &error);
 *
 * builder_state.h has the builder's members, for the files of this folder only.
 * nytp_builder_finish() is in build.h.
 */
#ifndef NYTP_BUILDER_H
#define NYTP_BUILDER_H

#include "build_options.h"
#include "formats/base/error.h"
#include "formats/stream/event.h"
#include "formats/model/model.h"

struct nytp_builder;

/* A builder for one input. The options are copied; `path` is the name of the input as the
 * profile shall tell it, and is copied, too. NULL with *error set when memory is out. */
struct nytp_builder *nytp_builder_new(const struct nytp_build_options *options,
                                      const char *path, struct nytp_error *error);

/* Where the events of the input go. It belongs to the builder. */
struct nytp_sink *nytp_builder_sink(struct nytp_builder *builder);

/* The input has ended: calls that are held back (accept_waits.h) pass. False with the builder's
 * error set: memory or a limit is out. */
bool nytp_builder_settle_calls(struct nytp_builder *builder);

/* Frees a builder without making a profile. Accepts NULL. */
void nytp_builder_free(struct nytp_builder *builder);

#endif
