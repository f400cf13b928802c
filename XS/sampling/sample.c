/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Sampling; see sample.h, and formats/sampling.md for how a sample is kept in the stream.
 */
#include "sample.h"

#include "XS/names/builtins.h"
#include "alloc_ticks.h"
#include "blocked.h"
#include "XS/exact/bytes.h"
#include "XS/exact/call_frames.h"
#include "XS/names/files.h"
#include "XS/names/info_queue.h"
#include "XS/exact/places.h"
#include "XS/exact/regexes.h"
#include "XS/perl/safe_point.h"
#include "XS/output/say.h"
#include "XS/state/state.h"
#include "XS/exact/stmts.h"
#include "XS/names/subs.h"
#include "XS/state/stream.h"
#include "last_stack.h"
#include "XS/exact/blocks.h"
#include "tick_stack.h"

#include "formats/base/platform.h"
#include "sampling/step.h"

#include <pthread.h>

enum {
    NS_PER_TICK = 100,
    BUDGET_WINDOW_NS = 1000000000, /* how often the cost of sampling is checked */
    SLOWEST_US = 1000000,
    LONG_NS = 50000, /* a look that takes longer has perhaps waited */
    NEW_END_NS = 10000000,
    FEW = 10, /* a thread due fewer samples may have none by chance */
};

struct nytp_sampler {
    struct nytp_ring ring;
    struct nytp_alloc_ticks *allocs; /* owned; NULL: bytes are not wanted */
    struct nytp_tick_stack stack;
    struct nytp_call *open; /* by frame of rec->calls.frames, the call it was made for */
    uint32_t size_open;
    uint32_t n_as_now; /* of `open`, from the outermost: the same as in stack.now */
    struct nytp_last_sample last;
    bool by_cpu;
    pthread_t thread;
    uint64_t ns, cpu_ns; /* of the ring's clocks: up to where time is accounted for */
    uint64_t own_ns;     /* the part of `ns` that the sampler took */
    int64_t owed_cpu_ns; /* processor time up to there, not our own, that no sample has */
    uint64_t rest_ns;    /* of the last sample, less than a tick */
    int64_t n_sleeps;    /* of the thread, up to the last safe point with ticks */
    bool has_slept;      /* between that and the one before */
    uint64_t window_ns, window_own_ns; /* of the budget */
    uint64_t n_samples;                /* in this file */
    uint64_t n_ticks_before;           /* n_ticks of the ring when the file began */
    int64_t unseen_ticks;              /* processor time in the file that no sample has */
    bool had_thread;                   /* the tick thread ran when that was counted */
};

static bool is_cpu_clock(const struct nytp_recorder *rec)
{
    return rec->options.sample_clock != NULL && strcmp(rec->options.sample_clock, "cpu") == 0;
}

/* ---- time ---- */

/* By the system's clock, as the tick thread reads it: there are too few samples for another to
 * be worth its while. */
static uint64_t now_ns(const struct nytp_recorder *rec)
{
    return nytp_kernel_clock_ns(rec->sampler->ring.clock);
}

static int64_t ticks_of_ns(struct nytp_sampler *sampler, uint64_t ns)
{
    ns += sampler->rest_ns;
    sampler->rest_ns = ns % NS_PER_TICK;
    return (int64_t)(ns / NS_PER_TICK);
}

/* The time from the last sample to one at these readings, without what the sampler took. A
 * sample has at most as much processor time as it has time; the rest is for later ones. */
static void measure(struct nytp_sampler *sampler, uint64_t ns, uint64_t cpu_ns,
                    int64_t most_cpu_ns, int64_t *ticks, int64_t *cpu_ticks)
{
    uint64_t since = ns > sampler->ns ? ns - sampler->ns : 0;
    const uint64_t own = sampler->own_ns < since ? sampler->own_ns : since;
    since -= own;
    sampler->own_ns -= own;
    if (ns > sampler->ns)
        sampler->ns = ns;
    if (cpu_ns > sampler->cpu_ns) {
        sampler->owed_cpu_ns += (int64_t)(cpu_ns - sampler->cpu_ns);
        sampler->cpu_ns = cpu_ns;
    }
    *ticks = ticks_of_ns(sampler, since);
    if (!sampler->by_cpu && most_cpu_ns > *ticks * NS_PER_TICK)
        most_cpu_ns = *ticks * NS_PER_TICK;
    if (most_cpu_ns > sampler->owed_cpu_ns)
        most_cpu_ns = sampler->owed_cpu_ns;
    *cpu_ticks = most_cpu_ns > 0 ? most_cpu_ns / NS_PER_TICK : 0;
    if (sampler->by_cpu)
        *ticks = *cpu_ticks;
    sampler->owed_cpu_ns -= *cpu_ticks * NS_PER_TICK;
}

