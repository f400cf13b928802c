/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What recording costs; see costs.h.
 *
 * What an event costs is known in instructions: their number for a call, an xsub, a builtin and
 * a block that is left stands in a fixed proportion to that for a statement. How fast they run
 * is not: it differs between machines, and on one of them from moment to moment, as others use
 * it. Nor is it the speed of a loop that does nothing but record: perl's ops leave much of the
 * processor unused, and in that room a good third of the recording takes no time. So one thing
 * is measured, by how much statements of perl's own ops take longer when they are recorded, by
 * a recorder made for it, whose stream goes nowhere: again and again while the program runs.
 * The rest is proportion. The mean over the run says how fast the machine was for the program.
 *
 * Where reading the clock is a system call, which dwarfs all else, readings are counted
 * instead. They may be all but a thirtieth of what was recorded, so that a mean that is a
 * little too high would leave nothing of the program: the lowest measurement holds.
 */
#include "costs.h"

#include "cost_program.h"
#include "places.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    N_ROUNDS = 9,
    N_FIRST_ROUNDS = 3, /* of many programs there is no more than their start */
    N_RUNS = 8,         /* of the program of statements, in a round */
    N_SYSTEM_CLOCK_RUNS = 2,
    FIRST_PERIOD_NS = 1000000, /* to the second measurement; then twice as long each time */
    LONGEST_PERIOD_NS = 10000000,
    LEAST_BYTES = 16384, /* of records: where there are fewer, costs do not matter */
    SYSTEM_CLOCK_PERIOD_FACTOR = 10, /* a measurement takes as much longer */
};

/* In proportion to a statement, by the time that programs of one kind of event take longer. It
 * is not far from the proportion of the instructions that are added (118 a statement; a leave
 * 131, a call 630, an xsub 511, a builtin 426 to 488), which shows when it is to be measured
 * anew; builtins are dearer, as more of what they need is not in the caches. Calls are, too,
 * where the program's own code fills the processor's instruction cache, from which ours
 * displaces it (half as much again in loops of method calls): the figure is between those and
 * loops of small subs. A call's cost lies partly in it, partly in its caller. It reads the
 * clock twice, but the first statement of the sub then need not. */
static const struct proportion {
    const char *kind;
    double of_statement;
    double clock_readings; /* how many, where they are what counts */
} proportions[] = {
    {"stmt", 1.0, 1.0},     {"leave", 1.2, 1.0},    {"call_in", 2.2, 0.0},
    {"call_out", 3.0, 1.0}, {"xsub_in", 2.15, 1.0}, {"xsub_out", 2.15, 1.0},
    {"op_in", 2.8, 1.0},    {"op_out", 2.8, 1.0},
};

struct nytp_cost_meter {
    struct nytp_recorder scratch; /* records statements as the real one does, nothing else */
    struct nytp_cost_program *program;
    double costs, weights; /* sums over all measurements: raw units a statement, weighted */
    double lowest_cost;
    uint32_t n_measured;
    uint64_t period_ns;      /* to the next measurement */
    uint64_t due_raw;        /* which is then */
    uint64_t measured_bytes; /* had been recorded at the last */
};

static bool discard(void *context, const uint8_t *bytes, size_t len)
{
    PERL_UNUSED_VAR(context);
    PERL_UNUSED_VAR(bytes);
    PERL_UNUSED_VAR(len);
    return true;
}

static void free_meter(struct nytp_cost_meter *meter)
{
    if (meter == NULL)
        return;
    nytp_writer_free(meter->scratch.writer);
    free(meter->program);
    free(meter);
}

