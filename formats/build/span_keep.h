/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The calls of a time line, kept while the input is read: as many as the options allow.
 */
#ifndef NYTP_SPAN_KEEP_H
#define NYTP_SPAN_KEEP_H

#include "builder_state.h"

/* Add a call of the latest process that has ended to the time line, which may leave
 * out it or shorter ones to keep to the number that the options allow. False with the builder's
 * error set. */
bool nytp_built_span_keep(struct nytp_builder *builder, const struct nytp_built_span *span);

/* Leave as many spans as the options allow. False when memory is out. */
bool nytp_built_spans_limit(struct nytp_builder *builder);

/* Note that a call is left out of the time line. */
static inline void nytp_built_span_pruned(struct nytp_builder *builder,
                                          const struct nytp_built_span *span)
{
    builder->spans_pruned++;
    if (builder->pruned_span_ticks < span->ticks)
        builder->pruned_span_ticks = span->ticks;
}

#endif
