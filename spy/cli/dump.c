/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * nytp spy dump: the present stacks of a process's interpreters.
 */
#define _GNU_SOURCE
#include "cli.h"

#include "exporters/base/text.h"
#include "formats/base/arena.h"
#include "sampling/step.h"
#include "spy/target/doing.h"
#include "spy/target/process.h"
#include "spy/target/source_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRIES = 20,
    LONGEST_LINE = 4096,
    MOST_SOURCE = 1 << 30, /* bytes read before giving up */
    LONGEST_CIRCLE = 8,    /* of subs that call each other */
    LEAST_ROUNDS = 2,      /* repetitions that are worth a line */
};

/* Some shown frames, and the number of calls after them that repeat these; if none is shown,
 * the number of omitted calls. */
struct fold {
    uint32_t first, n_shown, n_more;
};

/* A line of source to show. */
struct line {
    uint32_t file, number;       /* `file` is a string id */
    enum nytp_source_file state; /* of the file; SLOW, too, if reading was given up before it */
    char *text;                  /* NULL: missing or unreadable */
};

struct seen {
    const struct nytp_interpreter *of;
    struct nytp_walker walker;
    enum nytp_sampled sampled;
    NYTP_LIST(struct fold) folds;
};

/* The output for a process, or for several with equal stacks. */
struct place {
    struct nytp_out *whole; /* for a single process */
    struct nytp_out *heads; /* a line for each process */
    struct nytp_out *stack; /* the common stack; NULL: not compared */
    uint32_t n;
};

struct places {
    struct place *at;
    uint32_t n, capacity;
};

struct dump {
    struct nytp_session *session;
    struct nytp_out *out;
    uint32_t columns;
    NYTP_LIST(struct line) lines; /* by file and number, when they were read */
    bool color, with_source;
    bool some_are_torn;     /* stacks that could not be read whole */
    bool has_said_too_much; /* the note about missing lines was written */
};

/* ---- folds ---- */

static bool is_same_frame(const struct nytp_frame *a, const struct nytp_frame *b)
{
    return a->kind == b->kind && a->sub == b->sub && a->file == b->file && a->line == b->line;
}

/* Returns the number of calls from `first` + `circle` on that repeat those before them. */
static uint32_t repeated(const struct nytp_stack *stack, uint32_t first, uint32_t circle)
{
    uint32_t at = first + circle;
    while (at < stack->n && is_same_frame(&stack->frames[at], &stack->frames[at - circle]))
        at++;
    return at <= first + circle ? 0 : (at - first - circle) / circle * circle;
}

static struct fold fold_at(const struct nytp_stack *stack, uint32_t first)
{
    for (uint32_t circle = 1; circle <= LONGEST_CIRCLE; circle++) {
        const uint32_t n = repeated(stack, first, circle);
        if (n >= LEAST_ROUNDS * circle)
            return (struct fold){first, circle, n};
    }
    return (struct fold){first, 1, 0};
}

static void leave_out_middle(struct fold *folds, uint32_t *n)
{
    const uint32_t half = NYTP_MOST_SHOWN / 2, last = *n - half;
    const uint32_t first = folds[half].first;
    folds[half] = (struct fold){first, 0, folds[last].first - first};
    memmove(folds + half + 1, folds + last, half * sizeof *folds);
    *n = NYTP_MOST_SHOWN + 1;
}

/* Puts a stack into folds, innermost first: recursion, also of several subs in a circle, is
 * shown once. Folds in the middle are omitted beyond about NYTP_MOST_SHOWN. Returns false if
 * memory is out. */
static bool fold_stack(struct seen *seen)
{
    const struct nytp_stack *const stack = &seen->walker.stack;
    for (uint32_t at = 0; at < stack->n;) {
        if (!NYTP_GROW(&seen->folds))
            return false;
        const struct fold fold = fold_at(stack, at);
        seen->folds.at[seen->folds.n++] = fold;
        at += fold.n_shown + fold.n_more;
    }
    if (seen->folds.n > NYTP_MOST_SHOWN)
        leave_out_middle(seen->folds.at, &seen->folds.n);
    return true;
}

