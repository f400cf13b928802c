/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The cost of recording; see costs.h.
 *
 * The cost of an event differs between processors, on one of them from moment to moment, and
 * between kinds of events. Nor is it the time of a loop that only records: perl's ops leave
 * much of the processor unused, and some of the recording fits in there. So each kind is
 * measured again and again: how much longer do programs of perl's ops (cost_program.h) take
 * when events of that kind are recorded? A scratch recorder, whose stream is discarded, records
 * them. The mean over the run reflects the machine's speed for the program.
 *
 * Such a loop stays in the processor's caches; a real program does not. So handlers are timed
 * in the program and in the loops (XS/state/handler_time.h), and the difference is added to the
 * costs. Besides rare work it is waiting for data that the program has pushed out of the
 * caches. That pushes out data of the program, which then waits as long: this is added once
 * more. Of very long waits only a part counts: they overlap.
 *
 * If reading the clock is a system call, it dwarfs all else and may be nearly all of the
 * recorded time. A mean slightly too high would leave nothing of the program, so the lowest
 * measurement is used.
 */
#include "costs.h"

#include "XS/names/subs.h"
#include "XS/perl/ops.h"
#include "XS/state/dprof.h"
#include "XS/names/info_queue.h"
#include "cost_program.h"
#include "site_cache.h"
#include "places.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COST_FID = 1, /* of the measured statements */
    N_ROUNDS = 5,
    N_FIRST_ROUNDS = 3, /* many programs do not run longer than their start */
    N_HANDLER_ROUNDS = 5,
    N_RUNS = 8, /* of a program in a round */
    N_SYSTEM_CLOCK_RUNS = 2,
    FIRST_PERIOD_NS = 1000000, /* to the second measurement; doubles each time */
    LONGEST_PERIOD_NS = 20000000,
    LEAST_RUNS = 8,                  /* of a handler; fewer do not show how far they scatter */
    MANY_RUNS = 500,                 /* enough to time fewer from here on */
    LOOP_UNITS = 16,                 /* parts of a raw unit: precision of a handler's rounds */
    LEAST_BYTES = 16384,             /* with fewer bytes of records costs do not matter */
    SYSTEM_CLOCK_PERIOD_FACTOR = 10, /* a measurement takes so many times longer */
};

enum recorded {
    RECORDED_STMT,
    RECORDED_LEAVE,
    RECORDED_CALL_IN,
    RECORDED_CALL_OUT,
    RECORDED_XSUB_IN,
    RECORDED_XSUB_OUT,
    RECORDED_OP_IN,
    RECORDED_OP_OUT,
    N_RECORDED
};

/* A cost in the stream. A call adds time before its begin and after its end, which the caller
 * gets (out), and time in between (in). `part` is the share of the cost: for subs it follows
 * from the order of instructions; half, if both sides do the same. */
static const struct recorded_cost {
    const char *name;
    enum nytp_cost_kind kind;
    double part;
} recorded_costs[N_RECORDED] = {
    [RECORDED_STMT] = {"stmt", NYTP_COST_STATEMENT, 1.0},
    [RECORDED_LEAVE] = {"leave", NYTP_COST_LEAVE, 1.0},
    [RECORDED_CALL_IN] = {"call_in", NYTP_COST_CALL, 0.42},
    [RECORDED_CALL_OUT] = {"call_out", NYTP_COST_CALL, 0.58},
    [RECORDED_XSUB_IN] = {"xsub_in", NYTP_COST_XSUB, 0.5},
    [RECORDED_XSUB_OUT] = {"xsub_out", NYTP_COST_XSUB, 0.5},
    [RECORDED_OP_IN] = {"op_in", NYTP_COST_BUILTIN, 0.5},
    [RECORDED_OP_OUT] = {"op_out", NYTP_COST_BUILTIN, 0.5},
};

