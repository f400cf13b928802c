/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * nytp spy top: a table of where processes spend their time, renewed each second. In a terminal
 * it is redrawn in place, 1 and 2 sort by the first and second column, q quits, and the last
 * table stays. Elsewhere tables follow each other.
 */
#define _GNU_SOURCE
#include "followed.h"
#include "terminal.h"

#include "exporters/base/text.h"
#include "spy/record/sampled_stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    ROWS_UNKNOWN = 20,
    FADE = 8,             /* each table reduces older times by an eighth */
    MOST_PROCESSES = 500, /* at one time */
    MOST_NAMES = 10000,   /* of subs and files; then the table begins anew */
};

struct row {
    uint32_t name, file, line; /* string ids; `file` and `line` are the last place */
    double self, total;        /* seconds; older ones fade */
    uint64_t seen;             /* last sample that counted it: recursion counts once */
    bool has_place;
};

/* String ids of the table by those of a process. */
struct shared {
    uint32_t *ids, capacity;
};

struct top {
    const struct nytp_spy *spy;
    struct nytp_followed followed;
    pid_t last_pid;               /* opened last, */
    char last_command[4096];      /* and its command line */
    struct nytp_strings *strings; /* names in the table */
    NYTP_LIST(struct row) rows;
    struct nytp_table by_name;
    double total, cpu;                          /* seconds, as in rows */
    uint64_t n_samples, n_forgotten;            /* n_forgotten: before the table began anew */
    int64_t shown_ns;                           /* last table */
    bool failed, sorted_by_total, is_asked_for; /* by a key */
    struct nytp_error error;                    /* of the output */
    struct nytp_terminal terminal;
};

static struct row *row_of(struct top *top, uint32_t name)
{
    const struct nytp_key key = {name, 0, 0, 0};
    const uint32_t at = nytp_table_get(&top->by_name, key);
    if (at != NYTP_TABLE_NONE)
        return &top->rows.at[at];
    if (!NYTP_GROW(&top->rows) || !nytp_table_put(&top->by_name, key, top->rows.n))
        return NULL;
    top->rows.at[top->rows.n] = (struct row){.name = name};
    return &top->rows.at[top->rows.n++];
}

static uint32_t interned(const struct top *top, struct nytp_name text)
{
    return nytp_strings_intern(top->strings, text.ptr, text.len);
}

/* Returns the table's string for a process's; each is looked up once. */
static uint32_t shared_id(const struct nytp_followed_process *process, uint32_t id)
{
    const struct nytp_strings *const strings = process->session->names.strings;
    struct shared *const shared = process->of_command;
    if (!nytp_reserve_zeroed(&shared->ids, &shared->capacity, nytp_strings_count(strings),
                             sizeof *shared->ids))
        return UINT32_MAX;
    if (shared->ids[id] == 0) /* not looked up yet, or "" */
        shared->ids[id] = interned(process->followed->command, nytp_strings_get(strings, id));
    return shared->ids[id];
}

static void forget_shared(struct shared *shared)
{
    free(shared->ids);
    *shared = (struct shared){0};
}

static bool opened(struct nytp_followed_process *process)
{
    struct top *const top = process->followed->command;
    process->of_command = calloc(1, sizeof(struct shared));
    top->last_pid = process->pid;
    memcpy(top->last_command, process->session->command, sizeof top->last_command);
    return process->of_command != NULL;
}

static void closed(struct nytp_followed_process *process)
{
    if (process->of_command != NULL)
        forget_shared(process->of_command);
    free(process->of_command);
    process->of_command = NULL;
}

/* Returns the name of the running xsub or builtin, or UINT32_MAX. */
static uint32_t leaf_name(const struct nytp_followed_process *process,
                          const struct nytp_stack *stack)
{
    char text[80];
    if (stack->xsub != UINT32_MAX)
        return shared_id(process, process->session->names.subs[stack->xsub].name);
    const char *const name = nytp_timed_builtin(&process->session->perl, stack->builtin);
    if (name == NULL)
        return UINT32_MAX;
    snprintf(text, sizeof text, "CORE::%s", name);
    return interned(process->followed->command, nytp_name_of_text(text));
}