/* ---- lines of source ---- */

/* Line 0 is code made by perl itself, as for -M. */
static void want_line(struct dump *dump, const struct nytp_frame *frame)
{
    if (frame->line != 0 && NYTP_GROW(&dump->lines))
        dump->lines.at[dump->lines.n++] =
            (struct line){.file = frame->file, .number = frame->line};
}

static int by_place(const void *left, const void *right)
{
    const struct line *const a = left, *const b = right;
    NYTP_RETURN_ORDER(a->file, b->file);
    NYTP_RETURN_ORDER(a->number, b->number);
    return 0;
}

/* Sorts them and drops those that come again. */
static void sort_lines(struct dump *dump)
{
    uint32_t n = 0;
    if (dump->lines.n > 0)
        qsort(dump->lines.at, dump->lines.n, sizeof *dump->lines.at, by_place);
    for (uint32_t i = 0; i < dump->lines.n; i++)
        if (n == 0 || by_place(&dump->lines.at[n - 1], &dump->lines.at[i]) != 0)
            dump->lines.at[n++] = dump->lines.at[i];
    dump->lines.n = n;
}

/* Reads the lines of one file, which are sorted. Returns how many bytes were read. */
static uint64_t read_file(FILE *source, struct line *line, const struct line *end)
{
    char *text = NULL;
    size_t size = 0;
    ssize_t len;
    uint64_t n_bytes = 0;
    for (uint32_t at = 1; line < end && (len = getline(&text, &size, source)) > 0; at++) {
        n_bytes += (uint64_t)len;
        if (at != line->number)
            continue;
        text[strcspn(text, "\n")] = '\0';
        line++->text = strndup(text, LONGEST_LINE);
    }
    free(text);
    return n_bytes;
}

/* Each file is read once. */
static void read_lines(struct dump *dump)
{
    const pid_t pid = dump->session->target.pid;
    const double program_s = dump->lines.n == 0 ? 0 : nytp_program_start(pid);
    uint64_t n_bytes = 0;
    sort_lines(dump);
    for (uint32_t i = 0, end; i < dump->lines.n; i = end) {
        const char *const name =
            nytp_strings_get(dump->session->names.strings, dump->lines.at[i].file).ptr;
        enum nytp_source_file state = NYTP_SOURCE_FILE_SLOW;
        FILE *const source =
            n_bytes > MOST_SOURCE ? NULL : nytp_source_file_open(pid, name, program_s, &state);
        for (end = i; end < dump->lines.n && dump->lines.at[end].file == dump->lines.at[i].file;
             end++)
            dump->lines.at[end].state = state;
        if (source == NULL)
            continue;
        n_bytes += read_file(source, &dump->lines.at[i], &dump->lines.at[end]);
        fclose(source);
    }
}

static void free_lines(struct dump *dump)
{
    for (uint32_t i = 0; i < dump->lines.n; i++)
        free(dump->lines.at[i].text);
    free(dump->lines.at);
}

/* ---- text ---- */

/* Writes the source line under a frame if the file is the one perl read, or the reason why
 * not. */
static void put_source(struct dump *dump, const struct nytp_frame *frame)
{
    const struct line wanted = {.file = frame->file, .number = frame->line};
    const struct line *const line =
        dump->lines.n == 0
            ? NULL
            : bsearch(&wanted, dump->lines.at, dump->lines.n, sizeof wanted, by_place);
    if (line == NULL)
        return;
    if (line->text != NULL) {
        const struct nytp_source_line text = {.text = line->text,
                                              .len = (uint32_t)strlen(line->text)};
        nytp_puts(dump->out, "        ");
        nytp_text_style(dump->out, dump->color, NYTP_STYLE_DIM);
        nytp_text_put_source(dump->out, &text, true, nytp_spy_room(dump->columns, 8));
        nytp_text_style(dump->out, dump->color, NYTP_STYLE_PLAIN);
        nytp_putc(dump->out, '\n');
    } else if (line->state == NYTP_SOURCE_FILE_CHANGED) {
        nytp_puts(dump->out, "        (the file was changed since)\n");
    } else if (line->state == NYTP_SOURCE_FILE_SLOW && !dump->has_said_too_much) {
        dump->has_said_too_much = true;
        nytp_puts(dump->out,
                  "        (of further frames no lines: reading them takes too long)\n");
    }
}

