/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * How many samples hit a sub. A sample that hit a builtin or an xsub is a statement of the sub
 * that called it, and a call of the builtin: here it is the builtin's.
 */
#ifndef NYTP_SAMPLES_H
#define NYTP_SAMPLES_H

#include "formats/model/model.h"

/* Returns whether all that is counted are samples. */
bool nytp_is_of_samples(const struct nytp_profile *profile);

/* By sub, its own samples; their sum is all. For free(); NULL if memory is out. */
uint64_t *nytp_samples_by_sub(const struct nytp_profile *profile);

/* By node, those of its own and of what it called. As above. */
uint64_t *nytp_samples_by_node(const struct nytp_profile *profile);

/* By arc, or by sub: samples that hit it or its callees, in outermost calls. As above. */
uint64_t *nytp_samples_in_calls(const struct nytp_profile *profile);
uint64_t *nytp_samples_in_subs(const struct nytp_profile *profile);

#endif
