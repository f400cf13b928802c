/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Cuts folders that differ from host to host off paths, so that the profiles of several hosts
 * agree on names.
 */
#ifndef NYTP_TRIM_H
#define NYTP_TRIM_H

#include "formats/model/model.h"

/* Cut each of the n prefixes from names of files, from what is in the brackets of string evals
 * and anonymous subs, and from the programs' own paths. False with *error set, as
 * nytp_rename(). */
bool nytp_trim_paths(struct nytp_profile *profile, const char *const *prefixes, uint32_t n,
                     struct nytp_error *error);

#endif
