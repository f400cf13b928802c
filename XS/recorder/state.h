/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The recorder's state: everything that it knows about the running program, in one struct.
 *
 * One interpreter is recorded, the first that starts profiling; hooks that run in another
 * (a thread) go straight on to perl's own code. When it has been destroyed, the next may be.
 */
#ifndef NYTP_STATE_H
#define NYTP_STATE_H

#include "../../formats/core/writer.h"

#include "clock.h"
#include "guard.h"
#include "index.h"
#include "options.h"
#include "outfile.h"
#include "perl_compat.h"
#include "text.h"

struct nytp_dprof;

/* A source file or string eval, as the COPs name it. Only release.c frees any, of evals. */
struct nytp_rec_file {
    char *perl_name;     /* CopFILE: relative, "(eval 7)", "-e" */
    char *shown_name;    /* with an eval's place: "(eval 7)[x.pl:3]"; may be perl_name */
    char *absolute_name; /* or NULL */
    uint32_t fid;        /* 0: not in the stream yet */
    uint32_t generation; /* of the profile file that knows the fid */
    uint32_t flags;      /* NYTP_FID_… */
    struct nytp_rec_file *parent; /* string evals: the file of the statement that ran it */
    struct nytp_rec_file *module; /* a piece that AutoSplit cut out: what has its id; or NULL */
    uint32_t parent_line;
    bool is_eval;
    bool placing;      /* its parent is being introduced */
    bool in_use;       /* something points to it; of release.c */
    bool awaits_lines; /* it is being compiled, and perl keeps its lines */
    SV *text;          /* string evals: source not written yet, or NULL; owned */
    AV *lines;         /* from a hook in @INC: its source, or NULL; owned */
};

enum {
    NYTP_FID_IS_PMC = 0x001,
    NYTP_FID_VIA_STMT = 0x002,
    NYTP_FID_VIA_SUB = 0x004,
    NYTP_FID_IS_AUTOSPLIT = 0x008,
    NYTP_FID_HAS_SRC = 0x010,
    NYTP_FID_SAVE_SRC = 0x020,
    NYTP_FID_IS_FAKE = 0x080,
    NYTP_FID_IS_EVAL = 0x100,
};

enum nytp_rec_sub_kind {
    NYTP_REC_SUB_PERL,
    NYTP_REC_SUB_XSUB,
    NYTP_REC_SUB_OPCODE,
    NYTP_REC_SUB_PSEUDO, /* main::RUNTIME and its like */
};

enum nytp_sub_special {
    NYTP_SUB_ORDINARY,
    NYTP_SUB_NAMES,   /* gives a closure a name: Sub::Util::set_subname */
    NYTP_SUB_EXITS,   /* POSIX::_exit: finish the profile first */
    NYTP_SUB_CONTROL, /* DB::enable_profile and its like: not recorded */
};

struct nytp_rec_arc;

/* A sub by its full name. Only release.c frees any, of those that are unique. */
struct nytp_rec_sub {
    /* What every call looks at. */
    struct nytp_rec_arc *last_arc; /* the one that its last call took, or NULL */
    uint8_t *encoded;              /* the name as a string of the stream */
    uint32_t encoded_len;
    uint32_t depth; /* calls of it in progress */
    enum nytp_sub_special special;
    bool returned_normally; /* at least once */
    bool called;
    bool waits;     /* a builtin that may wait for any time (slowops.def) */
    bool may_block; /* the next call, as far as is known: it is on disk before it begins */

    uint32_t id;
    enum nytp_rec_sub_kind kind;
    uint32_t name_len;
    char *name;                 /* UTF-8, inside `encoded` */
    uint32_t package_len;       /* of `name`, before the last "::" */
    struct nytp_rec_file *file; /* where it was compiled, or NULL */
    uint32_t first_line, last_line;
    uint32_t mark_id;         /* in the tmon.out being written; 0: not there yet */
    uint32_t info_generation; /* of the profile file that has its SUB_INFO; 0 = none */
    bool is_queued;           /* in recorder->unwritten */
    bool is_unique;           /* no other body will get the same name */
    bool is_begin;            /* a package's entry for its BEGIN blocks; see begins.c */
    bool in_use;              /* it can still be called; of release.c */
};

/* Whether readers are to be told that it is no Perl sub. A builtin is one however it ends; that
 * an xsub was run is certain once it has returned. */
