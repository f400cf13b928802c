/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * nytp spy top: a table of where a process spends its time, made anew each second. In a
 * terminal it is written over, 1 and 2 sort by the first and the second column, and q leaves;
 * elsewhere one table follows the other.
 */
#define _GNU_SOURCE
#include "cli.h"

#include "exporters/base/text.h"
#include "formats/base/arena.h"
#include "spy/perl/attach.h"
#include "spy/perl/builtins.h"
#include "spy/record/sampled_stream.h"
#include "spy/record/sampling.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum {
    ROWS_UNKNOWN = 20,
    FADE = 8 /* of what was, an eighth goes with each table */
};

/* A sub, xsub or builtin by its name. */
struct row {
    uint32_t name, file, line; /* where it was last */
    double self, total;        /* seconds, of which old ones fade */
    uint64_t seen;             /* in which sample, so that recursion counts once */
    bool has_place;
};

struct top {
    const struct nytp_spy *spy;
    struct nytp_session *session;
    struct nytp_sampling sampling;
    struct row *rows;
    struct nytp_table by_name;
    uint32_t n_rows, rows_capacity;
    double total, cpu; /* seconds, as in rows */
    uint64_t n_samples;
    int64_t began_ns;
    bool is_terminal, failed, sorted_by_total, is_asked_for; /* by a key */
    struct nytp_error error;                                 /* of the output */
    struct termios before;
};

static struct row *row_of(struct top *top, uint32_t name)
{
    const struct nytp_key key = {name, 0, 0, 0};
    const uint32_t at = nytp_table_get(&top->by_name, key);
    if (at != NYTP_TABLE_NONE)
        return &top->rows[at];
    if (!nytp_grow(&top->rows, &top->rows_capacity, top->n_rows, sizeof *top->rows) ||
        !nytp_table_put(&top->by_name, key, top->n_rows))
        return NULL;
    top->rows[top->n_rows] = (struct row){.name = name};
    return &top->rows[top->n_rows++];
}

static uint32_t interned(const struct top *top, const char *text)
{
    return nytp_strings_intern(top->session->names.strings, text, strlen(text));
}

/* The xsub or builtin that runs; UINT32_MAX: none. */
static uint32_t leaf_name(const struct top *top, const struct nytp_stack *stack)
{
    char name[60], text[80];
    if (stack->xsub != UINT32_MAX)
        return top->session->names.subs[stack->xsub].name;
    nytp_op_name(&top->session->perl, stack->builtin, name, sizeof name);
    if (!nytp_is_timed_builtin(name))
        return UINT32_MAX;
    snprintf(text, sizeof text, "CORE::%s", name);
    return interned(top, text);
}

static bool count(struct top *top, uint32_t name, const struct nytp_frame *frame,
                  double seconds, bool is_innermost)
{
    struct row *const row = row_of(top, name);
    if (row == NULL)
        return false;
    if (row->seen != top->n_samples)
        row->total += seconds;
    row->seen = top->n_samples;
    if (is_innermost)
        row->self += seconds;
    if (frame != NULL) {
        row->has_place = true;
        row->file = frame->file;
        row->line = frame->line;
    }
    return true;
}

static bool take_sample(void *context, struct nytp_spied_thread *thread, int64_t ticks,
                        int64_t cpu_ticks)
{
    struct top *const top = context;
    const struct nytp_stack *const stack = &thread->stack;
    const double seconds = (double)ticks / NYTP_SPY_TICKS_PER_S;
    if (ticks <= 0)
        return true;
    top->n_samples++;
    top->total += seconds;
    top->cpu += (double)cpu_ticks / NYTP_SPY_TICKS_PER_S;
    const uint32_t leaf = leaf_name(top, stack);
    bool ok = leaf == UINT32_MAX || count(top, leaf, NULL, seconds, true);
    for (uint32_t i = 0; ok && i < stack->n; i++) {
        const struct nytp_frame *const frame = &stack->frames[i];
        const uint32_t name = frame->sub != UINT32_MAX
                                  ? top->session->names.subs[frame->sub].name
                              : frame->kind == NYTP_FRAME_MAIN ? interned(top, "(main program)")
                                                               : interned(top, "(eval)");
        ok = count(top, name, frame, seconds, i == 0 && leaf == UINT32_MAX);
    }
    top->failed |= !ok;
    return ok;
}