/* ---- the stream ---- */

void nytp_sample_put_last(struct nytp_recorder *rec)
{
    if (rec->sampler != NULL)
        nytp_last_sample_put(rec->writer, &rec->sampler->last);
}

static struct nytp_call_site site_at(pTHX_ struct nytp_recorder *rec, const COP *cop)
{
    const struct nytp_place *const place =
        nytp_sampled_place_of(aTHX_ rec, cop == NULL ? PL_curcop : cop, NYTP_FID_VIA_SUB);
    const struct nytp_call_site site = {
        .fid = place->fid,
        .line = place->line,
        .caller =
            rec->calls.n > 0 ? rec->calls.frames[rec->calls.n - 1].sub : rec->subs->runtime,
        .now = rec->sample_ticks,
    };
    return site;
}

static void open_frame(struct nytp_recorder *rec, struct nytp_rec_sub *sub,
                       const struct nytp_call_site *site)
{
    nytp_frame_open(rec, sub, site);
    if (sub->info_generation[NYTP_SAMPLED] != rec->run.generation)
        nytp_info_queue_add(rec, sub);
}

/* An xsub or builtin is a whole call inside its statement, which is left at once. False: there
 * is none. */
static bool enter_leaf(pTHX_ struct nytp_recorder *rec, const struct nytp_moment *moment)
{
    if (moment->xsub == NULL && moment->builtin == OP_NULL)
        return false;
    struct nytp_rec_sub *const sub =
        moment->xsub != NULL ? nytp_sub_of_cv(aTHX_ rec, moment->xsub)
                             : nytp_sub_of_op(aTHX_ rec, moment->cop, moment->builtin);
    const struct nytp_call_site site = site_at(aTHX_ rec, moment->cop);
    if (sub->special == NYTP_SUB_CONTROL)
        return false;
    open_frame(rec, sub, &site);
    sub->returned_normally = true;
    return true;
}

/* A stack to go to. */
struct walk {
    struct nytp_recorder *rec;
    const struct nytp_moment *moment;
    uint32_t n_hidden; /* calls in the middle of it */
};

static const struct nytp_call *call_at(const struct walk *walk, uint32_t i)
{
    const struct nytp_moment *const moment = walk->moment;
    if (i >= NYTP_MOST_SHOWN - NYTP_INNERMOST_SHOWN)
        i += walk->n_hidden;
    return i < moment->n_below ? &walk->rec->sampler->stack.now[i]
                               : &moment->above[i - moment->n_below];
}

static bool is_open(void *to, uint32_t i)
{
    const struct walk *const walk = to;
    const struct nytp_call *const a = &walk->rec->sampler->open[i];
    const struct nytp_call *const b = call_at(walk, i);
    return a->code == b->code && a->root == b->root && a->site == b->site;
}

static void enter(void *to, uint32_t i)
{
    struct nytp_recorder *const rec = ((struct walk *)to)->rec;
    struct nytp_sampler *const sampler = rec->sampler;
    const struct nytp_call *const call = call_at(to, i);
    dTHXa((void *)rec->interpreter);
    const struct nytp_call_site site = site_at(aTHX_ rec, NYTP_CALL_SITE(call));
    open_frame(rec, nytp_sub_of_cv(aTHX_ rec, NYTP_CALL_CV(call)), &site);
    NYTP_MAKE_ROOM(sampler->open, rec->calls.n - 1, sampler->size_open, struct nytp_call);
    sampler->open[rec->calls.n - 1] = *call;
}