static struct nytp_cost_meter *new_meter(const struct nytp_recorder *rec)
{
    struct nytp_cost_meter *const meter = calloc(1, sizeof *meter);
    if (meter == NULL)
        return NULL;
    struct nytp_recorder *const scratch = &meter->scratch;
    scratch->writer = nytp_writer_new(discard, NULL);
    scratch->stmts_on = true;
    scratch->blocks_on = rec->blocks_on || rec->options.blocks;
    scratch->interpreter = rec->interpreter;
    scratch->wake_raw = UINT64_MAX;
    scratch->places = rec->places;
    meter->program = nytp_cost_program_new(scratch);
    if (scratch->writer != NULL && meter->program != NULL)
        return meter;
    free_meter(meter);
    return NULL;
}

void nytp_costs_free(struct nytp_recorder *rec)
{
    free_meter(rec->cost_meter);
    rec->cost_meter = NULL;
}

static int by_size(const void *x, const void *y)
{
    const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return a < b ? -1 : a > b;
}

/* Of the rounds as many are left out below as above, but for one in four: not the luckiest
 * round, and no interrupted one. */
static double typical_round(uint64_t *rounds, int n)
{
    qsort(rounds, (size_t)n, sizeof *rounds, by_size);
    return (double)rounds[n / 4];
}

/* Raw units of the clock that a statement takes. */
struct statement_times {
    double plain, recorded;
};

static struct statement_times time_statements(pTHX_ struct nytp_cost_meter *meter, int n)
{
    uint64_t plain[N_ROUNDS], recorded[N_ROUNDS];
    const unsigned runs = meter->scratch.clock.is_tsc ? N_RUNS : N_SYSTEM_CLOCK_RUNS;
    const double statements = (double)(runs * NYTP_COST_STATEMENTS);
    nytp_writer_flush(meter->scratch.writer, NYTP_FLUSH_NONE);
    for (int r = 0; r < n; r++) {
        plain[r] = nytp_cost_program_time(aTHX_ meter->program, false, runs);
        recorded[r] = nytp_cost_program_time(aTHX_ meter->program, true, runs);
    }
    return (struct statement_times){.plain = typical_round(plain, n) / statements,
                                    .recorded = typical_round(recorded, n) / statements};
}

/* The places of the statements lie in the table of all places meanwhile, over those of the
 * program, which are put back. */
static struct statement_times measure_statements(pTHX_ struct nytp_recorder *rec,
                                                 struct nytp_cost_meter *meter, int n_rounds)
{
    struct nytp_place displaced[NYTP_COST_STATEMENTS];
    for (unsigned i = 0; i < NYTP_COST_STATEMENTS; i++) {
        const COP *const cop = nytp_cost_program_cop(meter->program, i);
        struct nytp_place *const slot = nytp_place_slot(rec, cop);
        displaced[i] = *slot;
        *slot = (struct nytp_place){.cop = cop,
                                    .fid = 1,
                                    .line = CopLINE(cop),
                                    .encoded = nytp_encode_place(1, CopLINE(cop))};
    }
    meter->scratch.clock = rec->clock;
    meter->scratch.clock.pauses = 0;
    sigset_t all, before; /* some handlers of the program run inside signals */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const struct statement_times times = time_statements(aTHX_ meter, n_rounds);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    for (unsigned i = NYTP_COST_STATEMENTS; i-- > 0;)
        *nytp_place_slot(rec, nytp_cost_program_cop(meter->program, i)) = displaced[i];
    return times;
}

/* Picoseconds that a statement takes longer. */
static double cost_of_statement(const struct nytp_recorder *rec)
{
    const struct nytp_cost_meter *const meter = rec->cost_meter;
    const double raw = rec->clock.is_tsc ? meter->costs / meter->weights : meter->lowest_cost;
    const double ticks = raw * (double)rec->clock.rate * 0x1p-64;
    return ticks * 1e12 / NYTP_TICKS_PER_SEC;
}

