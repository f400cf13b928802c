/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * nytp spy dump: what each interpreter of a process is doing, once.
 */
#define _GNU_SOURCE
#include "cli.h"

#include "exporters/base/text.h"
#include "spy/perl/builtins.h"
#include "spy/target/process.h"
#include "spy/target/source_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRIES = 20,
    MOST_SOURCE = 1 << 30, /* bytes that are read until no more lines are shown */
};

struct dump {
    struct nytp_session *session;
    struct nytp_out *out;
    uint32_t columns;
    uint64_t source_bytes; /* that were read */
    bool color, with_source;
    bool some_are_torn; /* stacks that could not be read whole */
};

static struct nytp_name name_of(const char *text)
{
    return (struct nytp_name){text, (uint32_t)strlen(text)};
}

/* The line of source under a frame, where the file can be read. perl has line 0 for what it
 * made itself, as the code of -M. */
static void put_source(struct dump *dump, const struct nytp_frame *frame)
{
    const struct nytp_target *const target = &dump->session->target;
    char *line = NULL;
    size_t size = 0;
    const struct nytp_name file = nytp_strings_get(dump->session->names.strings, frame->file);
    FILE *const source =
        dump->with_source && frame->line > 0
            ? nytp_source_file_open(target->core == NULL ? target->pid : 0, file.ptr, HUGE_VAL)
            : NULL;
    if (source == NULL)
        return;
    uint32_t at = 0;
    ssize_t len;
    while (at < frame->line && (len = getline(&line, &size, source)) > 0) {
        dump->source_bytes += (uint64_t)len;
        at++;
    }
    if (at == frame->line) {
        const struct nytp_source_line text = {.text = line,
                                              .len = (uint32_t)strcspn(line, "\n")};
        nytp_puts(dump->out, "        ");
        nytp_text_style(dump->out, dump->color, NYTP_STYLE_DIM);
        nytp_text_put_source(dump->out, &text, true, nytp_spy_room(dump->columns, 8));
        nytp_text_style(dump->out, dump->color, NYTP_STYLE_PLAIN);
        nytp_putc(dump->out, '\n');
    }
    free(line);
    fclose(source);
    if (dump->source_bytes <= MOST_SOURCE)
        return;
    dump->with_source = false;
    nytp_puts(dump->out, "        (of further frames no lines: reading them takes too long)\n");
}

static struct nytp_name frame_name(const struct nytp_names *names,
                                   const struct nytp_frame *frame)
{
    static const char *const fixed[] = {[NYTP_FRAME_EVAL] = "(eval)",
                                        [NYTP_FRAME_REQUIRE] = "(require)",
                                        [NYTP_FRAME_MAIN] = "(main program)"};
    if (frame->sub != UINT32_MAX)
        return nytp_strings_get(names->strings, names->subs[frame->sub].name);
    return name_of(fixed[frame->kind]);
}

/* "    My::App::run (lib/My/App.pm:12)"; a path that is too long loses its start. */
static void put_frame(struct dump *dump, const struct nytp_frame *frame)
{
    char place[4200];
    const struct nytp_names *const names = &dump->session->names;
    snprintf(place, sizeof place, "%.4096s:%u",
             nytp_strings_get(names->strings, frame->file).ptr, frame->line);
    nytp_puts(dump->out, "    ");
    const struct nytp_name name = frame_name(names, frame);
    nytp_text_style(dump->out, dump->color, NYTP_STYLE_BOLD);
    const uint32_t width = nytp_text_put(dump->out, name, 0);
    nytp_text_style(dump->out, dump->color, NYTP_STYLE_PLAIN);
    const uint32_t room = nytp_spy_room(dump->columns, width + 7);
    nytp_puts(dump->out, " (");
    nytp_text_put_tail(dump->out, name_of(place), room);
    nytp_puts(dump->out, ")\n");
    put_source(dump, frame);
}

/* What the innermost frame has called that is no code of Perl. */
static void put_leaf(struct dump *dump, const struct nytp_stack *stack)
{
    const struct nytp_names *const names = &dump->session->names;
    char name[60];
    if (stack->xsub != UINT32_MAX) {
        nytp_puts(dump->out, "    ");
        nytp_text_put(dump->out,
                      nytp_strings_get(names->strings, names->subs[stack->xsub].name), 0);
        nytp_puts(dump->out, " (xsub)\n");
        return;
    }
    nytp_op_name(&dump->session->perl, stack->builtin, name, sizeof name);
    if (nytp_is_timed_builtin(name))
        nytp_printf(dump->out, "    CORE::%s\n", name);
}

static void put_state(struct dump *dump, const struct nytp_interpreter *of)
{
    char doing[300];
    const pid_t pid = dump->session->target.pid;
    if (dump->session->target.core != NULL || of->task == 0) {
        nytp_puts(dump->out, "\n");
        return;
    }
    const char state = nytp_task_doing(pid, of->task, doing, sizeof doing);
    if (state == 'R')
        nytp_puts(dump->out, " (running)\n");
    else if (state == 'T' || state == 't')
        nytp_puts(dump->out, " (stopped)\n");
    else if (doing[0] == '\0')
        nytp_puts(dump->out, state == 'D' ? " (waiting for a disk)\n" : " (waiting)\n");
    else {
        nytp_puts(dump->out, " (waiting: ");
        nytp_text_put_tail(dump->out, name_of(doing), nytp_spy_room(dump->columns, 40));
        nytp_puts(dump->out, ")\n");
    }
}

