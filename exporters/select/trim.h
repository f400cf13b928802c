/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Cuts folders that differ from host to host off paths, so that the profiles of several hosts
 * agree on names: in a profile, or on the way from a reader to a sink.
 */
#ifndef NYTP_TRIM_H
#define NYTP_TRIM_H

#include "formats/model/model.h"

/* Cut each of the n prefixes from names of files, from what is in the brackets of string evals
 * and anonymous subs, and from the programs' own paths. False with *error set, as
 * nytp_rename(). */
bool nytp_trim_paths(struct nytp_profile *profile, const char *const *prefixes, uint32_t n,
                     struct nytp_error *error);

/* The same on the way from a reader to a sink, for whatever the events name. */
struct nytp_trim {
    struct nytp_sink sink;
    struct nytp_sink *next;
    const char *const *prefixes;
    uint32_t n_prefixes;
    char *buffers[2]; /* names of the current event */
    size_t sizes[2];
};
void nytp_trim_init(struct nytp_trim *trim, const char *const *prefixes, uint32_t n,
                    struct nytp_sink *next);
void nytp_trim_release(struct nytp_trim *trim);

#endif
