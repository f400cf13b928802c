/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The end of a builder: what was gathered becomes a profile; see build.h.
 */
#include "build.h"

#include "assign.h"
#include "builder.h"
#include "builder_places.h"
#include "builder_statements.h"
#include "span_keep.h"

/* Nothing that a viewer could show: not even a file. */
static bool is_empty(const struct nytp_builder *b)
{
    return b->n_processes == 0 && b->n_files == 1 && b->n_arcs == 0 && b->n_ranges == 0;
}

struct nytp_profile *nytp_builder_finish(struct nytp_builder *b,
                                         const struct nytp_error *read_error,
                                         struct nytp_error *error)
{
    struct nytp_profile *profile = NULL;
    const struct nytp_error *why = read_error;
    if (b->error.status != NYTP_OK)
        why = &b->error; /* says more than "stopped" */
    const bool usable = why == NULL || (why->status != NYTP_ERR_MEMORY && !is_empty(b));
    if (!usable) {
        *error = *why;
    } else {
        const struct nytp_error reason = why != NULL ? *why : (struct nytp_error){0};
        b->error = (struct nytp_error){0};
        b->stack.tree.max_nodes = UINT32_MAX; /* closing must not fail for a limit */
        if ((b->n_processes == 0 && !nytp_builder_need_process(b)) ||
            !nytp_builder_settle_calls(b) || !nytp_builder_settle_lines(b) ||
            !nytp_builder_end_process(b) ||
            (!nytp_built_spans_limit(b) && !nytp_builder_out_of_memory(b)))
            *error = b->error;
        else
            profile = nytp_assign(b, error);
        if (profile != NULL && reason.status != NYTP_OK) {
            profile->partial = profile->recordings[0].partial = true;
            profile->recordings[0].error = reason;
        }
    }
    nytp_builder_free(b);
    return profile;
}
