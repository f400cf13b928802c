/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The recorder's state: all that it knows about the running program, in one struct, and the map
 * from interpreters to recorders.
 *
 * Each profiled interpreter (the program's first, a thread's, another that embeds perl) has its
 * own recorder; recorders share nothing. A recorder is found by its interpreter, never by the
 * thread alone: join() destroys a thread's interpreter from the joining thread, and a server
 * may move an interpreter between threads. In an interpreter without a recorder, hooks go
 * straight to perl's own code.
 *
 * The struct has what events read, and a pointer to each part that only some files need. A
 * field or part belongs to one file, which alone writes it; everybody may read it.
 */
#ifndef NYTP_STATE_H
#define NYTP_STATE_H

#include "formats/stream/write/writer.h"
#include "malloc/interface.h"

#include "XS/platform/clock.h"
#include "XS/perl/guard.h"
#include "XS/perl/index.h"
#include "XS/options/options.h"
#include "XS/output/outfile.h"
#include "XS/perl/perl_compat.h"
#include "states.h"
#include "XS/perl/text.h"
#include "handler_time.h"
#include "frames.h"

#include <stdatomic.h>
#include <sys/types.h>

struct nytp_recorder;

#define NYTP_IF_0(...)
#define NYTP_IF_1(...) __VA_ARGS__

/* Does the work due at clock reading *raw, then reads the clock again. */
typedef void nytp_wake_up_fn(pTHX_ struct nytp_recorder *rec, uint64_t *raw);

/* The switches of events: these records are wanted, these paths are taken. state.c derives them
 * from the state and the options. */
struct nytp_switches {
    bool plain;        /* a shortcut: everything is recorded as by default and no bytes wait,
                        * so events need not test the others */
    bool counts_plain; /* the same for counts=1; a signal may end the program */
    bool first_look;   /* NYTP_ARMED, or calls are open from before */
    bool guards;       /* life.c: a signal may come between nytp_guard() and nytp_unguard() */
    bool stmts, subs;  /* recording, and this half is wanted */
    bool arcs;         /* a profile is open: calls that end are added to their arcs */
    bool entries;      /* calls=2 */
    bool returns;      /* calls=1 or 2 */
    bool comments;     /* profile.c: calls are recorded in comments (call_records.h) */
    bool marks;        /* Devel::DProf's marks replace both */
    bool memory;       /* allocated bytes are recorded, or SVs counted */
    bool svs;          /* SVs are counted */
    bool samples;      /* sample.c: ticks come */
    bool counts, blocks, leave, findcaller; /* options */
};

#define NYTP_BODY_VERSIONS 256

/* Tables by the addresses of ops. */
struct nytp_caches {
    struct nytp_place *places; /* places.c: NYTP_PLACES, by COP address; owned */
    struct nytp_marked_file *marked_files; /* places.c: NYTP_MARKS, by mark; owned */
    bool marks_cops;                       /* places.c: this recorder sets marks */
    uint32_t n_counted;        /* places.c: places whose executions are not recorded yet */
    uint16_t first_counted, last_counted;
    struct nytp_cached_site *sites; /* site_cache.c; owned */
    uint64_t sites_version; /* grows when arcs or places are freed */
    uint32_t body_versions[NYTP_BODY_VERSIONS]; /* grow when a body is freed; by its root op */
};

/* The counters of memory. */
struct nytp_rec_memory {
    const struct nytp_malloc *library; /* bytes.c; NULL: not wanted or not loaded */
    struct nytp_malloc_queue *queue;   /* bytes.c; owned; NULL: none yet */
    IV svs; /* svs.c: perl's count at the last record, plus our own SVs since */
};

/* open_at_start.c: calls that were open when recording began. */
struct nytp_calls_at_start {
    struct nytp_open_at_start *all; /* outermost first; owned */
    uint32_t n, size;
};

/* The run of the program: its compilation, its process, its profile files. */
struct nytp_rec_run {
    bool comes_late;          /* load.c: we were loaded after the program was compiled */
    bool is_importing;        /* load.c: our import() is starting the recording */
    bool sees_compilation;    /* hooks.c: the interpreter has our block hooks */
    bool keeps_source;        /* compile.c: we set the bit for it in $^P (PERLDBf_SAVESRC) */
    bool without_perl;        /* life.c: a signal ends it: neither perl nor malloc() is used */
    bool is_ended;            /* life.c: the stream has its end, which may be taken back */
    volatile bool forked;     /* life.c: in a fork's child until it has its own profile */
    pid_t pid;                /* life.c: of the recorded process */
    uint32_t generation;      /* profile.c: number of the profile file, from 1 */
    uint32_t n_blocked_files; /* blocked.c: ids above all others, of files at the end */
    struct nytp_shared_text *e_text; /* compile.c: program text of -e, or NULL; owned */
};