static void write_costs(struct nytp_recorder *rec)
{
    if (rec->cost_meter->n_measured == 0)
        return;
    const double statement = cost_of_statement(rec);
    char text[400] = "nytp-costs";
    size_t len = strlen(text);
    for (size_t i = 0; i < sizeof proportions / sizeof *proportions; i++) {
        const struct proportion *const p = &proportions[i];
        const double cost =
            statement * (rec->clock.is_tsc ? p->of_statement : p->clock_readings);
        len += (size_t)snprintf(text + len, sizeof text - len, " %s=%" PRId64, p->kind,
                                (int64_t)(cost + 0.5));
    }
    nytp_write_comment(rec->writer, text);
}

/* The slower the machine is, the fewer events there are between two measurements: so each has
 * the weight of the speed that it found, and of its rounds. Where recording seems to take
 * nearly nothing, all plain rounds were interrupted. */
static void add_measurement(struct nytp_cost_meter *meter, struct statement_times times,
                            int n_rounds)
{
    const double recorded = times.recorded > 0 ? times.recorded : 1;
    const double least = recorded / 8, added = recorded - times.plain;
    const double cost = added > least ? added : least;
    const double weight = n_rounds / recorded;
    meter->costs += cost * weight;
    meter->weights += weight;
    if (meter->n_measured == 0 || cost < meter->lowest_cost)
        meter->lowest_cost = cost;
    meter->n_measured++;
}

static void plan(struct nytp_recorder *rec)
{
    struct nytp_cost_meter *const meter = rec->cost_meter;
    meter->due_raw =
        nytp_clock_raw(&rec->clock) + nytp_clock_raw_of_ns(&rec->clock, meter->period_ns);
}

static uint64_t longer_with_system_clock(const struct nytp_recorder *rec, uint64_t ns)
{
    return rec->clock.is_tsc ? ns : ns * SYSTEM_CLOCK_PERIOD_FACTOR;
}

static uint64_t bytes_recorded(const struct nytp_recorder *rec)
{
    return rec->writer->n_raw + (uint64_t)(rec->writer->at - rec->writer->block);
}

static void measure(pTHX_ struct nytp_recorder *rec, int n_rounds)
{
    struct nytp_cost_meter *const meter = rec->cost_meter;
    if (!nytp_cost_program_fits(aTHX))
        return;
    nytp_aside_begin(rec);
    add_measurement(meter, measure_statements(aTHX_ rec, meter, n_rounds), n_rounds);
    nytp_aside_end(rec);
    meter->measured_bytes = bytes_recorded(rec);
}

void nytp_costs_begin(pTHX_ struct nytp_recorder *rec)
{
    if (rec->cost_meter == NULL)
        rec->cost_meter = new_meter(rec);
    struct nytp_cost_meter *const meter = rec->cost_meter;
    if (meter == NULL)
        return;
    meter->n_measured = 0;
    meter->costs = meter->weights = 0;
    meter->period_ns = longer_with_system_clock(rec, FIRST_PERIOD_NS);
    measure(aTHX_ rec, N_FIRST_ROUNDS);
    plan(rec);
    write_costs(rec);
}

/* Nothing new is measured: perl's stack may be gone. */
void nytp_costs_end(struct nytp_recorder *rec)
{
    if (rec->cost_meter != NULL)
        write_costs(rec);
}

uint64_t nytp_costs_wake_up(pTHX_ struct nytp_recorder *rec, uint64_t raw)
{
    struct nytp_cost_meter *const meter = rec->cost_meter;
    if (meter == NULL)
        return UINT64_MAX;
    if (raw < meter->due_raw)
        return meter->due_raw;
    if (bytes_recorded(rec) - meter->measured_bytes >= LEAST_BYTES) {
        const uint64_t longest = longer_with_system_clock(rec, LONGEST_PERIOD_NS);
        const uint64_t next = meter->period_ns * 2;
        meter->period_ns = next < longest ? next : longest;
        measure(aTHX_ rec, N_ROUNDS);
        if ((meter->n_measured & (meter->n_measured - 1)) == 0)
            write_costs(rec);
    }
    plan(rec);
    return meter->due_raw;
}
