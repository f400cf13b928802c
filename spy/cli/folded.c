/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Folded stacks; see folded.h.
 */
#include "folded.h"

#include "formats/base/arena.h"

#include <stdlib.h>
#include <string.h>

enum {
    LONGEST_CIRCLE = 8,
    LEAST_ROUNDS = 2 /* repetitions that are worth a line */
};

static bool is_same(const struct nytp_frame *a, const struct nytp_frame *b)
{
    return a->kind == b->kind && a->sub == b->sub && a->file == b->file && a->line == b->line;
}

/* Returns the number of calls from `first` + `circle` on that repeat those before them. */
static uint32_t repeated(const struct nytp_stack *stack, uint32_t first, uint32_t circle)
{
    uint32_t at = first + circle;
    while (at < stack->n && is_same(&stack->frames[at], &stack->frames[at - circle]))
        at++;
    return at <= first + circle ? 0 : (at - first - circle) / circle * circle;
}

static struct nytp_fold fold_at(const struct nytp_stack *stack, uint32_t first)
{
    for (uint32_t circle = 1; circle <= LONGEST_CIRCLE; circle++) {
        const uint32_t n = repeated(stack, first, circle);
        if (n >= LEAST_ROUNDS * circle)
            return (struct nytp_fold){first, circle, n};
    }
    return (struct nytp_fold){first, 1, 0};
}

static void leave_out_middle(struct nytp_fold *folds, uint32_t *n)
{
    const uint32_t half = NYTP_MOST_SHOWN / 2, last = *n - half;
    const uint32_t first = folds[half].first;
    folds[half] = (struct nytp_fold){first, 0, folds[last].first - first};
    memmove(folds + half + 1, folds + last, half * sizeof *folds);
    *n = NYTP_MOST_SHOWN + 1;
}

struct nytp_fold *nytp_fold_stack(const struct nytp_stack *stack, uint32_t *n)
{
    uint32_t capacity = 0;
    struct nytp_fold *folds = NULL;
    *n = 0;
    for (uint32_t at = 0; at < stack->n || folds == NULL;) {
        if (!nytp_grow(&folds, &capacity, *n, sizeof *folds)) {
            free(folds);
            return NULL;
        }
        if (at == stack->n)
            break;
        const struct nytp_fold fold = fold_at(stack, at);
        folds[(*n)++] = fold;
        at += fold.n_shown + fold.n_more;
    }
    if (*n > NYTP_MOST_SHOWN)
        leave_out_middle(folds, n);
    return folds;
}