static uint32_t frame_name(const struct nytp_followed_process *process,
                           const struct nytp_frame *frame)
{
    if (frame->sub != UINT32_MAX)
        return shared_id(process, process->session->names.subs[frame->sub].name);
    return interned(
        process->followed->command,
        nytp_name_of_text(frame->kind == NYTP_FRAME_MAIN ? "(main program)" : "(eval)"));
}

static bool count(const struct nytp_followed_process *process, uint32_t name,
                  const struct nytp_frame *frame, double seconds, bool is_innermost)
{
    struct top *const top = process->followed->command;
    struct row *const row = row_of(top, name);
    if (row == NULL)
        return false;
    if (row->seen != top->n_samples)
        row->total += seconds;
    row->seen = top->n_samples;
    if (is_innermost)
        row->self += seconds;
    if (frame != NULL) {
        row->file = shared_id(process, frame->file);
        row->line = frame->line;
        row->has_place = row->file != UINT32_MAX;
    }
    return true;
}

/* Where a program makes new names for ever. */
static bool begin_anew(struct top *top)
{
    struct nytp_strings *const strings = nytp_strings_new();
    if (strings == NULL)
        return false;
    nytp_strings_free(top->strings);
    nytp_table_free(&top->by_name);
    top->strings = strings;
    top->rows.n = 0;
    top->total = top->cpu = 0;
    top->n_forgotten = top->n_samples;
    for (uint32_t i = 0; i < top->followed.processes.n; i++)
        if (top->followed.processes.at[i]->session != NULL)
            forget_shared(top->followed.processes.at[i]->of_command);
    return true;
}

static void take_sample(void *context, struct nytp_spied_thread *thread, int64_t ticks,
                        int64_t cpu_ticks)
{
    const struct nytp_followed_process *const process = context;
    struct top *const top = process->followed->command;
    const struct nytp_stack *const stack = &thread->stack;
    const double seconds = (double)ticks / NYTP_SPY_TICKS_PER_S;
    if (ticks <= 0)
        return;
    if (nytp_strings_count(top->strings) > MOST_NAMES && !begin_anew(top)) {
        top->failed = true;
        return;
    }
    top->n_samples++;
    top->total += seconds;
    top->cpu += (double)cpu_ticks / NYTP_SPY_TICKS_PER_S;
    const uint32_t leaf = leaf_name(process, stack);
    bool ok = leaf == UINT32_MAX || count(process, leaf, NULL, seconds, true);
    for (uint32_t i = 0; ok && i < stack->n; i++) {
        const struct nytp_frame *const frame = &stack->frames[i];
        ok = count(process, frame_name(process, frame), frame, seconds,
                   i == 0 && leaf == UINT32_MAX);
    }
    top->failed |= !ok;
}

static int by_self(const void *left, const void *right)
{
    const struct row *const a = left, *const b = right;
    NYTP_RETURN_ORDER(b->self, a->self);
    NYTP_RETURN_ORDER(b->total, a->total);
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
    for (uint32_t i = 0; i < top->rows.n; i++) {
        top->rows.at[i].self *= rest;
        top->rows.at[i].total *= rest;
    }
}

/* Ends a line; in a terminal, clears the rest of it. */
static void end_line(const struct top *top, struct nytp_out *out)
{
    nytp_puts(out, top->terminal.is_ours ? "\033[K\n" : "\n");
}

/* "  12.3%   45.6%  My::App::run (lib/My/App.pm:12)" */
static void put_row(const struct top *top, struct nytp_out *out, const struct row *row,
                    uint32_t columns)
{
    char place[4200];
    nytp_printf(out, "%6.1f%% %7.1f%%  ", nytp_spy_percent(row->self, top->total),
                nytp_spy_percent(row->total, top->total));
    const uint32_t room = nytp_spy_room(columns, 18);
    const uint32_t width =
        nytp_text_put(out, nytp_strings_get(top->strings, row->name), room * 2 / 3);
    if (row->has_place && (room == 0 || room > width + 13)) {
        snprintf(place, sizeof place, "%.4096s:%u",
                 nytp_strings_get(top->strings, row->file).ptr, row->line);
        nytp_puts(out, " (");
        nytp_text_put_tail(out, nytp_name_of_text(place), room == 0 ? 0 : room - width - 3);
        nytp_putc(out, ')');
    }
    end_line(top, out);
}