static int by_self(const void *left, const void *right)
{
    const struct row *const a = left, *const b = right;
    if (a->self != b->self)
        return a->self < b->self ? 1 : -1;
    if (a->total != b->total)
        return a->total < b->total ? 1 : -1;
    return a->name < b->name ? -1 : a->name > b->name;
}

static int by_total(const void *left, const void *right)
{
    const struct row *const a = left, *const b = right;
    return a->total != b->total ? (a->total < b->total ? 1 : -1) : by_self(left, right);
}

static void fade(struct top *top)
{
    const double rest = (FADE - 1.0) / FADE;
    top->total *= rest;
    top->cpu *= rest;
    for (uint32_t i = 0; i < top->n_rows; i++) {
        top->rows[i].self *= rest;
        top->rows[i].total *= rest;
    }
}

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

/* "  12.3%   45.6%  My::App::run (lib/My/App.pm:12)" */
static void put_row(const struct top *top, struct nytp_out *out, const struct row *row,
                    uint32_t columns)
{
    char place[1200];
    const struct nytp_strings *const strings = top->session->names.strings;
    nytp_printf(out, "%6.1f%% %7.1f%%  ", percent(row->self, top->total),
                percent(row->total, top->total));
    const uint32_t room = columns - 18;
    const uint32_t width =
        nytp_text_put(out, nytp_strings_get(strings, row->name), room * 2 / 3);
    if (row->has_place && room > width + 13) {
        snprintf(place, sizeof place, "%.1000s:%u", nytp_strings_get(strings, row->file).ptr,
                 row->line);
        nytp_puts(out, " (");
        nytp_text_put_tail(out, (struct nytp_name){place, (uint32_t)strlen(place)},
                           room - width - 3);
        nytp_putc(out, ')');
    }
    nytp_puts(out, top->is_terminal ? "\033[K\n" : "\n");
}

static void put_table(struct top *top, struct nytp_out *out)
{
    struct winsize size = {0};
    bool is_terminal;
    const uint32_t columns = nytp_spy_columns(&is_terminal);
    const char *const end = top->is_terminal ? "\033[K\n" : "\n";
    uint32_t n = ROWS_UNKNOWN;
    if (top->is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 8)
        n = size.ws_row - 6u;
    struct row *const sorted = malloc((top->n_rows + 1) * sizeof *sorted);
    if (sorted == NULL)
        return;
    memcpy(sorted, top->rows, top->n_rows * sizeof *sorted);
    qsort(sorted, top->n_rows, sizeof *sorted, top->sorted_by_total ? by_total : by_self);
    if (top->is_terminal)
        nytp_puts(out, "\033[H");
    nytp_printf(out, "Process %d: ", (int)top->session->target.pid);
    nytp_text_put(
        out, (struct nytp_name){top->session->command, (uint32_t)strlen(top->session->command)},
        columns - 22);
    nytp_printf(out,
                "%sWall time, of which %.0f%% on a processor; %llu samples at %u Hz, %.2f%% "
                "not whole%s",
                end, percent(top->cpu, top->total), (unsigned long long)top->n_samples,
                top->spy->rate,
                percent((double)top->sampling.n_torn, (double)top->sampling.n_looks), end);
    nytp_printf(out, "%s   self    total  sub%s", end, end);
    for (uint32_t i = 0, shown = 0; i < top->n_rows && shown < n; i++) {
        if (sorted[i].total <= top->total / 10000) /* it has faded */
            continue;
        put_row(top, out, &sorted[i], columns);
        shown++;
    }
    if (top->is_terminal)
        nytp_puts(out, "\033[J\n1, 2: sort by self, total   q: leave\033[K");
    else
        nytp_putc(out, '\n');
    free(sorted);
}

