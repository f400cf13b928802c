/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Replays recorded moments of real programs (t/sampling/data, recorded by record_moments.c): in
 * each file the moments of one program from the first on, so that memory is as it was. The
 * stack that is found must be the recorded one.
 *
 * A moment is a line, its parts ended by semicolons. Addresses are numbers from 8 up, the same
 * for the same address of a file; odd ones stay odd.
 *
 *     m PAD STACK MAIN_PAD MAIN_LIST LASTING THERE FAR LEARNED TOP INTERRUPTION
 *     c CODE SITE PAD LIST CALLER STACK ROOT PLACE DEPTH KIND HIDDEN
 *                                    a call, outermost first
 *     p CODE PAD DEPTH ANSWER        a question: has_pad
 *     i STATEMENT CODE OTHERWISE ANSWER   is_in
 *     s PLACE ANSWER                 site_at
 *     l STATEMENT ANSWER             line_of
 *     r CALLER STACK PLACE LINE      the last call was remembered outside of the search
 *     f FOUND CODE SITE CODE SITE …  the stack that was found, outermost first
 */
#include "sampling/find.h"

#include "t/tap.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MOST_CALLS = 64,
    MOST_ANSWERS = 256,
    LINE = 4096,
};

struct answer {
    char question[80];
    uint64_t value;
};

/* A moment of a file. */
struct moment {
    struct nytp_reading reading;
    struct nytp_call calls[MOST_CALLS];
    struct answer answers[MOST_ANSWERS];
    unsigned n_answers;
};

/* The recorded answer to the question that this format makes. */
static uint64_t answer_of(const struct nytp_reading *reading, const char *format, ...)
{
    struct moment *const moment = reading->perl;
    char question[80];
    va_list parts;
    va_start(parts, format);
    vsnprintf(question, sizeof question, format, parts);
    va_end(parts);
    for (unsigned i = 0; i < moment->n_answers; i++)
        if (strcmp(moment->answers[i].question, question) == 0)
            return moment->answers[i].value;
    return 0;
}

static bool has_pad(const struct nytp_reading *reading, const struct nytp_call *call)
{
    return answer_of(reading, "p %" PRIu64 " %" PRIu64 " %d", call->code, call->pad,
                     call->depth);
}

static bool is_in(const struct nytp_reading *reading, uint64_t statement,
                  const struct nytp_call *call, bool otherwise)
{
    return answer_of(reading, "i %" PRIu64 " %" PRIu64 " %d", statement,
                     call == NULL ? 0 : call->code, otherwise);
}

static uint64_t site_at(const struct nytp_reading *reading, int32_t place)
{
    return answer_of(reading, "s %d", place);
}

static uint32_t line_of(const struct nytp_reading *reading, uint64_t statement)
{
    return (uint32_t)answer_of(reading, "l %" PRIu64, statement);
}

static bool begin_moment(struct moment *moment, const char *line)
{
    struct nytp_reading *const to = &moment->reading;
    int is_interruption = 0;
    *moment = (struct moment){.n_answers = 0};
    const bool ok =
        sscanf(line,
               "m %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu32 " %" SCNu32
               " %" SCNu32 " %" SCNu32 " %" SCNd32 " %d",
               &to->pad, &to->stack, &to->main_pad, &to->main_list, &to->n_lasting,
               &to->n_there, &to->n_far, &to->n_learned, &to->top, &is_interruption) == 10;
    to->is_interruption = is_interruption != 0;
    return ok;
}

static bool add_call(struct moment *moment, const char *line)
{
    uint32_t *const n = &moment->reading.calls.n_upper;
    struct nytp_call *const to = &moment->calls[*n];
    int is_hidden = 0;
    if (++*n == MOST_CALLS)
        return false;
    *to = (struct nytp_call){.code = 0};
    const bool ok = sscanf(line,
                           "c %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                           " %" SCNu64 " %" SCNu64 " %" SCNd32 " %" SCNd32 " %" SCNu32 " %d",
                           &to->code, &to->site, &to->pad, &to->list, &to->caller, &to->stack,
                           &to->root, &to->place, &to->depth, &to->kind, &is_hidden) == 11;
    to->is_hidden = is_hidden != 0;
    return ok;
}

