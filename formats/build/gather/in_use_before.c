/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Books memory in use before a recording began; see builder_parts.h.
 */
#include "builder_parts.h"

/* Returns the node of the call of this number. A call that was not recorded is the program
 * itself, as number 0 is. Returns NYTP_NO_NODE if memory or the limit is out. */
static uint32_t node_of(struct nytp_builder *b, uint32_t number)
{
    struct nytp_built_in_use *const in_use = &b->in_use;
    if (in_use->root == NYTP_NO_NODE)
        in_use->root = nytp_calltree_new_node(&b->stack.tree);
    return number == 0 || number > in_use->nodes.n ? in_use->root
                                                   : in_use->nodes.at[number - 1];
}

bool nytp_in_use_before_call(struct nytp_builder *b, const struct nytp_in_use_call *call,
                             uint32_t file)
{
    struct nytp_built_in_use *const in_use = &b->in_use;
    uint32_t sub;
    if (call->number == 1)
        in_use->nodes.n = 0;
    if (call->number != in_use->nodes.n + 1)
        return true;
    if (!nytp_builder_name(b, &call->name, &sub))
        return false;
    if (!NYTP_GROW(&in_use->nodes))
        return nytp_builder_out_of_memory(b);
    const uint32_t caller = node_of(b, call->caller);
    const uint32_t node =
        caller == NYTP_NO_NODE
            ? NYTP_NO_NODE
            : nytp_calltree_add_child(&b->stack.tree, caller, sub, file, call->line);
    if (node == NYTP_NO_NODE)
        return nytp_builder_tree_failed(b);
    in_use->nodes.at[in_use->nodes.n++] = node;
    return true;
}

bool nytp_in_use_before_block(struct nytp_builder *b, const struct nytp_bytes_record *record,
                              uint32_t file, uint32_t sample)
{
    const uint32_t node = node_of(b, record->call);
    return (node != NYTP_NO_NODE &&
            nytp_calltree_book_sample(&b->stack.tree, node, file, record->line, sample)) ||
           nytp_builder_tree_failed(b);
}

bool nytp_in_use_before_end(struct nytp_builder *b)
{
    struct nytp_built_in_use *const in_use = &b->in_use;
    const uint32_t root = in_use->root;
    in_use->root = NYTP_NO_NODE;
    in_use->nodes.n = 0;
    return root == NYTP_NO_NODE ||
           nytp_calltree_merge(&b->stack.tree, root, nytp_builder_process(b)->root) ||
           nytp_builder_tree_failed(b);
}