static inline bool nytp_sub_is_foreign(const struct nytp_rec_sub *sub)
{
    return sub->kind == NYTP_REC_SUB_OPCODE ||
           (sub->kind != NYTP_REC_SUB_PERL && sub->returned_normally);
}

/* Calls of one sub from one place. */
struct nytp_rec_arc {
    uint32_t fid, line;
    struct nytp_rec_sub *caller_sub, *callee_sub;
    uint64_t count;
    int64_t incl_ticks, excl_ticks, reci_ticks;
    uint32_t rec_depth;
};

/* A call in progress. */
struct nytp_rec_frame {
    struct nytp_rec_sub *sub, *caller;
    uint32_t fid, line; /* of the calling statement */
    uint32_t serial;    /* tells it from later frames at the same depth */
    uint32_t depth;     /* of recursion: 1 for the outermost call of this sub */
    int64_t enter_ticks;
    int64_t callee_ticks;                 /* inclusive time of the calls that it made */
    int64_t reported_incl, reported_excl; /* as if it had returned at the last report */
};

/* Where a call comes from, taken before perl's handler changes what is current. */
struct nytp_call_site {
    struct nytp_rec_sub *caller;
    uint32_t fid, line;
    int64_t now;
};

/* A `goto &xsub` that perl is carrying out: the xsub is entered when the sub that jumps has
 * been left. Kept by value, since the goto may die and never come back to us. */
struct nytp_jump {
    CV *xsub;      /* NULL: none */
    uint32_t from; /* serial of the frame that jumps */
    struct nytp_call_site site;
};

/* What is known about a compiled body, by the address of its root op. An address that is
 * used again gets a new row when the new body is compiled. */
struct nytp_body {
    const void *key;            /* CvROOT; for xsubs the CV itself */
    struct nytp_rec_file *file; /* NULL: compiled before we looked, or freed since */
    uint32_t first_line, last_line;
    struct nytp_rec_sub *sub; /* NULL: not resolved */
    const void *gv;           /* what `sub` was resolved from */
    const void *stash;
    U32 name_hash;
};

/* A body that was called lately. */
struct nytp_called {
    const OP *root;
    const void *gv;
    struct nytp_rec_sub *sub;
};

#define NYTP_CALLED 1024

/* The statement that a COP is, and its place. */
struct nytp_place {
    const COP *cop;
    U32 seq; /* cop_seq: a later COP at this address has another */
    uint32_t fid, line;
    struct nytp_encoded_place encoded; /* of the statement's time records */
};

/* The statement in progress. */
struct nytp_stmt {
    uint32_t fid, line, block_line, sub_line; /* fid 0: none; the lines only with blocks=1 */
    struct nytp_encoded_place encoded;
    int64_t since_ticks;
};

/* A string eval that is being compiled. */
struct nytp_eval {
    UV seq;
    SV *text; /* owned */
};

/* Where string eval number `seq` was run. */
struct nytp_eval_origin {
    UV seq;
    struct nytp_rec_file *file;
    uint32_t line;
};

/* What is left of a string eval's nytp_rec_file when release.c has freed it. */
struct nytp_past_eval {
    uint32_t fid;        /* 0: nothing is remembered */
    uint32_t generation; /* as in nytp_rec_file */
    uint32_t parent_fid, parent_line;
};

/* The body compiled last, until it has its name; root NULL: none. */
struct nytp_compiled {
    const OP *root;
    CV *cv;                     /* that was being compiled; borrowed, may be gone */
    SV *name;                   /* as the tokenizer saw it, or NULL; owned */
    struct nytp_rec_sub *begin; /* its package's entry, if it may be a BEGIN block; or NULL */
};

enum nytp_state {
    NYTP_LOADED, /* options may still come */
    NYTP_ARMED,  /* hooks are in place, the first event starts profiling */
    NYTP_RECORDING,
    NYTP_PAUSED, /* after DB::disable_profile, or before the phase that start= names */
    NYTP_CLOSED, /* finished; DB::enable_profile may start again */
    NYTP_OFF,    /* for good: refused, failed, or a child beyond forkdepth */
};

/* To go on from when exec fails. */
struct nytp_before_end {
    enum nytp_state state;
    pid_t pid;
    uint64_t wake_raw;
    uint64_t size;                /* of the file */
    struct nytp_deflate *deflate; /* owned; NULL: a plain file */
};