/* The kind of event that a timed handler is of, and the costs that its extra time in the
 * program is added to: `part` of it to one, the rest to the next one. */
static const struct timed_handler {
    enum nytp_cost_kind kind;
    enum recorded cost;
    double part;
} timed_handlers[NYTP_HANDLERS] = {
    [NYTP_HANDLER_STATEMENT] = {NYTP_COST_STATEMENT, RECORDED_STMT, 1.0},
    [NYTP_HANDLER_FIRST] = {NYTP_COST_CALL, RECORDED_CALL_IN, 1.0},
    [NYTP_HANDLER_LEAVE] = {NYTP_COST_LEAVE, RECORDED_LEAVE, 1.0},
    [NYTP_HANDLER_RETURN] = {NYTP_COST_CALL, RECORDED_CALL_OUT, 1.0},
    [NYTP_HANDLER_ENTRY] = {NYTP_COST_CALL, RECORDED_CALL_IN, 1.0},
    [NYTP_HANDLER_EXIT] = {NYTP_COST_CALL, RECORDED_CALL_OUT, 1.0},
    [NYTP_HANDLER_XSUB] = {NYTP_COST_XSUB, RECORDED_XSUB_IN, 0.5},
    [NYTP_HANDLER_XSUB_END] = {NYTP_COST_XSUB, RECORDED_XSUB_OUT, 1.0},
    [NYTP_HANDLER_BUILTIN] = {NYTP_COST_BUILTIN, RECORDED_OP_IN, 0.5},
    [NYTP_HANDLER_BUILTIN_END] = {NYTP_COST_BUILTIN, RECORDED_OP_OUT, 1.0},
};

/* A handler's runs in the program, in raw units: sums over the spans between two measurements,
 * as in struct nytp_handler_time. `in_loop` is the time that as many runs took in the loop
 * before the span's end. */
struct longer {
    double n, raw, raw2, in_loop;
    double n_rare, raw_rare;
};

struct measured_cost {
    double costs, weights; /* weighted sums over all measurements, raw units per event */
    double lowest;
    uint32_t n;
};

struct nytp_cost_meter {
    struct nytp_recorder scratch; /* records events like the real one, nothing else */
    struct nytp_rec_subs subs;    /* these two are its parts */
    struct nytp_rec_info_queue info_queue;
    struct nytp_marked_file marked_files[COST_FID + 1];
    struct nytp_cost_program *program;
    struct measured_cost costs[NYTP_COST_KINDS];
    struct longer longer[NYTP_HANDLERS];
    double in_loop[NYTP_HANDLERS]; /* raw units that each takes there; 0: unknown */
    uint64_t period_ns;            /* to the next measurement */
    uint64_t due_raw;              /* when that is due */
    uint64_t measured_bytes;       /* bytes recorded at the last measurement */
};

static void free_meter(struct nytp_cost_meter *meter)
{
    if (meter == NULL)
        return;
    nytp_writer_free(meter->scratch.writer);
    nytp_arcs_free(&meter->scratch);
    nytp_calls_free(&meter->scratch);
    nytp_site_cache_free(&meter->scratch);
    nytp_info_queue_free(&meter->scratch);
    nytp_builtins_free(&meter->scratch);
    nytp_subs_free(&meter->scratch);
    Safefree(meter->scratch.scratch.ptr);
    free(meter->program);
    free(meter);
}

