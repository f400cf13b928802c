/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Keeps the plan of a selection and has it carried out; see plan.h. A plan that changes
 * nothing costs no rewrite.
 */
#include "plan.h"

#include <stdlib.h>

bool nytp_plan_begin(struct nytp_plan *plan, struct nytp_profile *profile)
{
    *plan = (struct nytp_plan){.profile = profile};
    plan->rewriting.action =
        calloc((size_t)profile->n_nodes + 1, sizeof *plan->rewriting.action);
    plan->drop = calloc((size_t)profile->n_nodes + 1, sizeof *plan->drop);
    plan->rewriting.drop = plan->drop;
    plan->rewriting.before = &plan->before;
    return plan->rewriting.action != NULL && plan->drop != NULL &&
           nytp_arcs_before_init(&plan->before, profile);
}

void nytp_plan_action(struct nytp_plan *plan, uint32_t node, enum nytp_rewrite_action action)
{
    plan->rewriting.action[node] = (uint8_t)action;
    plan->changes |= action != NYTP_KEEP;
}

void nytp_plan_drop(struct nytp_plan *plan, uint32_t node)
{
    plan->drop[node] = true;
    plan->changes = true;
}

static void plan_free(struct nytp_plan *plan)
{
    nytp_arcs_before_free(&plan->before);
    free(plan->rewriting.action);
    free(plan->drop);
}

/* Carry the plan out if it says anything. `planned` false: planning failed, for want of memory
 * unless *error is set already. */
bool nytp_plan_end(struct nytp_plan *plan, bool planned, struct nytp_error *error)
{
    bool ok = planned;
    if (!planned)
        nytp_out_of_memory(error);
    else if (plan->changes)
        ok = nytp_rewrite(plan->profile, &plan->rewriting, error);
    plan_free(plan);
    return ok;
}