static void leave(void *to)
{
    struct nytp_recorder *const rec = ((struct walk *)to)->rec;
    nytp_frame_leave(rec, rec->sample_ticks);
}

/* Steps to the calls of this moment. Returns false if they are those of the last sample. */
static bool go_to(struct nytp_recorder *rec, const struct nytp_moment *moment)
{
    static const struct nytp_steps steps = {is_open, enter, leave};
    struct nytp_sampler *const sampler = rec->sampler;
    const uint32_t n = moment->n_below + moment->n_above;
    const uint32_t n_shown = n < NYTP_MOST_SHOWN ? n : NYTP_MOST_SHOWN;
    const uint32_t outermost = NYTP_MOST_SHOWN - NYTP_INNERMOST_SHOWN;
    const uint32_t n_in_now =
        n > n_shown && moment->n_below > outermost ? outermost : moment->n_below;
    const uint32_t n_same = sampler->n_as_now < n_in_now ? sampler->n_as_now : n_in_now;
    struct walk walk = {rec, moment, n - n_shown};
    sampler->n_as_now = n_in_now;
    return nytp_step(&steps, &walk, rec->calls.n, n_same, n_shown);
}

static struct nytp_place place_of(pTHX_ struct nytp_recorder *rec,
                                  const struct nytp_moment *moment)
{
    return *nytp_sampled_place_of(aTHX_ rec, moment->cop, NYTP_FID_VIA_STMT);
}

/* Takes the allocations of one moment. If its calls differ from the last sample's, it writes a
 * sample without time first, since allocations belong to a statement that has begun
 * (formats/stream/comments/bytes_records.h). Returns the next event. */
static const struct nytp_malloc_event *take_allocs(pTHX_ struct nytp_recorder *rec,
                                                   const struct nytp_malloc_event *event)
{
    struct nytp_sampler *const sampler = rec->sampler;
    const struct nytp_tick *const tick = event->where;
    struct nytp_moment moment;
    nytp_moment_of(aTHX_ rec, &sampler->stack, tick, &moment);
    const bool is_elsewhere = go_to(rec, &moment);
    const struct nytp_place place = place_of(aTHX_ rec, &moment);
    const struct nytp_last_sample sample = {
        .is_there = true, .is_alloc = true, .is_ready = true, .place = place.encoded};
    if (is_elsewhere || !sampler->last.is_there)
        nytp_last_sample_next(rec->writer, &sampler->last, &sample);
    nytp_blocks_place_is_here(rec);
    const bool is_in_leaf = enter_leaf(aTHX_ rec, &moment);
    while (event != NULL && event->where == tick) {
        nytp_bytes_emit(rec, event, &place);
        event = event->next;
    }
    if (is_in_leaf)
        nytp_frame_leave(rec, rec->sample_ticks);
    return event;
}

/* Takes allocations up to this reading of the clock, and frees. Returns the next event. */
static const struct nytp_malloc_event *
take_bytes(pTHX_ struct nytp_recorder *rec, const struct nytp_malloc_event *event, uint64_t ns)
{
    while (event != NULL) {
        if (event->where != NULL) {
            if (((const struct nytp_tick *)event->where)->ns > ns)
                break;
            event = take_allocs(aTHX_ rec, event);
        } else {
            nytp_bytes_emit(rec, event, NULL);
            event = event->next;
        }
    }
    return event;
}

/* Returns the most processor time that these ticks can have. If the program waits, it counts
 * from the first of them: time before that was used elsewhere. */
static int64_t most_cpu_ns(const struct nytp_tick *tick)
{
    return tick->blocked_cpu_ns != 0 ? (int64_t)(tick->cpu_ns - tick->blocked_cpu_ns)
                                     : INT64_MAX;
}

