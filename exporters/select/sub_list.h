/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Makes a new list of subs for a profile, sorted as the model wants it, after subs got other
 * names or files.
 */
#ifndef NYTP_SUB_LIST_H
#define NYTP_SUB_LIST_H

#include "formats/model/model.h"

struct nytp_listed_sub {
    struct nytp_sub sub;
    uint32_t old; /* UINT32_MAX: new */
};

/* Sort the list (the root, which is first, apart), make equal subs one, and install it in the
 * profile: the result goes to `subs`, which has room for all and becomes the profile's.
 * sub_of[old] becomes the new index. Returns that of the added sub (old == UINT32_MAX), 0 if
 * there is none. */
uint32_t nytp_install_subs(struct nytp_profile *profile, struct nytp_listed_sub *list,
                           uint32_t n, struct nytp_sub *subs, uint32_t *sub_of);

#endif
