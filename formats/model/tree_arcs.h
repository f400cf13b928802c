/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Arcs derived from the calling-context tree alone.
 */
#ifndef NYTP_TREE_ARCS_H
#define NYTP_TREE_ARCS_H

#include "model.h"

/* Lists the arcs; the caller frees it. Unknown sites are 0, 0. False if memory is out. */
bool nytp_profile_tree_arcs(const struct nytp_profile *p, struct nytp_arc **arcs, uint32_t *n);

#endif
