/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * From the events of one input to a profile: a builder (builder.h) takes the events, and this
 * ends it.
 */
#ifndef NYTP_BUILD_H
#define NYTP_BUILD_H

#include "builder.h"

/* Close what is open and make the profile. `read_error` is NULL or why the input ended early:
 * the profile is then marked partial. Frees the builder in any case. NULL on failure (memory,
 * limit, nothing in it) with *error set. */
struct nytp_profile *nytp_builder_finish(struct nytp_builder *builder,
                                         const struct nytp_error *read_error,
                                         struct nytp_error *error);

#endif