/* costs.c: what recording costs. */
struct nytp_rec_costs {
    struct nytp_handler_times handlers; /* also the timed handlers write these */
    double builtin_ns;              /* what recording adds to a builtin; 0: unknown */
    struct nytp_cost_meter *meter;  /* owned; NULL: none yet */
    struct nytp_recorder *recorder; /* the meter's own recorder, in the meter */
};

struct nytp_recorder {
    /* Fields that every event reads come first, together, for the processor's cache. */

    struct nytp_switches on;
    bool infos_wait;            /* info_queue.c: subs were queued since the last scan */
    const void *interpreter;    /* state.c: the interpreter it records */
    uint64_t wake_raw;          /* clock reading at which to call wake_up(); 0: at once */
    struct nytp_writer *writer; /* receives all records; owned, made by profile.c */
    struct nytp_rec_calls calls;
    struct nytp_last_calls last;
    struct nytp_stmt stmt;
    struct nytp_clock clock;
    struct nytp_caches cache;

    struct nytp_rec_costs costs;
    struct nytp_rec_memory memory;

    /* Other fields. The parts of parts.def have a struct each, which is defined in the header
     * of the file of its name and written by that file only. */
#define NYTP_PART(name, has_data, ...) NYTP_IF_##has_data(struct nytp_rec_##name *name;)
#include "parts.def"
    void *parts; /* owned; what these point into */
    struct nytp_calls_at_start open_at_start;
    struct nytp_rec_calls suspended;     /* call_frames.c: of a suspended sampled profile */
    struct nytp_index builtins;          /* builtins.c: by stash and type of op */
    struct nytp_control_target *control; /* control.c; owned; NULL: not controlled */
    struct nytp_sampler *sampler;        /* sample.c; owned; NULL: nothing was sampled yet */
    int64_t sample_ticks; /* sample.c: the axis of samples, time that they account for */

    struct nytp_rec_run run;
    enum nytp_state state;    /* changed only by nytp_state_set() */
    enum nytp_kind kind;      /* changed only by nytp_kind_set() */
    nytp_wake_up_fn *wake_up; /* in life.c, a layer above the callers */
    struct nytp_guards guards;
    struct nytp_options options;
    struct nytp_outfile file;         /* the profile */
    struct nytp_dprof *dprof;         /* owned; NULL: the native stream is written */
    struct nytp_rec_regexes *regexes; /* regexes.c; owned; NULL: not wanted */
    struct nytp_text scratch;         /* for building names; its content does not last */
    struct nytp_recorder *next;       /* state.c: list of all recorders of the process */
};

/* The hooks that parts have; parts.def says which has which. */
#define NYTP_PART(name, ...)                                                                   \
    void nytp_##name##_begin_file(struct nytp_recorder *rec);                                  \
    void nytp_##name##_end_file(struct nytp_recorder *rec);                                    \
    void nytp_##name##_fork(struct nytp_recorder *rec);                                        \
    void nytp_##name##_thread(struct nytp_recorder *rec, const struct nytp_recorder *from);    \
    void nytp_##name##_free(struct nytp_recorder *rec);
#include "parts.def"

enum nytp_part_hook {
    NYTP_BEGIN_FILE, /* a profile file begins: its head is being written */
    NYTP_END_FILE,   /* it ends; with run.without_perl neither perl nor malloc() may be used */
    NYTP_FORK,       /* in a child, before it has a file and run.pid is its own */
    NYTP_FREE,       /* the interpreter is being destroyed */
    NYTP_PART_HOOKS
};

struct nytp_part {
    void (*hooks[NYTP_PART_HOOKS])(struct nytp_recorder *rec); /* NULL: it has none */
    void (*thread)(struct nytp_recorder *rec, const struct nytp_recorder *from);
};

/* `make` gives a recorder rec->parts, zeroed; it returns false if memory is out. */
void nytp_parts_set(const struct nytp_part *all, size_t n,
                    bool (*make)(struct nytp_recorder *rec));

/* Calls this hook of all parts. The second is for an interpreter cloned from that of `from` for
 * a thread, while its creator waits. */