static struct nytp_cost_meter *new_meter(pTHX_ struct nytp_recorder *rec)
{
    struct nytp_cost_meter *const meter = calloc(1, sizeof *meter);
    if (meter == NULL)
        return NULL;
    struct nytp_recorder *const scratch = rec->costs.recorder = &meter->scratch;
    scratch->subs = &meter->subs;
    scratch->info_queue = &meter->info_queue;
    scratch->writer = nytp_writer_new(nytp_dprof_discard, NULL);
    scratch->on.stmts = scratch->on.subs = scratch->on.leave = scratch->on.arcs = true;
    scratch->on.blocks = rec->on.blocks || rec->options.blocks;
    scratch->on.entries = rec->on.entries;
    scratch->on.returns = rec->on.returns;
    scratch->on.comments = rec->on.comments;
    scratch->options.slowops = rec->options.slowops;
    scratch->interpreter = rec->interpreter;
    scratch->wake_raw = UINT64_MAX;
    scratch->cache.places = rec->cache.places;
    scratch->cache.marked_files = meter->marked_files;
    if (scratch->writer != NULL && nytp_called_begin(scratch) && nytp_site_cache_begin(scratch))
        meter->program = nytp_cost_program_new(aTHX_ scratch);
    if (meter->program == NULL) {
        free_meter(meter);
        return NULL;
    }
    for (unsigned i = 0; i < NYTP_COST_STATEMENTS; i++)
        nytp_place_mark(scratch, nytp_cost_program_cop(meter->program, i), COST_FID);
    return meter;
}

void nytp_costs_free(struct nytp_recorder *rec)
{
    free_meter(rec->costs.meter);
    rec->costs.builtin_ns = 0;
    rec->costs.meter = NULL;
    rec->costs.recorder = NULL;
}

static int by_size(const void *x, const void *y)
{
    const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return a < b ? -1 : a > b;
}

/* Returns the lower quartile: neither the luckiest round nor an interrupted one. */
static double typical_round(uint64_t *rounds, int n)
{
    qsort(rounds, (size_t)n, sizeof *rounds, by_size);
    return (double)rounds[n / 4];
}

/* Raw units per event. */
struct event_times {
    double plain, recorded;
};

/* The timing of handlers is no part of what recording costs. */
static void time_no_handlers(struct nytp_cost_meter *meter)
{
    for (enum nytp_handler handler = 0; handler < NYTP_HANDLERS; handler++)
        meter->scratch.costs.handlers.until[handler] = INT16_MAX;
}

static struct event_times time_events(pTHX_ struct nytp_cost_meter *meter,
                                      enum nytp_cost_kind kind, int n)
{
    uint64_t plain[N_ROUNDS], recorded[N_ROUNDS];
    const unsigned runs = meter->scratch.clock.is_counter ? N_RUNS : N_SYSTEM_CLOCK_RUNS;
    const double events = (double)(runs * nytp_cost_program_events(meter->program, kind));
    nytp_writer_flush(meter->scratch.writer, NYTP_FLUSH_NONE);
    time_no_handlers(meter);
    for (int r = 0; r < n; r++) {
        plain[r] = nytp_cost_program_time(aTHX_ meter->program, kind, false, runs);
        recorded[r] = nytp_cost_program_time(aTHX_ meter->program, kind, true, runs);
    }
    return (struct event_times){.plain = typical_round(plain, n) / events,
                                .recorded = typical_round(recorded, n) / events};
}

/* Returns the raw units that the handler takes in the loop, or 0 if unknown. Every other run is
 * timed. The result is a typical round: one interruption among so few would distort a mean. */
static double time_handler(pTHX_ struct nytp_cost_meter *meter, enum nytp_handler handler)
{
    const enum nytp_cost_kind kind = timed_handlers[handler].kind;
    struct nytp_handler_times *const times = &meter->scratch.costs.handlers;
    const struct nytp_handler_time *const time = &times->of[handler];
    uint64_t rounds[N_HANDLER_ROUNDS];
    time_no_handlers(meter);
    for (int r = 0; r < N_HANDLER_ROUNDS; r++) {
        times->of[handler] = (struct nytp_handler_time){.period = 1};
        times->until[handler] = 0;
        nytp_cost_program_time(aTHX_ meter->program, kind, true, 1);
        if (time->n == 0)
            return 0;
        rounds[r] = LOOP_UNITS * time->raw / time->n;
    }
    return typical_round(rounds, N_HANDLER_ROUNDS) / LOOP_UNITS;
}

