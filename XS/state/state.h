/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The recorder's state: everything that it knows about the running program, in one struct, and
 * which recorder belongs to which interpreter.
 *
 * Each interpreter that is profiled (a program's first, a thread's, another that embeds perl)
 * has a recorder of its own, and nothing is shared between recorders. It is found by the
 * interpreter, never by the operating system's thread alone: join() destroys a thread's
 * interpreter from the thread that joins, and a server may move one between its threads. Hooks
 * that run in an interpreter without a recorder go straight on to perl's own code.
 *
 * The struct is put together here of parts. Each part belongs to one file, which defines it in
 * its header and alone writes it; everybody may read it. Those headers do not include this one,
 * so that a part can be understood without the others.
 */
#ifndef NYTP_STATE_H
#define NYTP_STATE_H

#include "formats/stream/write/writer.h"

/* The ground. */
#include "XS/ground/clock.h"
#include "XS/perl/guard.h"
#include "XS/perl/index.h"
#include "XS/options/options.h"
#include "XS/output/outfile.h"
#include "XS/perl/perl_compat.h"
#include "states.h"
#include "XS/perl/text.h"

/* The owners of its parts. */
#include "XS/exact/arcs.h"
#include "XS/exact/blocks.h"
#include "XS/exact/bytes.h"
#include "XS/names/builtins.h"
#include "XS/exact/compile.h"
#include "XS/control/control.h"
#include "XS/names/evals.h"
#include "XS/names/files.h"
#include "handler_time.h"
#include "frames.h"
#include "XS/life/hooks.h"
#include "info_queue.h"
#include "XS/names/sub_infos.h"
#include "XS/life/finished_profiles.h"
#include "XS/exact/labels.h"
#include "XS/life/life.h"
#include "XS/life/load.h"
#include "XS/exact/switch_ops.h"
#include "XS/life/profile.h"
#include "XS/exact/release.h"
#include "XS/sampling/blocked.h"
#include "XS/sampling/sample.h"
#include "XS/exact/open_at_start.h"
#include "XS/exact/stmts.h"
#include "XS/exact/svs.h"
#include "stream.h"
#include "XS/names/subs.h"
#include "XS/life/pause_for_exact.h"

#include <stdatomic.h>

struct nytp_cost_meter;
struct nytp_dprof;
struct nytp_known_call;
struct nytp_place;
struct nytp_rec_regexes;
struct nytp_recorder;

/* Does what is due at the clock reading *raw, and reads the clock again. */
typedef void nytp_wake_up_fn(pTHX_ struct nytp_recorder *rec, uint64_t *raw);

/* Closes calls that were open from before and have been left. */
typedef void nytp_check_open_fn(pTHX_ struct nytp_recorder *rec);

struct nytp_recorder {
    /* What every event looks at comes first, together, for the processor's cache. */

    /* Of state.c: what follows from the state and the options. */
    bool stmts_on, subs_on; /* recording, and this half is wanted */
    bool counting;          /* a profile is open: calls that end are accounted */
    bool entries_on;        /* calls=2 */
    bool comments_on;       /* which are told in comments (formats/stream/call_records.h) */
    bool returns_on;        /* calls=1 or 2 */
    bool marks_on;          /* neither: dprof writes both */
    bool blocks_on;
    bool memory_on; /* allocated bytes are told, or SVs counted */
    bool svs_on;
    bool leave_on;
    bool finds_caller;      /* findcaller=1 */
    bool discount_pending;  /* of stmts.c: the last DISCOUNT has not met its time record yet */
    bool guarded;           /* some signal may come between nytp_guard() and _unguard() */
    bool left_fresh;        /* left_ticks is of the op that is running */
    bool ended_regex;       /* of regexes.c: the builtin that ends is one, and is to be noted */
    bool looks_first;       /* of state.c: NYTP_ARMED, or calls are open from before */
    uint16_t begun_builtin; /* of calls.c: the op that is run within its frame at once */
    bool is_plain;    /* of state.c: all is recorded as by default, so that events need not ask
                         for each of the above; never more than a short way to the same records.
                         Not while bytes wait to be told */
    uint8_t n_untold; /* of stmts.c: scopes left since the statement was told */
    int8_t until_timed[NYTP_HANDLERS]; /* of handler_time.h */
    const void *interpreter;           /* of state.c: that it records */
    uint64_t wake_raw; /* clock reading at which wake_up() wants to be called; 0: at once */
    struct nytp_writer *writer; /* where all records go; owned, made by profile.c */
    struct nytp_place *places;  /* of places.c: NYTP_PLACES, by COP address; owned */
    const struct nytp_place *running_place; /* of places.c: of the statement in progress; NULL:
                                               there is none */
    struct nytp_known_call *known_calls;    /* of known_calls.c; owned */
    uint64_t known_version; /* another when a body, a name, an arc or a place is no more */