void nytp_parts_do(struct nytp_recorder *rec, enum nytp_part_hook hook);
void nytp_parts_thread(struct nytp_recorder *rec, const struct nytp_recorder *from);

/* Most programs have one interpreter. Its recorder is found without following a pointer, by a
 * variable that is not written during recording, since other threads read it at each event. Use
 * nytp_recorder_of(); only it, nytp_plain_recorder_of() and state.c read these. */
extern struct nytp_recorder nytp_first_recorder NYTP_HIDDEN;
extern _Atomic(const void *) nytp_first_interpreter NYTP_HIDDEN;
struct nytp_recorder *nytp_recorder_find(pTHX);

/* The version of bodies at addresses like this one. */
static inline uint32_t *nytp_body_version(struct nytp_recorder *rec, const void *root)
{
    return &rec->cache.body_versions[PTR2UV(root) >> 5 & (NYTP_BODY_VERSIONS - 1)];
}

/* Returns the recorder of this interpreter, or NULL. All code that perl calls (op handlers,
 * checkers, hooks, destructors, xsubs) gets its recorder here. */
static inline struct nytp_recorder *nytp_recorder_of(pTHX)
{
    return LIKELY(atomic_load_explicit(&nytp_first_interpreter, memory_order_relaxed) ==
                  NYTP_THX)
               ? &nytp_first_recorder
               : nytp_recorder_find(aTHX);
}

/* Returns the recorder of this interpreter if it is the first one and on.plain, as is usual, or
 * NULL: then call nytp_recorder_of(). Takes a few instructions and no call, for handlers that
 * every program runs. */
static inline struct nytp_recorder *nytp_plain_recorder_of(pTHX)
{
    const bool is_first = atomic_load_explicit(&nytp_first_interpreter, memory_order_relaxed) ==
                          (const void *)NYTP_THX;
    return LIKELY(is_first && nytp_first_recorder.on.plain) ? &nytp_first_recorder : NULL;
}

/* The same for a recorder with on.counts_plain. */
static inline struct nytp_recorder *nytp_counting_recorder_of(pTHX)
{
    const bool is_first = atomic_load_explicit(&nytp_first_interpreter, memory_order_relaxed) ==
                          (const void *)NYTP_THX;
    return LIKELY(is_first && nytp_first_recorder.on.counts_plain) ? &nytp_first_recorder
                                                                   : NULL;
}

/* Returns the recorder of the interpreter that this operating system thread runs, or NULL. For
 * events of a thread: signals, exit(). May be called in a signal. */
struct nytp_recorder *nytp_recorder_of_thread(void);

/* The same in a fork's child, where the forking thread is the only one. Also finds a recorder
 * whose cache entry is outdated. */
struct nytp_recorder *nytp_recorder_after_fork(void);

/* Gives this interpreter a recorder, zero but for `interpreter`, or NULL if memory is out. */
struct nytp_recorder *nytp_recorder_add(pTHX);

/* Takes the recorder from its interpreter. All that the struct owns must have been freed. */
void nytp_recorder_remove(struct nytp_recorder *rec);

/* Calls `see` for every recorder of the process. No recorder is added or removed meanwhile, but
 * its interpreter may run in another thread. `see` must not call the two functions above. */
void nytp_recorders_each(void (*see)(struct nytp_recorder *rec, void *context), void *context);

/* Between these two no thread adds or removes a recorder: a fork's child needs a whole list. */
void nytp_recorders_lock(void);
void nytp_recorders_unlock(void);

/* Counts of the process's recorders: all, those not NYTP_OFF, and those recording exactly
 * (NYTP_RECORDING) or about to (NYTP_ARMED). Resources of the process (perl's table of op
 * handlers) are held while one of them needs them. */
struct nytp_recorders_count {
    _Atomic unsigned all, not_off, exact;
    atomic_bool were_several; /* at any time since the start */
};
extern struct nytp_recorders_count nytp_recorders_count NYTP_HIDDEN;

/* Returns whether a profile is being written; recording may be paused. */
static inline bool nytp_file_is_open(const struct nytp_recorder *rec)
{
    return rec->state == NYTP_RECORDING || rec->state == NYTP_PAUSED;
}

/* Changes the state and all that follows from it. */
void nytp_state_set(struct nytp_recorder *rec, enum nytp_state state);

/* Returns the value that on.plain has while nothing waits to be recorded. */
bool nytp_state_is_plain(const struct nytp_recorder *rec);