static struct nytp_name frame_name(const struct nytp_names *names,
                                   const struct nytp_frame *frame)
{
    static const char *const fixed[] = {[NYTP_FRAME_EVAL] = "(eval)",
                                        [NYTP_FRAME_REQUIRE] = "(require)",
                                        [NYTP_FRAME_MAIN] = "(main program)"};
    if (frame->sub != UINT32_MAX)
        return nytp_strings_get(names->strings, names->subs[frame->sub].name);
    return nytp_name_of_text(fixed[frame->kind]);
}

/* " My::App::run (lib/My/App.pm:12)". A long path loses its start. */
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
    nytp_text_put_tail(dump->out, nytp_name_of_text(place), room);
    nytp_puts(dump->out, ")\n");
    put_source(dump, frame);
}

/* Writes the xsub or builtin called by the innermost frame. */
static void put_leaf(struct dump *dump, const struct nytp_stack *stack)
{
    const struct nytp_names *const names = &dump->session->names;
    if (stack->xsub != UINT32_MAX) {
        nytp_puts(dump->out, "    ");
        nytp_text_put(dump->out,
                      nytp_strings_get(names->strings, names->subs[stack->xsub].name), 0);
        nytp_puts(dump->out, " (xsub)\n");
        return;
    }
    const char *const name = nytp_timed_builtin(&dump->session->perl, stack->builtin);
    if (name != NULL)
        nytp_printf(dump->out, "    CORE::%s\n", name);
}

static void put_state(struct dump *dump, const struct nytp_interpreter *of)
{
    char doing[3100];
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
        nytp_text_put_tail(dump->out, nytp_name_of_text(doing),
                           nytp_spy_room(dump->columns, 40));
        nytp_puts(dump->out, ")\n");
    }
}

/* " main::down, 19,997 more of these", or for a circle "main::a, main::b, 12 more rounds of
 * these". */
static void put_more(struct dump *dump, const struct nytp_stack *stack, const struct fold *fold)
{
    nytp_puts(dump->out, "    ");
    for (uint32_t i = 0; i < fold->n_shown; i++) {
        nytp_text_put(dump->out,
                      frame_name(&dump->session->names, &stack->frames[fold->first + i]), 0);
        nytp_puts(dump->out, ", ");
    }
    const uint32_t circle = fold->n_shown > 1 ? fold->n_shown : 1;
    nytp_spy_put_number(dump->out, fold->n_more / circle, false, 0);
    nytp_puts(dump->out, fold->n_shown == 0   ? " more calls\n"
                         : fold->n_shown == 1 ? " more of these\n"
                                              : " more rounds of these\n");
}

static void put_stack(struct dump *dump, const struct seen *seen)
{
    const struct nytp_stack *const stack = &seen->walker.stack;
    if (seen->sampled != NYTP_WHOLE) {
        nytp_puts(dump->out, seen->sampled == NYTP_GONE
                                 ? "    it has ended\n"
                                 : "    its stack could not be read whole\n");
        dump->some_are_torn |= seen->sampled == NYTP_TORN;
        return;
    }
    put_leaf(dump, stack);
    for (uint32_t i = 0; i < seen->folds.n; i++) {
        const struct fold *const fold = &seen->folds.at[i];
        for (uint32_t k = 0; k < fold->n_shown; k++)
            put_frame(dump, &stack->frames[fold->first + k]);
        if (fold->n_more > 0)
            put_more(dump, stack, fold);
    }
}

static void put_interpreter(struct dump *dump, const struct seen *seen)
{
    const struct nytp_interpreter *const of = seen->of;
    if (dump->session->perl.n_interpreters > 1)
        nytp_printf(dump->out, "\nThread %llu", (unsigned long long)of->tid);
    else
        nytp_puts(dump->out, "\nMain thread");
    if (of->task != 0 && dump->session->target.core == NULL)
        nytp_printf(dump->out, " [%d]", (int)of->task);
    put_state(dump, of);
    put_stack(dump, seen);
}