#define NYTP_PLACES  16384
#define NYTP_ORIGINS 1024 /* string evals whose place is remembered */

struct nytp_recorder;

/* Does what is due at the clock reading *raw, and reads the clock again. */
typedef void nytp_wake_up_fn(pTHX_ struct nytp_recorder *rec, uint64_t *raw);

/* The parts of the recorder. Each belongs to the file that is named; everybody may read it.
 * t/xs/layers.t lists what is still written by others. */

/* Of stmts.c. */
struct nytp_rec_stmts {
    struct nytp_place compiling_place;
    struct nytp_stmt
        paused;     /* had called DB::disable_profile(); since_ticks: how long it ran */
    bool sees_code; /* a statement or call of the program was met */
};

/* Of subs.c. */
struct nytp_rec_subs {
    struct nytp_index by_name, bodies, opcodes;
    struct nytp_called *called; /* NYTP_CALLED, by hash of the root's address */
    struct nytp_rec_sub **all;  /* in the order of their ids; 0 is not used */
    uint32_t n, size, last_id;
    struct nytp_rec_sub *runtime, *null_caller;
    struct nytp_compiled compiled;
    uint32_t begin_seq; /* last N of BEGIN@LINE.N */
    HV *debugger;       /* %DB::sub, taken from the program; or NULL */
};

/* Of infos.c. */
struct nytp_rec_infos {
    struct nytp_rec_sub **unwritten; /* subs whose SUB_INFO is not in the stream yet */
    size_t n_unwritten, size_unwritten;
    size_t n_waiting;           /* of those, for the end or until their file is known */
    struct nytp_index packages; /* while what only the end tells is written */
};

/* Of files.c. */
struct nytp_rec_files {
    struct nytp_index by_name;
    struct nytp_rec_file **all; /* by fid; 0 is not used; NULL: freed */
    uint32_t n, size;
    struct nytp_rec_file *unknown_invoker;
};

/* Of evals.c. */
struct nytp_rec_evals {
    struct nytp_eval *open; /* being compiled, innermost last */
    uint32_t n_open, size_open;
    struct nytp_eval last;            /* just compiled */
    struct nytp_eval_origin *origins; /* NYTP_ORIGINS, a ring by seq */
    struct nytp_past_eval *past;      /* by seq from `first_past` */
    size_t size_past;
    UV first_past;
};

/* Of compile.c. */
struct nytp_rec_compile {
    bool keeps_source; /* the bit for it in $^P is ours */
    SV *e_text;        /* program text of -e, or NULL */
};

/* Of release.c. */
struct nytp_rec_release {
    struct nytp_index kept_packages; /* of freed subs: one sub of each */
    size_t due_at;                   /* that many files, subs and arcs: see what can be freed */
};

/* Of stream.c. */
struct nytp_rec_stream {
    uint64_t flush_raw;      /* when the last timed flush was */
    int64_t credit_raw;      /* what flushes before calls that may block may cost yet */
    uint64_t credited_raw;   /* when that was worked out */
    uint64_t synced_raw;     /* bytes of the stream that are on disk */
    uint64_t calibrated_raw; /* when the last calibration was */
    uint64_t calibrate_ns;   /* from one to the next; grows */
    bool said_failure;
};

/* Of profile.c. */
struct nytp_rec_profile {
    uint32_t generation;   /* counts profile files, from 1 */
    int64_t overhead_base; /* clock.overhead_ticks when this profile file began */
    char *base_path;       /* absolute, without pid and time */
    bool is_template;      /* it has placeholders (file_name.h) */
    bool is_default_path;
    bool is_child;       /* of the process that base_path belongs to */
    time_t started;      /* when this process's first profile was opened; 0: not yet */
    unsigned n_finished; /* profile files that were completed under base_path */
    unsigned n_threads;  /* other interpreters that were made of ours */
    bool said_end;       /* what is said at a program's end has been said */
    bool said_blindness;
};

/* Of life.c. */
struct nytp_rec_life {
    volatile bool forked; /* set in the child by the atfork handler */
    pid_t pid;
    unsigned n_forks;                  /* generations of processes since the one that began */
    bool is_ended;                     /* the stream has its end, which may yet be taken back */
    struct nytp_before_end before_end; /* valid while is_ended */
};

