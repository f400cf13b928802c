/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A perl of a few subs runs store by store, and a sampler reads its variables and contexts
 * piece by piece, each piece some stores after the last. Whatever the distances are, the stack
 * that is found shows no call that the program never makes.
 */
#include "sampling/find.h"

#include "t/tap.h"

#include <stdlib.h>

enum {
    MAX_STATES = 4000,
    PLACES = 6,
    STACKS = 2,
    SITE = 100, /* statement s of the program is SITE + s */
    LIST = 1000,
    PAD = 2000,
    NO_STACK = -1,
    MOST_BY_FIELD = 6, /* a call is written in four stores, and read while it is */
};

/* The subs of the program; each runs once at a time, so each has one pad. */
enum code {
    MAIN,
    F,
    G,
    X,
    Y,
    ADDS,
    PLUS,
    SHORT,
    N_CODES,
};

/* Calls and their statements: a statement belongs to one caller. */
static const struct step {
    int site;       /* 0: the innermost sub returns */
    enum code code; /* that is called; MAIN: nothing, a stack of its own begins or ends */
    int stack;      /* 1: begins, 0: ends, NO_STACK: neither */
} program[] = {
    {1, F, NO_STACK},    {2, X, NO_STACK},     {0, MAIN, NO_STACK}, {3, X, NO_STACK},
    {0, MAIN, NO_STACK}, {0, MAIN, NO_STACK},  {4, G, NO_STACK},    {5, Y, NO_STACK},
    {0, MAIN, NO_STACK}, {6, SHORT, NO_STACK}, {0, MAIN, NO_STACK}, {0, MAIN, NO_STACK},
    {7, ADDS, NO_STACK}, {0, MAIN, 1},         {8, PLUS, NO_STACK}, {0, MAIN, NO_STACK},
    {0, MAIN, 0},        {0, MAIN, 1},         {8, PLUS, NO_STACK}, {9, SHORT, NO_STACK},
    {0, MAIN, NO_STACK}, {0, MAIN, NO_STACK},  {0, MAIN, 0},        {0, MAIN, NO_STACK},
    {4, G, NO_STACK},    {5, Y, NO_STACK},     {0, MAIN, NO_STACK}, {0, MAIN, NO_STACK},
};

struct context {
    uint64_t site, caller, code;
};

struct state {
    int pad, in_use; /* PL_curpad, PL_curstackinfo */
    int32_t top[STACKS];
    struct context contexts[STACKS][PLACES];
};

static struct state states[MAX_STATES]; /* after each store */
static int n_states;

/* ---- the program ---- */

static struct state *store(void)
{
    if (n_states == MAX_STATES)
        exit(1);
    states[n_states] = states[n_states - 1];
    return &states[n_states++];
}

static struct context *top_context(struct state *state)
{
    return &state->contexts[state->in_use][state->top[state->in_use]];
}

/* In the order of cx_pushblock(), cx_pushsub() and pp_entersub(). */
static void call(const struct step *step)
{
    const int caller = states[n_states - 1].pad;
    struct state *state = store();
    state->top[state->in_use]++;
    state = store();
    top_context(state)->site = (uint64_t)(SITE + step->site);
    state = store();
    top_context(state)->code = (uint64_t)step->code;
    state = store();
    top_context(state)->caller = (uint64_t)(LIST + caller);
    store()->pad = (int)step->code;
    store(); /* it does something */
    store();
}

/* In the order of cx_popsub() and CX_POP(). */
static void end_call(void)
{
    struct state *state = store();
    state->pad = (int)(top_context(state)->caller - LIST);
    state = store();
    top_context(state)->code = 0;
    state = store();
    state->top[state->in_use]--;
    store();
}

static void change_stack(int to)
{
    store()->top[1] = -1;
    store()->in_use = to;
}

static void run_program(int rounds)
{
    states[0] = (struct state){.top = {-1, -1}};
    n_states = 1;
    for (int i = 0; i < rounds; i++) {
        for (size_t k = 0; k < sizeof program / sizeof *program; k++) {
            if (program[k].stack != NO_STACK)
                change_stack(program[k].stack);
            else if (program[k].site != 0)
                call(&program[k]);
            else
                end_call();
        }
    }
}

static bool is_called_from(int caller, uint64_t code, uint64_t site)
{
    static const struct {
        int caller, site;
        enum code code;
    } calls[] = {{MAIN, 1, F},  {F, 2, X},       {F, 3, X},       {MAIN, 4, G},    {G, 5, Y},
                 {G, 6, SHORT}, {MAIN, 7, ADDS}, {ADDS, 8, PLUS}, {PLUS, 9, SHORT}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].caller == caller && (uint64_t)calls[i].code == code &&
            (site == 0 || site == (uint64_t)(SITE + calls[i].site)))
            return true;
    return false;
}

/* ---- the sampler ---- */

/* How it reads: stores of the program between two pieces. */
struct pace {
    int to_contexts, by_context, by_field, to_second;
};

static int at_most(int at)
{
    return at < n_states ? at : n_states - 1;
}

static bool has_pad(const struct nytp_reading *reading, const struct nytp_call *call)
{
    (void)reading;
    return call->pad == PAD + call->code;
}