static bool add_answer(struct moment *moment, char *line)
{
    char *const last = strrchr(line, ' ');
    struct answer *const to = &moment->answers[moment->n_answers];
    if (last == NULL || moment->n_answers++ == MOST_ANSWERS - 1)
        return false;
    to->value = strtoull(last + 1, NULL, 10);
    *last = '\0';
    if (strlen(line) >= sizeof to->question)
        return false;
    strcpy(to->question, line);
    return true;
}

/* The last call, of no moment, goes into memory. */
static bool remember(struct moment *moment, struct nytp_call_memory *memory, const char *line)
{
    struct nytp_seen_call seen = {.line = 0};
    uint32_t *const n = &moment->reading.calls.n_upper;
    if (*n == 0)
        return false;
    seen.call = moment->calls[--*n];
    const bool ok = sscanf(line, "r %" SCNu64 " %" SCNu64 " %" SCNd32 " %" SCNu32, &seen.caller,
                           &seen.caller_stack, &seen.caller_place, &seen.line) == 4;
    nytp_remember_call(memory, &seen);
    return ok;
}

/* Finds the stack; returns whether it is the one of the line. */
static bool is_found(struct moment *moment, struct nytp_call_memory *memory, bool is_spied,
                     const char *expected)
{
    const struct nytp_perl_facts facts = {has_pad, is_spied ? is_in : NULL,
                                          is_spied ? site_at : NULL, is_spied ? line_of : NULL};
    struct nytp_reading *const reading = &moment->reading;
    struct nytp_found found;
    char text[LINE];
    reading->facts = &facts;
    reading->perl = moment;
    reading->calls.upper = moment->calls;
    int at = snprintf(text, sizeof text, "f %d", nytp_find_stack(reading, memory, &found));
    for (uint32_t i = 0; i < nytp_found_n(&found) && at < LINE - 60; i++) {
        const struct nytp_call *const call = nytp_found_at(reading, &found, i);
        at += snprintf(text + at, sizeof text - (size_t)at, " %" PRIu64 " %" PRIu64, call->code,
                       call->site);
    }
    if (strcmp(text, expected) != 0)
        fprintf(stderr, "# got:      %s\n# recorded: %s\n", text, expected);
    return strcmp(text, expected) == 0;
}

static bool take_part(struct moment *moment, struct nytp_call_memory *memory, char *part)
{
    switch (part[0]) {
    case 'm':
        return begin_moment(moment, part);
    case 'c':
        return add_call(moment, part);
    case 'r':
        return remember(moment, memory, part);
    default:
        return add_answer(moment, part);
    }
}

static FILE *open_moments(const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "t/sampling/data/%s.moments", name);
    FILE *const file = fopen(path, "r");
    snprintf(path, sizeof path, "../t/sampling/data/%s.moments", name);
    return file != NULL ? file : fopen(path, "r"); /* from the folder of the Makefile */
}

static void replay(const char *name, bool is_spied)
{
    static struct moment moment;
    static char line[LINE * 8];
    struct nytp_call_memory *const memory = calloc(1, sizeof *memory);
    FILE *const file = open_moments(name);
    char title[100];
    unsigned n = 0, n_same = 0;
    bool is_read = memory != NULL && file != NULL;
    while (is_read && fgets(line, sizeof line, file) != NULL) {
        char *part = strtok(line, ";\n");
        for (; part != NULL && part[0] != 'f'; part = strtok(NULL, ";\n"))
            is_read &= take_part(&moment, memory, part);
        n++;
        n_same += part != NULL && is_found(&moment, memory, is_spied, part);
    }
    snprintf(title, sizeof title, "%s: %u moments", name, n);
    ok(is_read && n > 0 && n_same == n, title);
    if (file != NULL)
        fclose(file);
    free(memory);
}

int main(void)
{
    replay("short-calls-spied", true);
    replay("overloads-spied", true);
    replay("short-calls-sampled", false);
    replay("overloads-sampled", false);
    return done_testing();
}