/* Of load.c. */
struct nytp_rec_load {
    U32 perldb;         /* $^P as we set it */
    bool is_planned;    /* phases, fork handler: once */
    pid_t loader;       /* process that loaded us; 0: options may still come */
    bool is_debugger;   /* loaded by -d */
    bool comes_late;    /* when the program had been compiled */
    char hash_seed[40]; /* of PERL_HASH_SEED, or "random" */
};

struct nytp_recorder {
    /* What every event looks at. */
    bool stmts_on, subs_on; /* recording, and this half is wanted */
    bool counting;          /* a profile is open: calls that end are accounted */
    bool entries_on;        /* calls=2 */
    bool returns_on;        /* calls=1 or 2 */
    bool marks_on;          /* neither: dprof writes both */
    bool blocks_on;
    bool leave_on;
    bool finds_caller;     /* findcaller=1 */
    bool discount_pending; /* the last DISCOUNT has not met its time record yet */
    bool guarded;          /* some signal may come between nytp_guard() and _unguard() */
    bool left_fresh;       /* left_ticks is of the op that is running */
    const void *interpreter;
    uint64_t wake_raw; /* clock reading at which wake_up() wants to be called */
    struct nytp_writer *writer;
    struct nytp_place *places; /* NYTP_PLACES, by COP address */
    struct nytp_rec_frame *frames;
    uint32_t n_frames, size_frames;
    uint32_t last_serial;
    uint32_t told_serial; /* frames up to this one have told their names */
    int64_t left_ticks;   /* axis at the last call's return, for the leave op around it */
    struct nytp_stmt stmt;
    struct nytp_clock clock;

    struct nytp_jump jump;  /* of calls.c */
    struct nytp_index arcs; /* of arcs.c */
    struct nytp_rec_stmts stmts;
    struct nytp_rec_subs subs;
    struct nytp_rec_infos infos;
    struct nytp_rec_files files;
    struct nytp_rec_evals evals;
    struct nytp_rec_compile compile;
    struct nytp_rec_release release;
    bool sees_compilation; /* hooks.c has told the interpreter */

    enum nytp_state state;    /* only nytp_state_set() changes it */
    nytp_wake_up_fn *wake_up; /* of life.c, which is above those that look at the clock */
    struct nytp_guards guards;
    struct nytp_options options;
    struct nytp_outfile file;
    struct nytp_dprof *dprof; /* owned; NULL: the native stream is written */
    struct nytp_rec_stream stream;
    struct nytp_rec_profile profile;
    struct nytp_rec_life life;
    struct nytp_rec_load load;
    struct nytp_text scratch; /* for names that are put together; nothing lasts in it */
};

/* Only the two functions below look at it. */
extern struct nytp_recorder nytp_the_recorder NYTP_HIDDEN;

/* The recorder of this interpreter; NULL: it has none. */
static inline struct nytp_recorder *nytp_recorder_of(pTHX)
{
    PERL_UNUSED_CONTEXT;
    return LIKELY(nytp_the_recorder.interpreter == NYTP_THX) ? &nytp_the_recorder : NULL;
}

/* For what comes to the process and not to an interpreter: signals, fork, exit(). Where
 * `interpreter` is NULL it is nobody's. */
static inline struct nytp_recorder *nytp_recorder_of_process(void)
{
    return &nytp_the_recorder;
}

/* A profile is being written; recording may be paused. */
static inline bool nytp_file_is_open(const struct nytp_recorder *rec)
{
    return rec->state == NYTP_RECORDING || rec->state == NYTP_PAUSED;
}

/* Go to a state; what every event looks at follows from it. */
void nytp_state_set(struct nytp_recorder *rec, enum nytp_state state);

/* Now, on the raw clock. Does first what is due: a flush, a fork's consequences. */
static inline uint64_t nytp_now(pTHX_ struct nytp_recorder *rec)
{
    uint64_t raw = nytp_clock_raw(&rec->clock);
    if (UNLIKELY(raw >= rec->wake_raw))
        rec->wake_up(aTHX_ rec, &raw);
    return raw;
}

/* Between these two the recorder is being changed: with PERL_SIGNALS=unsafe no handler of the
 * program runs, and a signal of sigexit= waits for the end. Everything that changes what
 * nytp_finish_without_perl() reads is in between. Pairs may nest; no perl code may run inside.
 * Costs a test of one byte where neither is the case: perl's own handlers never come inside
 * an op. */
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

#endif
