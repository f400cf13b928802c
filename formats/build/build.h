/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * How a profile (model.h) is made of one input. Whoever reads an input makes a builder, gives
 * its sink to nytp_read(), and finishes it, also when the reading failed halfway:
 *
 *     struct nytp_builder *builder = nytp_builder_new(&options, path, &error);
 *     bool whole = nytp_read(source, NULL, nytp_builder_sink(builder), &read_error);
 *     profile = nytp_builder_finish(builder, whole ? NULL : &read_error, &error);
 */
#ifndef NYTP_BUILD_H
#define NYTP_BUILD_H

#include "formats/base/error.h"
#include "formats/build/gather/build_options.h"
#include "formats/stream/event.h"
#include "formats/model/model.h"

struct nytp_builder; /* gather/builder_state.h has its members, for the stages of this folder */

/* Returns a builder for one input, or NULL with *error set if memory is out. Copies the options
 * and `path`, the name of the input in the profile. */
struct nytp_builder *nytp_builder_new(const struct nytp_build_options *options,
                                      const char *path, struct nytp_error *error);

/* Returns the sink for the events of the input. It belongs to the builder. */
struct nytp_sink *nytp_builder_sink(struct nytp_builder *builder);

/* Closes open calls, makes the profile, and frees the builder in any case. `read_error` is
 * NULL, or why the input ended early: then the profile is marked partial. Returns NULL with
 * *error set on failure (memory, a limit, an empty profile). */
struct nytp_profile *nytp_builder_finish(struct nytp_builder *builder,
                                         const struct nytp_error *read_error,
                                         struct nytp_error *error);

#endif
