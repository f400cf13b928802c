/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The recorder's state, and the list of all recorders; see state.h.
 *
 * Only the first interpreter is found without a search. Every other thread caches its last
 * result. The cache holds while the list is unchanged: an interpreter's memory may be reused,
 * and another thread may have freed the recorder with its interpreter.
 */
#include "state.h"

#include "XS/perl/ops.h"

#include <pthread.h>
#include <stdlib.h>

struct nytp_recorder nytp_first_recorder;
_Atomic(const void *) nytp_first_interpreter;
struct nytp_recorders_count nytp_recorders_count;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the list */
static struct nytp_recorder *list;
static _Atomic unsigned list_version = 1; /* counts changes of the list; 0 is never used */

/* The table of parts, and what gives a recorder its own (nytp_parts_set()). */
static const struct nytp_part *parts;
static size_t n_parts;
static bool (*make_parts)(struct nytp_recorder *rec);

/* The last search of this operating system thread. */
struct found {
    const void *interpreter;
    struct nytp_recorder *rec; /* NULL: the interpreter has none */
    unsigned version;
};
static _Thread_local struct found found;

static bool is_valid(const struct found *last, const void *interpreter)
{
    return last->interpreter == interpreter &&
           last->version == atomic_load_explicit(&list_version, memory_order_acquire);
}

static NYTP_COLD struct nytp_recorder *search(const void *interpreter)
{
    nytp_recorders_lock();
    struct nytp_recorder *rec = list;
    while (rec != NULL && rec->interpreter != interpreter)
        rec = rec->next;
    found = (struct found){interpreter, rec, atomic_load(&list_version)};
    nytp_recorders_unlock();
    return rec;
}

struct nytp_recorder *nytp_recorder_find(pTHX)
{
    const struct found *const last = &found;
    PERL_UNUSED_CONTEXT;
    return LIKELY(is_valid(last, NYTP_THX)) ? last->rec : search(NYTP_THX);
}

/* In a signal the interrupted thread itself may hold the list's lock, so only the cache is
 * used. A thread that has recorded has its recorder cached, unless a recorder was added or
 * removed since its last event. Then it is not found, and its profile ends with the last
 * flush. */
struct nytp_recorder *nytp_recorder_of_thread(void)
{
    dTHX;
    const void *const interpreter = NYTP_THX;
    if (interpreter == NULL)
        return NULL; /* the thread runs no perl */
    if (interpreter == atomic_load(&nytp_first_interpreter))
        return &nytp_first_recorder;
    return is_valid(&found, interpreter) ? found.rec : NULL;
}

struct nytp_recorder *nytp_recorder_after_fork(void)
{
    dTHX;
    const void *const interpreter = NYTP_THX;
    return interpreter == NULL ? NULL : nytp_recorder_of(aTHX);
}

/* Returns the first recorder if it is unused, else a new one, or NULL if memory is out. */
static struct nytp_recorder *unused_recorder(void)
{
    return nytp_first_recorder.interpreter == NULL ? &nytp_first_recorder
                                                   : calloc(1, sizeof nytp_first_recorder);
}

struct nytp_recorder *nytp_recorder_add(pTHX)
{
    PERL_UNUSED_CONTEXT;
    nytp_recorders_lock();
    struct nytp_recorder *rec = unused_recorder();
    if (rec != NULL && !make_parts(rec)) {
        if (rec != &nytp_first_recorder)
            free(rec);
        rec = NULL;
    }
    if (rec != NULL) {
        rec->interpreter = NYTP_THX;
        rec->next = list;
        list = rec;
        if (rec == &nytp_first_recorder)
            atomic_store(&nytp_first_interpreter, NYTP_THX);
        atomic_fetch_add(&list_version, 1);
        if (atomic_fetch_add(&nytp_recorders_count.all, 1) > 0)
            atomic_store(&nytp_recorders_count.were_several, true);
        atomic_fetch_add(&nytp_recorders_count.not_off, 1);
    }
    nytp_recorders_unlock();
    return rec;
}

static void count_state(enum nytp_state state, enum nytp_kind kind, unsigned change)
{
    if (state != NYTP_OFF)
        atomic_fetch_add(&nytp_recorders_count.not_off, change);
    if (kind == NYTP_EXACT && (state == NYTP_RECORDING || state == NYTP_ARMED))
        atomic_fetch_add(&nytp_recorders_count.exact, change);
}

void nytp_recorder_remove(struct nytp_recorder *rec)
{
    nytp_recorders_lock();
    struct nytp_recorder **at = &list;
    while (*at != rec)
        at = &(*at)->next;
    *at = rec->next;
    atomic_fetch_add(&list_version, 1);
    count_state(rec->state, rec->kind, -1u);
    free(rec->parts);
    atomic_fetch_sub(&nytp_recorders_count.all, 1);
    if (rec == &nytp_first_recorder) {
        atomic_store(&nytp_first_interpreter, NULL);
        Zero(rec, 1, struct nytp_recorder);
    } else {
        free(rec);
    }
    nytp_recorders_unlock();
}

