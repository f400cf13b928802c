/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Calls the program blocks in; see blocked.h. It is read as from beside (open_stack.h) and
 * written as records, without a frame.
 */
#include "blocked.h"

#include "XS/state/state.h"
#include "tick_stack.h"

#include "XS/exact/call_frames.h"
#include "XS/exact/places.h"
#include "XS/names/builtins.h"
#include "XS/names/files.h"
#include "XS/state/sub.h"
#include "XS/names/subs.h"

static struct nytp_open_stack blocked;

enum {
    LONGEST_NAME = 512,
    MOST_BLOCKED = 200, /* calls that were not open at the last sample */
};

/* The id of the statement's file, which the stream is told first if it does not know it. */
static struct nytp_encoded_place blocked_place(struct nytp_recorder *rec, const COP *cop,
                                               uint32_t *fid, uint32_t *line)
{
    char name[LONGEST_NAME];
    struct nytp_fixed_text text = {.to = name, .size = sizeof name - 1};
    *line = nytp_open_stack_put_file(&text, &blocked, cop);
    name[text.n] = '\0';
    *fid = 0;
    for (uint32_t i = 1; i <= rec->files->n && *fid == 0; i++)
        if (rec->files->all[i] != NULL && strEQ(rec->files->all[i]->perl_name, name))
            *fid = nytp_file_known_fid(rec, rec->files->all[i]);
    if (*fid == 0) {
        *fid = ++rec->run.n_blocked_files + rec->files->n;
        nytp_write_new_fid(rec->writer, &(struct nytp_new_fid){
                                            .fid = *fid,
                                            .flags = NYTP_FID_VIA_SUB,
                                            .name = {.ptr = name, .len = (uint32_t)text.n}});
    }
    return nytp_encode_place(*fid, nytp_line_of_stmt(*line));
}

void nytp_blocked_put_wait(const struct nytp_wait_seen *seen, char text[NYTP_WAIT_ROOM])
{
    char peer[NYTP_MAX_PEER + 1];
    text[0] = '\0';
    if (seen->reason == NYTP_WAIT_UNKNOWN)
        return;
    nytp_wait_put_peer(seen, peer, sizeof peer);
    snprintf(text, NYTP_WAIT_ROOM, "%s%s%s", nytp_wait_reason_name(seen->reason),
             peer[0] != '\0' ? " " : "", peer);
}

bool nytp_blocked_has_leaf(const struct nytp_recorder *rec, const struct nytp_open_stack *stack)
{
    return stack->xsub != NULL || (rec->options.slowops > 0 && stack->op_type < MAXO &&
                                   nytp_is_slowop[stack->op_type]);
}

void nytp_blocked_put_leaf(struct nytp_fixed_text *text, const struct nytp_recorder *rec,
                           const struct nytp_open_stack *stack)
{
    if (stack->xsub == NULL && rec->options.slowops == 1) {
        nytp_fixed_put(text, "CORE::");
        nytp_fixed_put(text, PL_op_name[stack->op_type]);
        return;
    }
    if (stack->xsub == NULL)
        nytp_open_stack_put_package(text, stack, stack->cop);
    nytp_open_stack_put_leaf(text, stack, "");
}

/* Returns the name of blocked.calls[i], or for i < 0 of the sub running in the innermost. */
static struct nytp_str blocked_name(const struct nytp_recorder *rec, int i,
                                    char name[LONGEST_NAME])
{
    struct nytp_fixed_text text = {.to = name, .size = LONGEST_NAME - 1};
    if (i >= 0)
        nytp_open_stack_put_sub(&text, &blocked, blocked.calls[i].code);
    else
        nytp_blocked_put_leaf(&text, rec, &blocked);
    return (struct nytp_str){.ptr = name, .len = (uint32_t)text.n};
}