static void begin_terminal(struct top *top)
{
    struct termios raw;
    top->is_terminal = isatty(STDOUT_FILENO) && tcgetattr(STDIN_FILENO, &top->before) == 0;
    if (!top->is_terminal)
        return;
    raw = top->before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    /* the other screen, no cursor, long lines are cut */
    fputs("\033[?1049h\033[?25l\033[?7l", stdout);
    fflush(stdout);
}

static void end_terminal(const struct top *top)
{
    if (!top->is_terminal)
        return;
    fputs("\033[?7h\033[?25h\033[?1049l", stdout);
    fflush(stdout);
    tcsetattr(STDIN_FILENO, TCSANOW, &top->before);
}

/* Wait until then; false: q was pressed. */
static bool wait_until(struct top *top, int64_t then_ns)
{
    struct pollfd input = {.fd = top->is_terminal ? STDIN_FILENO : -1, .events = POLLIN};
    int64_t left, step = NYTP_SETTLE_NS;
    char key;
    while ((left = then_ns - nytp_spy_now_ns()) > 0 && !nytp_spy_stop) {
        if (left > step && nytp_sampling_settle(&top->sampling))
            left = step;
        step *= 2;
        const struct timespec time = {left / 1000000000, left % 1000000000};
        if (ppoll(&input, 1, &time, NULL) <= 0 || read(STDIN_FILENO, &key, 1) != 1)
            continue;
        if (key == 'q' || key == 'Q')
            return false;
        if (key == '1' || key == '2') {
            top->sorted_by_total = key == '2';
            top->is_asked_for = true;
        }
    }
    return true;
}

static bool show(struct top *top)
{
    struct nytp_out *const out = nytp_out_open("-", &top->error);
    if (out == NULL)
        return false;
    put_table(top, out);
    top->is_asked_for = false;
    return nytp_out_close(out, &top->error);
}

static void run(struct top *top)
{
    struct nytp_pace pace = nytp_pace_begin(top->spy->rate, !top->spy->no_realtime);
    struct nytp_aside aside;
    nytp_aside_begin(&aside);
    top->sampling.aside = &aside;
    int64_t shown = pace.next_ns;
    top->began_ns = shown;
    while (!nytp_spy_stop && nytp_sampling_look(&top->sampling)) {
        const int64_t now = nytp_spy_now_ns();
        const bool is_over = top->spy->duration_s > 0 &&
                             (double)(now - top->began_ns) >= top->spy->duration_s * 1e9;
        const bool is_due = is_over || (double)(now - shown) >= top->spy->interval_s * 1e9;
        if ((is_due || top->is_asked_for) && !show(top))
            return;
        if (is_due) {
            fade(top);
            shown = now;
        }
        nytp_pace_next(&pace);
        if (is_over || !wait_until(top, pace.next_ns))
            return;
    }
    if (!nytp_spy_stop && top->n_samples > 0)
        show(top);
}

enum nytp_spy_status nytp_spy_top(const struct nytp_spy *spy)
{
    static struct nytp_session session;
    struct nytp_error error = {0};
    struct top top = {.spy = spy, .session = &session};
    if (spy->n_pids != 1) {
        nytp_spy_say("top shows one process; %u are named", spy->n_pids);
        return SPY_USAGE;
    }
    if (!nytp_session_await(&session, spy, spy->pids[0], &error)) {
        nytp_spy_say("%s", error.message);
        return SPY_REFUSED;
    }
    top.sampling =
        (struct nytp_sampling){.names = &session.names, .sample = take_sample, .context = &top};
    begin_terminal(&top);
    run(&top);
    end_terminal(&top);
    nytp_sampling_end(&top.sampling);
    nytp_table_free(&top.by_name);
    free(top.rows);
    nytp_session_close(&session);
    if (top.failed) {
        nytp_spy_say("out of memory");
        return SPY_REFUSED;
    }
    return nytp_spy_output_status(NULL, &top.error);
}