    /* Of calls.c. */
    struct nytp_rec_frame *frames; /* open calls, the innermost last; owned */
    uint32_t n_frames, size_frames;
    uint32_t last_serial;
    uint32_t told_serial;  /* frames up to this one have told their names */
    int64_t left_ticks;    /* axis at the last call's return, for the leave op around it */
    const OP *entered_op;  /* the first op of the sub entered last, until it has run */
    int64_t entered_ticks; /* and when that was */

    struct nytp_stmt stmt; /* of stmts.c */
    struct nytp_clock clock;

    struct nytp_jump jump;  /* of calls.c */
    struct nytp_index arcs; /* of arcs.c; owns them */

    /* Each of these parts is written by the file of its name only, and defined in its header.
     */
    struct nytp_rec_stmts stmts;
    struct nytp_rec_bytes bytes;
    struct nytp_rec_blocks blocks;
    struct nytp_rec_svs svs;
    struct nytp_rec_subs subs;
    struct nytp_rec_switch_ops switch_ops;
    struct nytp_rec_open_at_start open_at_start;
    struct nytp_rec_builtins builtins;
    struct nytp_rec_info_queue info_queue;
    struct nytp_rec_sub_infos sub_infos;
    struct nytp_rec_files files;
    struct nytp_rec_evals evals;
    struct nytp_rec_compile compile;
    struct nytp_rec_release release;
    struct nytp_rec_labels labels;
    struct nytp_rec_stream stream;
    struct nytp_rec_profile profile;
    struct nytp_rec_sample sample;
    struct nytp_rec_blocked blocked;
    struct nytp_rec_life life;
    struct nytp_rec_pause_for_exact pause_for_exact;
    struct nytp_rec_finished_profiles finished_profiles;
    struct nytp_rec_control control;
    struct nytp_rec_hooks hooks;
    struct nytp_rec_load load;
    struct nytp_handler_time handler_times[NYTP_HANDLERS]; /* of costs.c, and of those timed */

    enum nytp_state state;    /* only nytp_state_set() changes it */
    enum nytp_kind kind;      /* only nytp_kind_set() changes it */
    nytp_wake_up_fn *wake_up; /* of life.c, which is above those that look at the clock */
    nytp_check_open_fn *check_open_at_start; /* and of open_at_start.c */
    struct nytp_guards guards;
    struct nytp_options options;
    struct nytp_outfile file;            /* the profile */
    struct nytp_dprof *dprof;            /* owned; NULL: the native stream is written */
    struct nytp_rec_regexes *regexes;    /* of regexes.c; owned; NULL: not wanted */
    struct nytp_cost_meter *cost_meter;  /* of costs.c; owned; NULL: there is none yet */
    struct nytp_recorder *cost_recorder; /* of costs.c: by which it measures; in cost_meter */
    struct nytp_text scratch;   /* for names that are put together; nothing lasts in it */
    struct nytp_recorder *next; /* of state.c: all that the process has */
};

/* A program has mostly one interpreter, so its recorder is found without following a pointer,
 * and by a variable that is not written while anything is recorded: other threads, too, read it
 * at each event. Only the function below and state.c look at these. */
extern struct nytp_recorder nytp_first_recorder NYTP_HIDDEN;
extern _Atomic(const void *) nytp_first_interpreter NYTP_HIDDEN;
struct nytp_recorder *nytp_recorder_find(pTHX);

/* The recorder of this interpreter; NULL: it has none. This is the one way from the interpreter
 * to the recorder: whatever perl calls (op handlers, checkers, hooks, destructors, xsubs) asks
 * here first. */
static inline struct nytp_recorder *nytp_recorder_of(pTHX)
{
    return LIKELY(atomic_load_explicit(&nytp_first_interpreter, memory_order_relaxed) ==
                  NYTP_THX)
               ? &nytp_first_recorder
               : nytp_recorder_find(aTHX);
}

/* The recorder of this interpreter if it is the first one and is_plain, as nearly always; NULL:
 * ask the function above. For handlers that every program runs: in a few instructions, without
 * a call that would need room on the stack. */
static inline struct nytp_recorder *nytp_plain_recorder_of(pTHX)
{
    const bool is_first = atomic_load_explicit(&nytp_first_interpreter, memory_order_relaxed) ==
                          (const void *)NYTP_THX;
    return LIKELY(is_first && nytp_first_recorder.is_plain) ? &nytp_first_recorder : NULL;
}

/* The recorder of the interpreter that the calling thread of the operating system runs; NULL:
 * none. For what comes to a thread and not to an interpreter: signals, exit(). It may be
 * called in a signal. */
struct nytp_recorder *nytp_recorder_of_thread(void);

/* The same in the child of a fork, where the thread that forked is the only one; also of a
 * thread that has met its recorder last when the list was another. */