static void take_tick(pTHX_ struct nytp_recorder *rec, const struct nytp_tick *tick)
{
    struct nytp_sampler *const sampler = rec->sampler;
    struct nytp_moment moment;
    int64_t ticks, cpu_ticks;
    measure(sampler, tick->ns, tick->cpu_ns, most_cpu_ns(tick), &ticks, &cpu_ticks);
    if (ticks <= 0)
        return;
    nytp_moment_of(aTHX_ rec, &sampler->stack, tick, &moment);
    go_to(rec, &moment);
    const struct nytp_place place = place_of(aTHX_ rec, &moment);
    struct nytp_last_sample sample = {
        .is_there = true,
        .place = place.encoded,
        .ticks = ticks,
        .cpu_ticks = cpu_ticks,
        .is_ready = !sampler->has_slept,
    };
    nytp_blocked_put_wait(&tick->wait, sample.wait);
    nytp_last_sample_next(rec->writer, &sampler->last, &sample);
    if (enter_leaf(aTHX_ rec, &moment))
        nytp_frame_leave(rec, rec->sample_ticks + ticks);
    nytp_regexes_sampled(aTHX_ rec, moment.op_type, moment.op, &place, ticks);
    rec->sample_ticks += ticks;
    sampler->n_samples++;
}

/* A program that becomes a daemon closes all descriptors, ours with them. */
static void open_wait_look_again(struct nytp_ring *ring)
{
    if (!nytp_wait_look_is_lost(&ring->call))
        return;
    nytp_ticks_hold();
    nytp_wait_look_begin(&ring->call);
    nytp_ticks_let_go();
}

/* A program that did not sleep between two safe points was doing what the ticks there saw. */
static void see_sleeps(struct nytp_sampler *sampler)
{
    const int64_t n_sleeps = nytp_platform_times_slept();
    sampler->has_slept = n_sleeps < 0 || n_sleeps != sampler->n_sleeps;
    sampler->n_sleeps = n_sleeps;
    if (sampler->has_slept)
        open_wait_look_again(&sampler->ring);
}

/* Returns when it was done. */
static uint64_t take_all(pTHX_ struct nytp_recorder *rec, uint64_t began_ns)
{
    struct nytp_sampler *const sampler = rec->sampler;
    const struct nytp_tick *tick = nytp_tick_next(&sampler->ring);
    struct nytp_malloc_event *const first = nytp_bytes_take(rec);
    const struct nytp_malloc_event *event = first;
    const bool has_ticks = tick != NULL;
    if (!has_ticks && event == NULL)
        return began_ns;
    nytp_bytes_hold(rec);
    if (has_ticks)
        see_sleeps(sampler);
    nytp_tick_stack_look(aTHX_ & sampler->stack);
    if (sampler->n_as_now > sampler->stack.n_kept)
        sampler->n_as_now = sampler->stack.n_kept;
    for (; tick != NULL; tick = nytp_tick_next(&sampler->ring)) {
        event = take_bytes(aTHX_ rec, event, tick->ns);
        take_tick(aTHX_ rec, tick);
        nytp_tick_taken(&sampler->ring);
    }
    take_bytes(aTHX_ rec, event, UINT64_MAX);
    nytp_bytes_done(rec, first);
    nytp_alloc_ticks_taken(sampler->allocs);
    nytp_last_sample_put_if_long(rec->writer, &sampler->last);
    const uint64_t done_ns = now_ns(rec), own_ns = done_ns - began_ns;
    sampler->own_ns += own_ns;
    if (has_ticks) /* only of those there can be fewer */
        sampler->window_own_ns += own_ns;
    nytp_bytes_resume(rec);
    return done_ns;
}

/* ---- the budget ---- */

static uint32_t wanted_period_us(const struct nytp_recorder *rec)
{
    return (uint32_t)(1000000 / rec->options.sample);
}

/* Twice as long a period where sampling took more than its budget; half of it, down to the one
 * that is wanted, where that will take half the budget at most. */
static void keep_to_budget(struct nytp_recorder *rec, uint64_t ns)
{
    struct nytp_sampler *const sampler = rec->sampler;
    const uint64_t since = ns - sampler->window_ns;
    if (since < BUDGET_WINDOW_NS)
        return;
    const uint64_t budget = since / 100 * (uint64_t)rec->options.sample_budget;
    const uint32_t period_us = nytp_ticks_period(), wanted_us = wanted_period_us(rec);
    if (budget > 0 && sampler->window_own_ns > budget && period_us < SLOWEST_US)
        nytp_ticks_set_period(period_us * 2);
    else if (sampler->window_own_ns <= budget / 4 && period_us > wanted_us)
        nytp_ticks_set_period(period_us / 2 > wanted_us ? period_us / 2 : wanted_us);
    sampler->window_ns = ns;
    sampler->window_own_ns = 0;
}

