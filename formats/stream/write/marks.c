/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Writes Devel::DProf's tmon.out in the profiled program; see marks.h. After nytp_marks_new()
 * it allocates nothing and only collects text in a buffer. The last enter mark can still be
 * changed: the recorder may learn only then which sub it was.
 */
#include "marks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE_MOST = 128,   /* an `@` line and a mark, without a name */
    NAME_MOST = 60000, /* longer names are cut: readers refuse longer lines */
    FIRST_ID = 2,      /* the first of Devel::DProf, too */
};

struct nytp_marks *nytp_marks_new(uint32_t hz, size_t size, nytp_bytes_fn *put, void *context)
{
    struct nytp_marks *const marks = calloc(1, sizeof *marks);
    if (marks == NULL)
        return NULL;
    if (size < NAME_MOST + 2 * LINE_MOST)
        size = NAME_MOST + 2 * LINE_MOST;
    marks->block = malloc(size);
    if (marks->block == NULL) {
        free(marks);
        return NULL;
    }
    marks->hz = hz;
    marks->at = marks->block;
    marks->end = marks->block + size;
    marks->put = put;
    marks->context = context;
    return marks;
}

void nytp_marks_free(struct nytp_marks *marks)
{
    if (marks == NULL)
        return;
    free(marks->block);
    free(marks);
}

bool nytp_marks_flush(struct nytp_marks *marks)
{
    const size_t len = (size_t)(marks->at - marks->block);
    if (len > 0 && !marks->failed)
        marks->failed = !marks->put(marks->context, (const uint8_t *)marks->block, len);
    marks->at = marks->block;
    marks->enter = marks->enter_end = NULL;
    return !marks->failed;
}

static void make_room(struct nytp_marks *marks, size_t len)
{
    if ((size_t)(marks->end - marks->at) < len)
        nytp_marks_flush(marks);
}

static void put_char(struct nytp_marks *marks, char c)
{
    *marks->at++ = c;
}

static void put_text(struct nytp_marks *marks, const char *text, size_t len)
{
    memcpy(marks->at, text, len);
    marks->at += len;
}

static void put_number(struct nytp_marks *marks, uint64_t number, unsigned base)
{
    char digits[24];
    size_t n = sizeof digits;
    do {
        digits[--n] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number > 0);
    put_text(marks, digits + n, sizeof digits - n);
}

/* Whole seconds are converted separately, so that no product overflows. */
static int64_t ticks_of(const struct nytp_marks *marks, int64_t ns)
{
    const int64_t second = INT64_C(1000000000);
    return ns / second * marks->hz + ns % second * marks->hz / second;
}

/* ---- header ---- */

static int64_t cost_ticks(const struct nytp_marks *marks, enum nytp_marks_clock clock)
{
    return marks->cost == NULL ? 0 : ticks_of(marks, marks->cost->ns[clock]);
}

void nytp_marks_header(const struct nytp_marks *marks, const struct nytp_marks_times *run,
                       char header[NYTP_MARKS_HEADER])
{
    static const char end[] = "\n\nPART2\n";
    const struct nytp_marks_times none = {{0}};
    const int64_t *const ns = run == NULL ? none.ns : run->ns;
    char text[NYTP_MARKS_HEADER];
    const int len = snprintf(
        text, sizeof text,
        "#fOrTyTwO\n$hz=%" PRIu32 ";\n$XS_VERSION='DProf nytp';\n# All values are given in HZ\n"
        "$over_utime=%" PRId64 "; $over_stime=%" PRId64 "; $over_rtime=%" PRId64 ";\n"
        "$over_tests=%" PRIu32 ";\n"
        "$rrun_utime=%" PRId64 "; $rrun_stime=%" PRId64 "; $rrun_rtime=%" PRId64 ";\n"
        "$total_marks=%" PRId64,
        marks->hz, cost_ticks(marks, NYTP_MARKS_USER), cost_ticks(marks, NYTP_MARKS_SYSTEM),
        cost_ticks(marks, NYTP_MARKS_REAL), marks->cost == NULL ? 1 : marks->n_cost,
        ticks_of(marks, ns[NYTP_MARKS_USER]), ticks_of(marks, ns[NYTP_MARKS_SYSTEM]),
        ticks_of(marks, ns[NYTP_MARKS_REAL]), run == NULL ? 0 : marks->place.n_marks);
    memset(header, ' ', NYTP_MARKS_HEADER);
    memcpy(header, text, (size_t)len);
    memcpy(header + NYTP_MARKS_HEADER - strlen(end), end, strlen(end));
}