static void add_span(struct longer *to, struct nytp_handler_time *in_program, double in_loop)
{
    to->n += in_program->n;
    to->raw += (double)in_program->raw;
    to->raw2 += (double)in_program->raw2;
    to->in_loop += in_program->n * in_loop;
    to->n_rare += in_program->n_rare;
    to->raw_rare += (double)in_program->raw_rare;
    *in_program = (struct nytp_handler_time){
        .period = to->n < MANY_RUNS ? NYTP_HANDLER_PERIOD : NYTP_HANDLER_LATER_PERIOD};
}

static bool is_recorded(const struct nytp_recorder *rec, enum nytp_cost_kind kind)
{
    const bool is_sub = kind == NYTP_COST_CALL || kind == NYTP_COST_XSUB;
    return (!is_sub || nytp_real_ops[OP_ENTERSUB] != NULL) &&
           (kind != NYTP_COST_BUILTIN || nytp_real_ops[OP_SORT] != NULL) &&
           (kind == NYTP_COST_STATEMENT || kind == NYTP_COST_LEAVE || rec->options.subs);
}

/* Times the handlers of the kind in its loop. That has just run, so the processor predicts its
 * branches. */
static void time_handlers(pTHX_ struct nytp_cost_meter *meter, enum nytp_cost_kind kind)
{
    for (enum nytp_handler handler = 0; handler < NYTP_HANDLERS; handler++)
        if (timed_handlers[handler].kind == kind)
            meter->in_loop[handler] = time_handler(aTHX_ meter, handler);
}

/* Compares the handlers in the program since the last call with those in the loops. */
static void compare_handlers(struct nytp_recorder *rec)
{
    struct nytp_cost_meter *const meter = rec->costs.meter;
    for (enum nytp_handler handler = 0; handler < NYTP_HANDLERS; handler++) {
        struct nytp_handler_time *const in_program = &rec->costs.handlers.of[handler];
        if (in_program->n > 0 && meter->in_loop[handler] > 0)
            add_span(&meter->longer[handler], in_program, meter->in_loop[handler]);
    }
}

/* On a slower machine fewer events lie between two measurements, so each is weighted with the
 * speed it found and its number of rounds. If recording seems to cost nearly nothing, all plain
 * rounds were interrupted. */
static void add_measurement(struct measured_cost *to, struct event_times times, int n_rounds)
{
    const double recorded = times.recorded > 0 ? times.recorded : 1;
    const double least = recorded / 8, added = recorded - times.plain;
    const double cost = added > least ? added : least;
    const double weight = n_rounds / recorded;
    to->costs += cost * weight;
    to->weights += weight;
    if (to->n == 0 || cost < to->lowest)
        to->lowest = cost;
    to->n++;
}

/* Measures the kinds from `first` to `last`. Meanwhile the statements' places displace some of
 * the program's in the table of places; these are put back. */