static struct nytp_str caller_name(const struct nytp_recorder *rec, int i,
                                   char name[LONGEST_NAME])
{
    if (i + 1 < (int)(blocked.n - rec->calls.n))
        return blocked_name(rec, i + 1, name);
    const struct nytp_rec_sub *const sub =
        rec->calls.n > 0 ? rec->calls.frames[rec->calls.n - 1].sub : rec->subs->runtime;
    return (struct nytp_str){.ptr = sub->name, .len = (uint32_t)sub->name_len};
}

/* Returns how many calls, from the outermost, are those of the last sample. */
static uint32_t count_still_open(const struct nytp_recorder *rec, const struct nytp_call *open)
{
    uint32_t n = 0;
    while (n < rec->calls.n && n < blocked.n &&
           NYTP_CALL_CV(&open[n]) == blocked.calls[blocked.n - 1 - n].code &&
           NYTP_CALL_SITE(&open[n]) == blocked.calls[blocked.n - 1 - n].site)
        n++;
    return n;
}

static void write_blocked_return(struct nytp_recorder *rec, int i, int64_t ticks, bool is_leaf)
{
    char name[LONGEST_NAME], caller[LONGEST_NAME];
    uint8_t encoded[LONGEST_NAME + NYTP_ENCODED_STR_EXTRA + NYTP_COPY_STEP];
    const COP *const site = i < 0 ? blocked.cop : blocked.calls[i].site;
    const struct nytp_str sub = blocked_name(rec, i, name);
    const int64_t own = is_leaf ? ticks : 0;
    struct nytp_sub_callers calls = {
        .count = 1,
        .incl_s = (double)ticks / NYTP_TICKS_PER_SEC,
        .excl_s = (double)own / NYTP_TICKS_PER_SEC,
        .caller = caller_name(rec, i, caller),
        .callee = sub,
    };
    blocked_place(rec, site, &calls.fid, &calls.line);
    nytp_write_sub_return(rec->writer, blocked.n - (uint32_t)i, ticks, own, encoded,
                          nytp_encode_str(encoded, sub.ptr, sub.len));
    nytp_write_sub_callers(rec->writer, &calls);
    if (i < 0) /* says that it is none of perl's subs */
        nytp_write_sub_callers(
            rec->writer, &(struct nytp_sub_callers){.caller = {.ptr = ""}, .callee = sub});
}

static void write_blocked_entry(struct nytp_recorder *rec, const COP *site)
{
    uint32_t fid, line;
    blocked_place(rec, site, &fid, &line);
    nytp_write_sub_entry(rec->writer, fid, line);
}

static void write_blocked(struct nytp_recorder *rec, struct nytp_last_sample *before,
                          struct nytp_last_sample *sample)
{
    const int n = (int)(blocked.n - rec->calls.n);
    const bool has_leaf = nytp_blocked_has_leaf(rec, &blocked);
    for (int i = n - 1; i >= 0; i--)
        write_blocked_entry(rec, blocked.calls[i].site);
    nytp_last_sample_put(rec->writer, before);
    if (has_leaf) {
        write_blocked_entry(rec, blocked.cop);
        write_blocked_return(rec, -1, sample->ticks, true);
    }
    nytp_last_sample_put(rec->writer, sample);
    for (int i = 0; i < n; i++)
        write_blocked_return(rec, i, sample->ticks, i == 0 && !has_leaf);
    if (n > 0 || has_leaf)
        nytp_frame_called(rec, sample->ticks);
}

bool nytp_blocked_put(struct nytp_recorder *rec, const struct nytp_call *open,
                      struct nytp_last_sample *before, struct nytp_last_sample *sample)
{
    uint32_t fid, line;
    if (!nytp_open_stack_look(&blocked, rec->interpreter, (long)rec->run.pid) ||
        !blocked.is_whole || blocked.n > MOST_BLOCKED)
        return false;
    const uint32_t n_open = count_still_open(rec, open);
    while (rec->calls.n > n_open)
        nytp_frame_leave(rec, rec->sample_ticks);
    sample->place = blocked_place(rec, blocked.cop, &fid, &line);
    write_blocked(rec, before, sample);
    return true;
}
