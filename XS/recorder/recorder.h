/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The recorder: everything that it knows about the running program, in one struct. Who does
 * what with it:
 *
 *   recorder.c  its life: options, start, pause, finish, fork
 *   hooks.c     our op handlers
 *   stmts.c     the statement profiler
 *   calls.c     the subroutine profiler: open calls, arcs
 *   subs.c      which sub a CV is, and its lines
 *   begins.c    BEGIN blocks that ran unrecorded
 *   files.c     file ids, string evals, source text
 *   release.c   lets go of string evals that are over
 *   costs.c     what recording costs, measured
 *   exits.c     signals and other ends that perl does not see
 *
 * One interpreter is recorded, the first that starts profiling; hooks that run in another
 * (a thread) go straight on to perl's own code. When it has been destroyed, the next may be.
 */
#ifndef NYTP_RECORDER_H
#define NYTP_RECORDER_H

#include "perl_compat.h"

#include "../../formats/core/writer.h"
#include "clock.h"
#include "dprof.h"
#include "guard.h"
#include "index.h"
#include "ops.h"
#include "options.h"
#include "outfile.h"
#include "say.h"
#include "stash.h"
#include "text.h"
#include "timers.h"

/* A source file or string eval, as the COPs name it. Only release.c frees any, of evals. */
struct nytp_file {
    char *perl_name;          /* CopFILE: relative, "(eval 7)", "-e" */
    char *shown_name;         /* with an eval's place: "(eval 7)[x.pl:3]"; may be perl_name */
    char *absolute_name;      /* or NULL */
    uint32_t fid;             /* 0: not in the stream yet */
    uint32_t generation;      /* of the profile file that knows the fid */
    uint32_t flags;           /* NYTP_FID_… */
    struct nytp_file *parent; /* string evals: the file of the statement that ran it */
    struct nytp_file *module; /* a piece that AutoSplit cut out: what has its id; or NULL */
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

enum nytp_sub_kind {
    NYTP_SUB_PERL,
    NYTP_SUB_XSUB,
    NYTP_SUB_OPCODE,
    NYTP_SUB_PSEUDO, /* main::RUNTIME and its like */
};

enum nytp_sub_special {
    NYTP_SUB_ORDINARY,
    NYTP_SUB_NAMES,   /* gives a closure a name: Sub::Util::set_subname */
    NYTP_SUB_EXITS,   /* POSIX::_exit: finish the profile first */
    NYTP_SUB_CONTROL, /* DB::enable_profile and its like: not recorded */
};

struct nytp_arc;

/* A sub by its full name. Only release.c frees any, of those that are unique. */
struct nytp_sub {
    /* What every call looks at. */
    struct nytp_arc *last_arc; /* the one that its last call took, or NULL */
    uint8_t *encoded;          /* the name as a string of the stream */
    uint32_t encoded_len;
    uint32_t depth; /* calls of it in progress */
    enum nytp_sub_special special;
    bool returned_normally; /* at least once */
    bool called;
    bool waits;     /* a builtin that may wait for any time (slowops.def) */
    bool may_block; /* the next call, as far as is known: it is on disk before it begins */

