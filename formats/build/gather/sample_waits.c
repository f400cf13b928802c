/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Finds the place of a sampled process that waited; see sample_waits.h.
 */
#include "sample_waits.h"

#include "formats/base/arena.h"
#include "formats/model/model.h"
#include "formats/stream/comments/sample_records.h"

#include <stdlib.h>

bool nytp_sample_waits_note(struct nytp_sample_waits *waits, const struct nytp_str *comment)
{
    bool is_ready;
    const int64_t ticks = nytp_sample_cpu_read(comment, &is_ready);
    if (ticks < 0)
        return false;
    waits->is_ready = is_ready;
    waits->is_recorded =
        ticks <= NYTP_MAX_TOTAL_TICKS && waits->recorded_seen <= NYTP_MAX_TOTAL_TICKS;
    waits->recorded = ticks;
    waits->recorded_seen += waits->is_recorded ? ticks : 0;
    waits->goes_on = false;
    return true;
}

/* A time record holds at most INT32_MAX ticks. A longer sample is several records; facts before
 * the first belong to all of them. */
int64_t nytp_sample_waits_of(struct nytp_sample_waits *waits, int64_t ticks, bool goes_on)
{
    if (waits->goes_on && !goes_on)
        waits->is_recorded = waits->goes_on = false;
    if (!waits->is_recorded)
        return 0;
    const bool is_full = ticks == INT32_MAX;
    const int64_t cpu = is_full && waits->recorded > ticks ? ticks : waits->recorded;
    waits->recorded -= cpu;
    waits->is_recorded = waits->goes_on = is_full;
    return ticks - cpu;
}

bool nytp_sample_waits_return(struct nytp_sample_waits *waits, struct nytp_callstack *stack,
                              uint32_t sub, int64_t ticks)
{
    struct nytp_sampled_leaf *const leaf = &waits->leaf;
    const struct nytp_frame *const frame = &stack->frames[stack->top];
    if (!leaf->is_entered || stack->top == 0)
        return true;
    *leaf = (struct nytp_sampled_leaf){
        .is_there = true,
        .sub = sub,
        .file = frame->file,
        .line = frame->line,
        .ticks = ticks > 0 ? ticks : 0,
    };
    return nytp_callstack_waiter(stack);
}

bool nytp_sample_waits_reason(struct nytp_sample_waits *waits, uint32_t process, uint32_t file,
                              uint32_t line, int64_t ticks)
{
    const enum nytp_wait_reason reason = waits->reason;
    const uint32_t peer = reason == NYTP_WAIT_UNKNOWN ? 0 : waits->peer;
    if (!waits->goes_on)
        waits->reason = NYTP_WAIT_UNKNOWN;
    if (ticks <= 0)
        return true;
    const struct nytp_key what = {peer, file, line, process * NYTP_WAIT_REASONS + reason};
    uint32_t index = nytp_table_get(&waits->by_what, what);
    if (index == NYTP_TABLE_NONE) {
        index = waits->waited.n;
        if (!NYTP_GROW(&waits->waited) || !nytp_table_put(&waits->by_what, what, index))
            return false;
        waits->waited.at[waits->waited.n++] = (struct nytp_waited){
            .reason = reason, .process = process, .file = file, .line = line, .peer.len = peer};
    }
    waits->waited.at[index].ns += ticks;
    waits->waited.at[index].samples++;
    return true;
}

void nytp_sample_waits_free(struct nytp_sample_waits *waits)
{
    nytp_table_free(&waits->by_what);
    free(waits->waited.at);
}

bool nytp_sample_waits_book(struct nytp_sample_waits *waits, struct nytp_callstack *stack,
                            uint32_t file, uint32_t line, int64_t ticks, int64_t all_ticks)
{
    const struct nytp_sampled_leaf leaf = waits->leaf;
    waits->leaf = (struct nytp_sampled_leaf){0};
    if (ticks == 0)
        return true;
    if (leaf.is_there && !waits->is_ready && ticks > all_ticks / 2)
        ticks = all_ticks;
    const int64_t in_call = !leaf.is_there ? 0 : ticks < leaf.ticks ? ticks : leaf.ticks;
    return (in_call == 0 ||
            nytp_callstack_call_wait(stack, leaf.sub, leaf.file, leaf.line, in_call)) &&
           (in_call == ticks || nytp_callstack_line_wait(stack, file, line, ticks - in_call));
}
