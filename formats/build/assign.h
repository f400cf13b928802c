/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * From what was gathered of an input to the model: every tick gets a sub and a line.
 */
#ifndef NYTP_ASSIGN_H
#define NYTP_ASSIGN_H

#include "builder_state.h"

/* The built recordings become the model. The builder stays with the caller. */
struct nytp_profile *nytp_assign(struct nytp_builder *builder, struct nytp_error *error);

#endif
