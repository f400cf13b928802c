/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * From the calls that were kept to the time line of the model.
 */
#ifndef NYTP_LAY_OUT_H
#define NYTP_LAY_OUT_H

#include "builder_state.h"

/* Make p->spans. `node_of_raw` maps nodes of the growing tree to the model's. */
bool nytp_lay_out_spans(const struct nytp_builder *builder, struct nytp_profile *p,
                        const uint32_t *node_of_raw);

#endif
