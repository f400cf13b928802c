/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What formats of several files are made from; see report_input.h.
 */
#include "report_input.h"

#include "formats/stream/comments/cost_records.h"
#include "formats/stream/write/merge_streams.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void leave_out(struct nytp_tee *tee)
{
    tee->left_out = true;
    tee->second = NULL;
}

static void watch_costs(struct nytp_tee *tee, const struct nytp_event *event)
{
    const bool is_statement =
        event->tag == NYTP_TAG_TIME_LINE || event->tag == NYTP_TAG_TIME_BLOCK;
    if (event->tag == NYTP_TAG_COMMENT && nytp_is_costs(&event->u.comment.text)) {
        tee->has_costs = true;
        tee->late_costs = tee->left_out;
    } else if (is_statement && event->u.time.fid != 0 && !tee->has_costs) {
        leave_out(tee);
    }
}

static bool tee_event(struct nytp_sink *sink, const struct nytp_event *event)
{
    struct nytp_tee *tee = (struct nytp_tee *)sink;
    if (tee->only_for_costs)
        watch_costs(tee, event);
    const bool has_no_file = event->tag == NYTP_TAG_TIME_LINE && event->u.time.fid == 0;
    return (has_no_file || tee->first->event(tee->first, event)) &&
           (tee->second == NULL || tee->second->event(tee->second, event));
}

static bool tee_statements(struct nytp_sink *sink, uint32_t fid,
                           const struct nytp_statement *run, size_t n, uint64_t offset)
{
    struct nytp_tee *tee = (struct nytp_tee *)sink;
    const bool has_file = fid != 0;
    if (tee->only_for_costs && !tee->has_costs && has_file)
        leave_out(tee);
    return (!has_file || tee->first->statements(tee->first, fid, run, n, offset)) &&
           (tee->second == NULL || tee->second->statements(tee->second, fid, run, n, offset));
}

void nytp_tee_init(struct nytp_tee *tee, struct nytp_sink *first, struct nytp_sink *second)
{
    const bool runs =
        first->statements != NULL && (second == NULL || second->statements != NULL);
    *tee = (struct nytp_tee){
        .sink = {tee_event, runs ? tee_statements : NULL}, .first = first, .second = second};
}

/* ---- a summary made from a model ---- */

static struct nytp_str text_of(struct nytp_name name)
{
    return (struct nytp_str){.ptr = name.ptr, .len = name.len, .utf8 = true};
}

static bool add_sub(struct nytp_summary *summary, const struct nytp_profile *profile,
                    uint32_t s)
{
    const struct nytp_sub *sub = &profile->subs[s];
    const struct nytp_event event = {
        .tag = NYTP_TAG_SUB_INFO,
        .u.sub_info = {.fid = 0,
                       .first_line = sub->first_line,
                       .last_line = sub->last_line,
                       .name = text_of(sub->name)},
    };
    return summary->sink.event(&summary->sink, &event);
}

static bool add_arc(struct nytp_summary *summary, const struct nytp_profile *profile,
                    uint32_t a)
{
    const struct nytp_arc *arc = &profile->arcs[a];
    const double tick_s = 1 / (double)profile->ticks_per_sec;
    const struct nytp_event event = {
        .tag = NYTP_TAG_SUB_CALLERS,
        .u.sub_callers = {.fid = 0,
                          .line = arc->line,
                          .count = arc->calls < UINT32_MAX ? (uint32_t)arc->calls : UINT32_MAX,
                          .rec_depth = arc->rec_depth,
                          .incl_s = (double)arc->incl_ticks * tick_s,
                          .excl_s = (double)arc->excl_ticks * tick_s,
                          .reci_s = (double)arc->reci_ticks * tick_s,
                          .caller = text_of(profile->subs[arc->caller].name),
                          .callee = text_of(profile->subs[arc->callee].name)},
    };
    return summary->sink.event(&summary->sink, &event);
}

bool nytp_summary_add_profile(struct nytp_summary *summary, const struct nytp_profile *profile)
{
    bool ok = true;
    for (uint32_t s = 1; ok && s < profile->n_subs; s++)
        ok = profile->subs[s].first_line == 0 || add_sub(summary, profile, s);
    for (uint32_t a = 0; ok && a < profile->n_arcs; a++)
        ok = add_arc(summary, profile, a);
    if (!(summary->ticks_per_sec > 0))
        summary->ticks_per_sec = (double)profile->ticks_per_sec;
    summary->duration_s += (double)profile->total_ticks / (double)profile->ticks_per_sec;
    return ok;
}

struct nytp_summary *nytp_summary_of_profile(const struct nytp_profile *profile)
{
    struct nytp_summary *summary = nytp_summary_new();
    if (summary != NULL && nytp_summary_add_profile(summary, profile))
        return summary;
    nytp_summary_free(summary);
    return NULL;
}

/* ---- several inputs ---- */

struct temp_file {
    FILE *stream;
    char *path;
};

static bool put_bytes(void *context, const uint8_t *bytes, size_t len)
{
    struct temp_file *temp = context;
    return fwrite(bytes, 1, len, temp->stream) == len;
}

static bool open_temp(struct temp_file *temp, struct nytp_error *error)
{
    const char *folder = getenv("TMPDIR");
    folder = folder != NULL && *folder != '\0' ? folder : "/tmp";
    const size_t size = strlen(folder) + 32;
    temp->path = malloc(size);
    if (temp->path == NULL)
        return nytp_error_set(error, NYTP_ERR_MEMORY, "out of memory");
    snprintf(temp->path, size, "%s/nytp-export.XXXXXX", folder);
    const int fd = mkstemp(temp->path);
    temp->stream = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (temp->stream != NULL)
        return true;
    nytp_error_set(error, NYTP_ERR_IO, "cannot make a file in %s: %s", folder, strerror(errno));
    if (fd >= 0) {
        close(fd);
        unlink(temp->path);
    }
    free(temp->path);
    return false;
}

char *nytp_merge_inputs(char *const *paths, int n, nytp_bad_input_fn *bad, void *context,
                        struct nytp_error *error)
{
    struct temp_file temp = {0};
    if (!open_temp(&temp, error))
        return NULL;
    struct nytp_merge *merge = nytp_merge_new(put_bytes, NULL, &temp, 1);
    bool ok = merge != NULL;
    if (!ok)
        nytp_error_set(error, NYTP_ERR_MEMORY, "out of memory");
    for (int i = 0; ok && i < n; i++) {
        struct nytp_error input_error = {0};
        if (!nytp_merge_add(merge, paths[i], &input_error))
            bad(context, paths[i], &input_error);
    }
    ok = ok && nytp_merge_finish(merge, error);
    nytp_merge_free(merge);
    if (fclose(temp.stream) != 0 && ok)
        ok = nytp_error_set(error, NYTP_ERR_IO, "cannot write %s: %s", temp.path,
                            strerror(errno));
    if (ok)
        return temp.path;
    unlink(temp.path);
    free(temp.path);
    return NULL;
}
