/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Where the program hangs; see last_stack.h. The tick thread runs its part under the lock of
 * ticks.c, so it may have its text in one place for all interpreters.
 */
#include "last_stack.h"

#include "blocked.h"

#include "XS/state/state.h"
#include "sampling/step.h"

#include "formats/stream/comments/hang_records.h"

enum {
    NS_PER_TICK = 100,
    SOON_NS = 100000000, /* a shorter wait is no hang */
    LATE_SHARE = 16,     /* a note lacks at most 1/16 of the time, */
    LONGEST_HEAD = 64,   /* of the text, before its body */
};

#define LATEST_NS 10000000000u /* and at most this; writing more often would cost too much */

static struct nytp_open_stack stack;
static char body[NYTP_HANG_ROOM - LONGEST_HEAD], room[NYTP_HANG_ROOM];

/* ---- in the thread ---- */

/* Names do not contain the separators. */
static void end_part(struct nytp_fixed_text *text, size_t begin)
{
    for (size_t i = begin; i < text->n; i++)
        if ((unsigned char)text->to[i] < ' ')
            text->to[i] = '?';
    nytp_fixed_put(text, "\t");
}

static bool is_same_text(const char *a, const char *b, size_t len)
{
    while (len > 0 && a[len - 1] == b[len - 1])
        len--;
    return len == 0;
}

/* A file that was told last. */
struct named_file {
    size_t at, len;
};

/* "FILE:LINE", or ":LINE" if the file is the one told last. */
static void put_place(struct nytp_fixed_text *text, struct named_file *last, const COP *cop)
{
    const size_t begin = text->n;
    const uint32_t line = nytp_open_stack_put_file(text, &stack, cop);
    const size_t len = text->n - begin;
    if (len > 0 && len == last->len &&
        is_same_text(text->to + begin, text->to + last->at, len)) {
        text->n = begin;
    } else if (len > 0) {
        last->at = begin;
        last->len = len;
    }
    nytp_fixed_put(text, ":");
    nytp_fixed_put_number(text, line);
    end_part(text, begin);
}

static void put_leaf(struct nytp_fixed_text *text, const struct nytp_recorder *rec)
{
    const size_t begin = text->n;
    if (nytp_blocked_has_leaf(rec, &stack)) {
        nytp_fixed_put(text, stack.xsub != NULL ? "xsub " : "builtin ");
        nytp_blocked_put_leaf(text, rec, &stack);
    } else {
        nytp_fixed_put(text, "-");
    }
    end_part(text, begin);
}

/* As many calls as there is room for, and the program itself. */
static void put_calls(struct nytp_fixed_text *text)
{
    const COP *cop = stack.cop;
    struct named_file last = {0};
    for (unsigned i = 0; i < stack.n + stack.is_whole; i++) {
        const size_t begin = text->n;
        if (i < stack.n)
            nytp_open_stack_put_sub(text, &stack, stack.calls[i].code);
        if (i < stack.n && text->n == begin)
            nytp_fixed_put(text, "?");
        end_part(text, begin);
        put_place(text, &last, cop);
        if (text->n == text->size) { /* this one does not fit */
            text->n = begin;
            return;
        }
        if (i < stack.n)
            cop = stack.calls[i].site;
    }
}

/* Writes what the latest tick saw it wait for. */
static void put_reason(struct nytp_fixed_text *text, const struct nytp_wait_seen *wait)
{
    static char reason[NYTP_WAIT_ROOM];
    nytp_blocked_put_wait(wait, reason);
    nytp_fixed_put(text, reason[0] != '\0' ? " " : "");
    nytp_fixed_put(text, reason);
}

static void put_body(struct nytp_fixed_text *text, const struct nytp_recorder *rec,
                     const struct nytp_wait_seen *wait, uint64_t size, uint64_t ticks,
                     uint64_t cpu_ticks)
{
    const uint64_t numbers[] = {size, ticks, cpu_ticks, stack.n};
    for (unsigned i = 0; i < 4; i++) {
        nytp_fixed_put(text, i > 0 ? " " : "");
        nytp_fixed_put_number(text, numbers[i]);
    }
    put_reason(text, wait);
    end_part(text, 0);
    put_leaf(text, rec);
    put_calls(text);
    text->to[text->n] = '\0';
}

/* The room's text around the body. */
static void fill_room(size_t body_len)
{
    struct nytp_fixed_text text = {.to = room, .size = sizeof room};
    uint64_t sum = NYTP_HANG_SUM;
    for (size_t i = 0; i < body_len; i++)
        sum = NYTP_HANG_SUM_STEP(sum, body[i]);
    nytp_fixed_put(&text, "#" NYTP_HANG_NOTE " ");
    nytp_fixed_put_number(&text, sum);
    nytp_fixed_put(&text, " ");
    nytp_fixed_put_number(&text, body_len);
    nytp_fixed_put(&text, " ");
    nytp_fixed_put(&text, body);
    while (text.n < sizeof room)
        room[text.n++] = ' ';
    room[sizeof room - 1] = '\n';
}

