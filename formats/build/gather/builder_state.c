/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Errors of a builder, and names of xsubs and builtins; see builder_state.h.
 */
#include "builder_state.h"

#include <string.h>

/* No more ticks are taken: there were more than sums hold. */
void nytp_builder_has_no_times(struct nytp_builder *b)
{
    if ((b->p->has & ~(unsigned)(NYTP_HAS_TIMES | NYTP_HAS_SOURCE)) != 0)
        return;
    b->p->has &= ~(unsigned)NYTP_HAS_TIMES;
    b->seen.ticks = b->seen.statement_ticks = NYTP_MAX_TOTAL_TICKS + 1;
}

bool nytp_builder_out_of_memory(struct nytp_builder *b)
{
    return nytp_out_of_memory(&b->error);
}

bool nytp_builder_tree_failed(struct nytp_builder *b)
{
    if (b->stack.tree.live_nodes >= b->stack.tree.max_nodes)
        return nytp_error_at(&b->error, NYTP_ERR_LIMIT, b->input.offset, b->input.inflated,
                             "more than %u distinct calling contexts", b->stack.tree.max_nodes);
    return nytp_error_at(&b->error, NYTP_ERR_LIMIT, b->input.offset, b->input.inflated,
                         "calls nested deeper than %u, or no memory", NYTP_MAX_DEPTH);
}

bool nytp_builder_xsub(struct nytp_builder *b, uint32_t name)
{
    if (b->subs.recent[name % NYTP_RECENT_SUBS].name == name)
        b->subs.recent[name % NYTP_RECENT_SUBS].name = 0; /* known no more */
    return nytp_table_put(&b->subs.xsubs, (struct nytp_key){.a = name}, 1) ||
           nytp_builder_out_of_memory(b);
}