void nytp_marks_begin(struct nytp_marks *marks)
{
    memset(&marks->place, 0, sizeof marks->place);
    marks->place.last_id = FIRST_ID - 1;
    marks->at = marks->block;
    marks->enter = marks->enter_end = NULL;
    nytp_marks_header(marks, NULL, marks->at);
    marks->at += NYTP_MARKS_HEADER;
}

/* ---- marks ---- */

/* Writes the time since the last mark, if a clock has advanced by a tick. A clock that went
 * back stands still until it has caught up. */
static void put_times(struct nytp_marks *marks, const struct nytp_marks_times *now)
{
    int64_t passed[NYTP_MARKS_CLOCKS], most = 0;
    for (int i = 0; i < NYTP_MARKS_CLOCKS; i++) {
        passed[i] = ticks_of(marks, now->ns[i]) - marks->place.ticks[i];
        if (passed[i] < 0)
            passed[i] = 0;
        if (passed[i] > most)
            most = passed[i];
        marks->place.ticks[i] += passed[i];
    }
    if (most == 0)
        return;
    put_char(marks, '@');
    for (int i = 0; i < NYTP_MARKS_CLOCKS; i++) {
        put_char(marks, ' ');
        put_number(marks, (uint64_t)passed[i], 10);
    }
    put_char(marks, '\n');
}

static void put_mark(struct nytp_marks *marks, char mark, uint32_t id)
{
    put_char(marks, mark);
    put_char(marks, ' ');
    put_number(marks, id, 16);
    put_char(marks, '\n');
    marks->place.n_marks++;
}

/* Writes the name of a sub at its first use: "& ID PACKAGE NAME". The package ends at the last
 * "::", which may be missing. A newline in a name would end the line, so it is replaced. */
static void introduce_sub(struct nytp_marks *marks, uint32_t id, const char *name, size_t len)
{
    size_t package = len > NAME_MOST ? len = NAME_MOST : len;
    while (package > 0 &&
           !(name[package - 1] == ':' && package > 1 && name[package - 2] == ':'))
        package--;
    put_char(marks, '&');
    put_char(marks, ' ');
    put_number(marks, id, 16);
    put_char(marks, ' ');
    char *const text = marks->at;
    put_text(marks, package == 0 ? "main" : name, package == 0 ? 4 : package - 2);
    put_char(marks, ' ');
    put_text(marks, name + package, len - package);
    for (char *c = text; c < marks->at; c++)
        if (*c == '\n')
            *c = '?';
    put_char(marks, '\n');
}

void nytp_marks_enter(struct nytp_marks *marks, const struct nytp_marks_times *now,
                      uint32_t *id, const char *name, size_t name_len)
{
    make_room(marks, *id == 0 ? NAME_MOST + 2 * LINE_MOST : LINE_MOST);
    put_times(marks, now);
    marks->enter = marks->at;
    if (*id == 0) {
        *id = ++marks->place.last_id;
        introduce_sub(marks, *id, name, name_len);
    }
    put_mark(marks, '+', *id);
    marks->enter_end = marks->at;
}

void nytp_marks_leave(struct nytp_marks *marks, const struct nytp_marks_times *now, uint32_t id)
{
    make_room(marks, LINE_MOST);
    put_times(marks, now);
    put_mark(marks, '-', id);
}

void nytp_marks_correct(struct nytp_marks *marks, const struct nytp_marks_times *now,
                        uint32_t *old_id, uint32_t *id, const char *name, size_t name_len)
{
    if (marks->enter == NULL || marks->at != marks->enter_end) {
        nytp_marks_leave(marks, now, *old_id); /* the sub has called another since */
        nytp_marks_enter(marks, now, id, name, name_len);
        return;
    }
    if (*marks->enter == '&') { /* the mark that introduced the sub */
        *old_id = 0;
        marks->place.last_id--;
    }
    marks->at = marks->enter;
    marks->place.n_marks--;
    nytp_marks_enter(marks, now, id, name, name_len);
}
