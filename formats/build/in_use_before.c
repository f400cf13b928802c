/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Books memory in use before a recording began; see builder_parts.h.
 */
#include "builder_parts.h"

#include <stdlib.h>

/* Where the call of this number stands in the list; NYTP_NO_CALL for those that were not told,
 * as for the program itself. */
static uint32_t index_of(const struct nytp_built_in_use *in_use, uint32_t number)
{
    return number == 0 || number > in_use->calls.n - in_use->first_call
               ? NYTP_NO_CALL
               : in_use->first_call + number - 1;
}

bool nytp_in_use_before_call(struct nytp_builder *b, const struct nytp_in_use_call *call,
                             uint32_t file)
{
    struct nytp_built_in_use *const in_use = &b->in_use;
    uint32_t sub;
    if (call->number == 1)
        in_use->first_call = in_use->calls.n;
    if (call->number != in_use->calls.n - in_use->first_call + 1 ||
        in_use->calls.n >= NYTP_MAX_NODES)
        return true;
    if (!nytp_builder_name(b, &call->name, &sub))
        return false;
    if (!NYTP_GROW(&in_use->calls))
        return nytp_builder_out_of_memory(b);
    in_use->calls.at[in_use->calls.n] = (struct nytp_built_in_use_call){
        .caller = index_of(in_use, call->caller), .sub = sub, .file = file, .line = call->line};
    in_use->calls.n++;
    return true;
}

bool nytp_in_use_before_block(struct nytp_builder *b, const struct nytp_bytes_record *record,
                              uint32_t file, uint32_t sample)
{
    struct nytp_built_in_use *const in_use = &b->in_use;
    if (!NYTP_GROW(&in_use->blocks))
        return nytp_builder_out_of_memory(b);
    in_use->blocks.at[in_use->blocks.n++] = (struct nytp_built_in_use_block){
        .sample = sample,
        .call = index_of(in_use, record->call),
        .file = file,
        .line = record->line,
    };
    return true;
}

static uint32_t node_of(const struct nytp_built_in_use *in_use, uint32_t call, uint32_t root)
{
    return call == NYTP_NO_CALL ? root : in_use->calls.at[call].node;
}

bool nytp_in_use_before_book(struct nytp_builder *b)
{
    struct nytp_built_in_use *const in_use = &b->in_use;
    struct nytp_calltree *const tree = &b->stack.tree;
    const uint32_t root = nytp_builder_process(b)->root;
    for (uint32_t i = 0; i < in_use->calls.n; i++) {
        struct nytp_built_in_use_call *const call = &in_use->calls.at[i];
        call->node = nytp_calltree_add_child(tree, node_of(in_use, call->caller, root),
                                             call->sub, call->file, call->line);
        if (call->node == NYTP_NO_NODE)
            return nytp_builder_tree_failed(b);
    }
    for (uint32_t i = 0; i < in_use->blocks.n; i++) {
        const struct nytp_built_in_use_block *const block = &in_use->blocks.at[i];
        if (!nytp_calltree_book_sample(tree, node_of(in_use, block->call, root), block->file,
                                       block->line, block->sample))
            return nytp_builder_tree_failed(b);
    }
    in_use->calls.n = in_use->blocks.n = in_use->first_call = 0;
    return true;
}