    uint32_t id;
    enum nytp_sub_kind kind;
    uint32_t name_len;
    char *name;             /* UTF-8, inside `encoded` */
    uint32_t package_len;   /* of `name`, before the last "::" */
    struct nytp_file *file; /* where it was compiled, or NULL */
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
static inline bool nytp_sub_is_foreign(const struct nytp_sub *sub)
{
    return sub->kind == NYTP_SUB_OPCODE ||
           (sub->kind != NYTP_SUB_PERL && sub->returned_normally);
}

/* Calls of one sub from one place. */
struct nytp_arc {
    uint32_t fid, line;
    struct nytp_sub *caller_sub, *callee_sub;
    uint64_t count;
    int64_t incl_ticks, excl_ticks, reci_ticks;
    uint32_t rec_depth;
};

/* A call in progress. */
struct nytp_frame {
    struct nytp_sub *sub, *caller;
    uint32_t fid, line; /* of the calling statement */
    uint32_t serial;    /* tells it from later frames at the same depth */
    uint32_t depth;     /* of recursion: 1 for the outermost call of this sub */
    int64_t enter_ticks;
    int64_t callee_ticks;                 /* inclusive time of the calls that it made */
    int64_t reported_incl, reported_excl; /* as if it had returned at the last report */
};

/* Where a call comes from, taken before perl's handler changes what is current. */
struct nytp_call_site {
    struct nytp_sub *caller;
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
    const void *key;        /* CvROOT; for xsubs the CV itself */
    struct nytp_file *file; /* NULL: compiled before we looked, or freed since */
    uint32_t first_line, last_line;
    struct nytp_sub *sub; /* NULL: not resolved */
    const void *gv;       /* what `sub` was resolved from */
    const void *stash;
    U32 name_hash;
};

/* A body that was called lately. */
struct nytp_called {
    const OP *root;
    const void *gv;
    struct nytp_sub *sub;
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
    struct nytp_file *file;
    uint32_t line;
};

/* What is left of a string eval's nytp_file when release.c has freed it. */
struct nytp_past_eval {
    uint32_t fid;        /* 0: nothing is remembered */
    uint32_t generation; /* as in nytp_file */
    uint32_t parent_fid, parent_line;
};

/* The body compiled last, until it has its name; root NULL: none. */
struct nytp_compiled {
    const OP *root;
    CV *cv;                 /* that was being compiled; borrowed, may be gone */
    SV *name;               /* as the tokenizer saw it, or NULL; owned */
    struct nytp_sub *begin; /* its package's entry, if it may be a BEGIN block; or NULL */
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
    uint64_t wake_raw; /* clock reading at which nytp_wake_up() wants to be called */
    struct nytp_writer *writer;
    struct nytp_place *places; /* NYTP_PLACES, by COP address */
    struct nytp_frame *frames;
    uint32_t n_frames, size_frames;
    uint32_t last_serial;
    uint32_t told_serial; /* frames up to this one have told their names; nytp_frames_tell() */
    int64_t left_ticks; /* axis at the last call's return, for the leave op around it */
    struct nytp_stmt stmt;
    struct nytp_clock clock;

    struct nytp_place compiling_place;
    struct nytp_stmt
        paused_stmt; /* had called DB::disable_profile(); since_ticks: how long it ran */
    struct nytp_jump jump;

    struct nytp_index subs_by_name, bodies, arcs, files_by_name, opcodes;
    struct nytp_called *called; /* NYTP_CALLED, by hash of the root's address */
    struct nytp_sub **subs;     /* in the order of their ids; 0 is not used */
    uint32_t n_subs, size_subs, last_sub_id;
    struct nytp_sub *runtime, *null_caller;
    struct nytp_sub **unwritten; /* subs whose SUB_INFO is not in the stream yet */
    size_t n_unwritten, size_unwritten;
    size_t n_waiting; /* of those, for the end or until their file is known */
    struct nytp_compiled compiled;
    uint32_t begin_seq; /* last N of BEGIN@LINE.N */

    struct nytp_file **files; /* by fid; 0 is not used; NULL: freed */
    uint32_t n_fids, size_fids;
    struct nytp_file *unknown_invoker;
    struct nytp_eval *evals; /* being compiled, innermost last */
    uint32_t n_evals, size_evals;
    HV *debugger_subs;                 /* %DB::sub, taken from the program; or NULL */
    bool sees_compilation;             /* hooks.c has told the interpreter */
    bool keeps_source;                 /* the bit for it in $^P is ours */
    struct nytp_eval last_eval;        /* just compiled */
    struct nytp_eval_origin *origins;  /* NYTP_ORIGINS, a ring by seq */
    struct nytp_past_eval *past_evals; /* by seq from `first_past` */
    size_t size_past;
    UV first_past;
    struct nytp_index packages;      /* while what only the end tells is written */
    struct nytp_index kept_packages; /* of freed subs: one sub of each */
    size_t release_at;               /* that many files, subs and arcs: see what can be freed */
    SV *e_text;                      /* program text of -e, or NULL */