void nytp_recorders_each(void (*see)(struct nytp_recorder *rec, void *context), void *context)
{
    nytp_recorders_lock();
    for (struct nytp_recorder *rec = list; rec != NULL; rec = rec->next)
        see(rec, context);
    nytp_recorders_unlock();
}

void nytp_recorders_lock(void)
{
    pthread_mutex_lock(&lock);
}

void nytp_recorders_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void nytp_parts_set(const struct nytp_part *all, size_t n,
                    bool (*make)(struct nytp_recorder *rec))
{
    make_parts = make;
    parts = all;
    n_parts = n;
}

void nytp_parts_do(struct nytp_recorder *rec, enum nytp_part_hook hook)
{
    for (size_t i = 0; i < n_parts; i++) {
        const struct nytp_part *const part = &parts[hook == NYTP_FREE ? n_parts - 1 - i : i];
        if (part->hooks[hook] != NULL)
            part->hooks[hook](rec);
    }
}

void nytp_parts_thread(struct nytp_recorder *rec, const struct nytp_recorder *from)
{
    for (size_t i = 0; i < n_parts; i++)
        if (parts[i].thread != NULL)
            parts[i].thread(rec, from);
}

bool nytp_state_is_plain(const struct nytp_recorder *rec)
{
    return rec->on.stmts && rec->on.subs && rec->on.leave && rec->on.comments &&
           !rec->on.blocks && !rec->on.findcaller && !rec->on.guards && !rec->on.first_look;
}

void nytp_state_note_waiting(struct nytp_recorder *rec, bool is_waiting)
{
    rec->on.plain = !is_waiting && nytp_state_is_plain(rec);
}

void nytp_state_set(struct nytp_recorder *rec, enum nytp_state state)
{
    const bool on = state == NYTP_RECORDING, was_open = nytp_file_is_open(rec);
    const bool exact = on && rec->kind == NYTP_EXACT;
    count_state(rec->state, rec->kind, -1u);
    count_state(state, rec->kind, 1);
    rec->state = state;
    rec->on.stmts = exact && rec->options.stmts;
    rec->on.subs = exact && rec->options.subs;
    rec->on.arcs = nytp_file_is_open(rec) && rec->options.subs;
    rec->on.entries = rec->options.calls > 1;
    rec->on.returns = rec->options.calls > 0;
    rec->on.marks = rec->dprof != NULL;
    rec->on.blocks = rec->options.blocks;
    rec->on.memory = exact && rec->options.memory && rec->dprof == NULL;
    rec->on.svs = rec->on.memory && rec->options.svs;
    rec->on.findcaller = rec->options.findcaller;
    if (!was_open && !rec->run.is_ended) /* places of the file have counts, or have none */
        rec->on.counts = nytp_options_count(&rec->options) && rec->dprof == NULL;
    rec->on.leave = rec->options.leave && !rec->options.use_db_sub && !rec->on.counts;
    rec->on.first_look = state == NYTP_ARMED || rec->open_at_start.n > 0;
    rec->on.plain = nytp_state_is_plain(rec);
    rec->on.counts_plain =
        exact && rec->on.counts && !rec->guards.unsafe_signals && !rec->on.first_look;
    if (!on)
        rec->wake_raw = UINT64_MAX;
    if (state == NYTP_OFF && atomic_load(&nytp_recorders_count.not_off) == 0)
        nytp_ops_restore();
}

void nytp_kind_set(struct nytp_recorder *rec, enum nytp_kind kind)
{
    count_state(rec->state, rec->kind, -1u);
    count_state(rec->state, kind, 1);
    rec->kind = kind;
    nytp_state_set(rec, rec->state);
}

uint64_t nytp_woken(pTHX_ struct nytp_recorder *rec, uint64_t raw)
{
    nytp_bytes_hold(rec);
    rec->wake_up(aTHX_ rec, &raw);
    nytp_bytes_resume(rec);
    return raw;
}

/* A recorder that is never woken does not recalibrate either: costs.c measures with it. */
static NYTP_COLD int64_t went_back(struct nytp_recorder *rec)
{
    if (rec->wake_raw != UINT64_MAX)
        rec->wake_raw = 0;
    return nytp_clock_hold(&rec->clock);
}

int64_t nytp_now_after_work(pTHX_ struct nytp_recorder *rec)
{
    const int64_t now = nytp_clock_ticks(&rec->clock, nytp_now(aTHX_ rec));
    if (UNLIKELY(now < rec->clock.latest_ticks))
        return went_back(rec);
    rec->clock.latest_ticks = now;
    return now;
}