static bool look_at(struct dump *dump, struct seen *seen, const struct nytp_interpreter *of)
{
    seen->of = of;
    seen->sampled = NYTP_TORN;
    if (!nytp_walker_init(&seen->walker, &dump->session->names, of))
        return false;
    seen->walker.keeps_all = true;
    for (int i = 0; i < TRIES && seen->sampled == NYTP_TORN; i++)
        seen->sampled = nytp_sample(&seen->walker);
    const struct nytp_stack *const stack = &seen->walker.stack;
    if (!fold_stack(seen))
        return false;
    const bool wants_lines = dump->with_source && dump->session->target.core == NULL;
    for (uint32_t i = 0; wants_lines && i < seen->folds.n; i++)
        for (uint32_t k = 0; k < seen->folds.at[i].n_shown; k++)
            want_line(dump, &stack->frames[seen->folds.at[i].first + k]);
    return true;
}

static void put_perl(struct dump *dump)
{
    const struct nytp_perl *const perl = &dump->session->perl;
    nytp_printf(dump->out, "Perl v5.%u.%u (", perl->version, perl->subversion);
    nytp_text_put_tail(dump->out, nytp_name_of_text(perl->path),
                       nytp_spy_room(dump->columns, 40));
    nytp_printf(dump->out, ")%s%s\n", perl->layout->has_threads ? ", threads" : "",
                nytp_layout_is_debugging(perl->layout) ? ", DEBUGGING" : "");
    if (dump->session->target.core != NULL && dump->with_source)
        nytp_puts(dump->out, "(no lines of source: a core file does not tell when its program "
                             "began, so nobody knows whether they are what ran)\n");
}

static void put_process(struct dump *dump, const struct seen *seen)
{
    nytp_session_put(dump->session, dump->out, nytp_spy_room(dump->columns, 20));
    nytp_putc(dump->out, '\n');
    put_perl(dump);
    for (uint32_t i = 0; i < dump->session->perl.n_interpreters; i++)
        put_interpreter(dump, &seen[i]);
}

enum dumped {
    IS_TOLD,
    IS_NOT_ALL, /* incomplete or missing, with the reason */
    IS_NO_PERL, /* not reported if found by a pattern */
};

static bool is_same_text(struct nytp_out *a, struct nytp_out *b)
{
    size_t a_len, b_len;
    const uint8_t *const a_bytes = nytp_out_bytes(a, &a_len);
    const uint8_t *const b_bytes = nytp_out_bytes(b, &b_len);
    return a_len == b_len && memcmp(a_bytes, b_bytes, a_len) == 0;
}

static void put_text(struct nytp_out *out, struct nytp_out *text)
{
    size_t len;
    const uint8_t *const bytes = nytp_out_bytes(text, &len);
    nytp_put(out, bytes, len);
}

static void discard(struct place *place)
{
    nytp_out_discard(place->whole);
    nytp_out_discard(place->heads);
    nytp_out_discard(place->stack);
}

/* Describes one process. Processes with several interpreters are not compared with others. */
static bool describe(struct dump *dump, const struct seen *seen, struct place *place)
{
    *place =
        (struct place){.whole = nytp_out_memory(true), .heads = nytp_out_memory(true), .n = 1};
    if (place->whole == NULL || place->heads == NULL)
        return false;
    dump->out = place->whole;
    put_process(dump, seen);
    if (dump->session->target.core != NULL || dump->session->perl.n_interpreters != 1 ||
        seen->sampled != NYTP_WHOLE)
        return true;
    dump->out = place->heads;
    nytp_session_put(dump->session, dump->out, nytp_spy_room(dump->columns, 20));
    put_state(dump, seen->of);
    place->stack = dump->out = nytp_out_memory(true);
    if (dump->out == NULL)
        return false;
    put_perl(dump);
    nytp_putc(dump->out, '\n');
    put_stack(dump, seen);
    return true;
}