    /* Life. */
    enum nytp_state state;
    struct nytp_options options;
    struct nytp_outfile file;
    struct nytp_dprof *dprof; /* owned; NULL: the native stream is written */
    uint32_t generation;      /* counts profile files, from 1 */
    volatile bool forked;     /* set in the child by the atfork handler */
    pid_t pid;
    U32 perldb;              /* $^P as we set it */
    int64_t overhead_base;   /* clock.overhead_ticks when this profile file began */
    uint64_t flush_raw;      /* when the last timed flush was */
    int64_t credit_raw;      /* what flushes before calls that may block may cost yet */
    uint64_t credited_raw;   /* when that was worked out */
    uint64_t synced_raw;     /* bytes of the stream that are on disk */
    uint64_t calibrated_raw; /* when the last calibration was */
    uint64_t calibrate_ns;   /* from one to the next; grows */
    unsigned generations;    /* of processes since the one that began, by fork */
    struct nytp_guards guards;
    bool is_ended;                     /* the stream has its end, which may yet be taken back */
    struct nytp_before_end before_end; /* valid while is_ended */
    bool said_end;                     /* what is said at a program's end has been said */
    bool said_failure;
    bool is_planned;  /* phases, fork handler: once */
    char *base_path;  /* absolute, without pid and time */
    bool is_template; /* it has placeholders (file_name.h) */
    bool is_default_path;
    time_t started;   /* when this process's first profile was opened; 0: not yet */
    pid_t loader;     /* process that loaded us; 0: options may still come */
    bool is_debugger; /* loaded by -d */
    bool comes_late;  /* when the program had been compiled */
    bool sees_code;   /* a statement or call of the program was met */
    bool said_blindness;
    char hash_seed[40];  /* of PERL_HASH_SEED, or "random" */
    bool is_child;       /* of the process that base_path belongs to */
    unsigned n_finished; /* profile files that were completed under base_path */
    unsigned n_threads;  /* other interpreters that were made of ours */
    struct nytp_text scratch;
};

/* The one recorder, or NULL before the first use. */
extern struct nytp_recorder *nytp_recorder NYTP_HIDDEN;

static inline bool nytp_is_ours(pTHX_ const struct nytp_recorder *rec)
{
    return rec->interpreter == NYTP_THX;
}

/* A profile is being written; recording may be paused. */
static inline bool nytp_file_is_open(const struct nytp_recorder *rec)
{
    return rec->state == NYTP_RECORDING || rec->state == NYTP_PAUSED;
}

/* ---- recorder.c ---- */

struct nytp_recorder *nytp_recorder_get(pTHX);
void nytp_set_option(pTHX_ const char *name, const char *value);
/* Options are known: arrange that profiling starts in time. Again when more have come. */
void nytp_load(pTHX);
void nytp_start(pTHX); /* all options have come */
void nytp_start_armed(pTHX_ struct nytp_recorder *rec) NYTP_COLD;
bool nytp_enable(pTHX_ const char *path); /* whether it was on before; path may be NULL */
bool nytp_disable(pTHX);
void nytp_finish(pTHX);
void nytp_finish_without_perl(struct nytp_recorder *rec); /* from a signal or atexit() */
void nytp_thread_seen(pTHX);
bool nytp_is_own_xsub(const CV *cv); /* one of the nameless blocks that start and finish */
void nytp_statement_by_db(pTHX);     /* use_db_sub=1: DB::DB was called */
void nytp_wake_up(pTHX_ struct nytp_recorder *rec, uint64_t *raw) NYTP_COLD;
OP *nytp_exec(
    pTHX_ struct nytp_recorder *rec); /* exec: finish first, take it back if it fails */

/* The innermost call, just entered, may block, and the program be killed then: what was recorded
 * and the names of the calls that are open are put on disk, if that is cheap enough. */
void nytp_flush_before_wait(pTHX_ struct nytp_recorder *rec) NYTP_COLD;

/* Now, on the raw clock. Does first what is due: a flush, a fork's consequences. */
static inline uint64_t nytp_now(pTHX_ struct nytp_recorder *rec)
{
    uint64_t raw = nytp_clock_raw(&rec->clock);
    if (UNLIKELY(raw >= rec->wake_raw))
        nytp_wake_up(aTHX_ rec, &raw);
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

/* ---- hooks.c ---- */

void nytp_hooks_install(pTHX_ struct nytp_recorder *rec);
void nytp_hooks_remove(void);
void nytp_hooks_forget(pTHX); /* the interpreter is going */

/* ---- exits.c ---- */

void nytp_exits_watch(struct nytp_recorder *rec); /* the signals and exits that options name */

/* ---- stmts.c ---- */

void nytp_stmt_begin(pTHX_ struct nytp_recorder *rec, const COP *cop);
void nytp_stmt_return(pTHX_ struct nytp_recorder *rec); /* control came back into PL_curcop */
void nytp_stmt_end(pTHX_ struct nytp_recorder *rec);    /* recording ends in this statement */
void nytp_stmt_drop(struct nytp_recorder *rec);         /* forget the one in progress */
/* Recording stops in this statement, and goes on: its record comes when it goes on. */
void nytp_stmt_pause(pTHX_ struct nytp_recorder *rec);
void nytp_stmt_resume(pTHX_ struct nytp_recorder *rec);
const struct nytp_place *nytp_place_fill(pTHX_ struct nytp_recorder *rec, const COP *cop,
                                         uint32_t via) NYTP_COLD;

/* Where the place of the COP at this address is kept. COPs are longer than 64 bytes. */
static inline struct nytp_place *nytp_place_slot(const struct nytp_recorder *rec,
                                                 const COP *cop)
{
    const UV address = PTR2UV(cop);
    return &rec->places[(address >> 6 ^ address >> 20) & (NYTP_PLACES - 1)];
}

/* fid and line of a COP. */
static inline const struct nytp_place *nytp_place_of(pTHX_ struct nytp_recorder *rec,
                                                     const COP *cop, uint32_t via)
{
    const struct nytp_place *const slot = nytp_place_slot(rec, cop);
    if (LIKELY(slot->cop == cop && slot->seq == cop->cop_seq && slot->line == CopLINE(cop)))
        return slot;
    return nytp_place_fill(aTHX_ rec, cop, via);
}

/* ---- subs.c ---- */

/* entersub. `cv` is nytp_callee_cv() of what it calls: no xsub, and NULL where perl has to
 * look. */
OP *nytp_call_sub(pTHX_ struct nytp_recorder *rec, CV *cv);
OP *nytp_call_xsub(pTHX_ struct nytp_recorder *rec, struct nytp_sub *sub); /* entersub, too */
OP *nytp_call_goto(pTHX_ struct nytp_recorder *rec, CV *cv);               /* goto &sub */
CV *nytp_callee_cv_of_value(pTHX_ SV *sv); /* of what is neither a CV nor a glob */

/* The CV that entersub will call for `sv`, as far as can be told without side effects. */
static inline CV *nytp_callee_cv(pTHX_ SV *sv)
{
    if (LIKELY(isGV_with_GP(sv)))
        return GvCVu((GV *)sv);
    return SvTYPE(sv) == SVt_PVCV ? (CV *)sv : nytp_callee_cv_of_value(aTHX_ sv);
}

OP *nytp_call_slowop(pTHX_ struct nytp_recorder *rec, int type);    /* a builtin */
void nytp_frames_restart(struct nytp_recorder *rec, int64_t ticks); /* open calls begin anew */
void nytp_frames_place(
    pTHX_ struct nytp_recorder *rec); /* their call sites are in the stream */
void nytp_frames_tell(struct nytp_recorder *rec); /* write the names of open calls */
void nytp_frames_report(struct nytp_recorder *rec, int64_t ticks); /* as if all returned */
void nytp_frames_retract(struct nytp_recorder *rec); /* take the last report's counts back */
void nytp_arcs_clear(struct nytp_recorder *rec);
void nytp_calls_free(struct nytp_recorder *rec);
void nytp_arcs_write(struct nytp_recorder *rec);
void nytp_arcs_write_unsorted(struct nytp_recorder *rec); /* allocates nothing */
/* Write and free the arcs of subs that are not in use. False when out of memory. */
bool nytp_arcs_release(struct nytp_recorder *rec);

/* ---- names.c ---- */

void nytp_names_init(pTHX_ struct nytp_recorder *rec);
void nytp_subs_free(pTHX_ struct nytp_recorder *rec);
struct nytp_sub *nytp_sub_of_cv(pTHX_ struct nytp_recorder *rec, CV *cv);
struct nytp_sub *nytp_sub_of_op(pTHX_ struct nytp_recorder *rec, const COP *cop, int type);
struct nytp_sub *nytp_sub_named(struct nytp_recorder *rec, const char *name, size_t len,
                                enum nytp_sub_kind kind);
/* The sub that a string names, from the running package. */
struct nytp_sub *nytp_sub_of_symbol(pTHX_ struct nytp_recorder *rec, const SV *sv);
struct nytp_sub *nytp_sub_of_gv(struct nytp_recorder *rec, const GV *gv);
struct nytp_sub *nytp_running_sub(pTHX_ struct nytp_recorder *rec);
void nytp_sub_compiled(pTHX_ struct nytp_recorder *rec, const OP *root);
void nytp_format_compiled(pTHX_ struct nytp_recorder *rec, const OP *root);
void nytp_body_freed(pTHX_ struct nytp_recorder *rec, const OP *root);
void nytp_name_compiled(pTHX_ struct nytp_recorder *rec);
void nytp_sub_needs_info(struct nytp_recorder *rec, struct nytp_sub *sub);
void nytp_infos_write(pTHX_ struct nytp_recorder *rec, bool closing);
void nytp_infos_write_known(struct nytp_recorder *rec); /* what needs no look at perl */

/* ---- begins.c ---- */

void nytp_begin_ran(struct nytp_recorder *rec, const struct nytp_body *body);
void nytp_begin_recorded(struct nytp_recorder *rec, const char *name, size_t len);
void nytp_begins_tell(pTHX_ struct nytp_recorder *rec); /* their files, before SUB_INFO */
void nytp_begins_write(struct nytp_recorder *rec);      /* at the end */

/* ---- files.c ---- */

struct nytp_file *nytp_file_named(pTHX_ struct nytp_recorder *rec, const char *perl_name);
uint32_t nytp_file_fid(pTHX_ struct nytp_recorder *rec, struct nytp_file *file, uint32_t via);
void nytp_files_free(pTHX_ struct nytp_recorder *rec);
/* The id that the stream knows the file by; 0: none yet. */
uint32_t nytp_file_known_fid(const struct nytp_recorder *rec, struct nytp_file *file);
/* The number in "(eval N)"; false for other names. */
bool nytp_parse_eval_name(const char *name, UV *seq);
OP *nytp_eval_string(pTHX_ struct nytp_recorder *rec);            /* entereval */
void nytp_compile(pTHX_ struct nytp_recorder *rec, const OP *op); /* require, do, eval */
/* What perl -d kept of the line before the script, and of the module that calls this. */
void nytp_debugger_lines_hide(pTHX_ struct nytp_recorder *rec);
void nytp_program_lines_write(pTHX_ struct nytp_recorder *rec);
void nytp_program_text_keep(pTHX_ struct nytp_recorder *rec);

/* ---- release.c ---- */

void nytp_release(pTHX_ struct nytp_recorder *rec);

/* Before a string eval: see now and then what of earlier ones can be freed. */
static inline void nytp_release_if_due(pTHX_ struct nytp_recorder *rec)
{
    if (UNLIKELY(rec->files_by_name.used + rec->n_subs + rec->arcs.used >= rec->release_at))
        nytp_release(aTHX_ rec);
}
/* What release.c remembers of the eval with this name; NULL: nothing. */
const struct nytp_past_eval *nytp_past_eval(const struct nytp_recorder *rec, const char *name);
/* The file with this number, made again if it was freed; NULL: there is none. */
struct nytp_file *nytp_file_numbered(pTHX_ struct nytp_recorder *rec, uint32_t fid);

#endif
