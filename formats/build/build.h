/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * How a profile (model.h) is made of one input. Whoever reads an input makes a builder, gives
 * its sink to nytp_read(), and finishes it, also when the reading failed halfway:
 *
 *     struct nytp_builder *builder = nytp_builder_new(&options, path, &error);
 *     bool whole = nytp_read(source, NULL, nytp_builder_sink(builder), &read_error);
 *     profile = nytp_builder_finish(builder, whole ? NULL : &read_error, &error);
 *
 * What is inside a builder is in builder.h, which is for the files that make one up only.
 */
#ifndef NYTP_BUILD_H
#define NYTP_BUILD_H

#include "formats/base/error.h"
#include "formats/stream/event.h"
#include "formats/model/model.h"

struct nytp_build_options {
    bool sources;       /* keep source lines */
    bool as_recorded;   /* take nothing off for what recording cost */
    uint32_t max_spans; /* keep a timeline of at most this many calls; 0 = none */
    uint64_t max_nodes; /* limit on distinct contexts; 0 = the default limit */
};

struct nytp_builder;

/* A builder for one input. The options are copied; `path` is the name of the input as the
 * profile shall tell it, and is copied, too. NULL with *error set when memory is out. */
struct nytp_builder *nytp_builder_new(const struct nytp_build_options *options,
                                      const char *path, struct nytp_error *error);

/* Where the events of the input go. It belongs to the builder. */
struct nytp_sink *nytp_builder_sink(struct nytp_builder *builder);

/* Close what is open and make the profile. `read_error` is NULL or why the input ended early:
 * the profile is then marked partial. Frees the builder in any case. NULL on failure (memory,
 * limit, nothing in it) with *error set. */
struct nytp_profile *nytp_builder_finish(struct nytp_builder *builder,
                                         const struct nytp_error *read_error,
                                         struct nytp_error *error);

/* Frees a builder without making a profile. Accepts NULL. */
void nytp_builder_free(struct nytp_builder *builder);

#endif
