/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What recording costs; see costs.h.
 *
 * What an event costs is known in instructions: their number for a call, an xsub, a builtin and
 * a block that is left stands in a fixed proportion to that for a statement. How fast they run
 * is not: it differs between machines, and on one of them from minute to minute. So one thing
 * is measured, statements of a recorder made for it, whose stream goes nowhere; the rest is
 * proportion. Where reading the clock is a system call, which dwarfs all else, readings are
 * counted instead.
 */
#include "costs.h"

#include "stmts.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    N_STATEMENTS = 8, /* different ones, so that the processor cannot foresee everything */
    N_PER_ROUND = 64,
    N_ROUNDS = 31,
    ROUND_TAKEN = 9, /* the 30th percentile: not the luckiest round, and no interrupted one */
};

/* In proportion to a statement in such a loop, as measured beside the plain ops with loops of
 * Perl code, hooked and not, in one process. A call's cost lies partly in it, partly in its
 * caller. */
static const struct proportion {
    const char *kind;
    double of_statement;
    double clock_readings; /* how many, where they are what counts */
} proportions[] = {
    {"stmt", 1.0, 1.0},      {"leave", 1.1, 1.0},    {"call_in", 2.35, 1.0},
    {"call_out", 2.55, 1.0}, {"xsub_in", 2.15, 1.0}, {"xsub_out", 2.15, 1.0},
    {"op_in", 2.4, 1.0},     {"op_out", 2.4, 1.0},
};

static bool discard(void *context, const uint8_t *bytes, size_t len)
{
    PERL_UNUSED_VAR(context);
    PERL_UNUSED_VAR(bytes);
    PERL_UNUSED_VAR(len);
    return true;
}

/* A recorder that records statements as the real one does, and nothing else. */
static struct nytp_recorder *new_scratch(const struct nytp_recorder *rec)
{
    struct nytp_recorder *const scratch = calloc(1, sizeof *scratch);
    if (scratch == NULL)
        return NULL;
    scratch->writer = nytp_writer_new(discard, NULL);
    scratch->stmts_on = true;
    scratch->blocks_on = rec->blocks_on || rec->options.blocks;
    scratch->interpreter = rec->interpreter;
    scratch->wake_raw = UINT64_MAX;
    scratch->places = rec->places;
    scratch->clock = rec->clock;
    scratch->clock.pauses = 0;
    if (scratch->writer != NULL)
        return scratch;
    free(scratch);
    return NULL;
}

static void free_scratch(struct nytp_recorder *scratch)
{
    nytp_writer_free(scratch->writer);
    free(scratch);
}

static int by_size(const void *x, const void *y)
{
    const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return a < b ? -1 : a > b;
}

/* Raw units that N_PER_ROUND statements take. */
static uint64_t time_rounds(pTHX_ struct nytp_recorder *scratch, const COP *cops)
{
    uint64_t rounds[N_ROUNDS];
    for (int r = 0; r < N_ROUNDS; r++) {
        const uint64_t begun = nytp_clock_raw(&scratch->clock);
        for (int i = 0; i < N_PER_ROUND; i++)
            nytp_stmt_begin(aTHX_ scratch, &cops[i % N_STATEMENTS]);
        rounds[r] = nytp_clock_raw(&scratch->clock) - begun;
    }
    qsort(rounds, N_ROUNDS, sizeof *rounds, by_size);
    return rounds[ROUND_TAKEN];
}

static double picoseconds(const struct nytp_recorder *rec, uint64_t raw)
{
    const double ticks = (double)raw * (double)rec->clock.rate / (double)((uint64_t)1 << 48);
    return ticks * 1e12 / NYTP_TICKS_PER_SEC;
}

/* What a statement costs, in picoseconds; 0: no memory. The COPs' places take those of others
 * in the table for as long as it takes. */
static double measure_statement(pTHX_ struct nytp_recorder *rec)
{
    struct nytp_recorder *const scratch = new_scratch(rec);
    COP *const cops = calloc(N_STATEMENTS, sizeof *cops);
    struct nytp_place displaced[N_STATEMENTS];
    double cost = 0;
    if (scratch != NULL && cops != NULL) {
        for (int i = 0; i < N_STATEMENTS; i++) {
            struct nytp_place *const slot = nytp_place_slot(rec, &cops[i]);
            displaced[i] = *slot;
            CopLINE_set(&cops[i], (line_t)(100 + i));
            *slot = (struct nytp_place){.cop = &cops[i],
                                        .fid = 1,
                                        .line = (uint32_t)(100 + i),
                                        .encoded = nytp_encode_place(1, (uint32_t)(100 + i))};
        }
        cost = picoseconds(rec, time_rounds(aTHX_ scratch, cops)) / N_PER_ROUND;
        for (int i = N_STATEMENTS; i-- > 0;)
            *nytp_place_slot(rec, &cops[i]) = displaced[i];
    }
    free(cops);
    if (scratch != NULL)
        free_scratch(scratch);
    return cost;
}

void nytp_costs_write(pTHX_ struct nytp_recorder *rec)
{
    nytp_clock_pause(&rec->clock);
    const double statement = measure_statement(aTHX_ rec);
    nytp_clock_resume(&rec->clock);
    if (statement <= 0)
        return;
    char text[400] = "nytp-costs";
    size_t len = strlen(text);
    for (size_t i = 0; i < sizeof proportions / sizeof *proportions; i++) {
        const struct proportion *const p = &proportions[i];
        const double cost =
            statement * (rec->clock.is_tsc ? p->of_statement : p->clock_readings);
        len += (size_t)snprintf(text + len, sizeof text - len, " %s=%.0f", p->kind, cost);
    }
    nytp_write_comment(rec->writer, text);
}
