/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The files and processes of an input, see builder_parts.h.
 */
#include "builder_parts.h"

#include <stdlib.h>

static bool add_file(struct nytp_builder *b, uint32_t fid, uint32_t *index)
{
    if (!NYTP_GROW(&b->files))
        return nytp_builder_out_of_memory(b);
    *index = b->files.n++;
    b->files.at[*index] = (struct nytp_built_file){.model = {.fid = fid, .unnamed = true}};
    if (!nytp_table_put(&b->files.by_fid, (struct nytp_key){.a = fid}, *index))
        return nytp_builder_out_of_memory(b);
    if (fid < NYTP_SMALL_FIDS)
        b->files.by_small_fid[fid] = *index;
    return true;
}

bool nytp_builder_find_file(struct nytp_builder *b, uint32_t fid, uint32_t *index)
{
    *index = 0;
    if (fid == 0)
        return true;
    *index = nytp_table_get(&b->files.by_fid, (struct nytp_key){.a = fid});
    return *index != NYTP_TABLE_NONE || add_file(b, fid, index);
}

bool nytp_builder_new_fid(struct nytp_builder *b, const struct nytp_event *e)
{
    uint32_t name, index;
    if (!nytp_builder_name(b, &e->u.new_fid.name, &name) ||
        !nytp_builder_file(b, e->u.new_fid.fid, &index))
        return false;
    if (index != 0 && b->files.at[index].name != 0 && b->files.at[index].name != name &&
        !add_file(b, e->u.new_fid.fid, &index)) /* redefined: another file from here on */
        return false;
    struct nytp_file *const f = &b->files.at[index].model;
    b->files.at[index].name = name;
    b->files.at[index].eval_fid = e->u.new_fid.eval_fid;
    f->unnamed = false;
    f->fid = e->u.new_fid.fid;
    f->eval_line = e->u.new_fid.eval_line;
    f->flags = e->u.new_fid.flags;
    f->size = e->u.new_fid.size;
    f->mtime_s = e->u.new_fid.mtime_s;
    return true;
}

bool nytp_builder_begin_process(struct nytp_builder *b, uint32_t pid, uint32_t ppid,
                                double start_s)
{
    if (!nytp_builder_end_process(b))
        return false;
    if (!NYTP_GROW(&b->processes))
        return nytp_builder_out_of_memory(b);
    const uint32_t root = nytp_callstack_begin(&b->stack, b->subs.runtime);
    if (root == NYTP_NO_NODE)
        return nytp_builder_tree_failed(b);
    b->processes.at[b->processes.n++] =
        (struct nytp_built_process){.model = {.pid = pid,
                                              .ppid = ppid,
                                              .thread = b->settings.thread,
                                              .parent_thread = b->settings.parent_thread,
                                              .start_s = start_s},
                                    .root = root,
                                    .has_entries = b->settings.calls_2};
    b->in_process = true;
    b->memory = (struct nytp_built_memory){
        .first_sample = b->stack.tree.samples.n > 0 ? b->stack.tree.samples.n : 1,
        .n_freed = b->memory.n_freed};
    b->waits.is_recorded = b->waits.goes_on = false;
    b->waits.leaf = (struct nytp_sampled_leaf){0};
    b->waits.reason = NYTP_WAIT_UNKNOWN;
    b->left = (struct nytp_left_statement){0};
    b->time_position = 0;
    b->spans.wanted_depth = 0;
    b->accepts.open.n = 0;
    b->accepts.leaf_ticks = 0;
    b->subs.names_capacity = 0;
    return true;
}

/* Calls that are open above this index of the stack's frames end on the time line. */
static bool keep_open_spans(struct nytp_builder *b, uint32_t index, int64_t end)
{
    for (uint32_t i = b->stack.top; i > index && b->options.max_spans > 0; i--) {
        const struct nytp_frame *f = &b->stack.frames[i];
        const struct nytp_built_span span = {.sub = NYTP_NO_SUB,
                                             .file = f->file,
                                             .line = f->line,
                                             .depth = f->depth + b->stack.base_depth,
                                             .start_ticks = f->start_ticks,
                                             .ticks = end - f->start_ticks};
        if (f->entered && !nytp_built_span_keep(b, &span))
            return false;
    }
    return true;
}

bool nytp_builder_leave(struct nytp_builder *b, uint32_t index)
{
    return keep_open_spans(b, index, b->time_position) &&
           (nytp_callstack_leave(&b->stack, index) || nytp_builder_tree_failed(b));
}

bool nytp_builder_end_process(struct nytp_builder *b)
{
    if (!b->in_process)
        return true;
    b->in_process = false;
    nytp_memory_peak_end(b);
    const int64_t clock = nytp_builder_process(b)->clock;
    const int64_t end = clock > b->time_position ? clock : b->time_position;
    return keep_open_spans(b, 0, end) && nytp_label_marks_end_process(b, end) &&
           nytp_profile_labels_end_process(b) &&
           (nytp_callstack_leave(&b->stack, 0) || nytp_builder_tree_failed(b)) &&
           nytp_in_use_before_end(b);
}

bool nytp_builder_end_pid(struct nytp_builder *b, uint32_t pid, double end_s)
{
    for (uint32_t i = b->processes.n; i-- > 0;) {
        struct nytp_built_process *p = &b->processes.at[i];
        if (p->model.pid != pid || p->model.complete)
            continue;
        p->model.complete = true;
        p->model.end_s = end_s;
        return i != b->processes.n - 1 || nytp_builder_end_process(b);
    }
    return true; /* the end of a process that never began: nothing to close */
}