/* Reads the contexts of a stack from *at on; returns the calls in them. */
static uint32_t read_stack(int stack, int32_t top, const struct pace *pace, int *at,
                           struct nytp_call *calls)
{
    uint32_t n = 0;
    for (int32_t i = 0; i <= top && i < PLACES; i++) {
        struct nytp_call call = {.stack = (uint64_t)stack + 1, .place = i, .depth = 1};
        call.site = states[at_most(*at)].contexts[stack][i].site;
        *at += pace->by_field;
        call.caller = states[at_most(*at)].contexts[stack][i].caller;
        call.code = states[at_most(*at)].contexts[stack][i].code;
        *at += pace->by_context;
        call.pad = PAD + call.code;
        call.list = LIST + call.code;
        if (call.code != 0)
            calls[n++] = call;
    }
    return n;
}

/* How many calls of two readings, from the outermost, are the same. */
static uint32_t n_same(const struct nytp_call *a, uint32_t n_a, const struct nytp_call *b,
                       uint32_t n_b)
{
    uint32_t n = 0;
    while (n < n_a && n < n_b && a[n].code == b[n].code && a[n].site == b[n].site &&
           a[n].place == b[n].place)
        n++;
    return n;
}

/* Reads a moment at `at`: the variables, the stack in use, the one below it, and with to_second
 * the stack in use once more. */
static void read_moment(int at, const struct pace *pace, struct nytp_reading *reading,
                        struct nytp_call *calls)
{
    const struct state *const now = &states[at];
    struct nytp_call upper[PLACES], again[PLACES];
    uint32_t n = 0;
    *reading = (struct nytp_reading){.pad = PAD + (uint64_t)now->pad,
                                     .stack = (uint64_t)now->in_use + 1,
                                     .top = now->top[now->in_use],
                                     .main_pad = PAD,
                                     .main_list = LIST};
    at += pace->to_contexts;
    const uint32_t n_upper = read_stack(now->in_use, now->top[now->in_use], pace, &at, upper);
    if (now->in_use > 0)
        n = read_stack(0, states[at_most(at)].top[0], pace, &at, calls);
    memcpy(calls + n, upper, n_upper * sizeof *calls);
    if (pace->to_second > 0 && now->in_use == 0) {
        at += pace->to_second;
        const uint32_t n_again = read_stack(0, states[at_most(at)].top[0], pace, &at, again);
        reading->n_lasting = reading->n_there = n_same(upper, n_upper, again, n_again);
        for (uint32_t i = 0; i < n_upper && i < n_again; i++)
            calls[i].is_doubtful =
                upper[i].place == again[i].place && nytp_is_doubtful(&upper[i], &again[i]);
    }
    reading->calls.upper = calls;
    reading->calls.n_upper = n + n_upper;
}

/* ---- the test ---- */

static struct {
    unsigned n, n_found, n_never_called, n_of_other_code;
} counts;

static void check(const struct nytp_reading *reading, const struct nytp_found *found)
{
    int caller = MAIN;
    bool is_called = true, is_of_caller = true;
    for (uint32_t i = 0; i < nytp_found_n(found); i++) {
        const struct nytp_call *const call = nytp_found_at(reading, found, i);
        bool is_its = false;
        for (uint64_t code = 0; code < N_CODES; code++)
            is_its |= is_called_from(caller, code, call->site);
        is_called &= is_called_from(caller, call->code, 0);
        is_of_caller &= is_its;
        caller = (int)call->code;
    }
    counts.n_never_called += !is_called;
    counts.n_of_other_code += !is_of_caller;
}

static bool is_in(const struct nytp_reading *reading, uint64_t statement,
                  const struct nytp_call *call, bool otherwise)
{
    (void)reading;
    (void)otherwise;
    for (uint64_t code = 0; code < N_CODES; code++)
        if (is_called_from(call != NULL ? (int)call->code : MAIN, code, statement))
            return true;
    return false;
}

static void sample_all(struct nytp_call_memory *memory, const struct pace *pace)
{
    static const struct nytp_perl_facts facts = {.has_pad = has_pad, .is_in = is_in};
    for (int at = 0; at + 200 < n_states; at++) {
        struct nytp_reading reading;
        struct nytp_call calls[STACKS * PLACES];
        struct nytp_found found;
        read_moment(at, pace, &reading, calls);
        reading.facts = &facts;
        counts.n++;
        if (!nytp_find_stack(&reading, memory, &found))
            continue;
        counts.n_found++;
        check(&reading, &found);
    }
}

int main(void)
{
    struct nytp_call_memory *const memory = calloc(1, sizeof *memory);
    struct pace pace;
    if (memory == NULL)
        return 1;
    run_program(4);
    for (pace.to_second = 0; pace.to_second < 90; pace.to_second += 11)
        for (pace.to_contexts = 0; pace.to_contexts < 100;
             pace.to_contexts += is_slow() ? 20 : 1)
            for (pace.by_context = 0; pace.by_context < 4; pace.by_context++)
                for (pace.by_field = 0; pace.by_field < MOST_BY_FIELD; pace.by_field++)
                    sample_all(memory, &pace);
    printf("# %u readings, %u found, %u with a call that is never made, %u with a statement of "
           "other code\n",
           counts.n, counts.n_found, counts.n_never_called, counts.n_of_other_code);
    ok(counts.n_found > counts.n / 2, "most stacks are found");
    ok(counts.n_never_called == 0, "none has a call that the program never makes");
    ok(counts.n_of_other_code == 0, "nor one from a statement of other code than its caller");
    free(memory);
    return done_testing();
}
