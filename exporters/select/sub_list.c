/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Sorts a new list of subs, makes equal ones one, and tells what became of each old index; see
 * sub_list.h.
 */
#include "sub_list.h"

#include "formats/base/strings.h"

#include <stdlib.h>

static int by_name_file(const void *x, const void *y)
{
    const struct nytp_listed_sub *a = x, *b = y;
    int order = nytp_compare_names(a->sub.name, b->sub.name);
    order = order != 0 ? order : (a->sub.file > b->sub.file) - (a->sub.file < b->sub.file);
    return order != 0 ? order : (a->old > b->old) - (a->old < b->old);
}

static bool same_identity(const struct nytp_sub *a, const struct nytp_sub *b)
{
    return a->file == b->file && nytp_compare_names(a->name, b->name) == 0;
}

uint32_t nytp_install_subs(struct nytp_profile *profile, struct nytp_listed_sub *list,
                           uint32_t n, struct nytp_sub *subs, uint32_t *sub_of)
{
    uint32_t added = 0, n_subs = 1;
    qsort(list + 1, n - 1, sizeof *list, by_name_file);
    subs[0] = list[0].sub;
    sub_of[0] = 0;
    for (uint32_t i = 1; i < n; i++) {
        const bool again = n_subs > 1 && same_identity(&subs[n_subs - 1], &list[i].sub);
        if (!again)
            subs[n_subs++] = list[i].sub;
        else {
            subs[n_subs - 1].stmt_ticks += list[i].sub.stmt_ticks;
            subs[n_subs - 1].is_lost |= list[i].sub.is_lost;
        }
        if (list[i].old == UINT32_MAX)
            added = n_subs - 1;
        else
            sub_of[list[i].old] = n_subs - 1;
    }
    free(profile->subs);
    profile->subs = subs;
    profile->n_subs = n_subs;
    return added;
}