/* Takes ownership of the place. */
static bool add_place(struct places *places, struct place *place)
{
    for (uint32_t i = 0; place->stack != NULL && i < places->n; i++) {
        struct place *const other = &places->at[i];
        if (other->stack == NULL || !is_same_text(other->stack, place->stack))
            continue;
        put_text(other->heads, place->heads);
        other->n++;
        discard(place);
        return true;
    }
    if (!NYTP_GROW(places))
        return false;
    places->at[places->n++] = *place;
    return true;
}

static void put_places(struct places *places, struct nytp_out *out)
{
    for (uint32_t i = 0; i < places->n; i++) {
        struct place *const place = &places->at[i];
        if (i > 0)
            nytp_putc(out, '\n');
        if (place->n > 1) {
            nytp_printf(out, "%u processes stand here:\n", place->n);
            put_text(out, place->heads);
            put_text(out, place->stack);
        } else {
            put_text(out, place->whole);
        }
        discard(place);
    }
    free(places->at);
}

/* Reads all interpreters, then the lines of their frames. Returns false if memory is out. */
static bool dump_session(struct dump *dump, struct places *places)
{
    const struct nytp_perl *const perl = &dump->session->perl;
    struct seen *const seen = calloc(perl->n_interpreters + 1u, sizeof *seen);
    struct place place = {0};
    uint32_t n = 0;
    bool ok = seen != NULL;
    while (ok && n < perl->n_interpreters) {
        ok = look_at(dump, &seen[n], &perl->interpreters[n]);
        n++;
    }
    read_lines(dump);
    ok = ok && describe(dump, seen, &place) && add_place(places, &place);
    if (!ok)
        discard(&place);
    while (n-- > 0) {
        nytp_walker_free(&seen[n].walker);
        free(seen[n].folds.at);
    }
    free(seen);
    free_lines(dump);
    return ok;
}

static enum dumped dump_one(const struct nytp_spy *spy, struct places *places, pid_t pid)
{
    static struct nytp_session session;
    struct nytp_error error = {0};
    if (!nytp_session_await(&session, spy, pid, &error)) {
        if (spy->pattern != NULL && error.status == NYTP_ERR_ABSENT)
            return IS_NO_PERL;
        nytp_session_say(spy, &error);
        return IS_NOT_ALL;
    }
    struct dump dump = {.session = &session,
                        .columns = nytp_spy_columns(spy->output),
                        .with_source = !spy->no_source};
    dump.color = dump.columns > 0 && getenv("NO_COLOR") == NULL;
    const bool ok = dump_session(&dump, places);
    if (!ok)
        nytp_spy_say("out of memory");
    const bool was_too_much = nytp_session_was_too_much(&session, spy);
    nytp_session_close(&session);
    return !ok || was_too_much || dump.some_are_torn ? IS_NOT_ALL : IS_TOLD;
}

enum nytp_spy_status nytp_spy_dump(const struct nytp_spy *spy)
{
    struct nytp_error error = {0};
    struct nytp_out *const out = nytp_out_open(spy->output == NULL ? "-" : spy->output, &error);
    struct places places = {0};
    uint32_t n[] = {[IS_TOLD] = 0, [IS_NOT_ALL] = 0, [IS_NO_PERL] = 0};
    if (out == NULL)
        return nytp_spy_output_status(spy->output, &error);
    if (spy->core != NULL)
        n[dump_one(spy, &places, 0)]++;
    for (uint32_t i = 0; i < spy->n_pids; i++)
        n[dump_one(spy, &places, spy->pids[i])]++;
    if (n[IS_TOLD] + n[IS_NOT_ALL] == 0)
        nytp_spy_say("no process whose command line matches %s is a perl", spy->pattern);
    put_places(&places, out);
    nytp_out_close(out, &error);
    const enum nytp_spy_status status = nytp_spy_output_status(spy->output, &error);
    if (status != SPY_DONE)
        return status;
    const bool is_enough = n[IS_TOLD] > 0 && spy->pattern != NULL;
    return is_enough || n[IS_NOT_ALL] + n[IS_NO_PERL] == 0 ? SPY_DONE : SPY_REFUSED;
}
