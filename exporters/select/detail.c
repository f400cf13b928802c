/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Adds a sub for each detail of each builtin, and rewrites the tree to them; see select.h.
 */
#include "detail.h"

#include "exporters/base/node_details.h"
#include "formats/base/arena.h"
#include "formats/base/strings.h"
#include "rename.h"
#include "rewrite.h"

#include <stdlib.h>

struct detailing {
    struct nytp_profile *profile;
    struct nytp_node_details details;
    struct nytp_listed_sub *list; /* the subs that there were, and the new ones */
    uint32_t n, capacity;
    struct nytp_table added; /* (sub, kind, row): index in the list */
    uint32_t *sub_of_node;   /* index in the list, then of the new sub */
};

static bool grow_list(struct detailing *d, struct nytp_sub sub)
{
    if (!nytp_grow(&d->list, &d->capacity, d->n, sizeof *d->list))
        return false;
    d->list[d->n] = (struct nytp_listed_sub){sub, d->n};
    d->n++;
    return true;
}

/* Calls, times and line costs come from the tree that is made anew. */
static bool add_sub(struct detailing *d, uint32_t of, struct nytp_detail detail)
{
    struct nytp_sub sub = d->profile->subs[of];
    size_t len;
    char *const text = nytp_detail_text(&d->details, detail, sub.name, &len);
    const uint32_t id =
        text != NULL ? nytp_strings_intern(d->profile->strings, text, len) : UINT32_MAX;
    free(text);
    if (id == UINT32_MAX)
        return false;
    sub.name = nytp_strings_get(d->profile->strings, id);
    sub.stmt_ticks = 0;
    return grow_list(d, sub);
}

static bool detail_node(struct detailing *d, uint32_t node)
{
    const uint32_t of = d->profile->nodes[node].sub;
    const struct nytp_detail detail = nytp_detail_of(&d->details, node);
    d->sub_of_node[node] = of;
    if (detail.kind == NYTP_DETAIL_NONE)
        return true;
    const struct nytp_key key = {of, detail.kind, detail.row, 0};
    uint32_t at = nytp_table_get(&d->added, key);
    if (at == NYTP_TABLE_NONE) {
        at = d->n;
        if (!add_sub(d, of, detail) || !nytp_table_put(&d->added, key, at))
            return false;
    }
    d->sub_of_node[node] = at;
    return true;
}

/* Makes the list the profile's subs, which `sub_of_node` then refers to. */
static bool install(struct detailing *d, uint32_t *new_of)
{
    struct nytp_listed_sub *const list = d->list;
    d->list = NULL;
    if (!nytp_install_subs(d->profile, list, d->n, new_of))
        return false;
    for (uint32_t i = 0; i < d->profile->n_nodes; i++)
        d->sub_of_node[i] = new_of[d->sub_of_node[i]];
    return true;
}

bool nytp_add_details(struct nytp_profile *profile, struct nytp_error *error)
{
    struct nytp_plan plan;
    struct detailing d = {.profile = profile};
    uint32_t *new_of = NULL;
    if (profile->n_regexes + profile->n_waited == 0)
        return true;
    bool planned =
        nytp_plan_begin(&plan, profile) && nytp_node_details_init(&d.details, profile) &&
        (d.sub_of_node = calloc((size_t)profile->n_nodes + 1, sizeof *d.sub_of_node)) != NULL;
    for (uint32_t i = 0; planned && i < profile->n_subs; i++)
        planned = grow_list(&d, profile->subs[i]);
    for (uint32_t i = 0; planned && i < profile->n_nodes; i++)
        planned = detail_node(&d, i);
    plan.changes = d.n > profile->n_subs;
    if (planned && plan.changes)
        planned =
            (new_of = calloc((size_t)d.n + 1, sizeof *new_of)) != NULL && install(&d, new_of);
    plan.sub_of = new_of;
    plan.sub_of_node = d.sub_of_node;
    const bool ok = nytp_plan_end(&plan, planned, error);
    nytp_node_details_free(&d.details);
    nytp_table_free(&d.added);
    free(d.list);
    free(d.sub_of_node);
    free(new_of);
    return ok;
}
