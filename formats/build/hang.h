/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Where a sampled process hung at its end: its last sample, which no safe point came after
 * (hang_records.h).
 */
#ifndef NYTP_HANG_H
#define NYTP_HANG_H

#include "builder_state.h"

#include "formats/stream/comments/hang_records.h"

/* The calls that are told become those that are open, and get the time. */
bool nytp_builder_hang(struct nytp_builder *builder, const struct nytp_hang *hang);

#endif
