/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What recording costs; see costs.h.
 *
 * What an event costs is known in instructions: their number for a call, an xsub, a builtin and
 * a block that is left stands in a fixed proportion to that for a statement. How fast they run
 * is not: it differs between machines, and on one of them from moment to moment, as others use
 * it. So one thing is measured, statements of a recorder made for it, whose stream goes
 * nowhere, again and again while the program runs; the rest is proportion. The mean over the
 * run says how fast the machine was for the program.
 *
 * Where reading the clock is a system call, which dwarfs all else, readings are counted
 * instead. They may be all but a thirtieth of what was recorded, so that a mean that is a
 * little too high would leave nothing of the program: the lowest measurement holds.
 */
#include "costs.h"

#include "places.h"
#include "stmts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    N_STATEMENTS = 8, /* different ones, so that the processor cannot foresee everything */
    N_PER_ROUND = 32,
    N_ROUNDS = 9,
    ROUND_TAKEN = 2, /* not the luckiest round, and no interrupted one */
    PERIOD_NS = 20000000,
    SYSTEM_CLOCK_PERIOD_NS = 200000000, /* a measurement takes a hundred times as long */
};

/* In proportion to a statement in such a loop, by the time that programs of one kind of event
 * take longer. It is nearly the proportion of the instructions that are added (122 to 126 a
 * statement; a leave 133, a call 724, an xsub 589, a builtin 500 to 614), which shows when it
 * is to be measured anew. A call's cost lies partly in it, partly in its caller. It reads the
 * clock twice, but the first statement of the sub then need not. */
static const struct proportion {
    const char *kind;
    double of_statement;
    double clock_readings; /* how many, where they are what counts */
} proportions[] = {
    {"stmt", 1.0, 1.0},      {"leave", 1.1, 1.0},    {"call_in", 1.9, 0.0},
    {"call_out", 2.55, 1.0}, {"xsub_in", 2.25, 1.0}, {"xsub_out", 2.25, 1.0},
    {"op_in", 2.55, 1.0},    {"op_out", 2.55, 1.0},
};

struct nytp_cost_meter {
    struct nytp_recorder scratch; /* records statements as the real one does, nothing else */
    COP cops[N_STATEMENTS];
    double speeds; /* sum of rounds per raw unit, of all measurements */
    double fastest;
    uint32_t n_measured;
    uint64_t due_raw; /* of the next measurement */
};

static bool discard(void *context, const uint8_t *bytes, size_t len)
{
    PERL_UNUSED_VAR(context);
    PERL_UNUSED_VAR(bytes);
    PERL_UNUSED_VAR(len);
    return true;
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
    for (int i = 0; i < N_STATEMENTS; i++)
        CopLINE_set(&meter->cops[i], (line_t)(100 + i));
    if (scratch->writer != NULL)
        return meter;
    free(meter);
    return NULL;
}

void nytp_costs_free(struct nytp_recorder *rec)
{
    if (rec->cost_meter != NULL)
        nytp_writer_free(rec->cost_meter->scratch.writer);
    free(rec->cost_meter);
    rec->cost_meter = NULL;
}

static int by_size(const void *x, const void *y)
{
    const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return a < b ? -1 : a > b;
}

/* How many raw units of the clock N_PER_ROUND statements take. */
static uint64_t time_rounds(pTHX_ struct nytp_cost_meter *meter)
{
    uint64_t rounds[N_ROUNDS];
    struct nytp_recorder *const scratch = &meter->scratch;
    nytp_writer_flush(scratch->writer, NYTP_FLUSH_NONE);
    for (int r = 0; r < N_ROUNDS; r++) {
        const uint64_t begun = nytp_clock_raw(&scratch->clock);
        for (int i = 0; i < N_PER_ROUND; i++)
            nytp_stmt_begin(aTHX_ scratch, &meter->cops[i % N_STATEMENTS]);
        rounds[r] = nytp_clock_raw(&scratch->clock) - begun;
    }
    qsort(rounds, N_ROUNDS, sizeof *rounds, by_size);
    return rounds[ROUND_TAKEN];
}

/* One round. The places of its COPs lie in the table of all places meanwhile, over those of the
 * program, which are put back. */
static uint64_t measure_round(pTHX_ struct nytp_recorder *rec, struct nytp_cost_meter *meter)
{
    struct nytp_place displaced[N_STATEMENTS];
    for (int i = 0; i < N_STATEMENTS; i++) {
        const COP *const cop = &meter->cops[i];
        struct nytp_place *const slot = nytp_place_slot(rec, cop);
        displaced[i] = *slot;
        *slot = (struct nytp_place){.cop = cop,
                                    .fid = 1,
                                    .line = CopLINE(cop),
                                    .encoded = nytp_encode_place(1, CopLINE(cop))};
    }
    meter->scratch.clock = rec->clock;
    meter->scratch.clock.pauses = 0;
    const uint64_t raw = time_rounds(aTHX_ meter);
    for (int i = N_STATEMENTS; i-- > 0;)
        *nytp_place_slot(rec, &meter->cops[i]) = displaced[i];
    return raw;
}

/* Picoseconds that a statement takes. The slower the machine is, the fewer events there are
 * between two measurements: so speeds are averaged, not costs. */
static double cost_of_statement(const struct nytp_recorder *rec)
{
    const struct nytp_cost_meter *const meter = rec->cost_meter;
    const double raw =
        rec->clock.is_tsc ? meter->n_measured / meter->speeds : 1 / meter->fastest;
    const double ticks = raw * (double)rec->clock.rate / (double)((uint64_t)1 << 48);
    return ticks * 1e12 / NYTP_TICKS_PER_SEC / N_PER_ROUND;
}

static void write_costs(struct nytp_recorder *rec)
{
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

static void measure(pTHX_ struct nytp_recorder *rec, struct nytp_cost_meter *meter)
{
    nytp_clock_pause(&rec->clock);
    const uint64_t raw = measure_round(aTHX_ rec, meter);
    const double speed = 1 / (double)(raw > 0 ? raw : 1);
    meter->speeds += speed;
    meter->fastest = speed > meter->fastest ? speed : meter->fastest;
    meter->n_measured++;
    meter->due_raw = nytp_clock_raw(&rec->clock) +
                     nytp_clock_raw_of_ns(
                         &rec->clock, rec->clock.is_tsc ? PERIOD_NS : SYSTEM_CLOCK_PERIOD_NS);
    nytp_clock_resume(&rec->clock);
}

void nytp_costs_begin(pTHX_ struct nytp_recorder *rec)
{
    if (rec->cost_meter == NULL)
        rec->cost_meter = new_meter(rec);
    if (rec->cost_meter == NULL)
        return;
    rec->cost_meter->n_measured = 0;
    rec->cost_meter->speeds = rec->cost_meter->fastest = 0;
    measure(aTHX_ rec, rec->cost_meter);
    write_costs(rec);
}

void nytp_costs_end(pTHX_ struct nytp_recorder *rec)
{
    if (rec->cost_meter == NULL)
        return;
    if (!rec->options.blocks) /* blocks look at a stack that may be gone */
        measure(aTHX_ rec, rec->cost_meter);
    write_costs(rec);
}

uint64_t nytp_costs_wake_up(pTHX_ struct nytp_recorder *rec, uint64_t raw)
{
    struct nytp_cost_meter *const meter = rec->cost_meter;
    if (meter == NULL)
        return UINT64_MAX;
    if (raw < meter->due_raw)
        return meter->due_raw;
    measure(aTHX_ rec, meter);
    if ((meter->n_measured & (meter->n_measured - 1)) == 0)
        write_costs(rec);
    return meter->due_raw;
}