/* Notes that something waits to be recorded, so that events take the slow path, or that nothing
 * waits any more. May be called within malloc(). */
void nytp_state_note_waiting(struct nytp_recorder *rec, bool is_waiting);

/* Sets the kind of the open profile file, or of the next. */
void nytp_kind_set(struct nytp_recorder *rec, enum nytp_kind kind);

/* Does the work due at this clock reading; returns a new reading. */
uint64_t nytp_woken(pTHX_ struct nytp_recorder *rec, uint64_t raw) NYTP_COLD;

/* Returns the raw clock after doing the work that is due: a flush, a fork's consequences. */
static inline uint64_t nytp_now(pTHX_ struct nytp_recorder *rec)
{
    const uint64_t raw = nytp_clock_raw(&rec->clock);
    return LIKELY(raw < rec->wake_raw) ? raw : nytp_woken(aTHX_ rec, raw);
}

/* nytp_now_ticks() in all cases. A reading before the last recorded time is not taken: the axis
 * is recalibrated soon. */
int64_t nytp_now_after_work(pTHX_ struct nytp_recorder *rec);

/* Sets *now to the present point of the axis, if the counter is the clock and no work is due.
 * Else returns false, with nothing done. */
static inline bool nytp_now_at_once(struct nytp_recorder *rec, int64_t *now)
{
    if (UNLIKELY(!rec->clock.is_counter))
        return false;
    const uint64_t raw = nytp_counter_read();
    *now = nytp_clock_ticks(&rec->clock, raw);
    if (UNLIKELY(raw >= rec->wake_raw || *now < rec->clock.latest_ticks))
        return false;
    rec->clock.latest_ticks = *now;
    return true;
}

/* Returns nytp_now() as a point of the axis. Later points are never before latest_ticks. */
static inline int64_t nytp_now_ticks(pTHX_ struct nytp_recorder *rec)
{
    int64_t now;
    return LIKELY(nytp_now_at_once(rec, &now)) ? now : nytp_now_after_work(aTHX_ rec);
}

/* Returns the axis in ticks; while the clock is paused, the time of the pause. With sample=:
 * the time that samples account for. */
static inline int64_t nytp_axis_now(struct nytp_recorder *rec)
{
    return rec->kind == NYTP_SAMPLED ? rec->sample_ticks : nytp_clock_now(&rec->clock);
}

/* Between these two the recorder is being changed. With PERL_SIGNALS=unsafe no handler of the
 * program runs, and a signal of sigexit= waits. Every change of data that
 * nytp_finish_without_perl() reads lies in between. Pairs may nest; no perl code may run
 * inside. If neither applies this costs a test of one byte: perl's safe signals never come
 * inside an op. */
static inline void nytp_guard(struct nytp_recorder *rec)
{
    if (UNLIKELY(rec->on.guards))
        nytp_guards_enter(&rec->guards);
}

static inline void nytp_unguard(struct nytp_recorder *rec)
{
    if (UNLIKELY(rec->on.guards))
        nytp_guards_leave(&rec->guards);
}

/* Returns whether samples of allocated bytes wait to be recorded. */
static inline bool nytp_bytes_wait(const struct nytp_recorder *rec)
{
    return rec->memory.queue != NULL &&
           atomic_load_explicit(&rec->memory.queue->waiting, memory_order_relaxed) != NULL;
}

/* Allocations between these two are the profiler's. Pairs may nest. */
static inline void nytp_bytes_hold(const struct nytp_recorder *rec)
{
    if (rec->memory.library != NULL)
        rec->memory.library->hold();
}

static inline void nytp_bytes_resume(const struct nytp_recorder *rec)
{
    if (rec->memory.library != NULL)
        rec->memory.library->resume();
}

/* Between these two the recorder does rare, long work: the first sight of a place, a sub, an
 * arc; compiling. No calibration could subtract that, so it is cut out of the time axis, and
 * its allocations are not charged to the program. Guarded, too. Pairs may nest; no perl code
 * may run and no event may be recorded inside. */
static inline void nytp_excluded_time_begin(struct nytp_recorder *rec)
{
    nytp_guard(rec);
    nytp_bytes_hold(rec);
    nytp_clock_pause(&rec->clock);
}

static inline void nytp_excluded_time_end(struct nytp_recorder *rec)
{
    nytp_clock_resume(&rec->clock);
    nytp_bytes_resume(rec);
    nytp_unguard(rec);
}

#endif
