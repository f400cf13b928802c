/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Allocated memory of the stacks of a tree; see stack_bytes.h. A tree by bytes has no stack
 * that one by time has not, but they have other numbers there.
 */
#include "stack_bytes.h"

#include "formats/base/table.h"

#include <stdlib.h>
#include <string.h>

/* The numbers that frames and stacks have in the tree by time. */
struct numbers {
    struct nytp_table frames; /* (sub, unreturned, file, line) -> index */
    struct nytp_table stacks; /* (parent, frame) -> index */
};

static struct nytp_key frame_key(const struct nytp_stack_frame *frame)
{
    return (struct nytp_key){frame->sub, frame->unreturned, frame->file, frame->line};
}

static bool init_numbers(struct numbers *numbers, const struct nytp_stacktree *tree)
{
    bool ok = true;
    for (uint32_t i = 0; i < tree->n_frames && ok; i++)
        ok = nytp_table_put(&numbers->frames, frame_key(&tree->frames[i]), i);
    for (uint32_t i = 1; i < tree->n_stacks && ok; i++)
        ok = nytp_table_put(
            &numbers->stacks,
            (struct nytp_key){tree->stacks[i].parent, tree->stacks[i].frame, 0, 0}, i);
    return ok;
}

/* The stacks of another tree have these numbers. */
static void find_stacks(const struct numbers *numbers, const struct nytp_stacktree *other,
                        uint32_t *stack_of)
{
    stack_of[0] = 0;
    for (uint32_t i = 1; i < other->n_stacks; i++) {
        const struct nytp_stack *const stack = &other->stacks[i];
        const uint32_t frame =
            nytp_table_get(&numbers->frames, frame_key(&other->frames[stack->frame]));
        const struct nytp_key key = {stack_of[stack->parent], frame, 0, 0};
        stack_of[i] = nytp_table_get(&numbers->stacks, key);
    }
}

static bool add_measure(struct nytp_stack_bytes *bytes, const struct numbers *numbers,
                        const struct nytp_profile *profile,
                        const struct nytp_export_options *user, uint32_t process,
                        enum nytp_weight weight)
{
    struct nytp_export_options options = *user;
    options.weight = weight;
    struct nytp_stacktree *const tree = nytp_stacktree_new(profile, &options, process, false);
    uint32_t *const stack_of = tree == NULL ? NULL : malloc(tree->n_stacks * sizeof *stack_of);
    if (stack_of != NULL)
        find_stacks(numbers, tree, stack_of);
    for (uint32_t i = 1; stack_of != NULL && i < tree->n_stacks; i++) {
        if (stack_of[i] == NYTP_TABLE_NONE)
            continue;
        struct nytp_stack_bytes *const of = &bytes[stack_of[i]];
        *(weight == NYTP_WEIGHT_ALLOC_SPACE ? &of->allocated : &of->in_use) +=
            tree->stacks[i].value;
    }
    const bool ok = stack_of != NULL;
    free(stack_of);
    nytp_stacktree_free(tree);
    return ok;
}

struct nytp_stack_bytes *nytp_stack_bytes_new(const struct nytp_profile *profile,
                                              const struct nytp_export_options *options,
                                              uint32_t process,
                                              const struct nytp_stacktree *tree)
{
    struct numbers numbers;
    memset(&numbers, 0, sizeof numbers);
    struct nytp_stack_bytes *bytes = calloc(tree->n_stacks, sizeof *bytes);
    const bool ok =
        bytes != NULL && init_numbers(&numbers, tree) &&
        add_measure(bytes, &numbers, profile, options, process, NYTP_WEIGHT_ALLOC_SPACE) &&
        add_measure(bytes, &numbers, profile, options, process, NYTP_WEIGHT_INUSE_SPACE);
    nytp_table_free(&numbers.frames);
    nytp_table_free(&numbers.stacks);
    if (ok)
        return bytes;
    free(bytes);
    return NULL;
}