static void put_interpreter(struct dump *dump, const struct nytp_interpreter *of)
{
    struct nytp_walker walker;
    enum nytp_sampled sampled = NYTP_TORN;
    nytp_walker_init(&walker, &dump->session->names, of);
    for (int i = 0; i < TRIES && sampled == NYTP_TORN; i++)
        sampled = nytp_sample(&walker);
    if (dump->session->perl.n_interpreters > 1)
        nytp_printf(dump->out, "\nThread %llu", (unsigned long long)of->tid);
    else
        nytp_puts(dump->out, "\nMain thread");
    if (of->task != 0 && dump->session->target.core == NULL)
        nytp_printf(dump->out, " [%d]", (int)of->task);
    put_state(dump, of);
    if (sampled == NYTP_WHOLE) {
        put_leaf(dump, &walker.stack);
        for (uint32_t i = 0; i < walker.stack.n; i++)
            put_frame(dump, &walker.stack.frames[i]);
    } else {
        nytp_puts(dump->out, sampled == NYTP_GONE ? "    it has ended\n"
                                                  : "    its stack could not be read whole\n");
        dump->some_are_torn |= sampled == NYTP_TORN;
    }
    nytp_walker_free(&walker);
}

static void put_process(struct dump *dump)
{
    const struct nytp_session *const session = dump->session;
    const struct nytp_perl *const perl = &session->perl;
    if (session->target.core == NULL) {
        nytp_printf(dump->out, "Process %d: ", (int)session->target.pid);
        nytp_text_put(dump->out, name_of(session->command), nytp_spy_room(dump->columns, 20));
        nytp_putc(dump->out, '\n');
    } else {
        nytp_printf(dump->out, "Core of process %d\n", (int)session->target.pid);
    }
    nytp_printf(dump->out, "Perl v5.%u.%u (", perl->version, perl->subversion);
    nytp_text_put_tail(dump->out, name_of(perl->path), nytp_spy_room(dump->columns, 40));
    nytp_printf(dump->out, ")%s%s\n", perl->layout->has_threads ? ", threads" : "",
                nytp_layout_is_debugging(perl->layout) ? ", DEBUGGING" : "");
    for (uint32_t i = 0; i < perl->n_interpreters; i++)
        put_interpreter(dump, &perl->interpreters[i]);
}

enum dumped {
    IS_TOLD,
    IS_NOT_ALL, /* nothing or not all was told, and why */
    IS_NO_PERL, /* which is not worth a word, as a pattern has found it */
};

static enum dumped dump_one(const struct nytp_spy *spy, struct nytp_out *out, pid_t pid)
{
    static struct nytp_session session;
    struct nytp_error error = {0};
    bool is_terminal;
    if (!nytp_session_await(&session, spy, pid, &error)) {
        if (spy->pattern != NULL && error.status == NYTP_ERR_ABSENT)
            return IS_NO_PERL;
        nytp_spy_say("%s%s%s", spy->core != NULL ? spy->core : "",
                     spy->core != NULL ? ": " : "", error.message);
        return IS_NOT_ALL;
    }
    if (out->n_bytes > 0)
        nytp_putc(out, '\n');
    struct dump dump = {.session = &session,
                        .out = out,
                        .columns = nytp_spy_columns(spy->output, &is_terminal),
                        .with_source = !spy->no_source};
    dump.color = is_terminal && getenv("NO_COLOR") == NULL;
    put_process(&dump);
    const bool was_too_much = nytp_session_was_too_much(&session, spy);
    nytp_session_close(&session);
    return was_too_much || dump.some_are_torn ? IS_NOT_ALL : IS_TOLD;
}

enum nytp_spy_status nytp_spy_dump(const struct nytp_spy *spy)
{
    struct nytp_error error = {0};
    struct nytp_out *const out = nytp_out_open(spy->output == NULL ? "-" : spy->output, &error);
    uint32_t n[] = {[IS_TOLD] = 0, [IS_NOT_ALL] = 0, [IS_NO_PERL] = 0};
    if (out == NULL)
        return nytp_spy_output_status(spy->output, &error);
    if (spy->core != NULL)
        n[dump_one(spy, out, 0)]++;
    for (uint32_t i = 0; i < spy->n_pids; i++)
        n[dump_one(spy, out, spy->pids[i])]++;
    if (n[IS_TOLD] + n[IS_NOT_ALL] == 0)
        nytp_spy_say("no process whose command line matches %s is a perl", spy->pattern);
    nytp_out_close(out, &error);
    const enum nytp_spy_status status = nytp_spy_output_status(spy->output, &error);
    if (status != SPY_DONE)
        return status;
    const bool is_enough = n[IS_TOLD] > 0 && spy->pattern != NULL;
    return is_enough || n[IS_NOT_ALL] + n[IS_NO_PERL] == 0 ? SPY_DONE : SPY_REFUSED;
}