/* ---- safe points ---- */

bool nytp_sample_is_due(const struct nytp_recorder *rec)
{
    return rec->on.samples && (rec->run.forked || nytp_tick_next(&rec->sampler->ring) != NULL ||
                               nytp_bytes_wait(rec));
}

/* A new end takes as long as many samples. */
bool nytp_sample_is_worth_new_end(const struct nytp_recorder *rec)
{
    return rec->run.forked || now_ns(rec) - rec->sampler->ns >= NEW_END_NS;
}

static void forget_ticks(struct nytp_recorder *rec)
{
    struct nytp_sampler *const sampler = rec->sampler;
    while (nytp_tick_next(&sampler->ring) != NULL)
        nytp_tick_taken(&sampler->ring);
    nytp_bytes_drop(rec);
    nytp_alloc_ticks_taken(sampler->allocs);
}

/* From now on this thread's processor time is looked at. What ticks have seen so far is the
 * time of the thread before, which made this one perhaps; of this one's is known how much it
 * is. */
static void follow_cpu(struct nytp_recorder *rec)
{
    struct nytp_sampler *const sampler = rec->sampler;
    struct nytp_ring *const ring = &sampler->ring;
    const uint64_t since_ns = now_ns(rec) - sampler->ns;
    nytp_ticks_hold();
    nytp_copy_stack_thread(ring);
    const uint64_t cpu_ns = nytp_kernel_clock_ns(ring->cpu_clock);
    for (uint32_t i = ring->tail; i != ring->head; i++) {
        ring->ticks[i % NYTP_TICKS_IN_RING].cpu_ns = cpu_ns;
        ring->ticks[i % NYTP_TICKS_IN_RING].blocked_cpu_ns = 0;
    }
    nytp_ticks_let_go();
    sampler->cpu_ns = cpu_ns > since_ns ? cpu_ns - since_ns : 0;
}

/* The interpreter may go from thread to thread. */
static void follow_thread(struct nytp_recorder *rec)
{
    struct nytp_sampler *const sampler = rec->sampler;
    if (pthread_equal(sampler->thread, pthread_self()))
        return;
    if (rec->state == NYTP_RECORDING)
        nytp_bytes_start(rec);
    sampler->thread = pthread_self();
    follow_cpu(rec);
    sampler->n_sleeps = -1;
}

/* The processor's time since `began_ns` is our own. It is as long as the time that has passed,
 * and asking for it takes longer than most samples; if it seems long we have perhaps waited for
 * the processor or a disk, and it is asked for. The program has run from the last tick to
 * `began_ns`.
 */
static void account_own_cpu(struct nytp_recorder *rec, uint64_t began_ns)
{
    struct nytp_sampler *const sampler = rec->sampler;
    uint64_t own_ns = now_ns(rec) - began_ns;
    if (own_ns > LONG_NS) {
        const uint64_t cpu_ns = nytp_kernel_clock_ns(sampler->ring.cpu_clock) - sampler->cpu_ns;
        const uint64_t since_ns = began_ns > sampler->ns ? began_ns - sampler->ns : 0;
        const uint64_t most_ns = cpu_ns > since_ns ? cpu_ns - since_ns : 0;
        own_ns = own_ns < most_ns ? own_ns : most_ns;
    }
    sampler->owed_cpu_ns -= (int64_t)own_ns;
}

void nytp_sample_take_ticks(pTHX_ struct nytp_recorder *rec)
{
    struct nytp_sampler *const sampler = rec->sampler;
    dSAVE_ERRNO;
    nytp_guard(rec);
    if (rec->run.forked)
        nytp_now(aTHX_ rec);
    follow_thread(rec);
    const uint64_t began_ns = now_ns(rec);
    uint64_t done_ns = began_ns;
    nytp_last_stack_end(rec);
    if (rec->state == NYTP_RECORDING)
        done_ns = take_all(aTHX_ rec, began_ns);
    else
        forget_ticks(rec);
    if (rec->state == NYTP_RECORDING) {
        keep_to_budget(rec, done_ns);
        nytp_now_ticks(aTHX_ rec);
        sampler->own_ns += now_ns(rec) - done_ns;
    }
    if (rec->state == NYTP_OFF || rec->stream->is_abandoned)
        nytp_sample_pause(aTHX_ rec);
    account_own_cpu(rec, began_ns);
    nytp_unguard(rec);
    RESTORE_ERRNO;
}