/* The program may wake at any time. Work after that is no hang and is not written. */
static void write_note(const struct nytp_recorder *rec, struct nytp_rec_last_stack *note,
                       const struct nytp_ring *ring)
{
    const uint64_t size = *(const volatile uint64_t *)&rec->file.size;
    const uint64_t cpu_ticks = note->tick_cpu_ns > note->since_cpu_ns /* of one thread */
                                   ? (note->tick_cpu_ns - note->since_cpu_ns) / NS_PER_TICK
                                   : 0;
    const uint64_t ticks =
        note->by_cpu ? cpu_ticks : (note->tick_ns - note->since_ns) / NS_PER_TICK;
    struct nytp_fixed_text text = {.to = body, .size = sizeof body - 1};
    if (size < note->room_at + sizeof room ||
        !nytp_open_stack_look(&stack, ring->interpreter, ring->pid))
        return;
    put_body(&text, rec, &ring->ticks[(ring->head - 1) % NYTP_TICKS_IN_RING].wait, size, ticks,
             cpu_ticks);
    fill_room(text.n);
    const int fd = nytp_own_fd(&note->file);
    if (fd >= 0 && nytp_open_stack_is_same(&stack) && ring->tail == note->tail &&
        pwrite(fd, room, sizeof room, (off_t)note->room_at) == (ssize_t)sizeof room)
        note->is_written = true;
}

/* Ticks come faster than most safe points; it is a matter of a few times as many. */
static void ticked(struct nytp_ring *ring)
{
    const struct nytp_recorder *const rec = ring->owner;
    struct nytp_rec_last_stack *const note = rec->last_stack;
    const uint32_t tail = ring->tail;
    const uint64_t now_ns = nytp_kernel_clock_ns(CLOCK_MONOTONIC);
    const uint64_t cpu_ns = ring->ticks[(ring->head - 1) % NYTP_TICKS_IN_RING].cpu_ns;
    if (!note->has_ticked || tail != note->tail) {
        note->since_ns = note->has_ticked ? note->tick_ns : now_ns;
        note->since_cpu_ns = note->has_ticked ? note->tick_cpu_ns : cpu_ns;
        note->due_ns = note->since_ns + SOON_NS;
        note->tail = tail;
        note->has_ticked = true;
    }
    note->tick_ns = now_ns;
    note->tick_cpu_ns = cpu_ns;
    if (note->room_at == 0 || now_ns < note->due_ns ||
        *(const volatile enum nytp_state *)&rec->state != NYTP_RECORDING)
        return;
    write_note(rec, note, ring);
    const uint64_t share_ns = (now_ns - note->since_ns) / LATE_SHARE;
    note->due_ns = now_ns + (share_ns < SOON_NS     ? SOON_NS
                             : share_ns < LATEST_NS ? share_ns
                                                    : LATEST_NS);
}

/* ---- in the program ---- */

void nytp_last_stack_reserve(struct nytp_recorder *rec)
{
    char blanks[NYTP_HANG_ROOM - 1]; /* without the mark and the newline, which are written */
    struct nytp_rec_last_stack *const note = rec->last_stack;
    if (rec->kind != NYTP_SAMPLED)
        return;
    const bool has_room = rec->file.is_regular && rec->options.flush_s > 0;
    nytp_ticks_hold();
    note->room_at =
        has_room ? rec->writer->n_raw + (uint64_t)(rec->writer->at - rec->writer->block) : 0;
    note->file = (struct nytp_own_fd){rec->file.fd, rec->file.id.dev, rec->file.id.ino};
    note->by_cpu = rec->options.sample_clock != NULL && strEQ(rec->options.sample_clock, "cpu");
    note->is_written = false;
    nytp_ticks_let_go();
    memset(blanks, ' ', sizeof blanks - 1);
    blanks[sizeof blanks - 1] = '\0';
    if (has_room)
        nytp_write_comment(rec->writer, blanks);
}

void nytp_last_stack_begin(struct nytp_recorder *rec, struct nytp_ring *ring)
{
    struct nytp_rec_last_stack *const note = rec->last_stack;
    note->has_ticked = false;
    ring->owner = rec;
    ring->ticked = ticked;
}

void nytp_last_stack_end(struct nytp_recorder *rec)
{
    static const char over[] = "#" NYTP_HANG_NOTE " -";
    struct nytp_rec_last_stack *const note = rec->last_stack;
    if (note->room_at == 0 || (!note->is_written && note->file.fd == rec->file.fd))
        return;
    nytp_ticks_hold();
    note->file.fd = rec->file.fd;
    if (note->is_written)
        nytp_outfile_overwrite(&rec->file, note->room_at, (const uint8_t *)over,
                               sizeof over - 1);
    note->is_written = false;
    nytp_ticks_let_go();
}

void nytp_last_stack_forget(struct nytp_recorder *rec)
{
    struct nytp_rec_last_stack *const note = rec->last_stack;
    note->room_at = 0;
    note->has_ticked = false;
}