static void measure_kinds(pTHX_ struct nytp_recorder *rec, enum nytp_cost_kind first,
                          enum nytp_cost_kind last, int n_rounds)
{
    struct nytp_cost_meter *const meter = rec->costs.meter;
    struct nytp_place displaced[NYTP_COST_STATEMENTS];
    for (unsigned i = 0; i < NYTP_COST_STATEMENTS; i++) {
        const COP *const cop = nytp_cost_program_cop(meter->program, i);
        struct nytp_place *const slot = nytp_place_slot(rec, cop);
        displaced[i] = *slot;
        *slot = (struct nytp_place){.cop = cop,
                                    .fid = COST_FID,
                                    .line = CopLINE(cop),
                                    .encoded = nytp_encode_place(COST_FID, CopLINE(cop))};
    }
    meter->scratch.on.plain = nytp_state_is_plain(rec);
    meter->scratch.clock = rec->clock;
    meter->scratch.clock.pauses = 0;
    sigset_t all, before; /* some handlers of the program run in signals */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (enum nytp_cost_kind kind = first; kind <= last; kind++) {
        if (!is_recorded(rec, kind))
            continue;
        add_measurement(&meter->costs[kind], time_events(aTHX_ meter, kind, n_rounds),
                        n_rounds);
        if (meter->scratch.clock.is_counter)
            time_handlers(aTHX_ meter, kind);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    for (unsigned i = NYTP_COST_STATEMENTS; i-- > 0;)
        *nytp_place_slot(rec, nytp_cost_program_cop(meter->program, i)) = displaced[i];
}

static double picoseconds(const struct nytp_recorder *rec, double raw)
{
    const double ticks = raw * (double)rec->clock.rate * 0x1p-64;
    return ticks * 1e12 / NYTP_TICKS_PER_SEC;
}

/* Returns the picoseconds that recording adds to an event, or 0 if it is not recorded. */
static double cost_of(const struct nytp_recorder *rec, enum nytp_cost_kind kind)
{
    const struct measured_cost *const cost = &rec->costs.meter->costs[kind];
    if (cost->n == 0)
        return 0;
    return picoseconds(rec, rec->clock.is_counter ? cost->costs / cost->weights : cost->lowest);
}

/* Returns the picoseconds that a handler takes longer in the program than in the loop, and that
 * the program waits in return: the means, shrunk by their noise, which follows from the scatter
 * of the runs. A handler that waits longer than it takes in the loop waits for distant memory.
 * The processor fetches several pieces of that at once, the program's own among them. So no
 * wait counts as longer than the loop's time. */
static double longer_in_program(const struct nytp_recorder *rec, enum nytp_handler handler)
{
    const struct longer *const sums = &rec->costs.meter->longer[handler];
    if (sums->n < LEAST_RUNS)
        return 0;
    const double in_loop = sums->in_loop / sums->n, mean = sums->raw / sums->n - in_loop;
    const double noise = (sums->raw2 - sums->raw * sums->raw / sums->n) / (sums->n * sums->n);
    const double square = mean * mean, n_usual = sums->n - sums->n_rare;
    const double usual = (sums->raw - sums->raw_rare) / n_usual - in_loop;
    const double both = usual > 0 ? mean - usual + 2 * fmin(usual, in_loop) : mean;
    return square == 0 ? 0 : picoseconds(rec, both * square / (square + noise));
}

/* Returns the cost to record, in picoseconds. */
static double recorded(const struct nytp_recorder *rec, const struct recorded_cost *cost)
{
    const double in_loop = cost_of(rec, cost->kind) * cost->part;
    double longer = 0;
    for (enum nytp_handler handler = 0; handler < NYTP_HANDLERS; handler++) {
        const struct timed_handler *const timed = &timed_handlers[handler];
        if (cost == &recorded_costs[timed->cost])
            longer += longer_in_program(rec, handler) * timed->part;
        else if (cost == &recorded_costs[timed->cost] + 1)
            longer += longer_in_program(rec, handler) * (1 - timed->part);
    }
    return in_loop == 0 ? 0 : fmax(in_loop / 2, in_loop + longer);
}

static uint32_t n_measured(const struct nytp_recorder *rec)
{
    return rec->costs.meter->costs[NYTP_COST_STATEMENT].n;
}

static void write_costs(struct nytp_recorder *rec)
{
    if (n_measured(rec) == 0)
        return;
    compare_handlers(rec);
    char text[400] = "nytp-costs";
    size_t len = strlen(text);
    for (size_t i = 0; i < N_RECORDED; i++) {
        const struct recorded_cost *const c = &recorded_costs[i];
        len += (size_t)snprintf(text + len, sizeof text - len, " %s=%" PRId64, c->name,
                                (int64_t)(recorded(rec, c) + 0.5));
    }
    nytp_write_comment(rec->writer, text);
}

static void plan(struct nytp_recorder *rec)
{
    struct nytp_cost_meter *const meter = rec->costs.meter;
    meter->due_raw =
        nytp_clock_raw(&rec->clock) + nytp_clock_raw_of_ns(&rec->clock, meter->period_ns);
}

static uint64_t longer_with_system_clock(const struct nytp_recorder *rec, uint64_t ns)
{
    return rec->clock.is_counter ? ns : ns * SYSTEM_CLOCK_PERIOD_FACTOR;
}

static uint64_t bytes_recorded(const struct nytp_recorder *rec)
{
    return rec->writer->n_raw + (uint64_t)(rec->writer->at - rec->writer->block);
}

static void measure(pTHX_ struct nytp_recorder *rec, enum nytp_cost_kind first,
                    enum nytp_cost_kind last, int n_rounds)
{
    if (!nytp_cost_program_fits(aTHX))
        return;
    nytp_excluded_time_begin(rec);
    measure_kinds(aTHX_ rec, first, last, n_rounds);
    nytp_excluded_time_end(rec);
    compare_handlers(rec);
    rec->costs.meter->measured_bytes = bytes_recorded(rec);
    rec->costs.builtin_ns = recorded(rec, &recorded_costs[RECORDED_OP_IN]) / 1000;
}

static void begin_handler_times(struct nytp_recorder *rec)
{
    for (int i = 0; i < NYTP_HANDLERS; i++)
        rec->costs.handlers.of[i] = (struct nytp_handler_time){.period = NYTP_HANDLER_PERIOD};
}

void nytp_costs_begin_file(struct nytp_recorder *rec)
{
    dTHX;
    if (rec->dprof != NULL || rec->kind != NYTP_EXACT || rec->on.counts)
        return;
    begin_handler_times(rec);
    if (rec->costs.meter == NULL)
        rec->costs.meter = new_meter(aTHX_ rec);
    struct nytp_cost_meter *const meter = rec->costs.meter;
    if (meter == NULL)
        return;
    rec->costs.builtin_ns = 0;
    memset(meter->costs, 0, sizeof meter->costs);
    memset(meter->longer, 0, sizeof meter->longer);
    meter->period_ns = longer_with_system_clock(rec, FIRST_PERIOD_NS);
    measure(aTHX_ rec, 0, NYTP_COST_KINDS - 1, N_FIRST_ROUNDS);
    plan(rec);
    write_costs(rec);
}

/* Measures nothing: perl's stack may be freed. */
void nytp_costs_end_file(struct nytp_recorder *rec)
{
    if (rec->costs.meter != NULL && rec->kind == NYTP_EXACT && !rec->on.counts &&
        !rec->run.without_perl)
        write_costs(rec);
}

uint64_t nytp_costs_wake_up(pTHX_ struct nytp_recorder *rec, uint64_t raw)
{
    struct nytp_cost_meter *const meter = rec->costs.meter;
    if (meter == NULL || rec->on.counts)
        return UINT64_MAX;
    if (raw < meter->due_raw)
        return meter->due_raw;
    if (bytes_recorded(rec) - meter->measured_bytes >= LEAST_BYTES) {
        const uint64_t longest = longer_with_system_clock(rec, LONGEST_PERIOD_NS);
        const uint64_t next = meter->period_ns * 2;
        meter->period_ns = next < longest ? next : longest;
        const enum nytp_cost_kind in_turn = 1 + n_measured(rec) % (NYTP_COST_KINDS - 1);
        measure(aTHX_ rec, NYTP_COST_STATEMENT, NYTP_COST_STATEMENT, N_ROUNDS);
        measure(aTHX_ rec, in_turn, in_turn, N_ROUNDS);
        if ((n_measured(rec) & (n_measured(rec) - 1)) == 0)
            write_costs(rec);
    }
    plan(rec);
    return meter->due_raw;
}