void nytp_sample_catch_up(pTHX_ struct nytp_recorder *rec)
{
    struct nytp_sampler *const sampler = rec->sampler;
    int64_t ticks, cpu_ticks;
    if (!rec->on.samples || rec->state != NYTP_RECORDING)
        return;
    const uint64_t ns = take_all(aTHX_ rec, now_ns(rec));
    measure(sampler, ns, nytp_kernel_clock_ns(sampler->ring.cpu_clock), INT64_MAX, &ticks,
            &cpu_ticks);
    if (sampler->last.is_there && nytp_ticks_are_run()) {
        sampler->last.ticks += ticks;
        sampler->last.cpu_ticks += cpu_ticks;
        see_sleeps(sampler);
        sampler->last.is_ready &= !sampler->has_slept;
        rec->sample_ticks += ticks;
    } else {
        sampler->unseen_ticks += cpu_ticks;
        sampler->had_thread = nytp_ticks_are_run();
    }
    nytp_sample_put_last(rec);
}

void nytp_sample_forget_cop(struct nytp_recorder *rec, const OP *op)
{
    if (rec->options.sample == 0 || rec->cache.places == NULL)
        return;
    struct nytp_place *const slot = nytp_sampled_place_slot(rec, (const COP *)op);
    if (slot->cop == (const COP *)op)
        slot->cop = NULL;
}

/* ---- the end in a signal ---- */

void nytp_sample_put_blocked(struct nytp_recorder *rec)
{
    struct nytp_sampler *const sampler = rec->sampler;
    struct nytp_last_sample sample = {.is_there = true};
    if (!rec->on.samples || rec->state != NYTP_RECORDING)
        return;
    measure(sampler, now_ns(rec), nytp_kernel_clock_ns(sampler->ring.cpu_clock), INT64_MAX,
            &sample.ticks, &sample.cpu_ticks);
    if (sample.ticks <= 0 || !nytp_blocked_put(rec, sampler->open, &sampler->last, &sample))
        return;
    rec->sample_ticks += sample.ticks;
    sampler->n_samples++;
}

/* ---- begin and end ---- */

static struct nytp_sampler *new_sampler(pTHX_ struct nytp_recorder *rec)
{
    struct nytp_sampler *sampler;
    Newxz(sampler, 1, struct nytp_sampler);
    sampler->by_cpu = is_cpu_clock(rec);
    sampler->ring.clock = rec->clock.id;
    nytp_copy_stack_begin(aTHX_ & sampler->ring);
    if (rec->memory.library != NULL)
        sampler->allocs = nytp_alloc_ticks_new(rec, &sampler->ring);
    return sampler;
}

static void account_from_now(struct nytp_recorder *rec)
{
    struct nytp_sampler *const sampler = rec->sampler;
    sampler->ns = sampler->window_ns = now_ns(rec);
    sampler->cpu_ns = nytp_kernel_clock_ns(sampler->ring.cpu_clock);
    sampler->own_ns = sampler->window_own_ns = 0;
    sampler->owed_cpu_ns = 0;
    sampler->n_sleeps = -1;
    sampler->last.is_there = false;
}

bool nytp_sample_begin(pTHX_ struct nytp_recorder *rec)
{
    char error[120];
    if (rec->kind != NYTP_SAMPLED || rec->on.samples)
        return true;
    if (rec->sampler == NULL)
        rec->sampler = new_sampler(aTHX_ rec);
    rec->sampler->thread = pthread_self();
    nytp_copy_stack_thread(&rec->sampler->ring);
    nytp_last_stack_begin(rec, &rec->sampler->ring);
    account_from_now(rec);
    nytp_safe_point_begin(aTHX);
    nytp_ticks_set_period(wanted_period_us(rec));
    rec->on.samples = nytp_ticks_add(&rec->sampler->ring, error, sizeof error);
    if (!rec->on.samples)
        nytp_say(&rec->options, "sampling is not possible: %s; the program runs unprofiled",
                 error);
    return rec->on.samples;
}

