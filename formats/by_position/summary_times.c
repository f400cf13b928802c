/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Adds times to lines, at each level; see summary_times.h. Nearly all events of a stream are
 * time records.
 */
#include "summary_times.h"

#include "formats/base/arena.h"

#define NONE NYTP_SUMMARY_NONE

/* Adds the time of a statement to a line, at one of the levels. */
static bool charge_time(struct nytp_summary *summary, uint32_t file, enum nytp_level level,
                        uint32_t line, int64_t ticks, uint32_t count)
{
    struct nytp_summary_time *time = nytp_summary_time_at(summary, file, level, line);
    if (time == NULL)
        return false;
    time->ticks += ticks;
    time->count += count;
    time->seen = true;
    return true;
}

bool nytp_summary_add_time(struct nytp_summary *summary, uint32_t file,
                           const struct nytp_event *event)
{
    const int64_t ticks = event->u.time.ticks;
    const uint32_t count = !summary->discount;
    summary->n_discounts += summary->discount;
    summary->discount = false;
    summary->n_times++;
    summary->n_negative += ticks < 0;
    summary->total_ticks += ticks;
    if (!charge_time(summary, file, NYTP_LEVEL_LINE, event->u.time.line, ticks, count))
        return false;
    if (event->tag == NYTP_TAG_TIME_LINE)
        return true;
    summary->has_blocks = true;
    return charge_time(summary, file, NYTP_LEVEL_BLOCK, event->u.time.block_line, ticks,
                       count) &&
           charge_time(summary, file, NYTP_LEVEL_SUB, event->u.time.sub_line, ticks, count);
}

/* Adds one statement of a run as the events that it stands for. */
static bool add_statement_event(struct nytp_summary *summary,
                                const struct nytp_statement *statement, uint64_t offset)
{
    const struct nytp_event event = {
        .tag = NYTP_TAG_TIME_LINE,
        .offset = offset,
        .u.time = {.ticks = statement->ticks, .fid = statement->fid, .line = statement->line}};
    summary->discount = summary->discount || statement->what == NYTP_STATEMENT_DISCOUNTED;
    return summary->sink.event(&summary->sink, &event);
}

/* Adds statements up to the first that is invalid or on a new line. Returns how many. */
static size_t add_known(struct nytp_summary *summary, const struct nytp_statement *run,
                        size_t n)
{
    const uint32_t fid = run->fid;
    const uint32_t file = fid < summary->n_fids ? summary->file_of_fid[fid] : NONE;
    if (file == NONE || summary->discount)
        return 0;
    const struct nytp_summary_lines lines = summary->files[file].times[NYTP_LEVEL_LINE];
    uint64_t discounts = 0;
    int64_t ticks = 0;
    const struct nytp_statement *s = run, *const end = run + n;
    for (; s < end && s->line < lines.n; s++) {
        struct nytp_summary_time *const time = &lines.at[s->line];
        time->ticks += s->ticks;
        time->count += s->what == NYTP_STATEMENT_COUNTS;
        time->seen = true;
        discounts += s->what == NYTP_STATEMENT_DISCOUNTED;
        ticks += s->ticks;
    }
    const size_t added = (size_t)(s - run);
    summary->n_discounts += discounts;
    summary->n_times += added;
    summary->total_ticks += ticks;
    return added;
}

/* Adds consecutive TIME_LINE records. An invalid record, or one of a new line, is added as a
 * single event. */
bool nytp_summary_add_statements(struct nytp_sink *sink, const struct nytp_run *run,
                                 uint64_t offset)
{
    struct nytp_summary *summary = (struct nytp_summary *)sink;
    for (size_t i = 0; i < run->n;) {
        i += add_known(summary, &run->at[i], run->n - i);
        if (i < run->n && !add_statement_event(summary, &run->at[i++], offset))
            return false;
    }
    return true;
}