/* "Process 17: perl app.pl", or "17 processes: ^perl worker", and the samples' quality. */
static void put_head(const struct top *top, struct nytp_out *out, uint32_t columns)
{
    const struct nytp_followed *const followed = &top->followed;
    const struct nytp_look_counts counts = followed->counts;
    const bool is_one = followed->n_ever == 1 && top->spy->pattern == NULL;
    uint32_t n_open = 0;
    for (uint32_t i = 0; i < followed->processes.n; i++)
        n_open += followed->processes.at[i]->session != NULL;
    nytp_printf(out, is_one ? "Process %u: " : "%u process%s: ",
                is_one ? (uint32_t)top->last_pid : n_open, n_open == 1 ? "" : "es");
    nytp_text_put(out,
                  nytp_name_of_text(!is_one && top->spy->pattern != NULL ? top->spy->pattern
                                                                         : top->last_command),
                  nytp_spy_room(columns, 22));
    end_line(top, out);
    nytp_printf(out,
                "Wall time, of which %.0f%% on a processor; %llu samples at %u Hz, %.2f%% "
                "not whole",
                nytp_spy_percent(top->cpu, top->total), (unsigned long long)top->n_samples,
                top->spy->rate,
                nytp_spy_percent((double)counts.n_torn, (double)counts.n_looks));
    end_line(top, out);
}

/* A line for each budget that was used up; returns how many. */
static uint32_t put_limits(const struct top *top, struct nytp_out *out)
{
    if (top->followed.has_left_out) {
        nytp_printf(out, "There are more than %d processes: others are not looked at",
                    MOST_PROCESSES);
        end_line(top, out);
    }
    if (top->n_forgotten > 0) {
        nytp_printf(out, "There are more than %d names: shares are those since sample %llu",
                    MOST_NAMES, (unsigned long long)top->n_forgotten);
        end_line(top, out);
    }
    return top->followed.has_left_out + (top->n_forgotten > 0);
}

static uint32_t rows_that_fit(uint32_t n_limits)
{
    struct winsize size = {0};
    const bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 8;
    return is_known ? size.ws_row - 6u - n_limits : ROWS_UNKNOWN;
}

static void put_table(struct top *top, struct nytp_out *out)
{
    const uint32_t columns = nytp_spy_columns(NULL);
    struct row *const sorted = malloc((top->rows.n + 1) * sizeof *sorted);
    if (sorted == NULL)
        return;
    if (top->rows.n > 0)
        memcpy(sorted, top->rows.at, top->rows.n * sizeof *sorted);
    qsort(sorted, top->rows.n, sizeof *sorted, top->sorted_by_total ? by_total : by_self);
    if (top->terminal.is_ours)
        nytp_puts(out, "\033[H");
    put_head(top, out, columns);
    const uint32_t most = rows_that_fit(put_limits(top, out));
    end_line(top, out);
    nytp_puts(out, "   self    total  sub");
    end_line(top, out);
    for (uint32_t i = 0, shown = 0; i < top->rows.n && shown < most; i++) {
        if (sorted[i].total <= top->total / 10000) /* the sub has faded */
            continue;
        put_row(top, out, &sorted[i], columns);
        shown++;
    }
    nytp_puts(out, top->terminal.is_ours ? "\033[J\n1, 2: sort by self, total   q: leave\033[K"
                                         : "\n");
    free(sorted);
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

/* ---- the loop ---- */

/* Waits until then; returns false if q was pressed. */
static bool wait_until(struct top *top, int64_t then_ns)
{
    while (nytp_followed_wait(&top->followed, then_ns, top->terminal.input)) {
        const char key = nytp_terminal_key(&top->terminal);
        if (key == 'q' || key == 'Q')
            return false;
        if (key == '1' || key == '2') {
            top->sorted_by_total = key == '2';
            top->is_asked_for = true;
        }
    }
    return true;
}

/* Shows a table if one is due. `is_over`: the last one, which a terminal gets at the end.
 * Returns false if it cannot be written. */
static bool show_if_due(struct top *top, int64_t now, bool is_over)
{
    const bool is_due = is_over || (double)(now - top->shown_ns) >= top->spy->interval_s * 1e9;
    const bool is_shown = (is_due || top->is_asked_for) && !(is_over && top->terminal.is_ours);
    if (is_shown && !show(top))
        return false;
    if (is_due && !is_over) {
        fade(top);
        top->shown_ns = now;
    }
    return true;
}

/* Returns true if no process is left. */
static bool run(struct top *top)
{
    struct nytp_pace pace = nytp_pace_begin(top->spy->rate, !top->spy->no_realtime);
    struct nytp_followed *const followed = &top->followed;
    nytp_aside_begin(&followed->aside);
    const int64_t began = pace.next_ns;
    top->shown_ns = began;
    while (!nytp_spy_stop) {
        nytp_followed_find(followed, pace.next_ns);
        nytp_followed_look(followed);
        if (nytp_followed_is_over(followed) || top->failed)
            return true;
        const int64_t now = nytp_spy_now_ns();
        const bool is_over =
            top->spy->duration_s > 0 && (double)(now - began) >= top->spy->duration_s * 1e9;
        if (!show_if_due(top, now, is_over) || is_over)
            return false;
        nytp_pace_next(&pace);
        if (!wait_until(top, pace.next_ns))
            return false;
        if (nytp_terminal_was_stopped(&top->terminal)) {
            nytp_followed_resume(followed);
            top->is_asked_for = true;
        }
    }
    return false;
}

/* Opens the present processes and reports failures of named ones; a pattern may have found some
 * without perl. Returns how many are open. */
static uint32_t open_all(struct top *top)
{
    struct nytp_error error = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < top->spy->n_pids; i++) {
        struct nytp_followed_process *const process =
            nytp_follow(&top->followed, top->spy->pids[i], NYTP_WAS_NAMED);
        if (process == NULL)
            continue;
        if (nytp_followed_await(process)) {
            n++;
            continue;
        }
        error = process->error;
        if (top->spy->pattern != NULL)
            continue;
        nytp_spy_say("%s", error.message);
        process->is_given_up = true;
        top->followed.n_ever--;
    }
    if (n == 0 && top->spy->pattern != NULL)
        nytp_spy_say("no process whose command line matches %s can be looked at: %s",
                     top->spy->pattern, error.message);
    return n;
}