/* The thread does not run yet: recording begins at the first tick that finds it running. */
void nytp_sample_thread(struct nytp_recorder *rec, const struct nytp_recorder *from)
{
    dTHX;
    if (rec->kind != NYTP_SAMPLED || rec->state != NYTP_ARMED)
        return; /* without our hook perl may not be asked: it requires a table of signals */
    if (nytp_sample_begin(aTHX_ rec))
        nytp_safe_point_ask((void *)rec->interpreter); /* no op is redirected */
    else
        nytp_state_set(rec, NYTP_OFF);
}

void nytp_sample_pause(pTHX_ struct nytp_recorder *rec)
{
    if (!rec->on.samples)
        return;
    nytp_sample_catch_up(aTHX_ rec);
    nytp_last_stack_end(rec);
    nytp_ticks_remove(&rec->sampler->ring);
    rec->on.samples = false;
}

void nytp_sample_fork(struct nytp_recorder *rec)
{
    char error[120];
    if (!rec->on.samples)
        return;
    forget_ticks(rec);
    nytp_copy_stack_thread(&rec->sampler->ring);
    account_from_now(rec);
    nytp_ticks_run(error, sizeof error);
}

void nytp_sample_free(struct nytp_recorder *rec)
{
    struct nytp_sampler *const sampler = rec->sampler;
    if (sampler == NULL)
        return;
    if (rec->on.samples)
        nytp_ticks_remove(&sampler->ring);
    nytp_wait_look_end(&sampler->ring.call);
    Safefree(sampler->open);
    Safefree(sampler->allocs);
    nytp_tick_stack_free(&sampler->stack);
    Safefree(sampler);
}

/* ---- attributes ---- */

void nytp_sample_begin_file(struct nytp_recorder *rec)
{
    struct nytp_sampler *const sampler = rec->sampler;
    if (rec->kind != NYTP_SAMPLED)
        return;
    if (sampler != NULL) {
        sampler->n_samples = 0;
        sampler->unseen_ticks = 0;
        sampler->n_ticks_before = sampler->ring.n_ticks;
    }
    nytp_write_number_attribute(rec->writer, "sampled", 1);
    nytp_write_number_attribute(rec->writer, "sample_interval_ns",
                                1000000000u / (uint64_t)rec->options.sample);
    nytp_write_text_attribute(rec->writer, "sample_clock", is_cpu_clock(rec) ? "cpu" : "wall");
}

void nytp_sample_end_file(struct nytp_recorder *rec)
{
    const struct nytp_sampler *const sampler = rec->sampler;
    if (rec->kind != NYTP_SAMPLED || sampler == NULL || rec->run.without_perl)
        return;
    nytp_write_number_attribute(rec->writer, "samples", sampler->n_samples);
    nytp_write_number_attribute(rec->writer, "sample_ticks",
                                sampler->ring.n_ticks - sampler->n_ticks_before);
    if (nytp_ticks_period() != wanted_period_us(rec))
        nytp_write_number_attribute(rec->writer, "sample_last_interval_ns",
                                    (uint64_t)nytp_ticks_period() * 1000);
}

void nytp_sample_say_if_none(const struct nytp_recorder *rec)
{
    const struct nytp_sampler *const sampler = rec->sampler;
    if (rec->kind != NYTP_SAMPLED || sampler == NULL || sampler->n_samples > 0 ||
        sampler->unseen_ticks < NYTP_TICKS_PER_SEC)
        return;
    const double seconds = (double)sampler->unseen_ticks / NYTP_TICKS_PER_SEC;
    const char *const reason = !sampler->had_thread ? "the thread that takes them has ended"
                               : (double)rec->options.sample * seconds < FEW
                                   ? "fewer than ten were due"
                                   : "the thread that takes them was not run";
    nytp_say(&rec->options, "no sample was taken in %.1f s of processor time: %s", seconds,
             reason);
}