struct nytp_recorder *nytp_recorder_after_fork(void);

/* Give this interpreter, which has none, a recorder: all zero but `interpreter`. NULL when out
 * of memory. */
struct nytp_recorder *nytp_recorder_add(pTHX);

/* The interpreter has no recorder any more. Everything that the struct owns has been freed. */
void nytp_recorder_remove(struct nytp_recorder *rec);

/* Call `see` for every recorder of the process. No other is added or removed meanwhile, but its
 * interpreter may be running in another thread. `see` must not call the two functions above. */
void nytp_recorders_each(void (*see)(struct nytp_recorder *rec, void *context), void *context);

/* Between these two no thread adds or removes a recorder: around fork(), so that the child does
 * not find the list half changed. */
void nytp_recorders_lock(void);
void nytp_recorders_unlock(void);

/* How many recorders the process has, how many of them are not NYTP_OFF, and how many are
 * recording exactly (NYTP_RECORDING) or about to (NYTP_ARMED): what belongs to the process
 * (perl's table of op handlers) is wanted as long as one of them wants it. */
struct nytp_recorders_count {
    _Atomic unsigned all, not_off, exact;
    atomic_bool were_several; /* at any time */
};
extern struct nytp_recorders_count nytp_recorders_count NYTP_HIDDEN;

/* A profile is being written; recording may be paused. */
static inline bool nytp_file_is_open(const struct nytp_recorder *rec)
{
    return rec->state == NYTP_RECORDING || rec->state == NYTP_PAUSED;
}

/* Go to a state; what every event looks at follows from it. */
void nytp_state_set(struct nytp_recorder *rec, enum nytp_state state);

/* What is_plain is where nothing waits to be told. */
bool nytp_state_is_plain(const struct nytp_recorder *rec);

/* Something waits, which every event that is not plain asks for; or nothing does any more. May
 * be called within malloc(). */
void nytp_state_note_waiting(struct nytp_recorder *rec, bool is_waiting);

/* The profile file that is open, or the next, is of this kind. */
void nytp_kind_set(struct nytp_recorder *rec, enum nytp_kind kind);

/* Does what is due at this clock reading, and returns a new one. */
uint64_t nytp_woken(pTHX_ struct nytp_recorder *rec, uint64_t raw) NYTP_COLD;

/* Now, on the raw clock. Does first what is due: a flush, a fork's consequences. */
static inline uint64_t nytp_now(pTHX_ struct nytp_recorder *rec)
{
    const uint64_t raw = nytp_clock_raw(&rec->clock);
    return LIKELY(raw < rec->wake_raw) ? raw : nytp_woken(aTHX_ rec, raw);
}

/* A reading of the clock came before what was told: returns now, and has both clocks compared
 * soon. */
int64_t nytp_went_back(struct nytp_recorder *rec) NYTP_COLD;

/* The same as a point of the axis, which is told: none that is told later comes before it. */
static inline int64_t nytp_now_ticks(pTHX_ struct nytp_recorder *rec)
{
    const int64_t now = nytp_clock_ticks(&rec->clock, nytp_now(aTHX_ rec));
    if (UNLIKELY(now < rec->clock.told_ticks))
        return nytp_went_back(rec);
    rec->clock.told_ticks = now;
    return now;
}

/* Between these two the recorder is being changed: with PERL_SIGNALS=unsafe no handler of the
 * program runs, and a signal of sigexit= waits for the end. Everything that changes what
 * nytp_finish_without_perl() reads is in between. Pairs may nest; no perl code may run
 * inside. Costs a test of one byte where neither is the case: perl's own handlers never come
 * inside an op. */
static inline void nytp_guard(struct nytp_recorder *rec)
{
    if (UNLIKELY(rec->guarded))
        nytp_guards_enter(&rec->guards);
}

static inline void nytp_unguard(struct nytp_recorder *rec)
{
    if (UNLIKELY(rec->guarded))
        nytp_guards_leave(&rec->guards);
}

/* Between these two the recorder does what is rare and takes many times as long as an event:
 * the first sight of a place, a sub, an arc; compiling. No statement or call of the program is
 * to pay for it, and its length depends on what is seen, so that no calibration could take it
 * off: it is cut out of the time axis, and what it allocates is not the program's. Guarded,
 * too. Pairs may nest; no perl code may run and no event may be recorded inside. */
static inline void nytp_aside_begin(struct nytp_recorder *rec)
{
    nytp_guard(rec);
    nytp_bytes_hold(&rec->bytes);
    nytp_clock_pause(&rec->clock);
}

static inline void nytp_aside_end(struct nytp_recorder *rec)
{
    nytp_clock_resume(&rec->clock);
    nytp_bytes_resume(&rec->bytes);
    nytp_unguard(rec);
}

#endif