static void say_end(const struct top *top)
{
    const struct nytp_followed *const followed = &top->followed;
    uint32_t i = 0;
    while (i < followed->processes.n && !followed->processes.at[i]->was_opened)
        i++;
    if (i < followed->processes.n)
        nytp_spy_say("there is no perl any more in process %d",
                     (int)followed->processes.at[i]->pid);
    else if (followed->n_ever == 1)
        nytp_spy_say("process %d has ended", (int)top->last_pid);
    else
        nytp_spy_say("all %u processes have ended", followed->n_ever);
}

/* Leaves the last table on the screen. If the terminal disappeared with the signal, errors are
 * not reported. */
static void finish(struct top *top, bool is_over)
{
    const bool was_terminal = top->terminal.is_ours;
    nytp_terminal_end(&top->terminal);
    if (top->error.status == NYTP_OK && top->n_samples > 0 && (was_terminal || is_over))
        show(top);
    if (was_terminal && nytp_spy_stop)
        top->error = (struct nytp_error){0};
    if (is_over && !top->failed)
        say_end(top);
}

enum nytp_spy_status nytp_spy_top(const struct nytp_spy *spy)
{
    struct top top = {.spy = spy,
                      .strings = nytp_strings_new(),
                      .terminal = {.input = -1},
                      .followed = {.spy = spy,
                                   .command = &top,
                                   .sample = take_sample,
                                   .opened = opened,
                                   .closed = closed,
                                   .most_processes = MOST_PROCESSES}};
    top.failed = top.strings == NULL;
    nytp_spy_raise_descriptors();
    const uint32_t n = top.failed ? 0 : open_all(&top);
    const bool all = n > 0 && (n == spy->n_pids || spy->pattern != NULL);
    if (n > 0) {
        nytp_terminal_begin(&top.terminal);
        finish(&top, run(&top));
    }
    nytp_followed_end(&top.followed);
    nytp_followed_free(&top.followed);
    nytp_table_free(&top.by_name);
    free(top.rows.at);
    nytp_strings_free(top.strings);
    if (top.failed)
        nytp_spy_say("out of memory");
    const enum nytp_spy_status output = nytp_spy_output_status(NULL, &top.error);
    return output != SPY_DONE ? output : top.failed || !all ? SPY_REFUSED : SPY_DONE;
}
