/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Our op handlers and perl's other callbacks. Code compiled before the handlers were taken back
 * (ops.h) still calls them, so each handler first checks whether it is wanted; if not, it runs
 * perl's own.
 *
 * The table belongs to the process, a recorder to one interpreter: ops of an interpreter
 * without a recorder run unchanged.
 */
#include "hooks.h"

#include "XS/exact/calls.h"
#include "XS/exact/compile.h"
#include "XS/exact/labels.h"
#include "exits.h"
#include "life.h"
#include "lifecycle.h"
#include "XS/exact/switch_ops.h"
#include "XS/perl/nextstate.h"
#include "XS/perl/ops.h"
#include "XS/perl/perl_stack.h"
#include "XS/exact/regexes.h"
#include "XS/exact/renames.h"
#include "XS/perl/safe_point.h"
#include "XS/sampling/sample.h"
#include "XS/exact/open_at_start.h"
#include "XS/state/state.h"
#include "XS/exact/stmts.h"
#include "XS/names/subs.h"
#include "XS/output/say.h"
#include "XS/platform/ticks.h"

#ifdef __linux__
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

/* Missing in older systems' headers. */
#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif
#ifndef NS_GET_NSTYPE
#define NS_GET_NSTYPE _IO(0xb7, 0x3)
#endif
#endif

static Perl_check_t real_checks[MAXO]; /* of the ops that end a body */
static BHK block_hooks;

static NYTP_COLD void look_first(pTHX_ struct nytp_recorder *rec)
{
    if (rec->state == NYTP_ARMED)
        nytp_start_armed(aTHX_ rec);
    nytp_open_at_start_check(aTHX_ rec);
}

/* Returns the recorder if it wants this event, else NULL. */
static inline struct nytp_recorder *listening(pTHX)
{
    struct nytp_recorder *const rec = nytp_recorder_of(aTHX);
    if (UNLIKELY(rec == NULL))
        return NULL;
    if (UNLIKELY(rec->on.first_look))
        look_first(aTHX_ rec);
    return rec;
}

static NYTP_NOINLINE OP *statement(pTHX_ int type)
{
    struct nytp_recorder *const rec = listening(aTHX);
    return rec != NULL ? nytp_stmt_run(aTHX_ rec, nytp_real_ops[type])
                       : nytp_real_op(aTHX_ type);
}

static OP *on_nextstate(pTHX)
{
    struct nytp_recorder *const rec = nytp_plain_recorder_of(aTHX);
    return LIKELY(rec != NULL) ? nytp_stmt_run(aTHX_ rec, nytp_real_ops[OP_NEXTSTATE])
                               : statement(aTHX_ OP_NEXTSTATE);
}

static OP *on_dbstate(pTHX)
{
    return statement(aTHX_ OP_DBSTATE);
}

#define ON_COUNTED(type)                                                                       \
    static OP *on_counted_##type(pTHX)                                                         \
    {                                                                                          \
        struct nytp_recorder *const rec = nytp_counting_recorder_of(aTHX);                     \
        return LIKELY(rec != NULL) ? nytp_stmt_count(aTHX_ rec, nytp_real_ops[type])           \
                                   : statement(aTHX_ type);                                    \
    }
ON_COUNTED(OP_NEXTSTATE)
ON_COUNTED(OP_DBSTATE)

/* The handler, not PL_op, gives the type: XS modules call handlers from PL_ppaddr while an op
 * of their own is current. */
static NYTP_NOINLINE OP *leave(pTHX_ int type)
{
    struct nytp_recorder *const rec = listening(aTHX);
    return LIKELY(rec != NULL) ? nytp_stmt_leave(aTHX_ rec, nytp_real_ops[type])
                               : nytp_real_op(aTHX_ type);
}

#define LEAVE_OPS(EACH)                                                                        \
    EACH(OP_LEAVESUB)                                                                          \
    EACH(OP_LEAVESUBLV)                                                                        \
    EACH(OP_LEAVE)                                                                             \
    EACH(OP_LEAVELOOP)                                                                         \
    EACH(OP_LEAVETRY)                                                                          \
    EACH(OP_RETURN)                                                                            \
    EACH(OP_UNSTACK)

#define ON_LEAVE(type)                                                                         \
    static OP *on_##type(pTHX)                                                                 \
    {                                                                                          \
        struct nytp_recorder *const rec = nytp_plain_recorder_of(aTHX);                        \
        return LIKELY(rec != NULL) ? nytp_stmt_leave(aTHX_ rec, nytp_real_ops[type])           \
                                   : leave(aTHX_ type);                                        \
    }
LEAVE_OPS(ON_LEAVE)

/* Also ends a loaded file, which may bring new xsubs: it runs while nothing is recorded,
 * too. */
static OP *on_leaveeval(pTHX)
{
    const struct nytp_recorder *const rec = nytp_recorder_of(aTHX);
    const PERL_CONTEXT *const cx = &cxstack[cxstack_ix];
    const bool ends_file = CxTYPE(cx) == CXt_EVAL && CxOLD_OP_TYPE(cx) != OP_ENTEREVAL;
    const bool is_event = rec != NULL && rec->on.stmts && rec->on.leave;
    OP *const next = is_event ? leave(aTHX_ OP_LEAVEEVAL) : nytp_real_op(aTHX_ OP_LEAVEEVAL);
    if (ends_file && rec != NULL) {
        nytp_renames_watch(aTHX);
        nytp_exits_watch_posix(aTHX_ nytp_finish); /* POSIX may have been loaded */
    }
    return next;
}

/* Returns the sub to record for an xsub, or NULL if no profile is open or the xsub is not to be
 * measured. Those are the xsubs that switch the recorder, and POSIX::_exit, which finishes the
 * profile (exits.h), even if POSIX was loaded without a file. This is decided only here, for
 * calls and jumps. */
static struct nytp_rec_sub *ordinary_xsub(pTHX_ struct nytp_recorder *rec, CV *cv)
{
    if (!nytp_file_is_open(rec))
        return NULL;
    struct nytp_rec_sub *const sub = nytp_sub_of_cv(aTHX_ rec, cv);
    if (LIKELY(sub->special <= NYTP_SUB_SQL))
        return sub;
    if (sub->special == NYTP_SUB_EXITS)
        nytp_exits_watch_posix(aTHX_ nytp_finish);
    return NULL;
}

/* The scope ends the label however the call ends. */
static OP *call_sql(pTHX_ struct nytp_recorder *rec, CV *cv, struct nytp_rec_sub *sub)
{
    SV **const handle = PL_stack_base + TOPMARK + 1;
    ENTER;
    nytp_label_sql(aTHX_ rec, sub, handle, PL_stack_sp - handle);
    OP *const next = nytp_call_new_xsub(aTHX_ rec, cv, sub);
    LEAVE;
    return next;
}

static OP *call_new_xsub(pTHX_ struct nytp_recorder *rec, CV *cv)
{
    struct nytp_rec_sub *const sub = ordinary_xsub(aTHX_ rec, cv);
    if (sub == NULL || !rec->on.subs)
        return nytp_real_op(aTHX_ OP_ENTERSUB);
    return UNLIKELY(sub->special == NYTP_SUB_SQL) ? call_sql(aTHX_ rec, cv, sub)
                                                  : nytp_call_new_xsub(aTHX_ rec, cv, sub);
}

static OP *on_entersub(pTHX);

/* Fetches a tied value, or asks an object that overloads &{} for its code, once, as perl's
 * handler would, but before the call begins. Code that runs for this is called by the
 * caller. */
static NYTP_NOINLINE OP *call_what_it_gives(pTHX)
{
    SV *sv = *PL_stack_sp;
    SvGETMAGIC(sv);
    if (!SvROK(sv) || !SvAMAGIC(sv)) {
        *PL_stack_sp = sv_newmortal();
        sv_setsv_flags(*PL_stack_sp, sv, SV_NOSTEAL);
        return on_entersub(aTHX);
    }
    sv = amagic_deref_call(sv, to_cv_amg);
    if (SvROK(sv) && SvTYPE(SvRV(sv)) == SVt_PVCV) {
        *PL_stack_sp = SvRV(sv); /* no reference to it: it may overload &{} itself */
        return on_entersub(aTHX);
    }
    *PL_stack_sp = sv_2mortal(newRV_noinc(newSV(0))); /* "Not a CODE reference" */
    return nytp_real_op(aTHX_ OP_ENTERSUB);
}

static OP *on_entersub(pTHX)
{
    struct nytp_recorder *const rec = listening(aTHX);
    if (UNLIKELY(rec == NULL))
        return nytp_real_op(aTHX_ OP_ENTERSUB);
    SV *const sv = *PL_stack_sp;
    CV *const cv = nytp_callee_cv(aTHX_ sv);
    if (cv != NULL && CvISXSUB(cv))
        return nytp_call_xsub(aTHX_ rec, cv, call_new_xsub);
    if (UNLIKELY(!rec->on.subs))
        return nytp_real_op(aTHX_ OP_ENTERSUB);
    if (UNLIKELY(cv == NULL) && (SvGMAGICAL(sv) || (SvROK(sv) && SvAMAGIC(sv))))
        return call_what_it_gives(aTHX);
    return nytp_call_sub(aTHX_ rec, cv);
}

/* Returns the target of `goto &sub`, or NULL for a goto to a label. Fetches a tied target once,
 * as perl's handler would. */
static CV *jump_target(pTHX)
{
    SV *sv = PL_op->op_flags & OPf_STACKED ? *PL_stack_sp : NULL;
    if (sv != NULL && SvGMAGICAL(sv)) {
        SvGETMAGIC(sv);
        SV *const fetched = sv_newmortal();
        sv_setsv_flags(fetched, sv, SV_NOSTEAL);
        *PL_stack_sp = sv = fetched;
    }
    return sv != NULL && SvROK(sv) && SvTYPE(SvRV(sv)) == SVt_PVCV ? (CV *)SvRV(sv) : NULL;
}

static OP *on_goto(pTHX)
{
    struct nytp_recorder *const rec = listening(aTHX);
    CV *const cv = rec == NULL ? NULL : jump_target(aTHX);
    const bool is_recorded =
        cv != NULL && (!CvISXSUB(cv) || ordinary_xsub(aTHX_ rec, cv) != NULL) && rec->on.subs;
    return is_recorded ? nytp_open_at_start_goto(aTHX_ rec, cv) : nytp_real_op(aTHX_ OP_GOTO);
}

/* Not inlined into a hundred handlers. */
static NYTP_NOINLINE OP *slowop(pTHX_ int type)
{
    struct nytp_recorder *const rec = listening(aTHX);
    if (LIKELY(rec != NULL && rec->on.subs))
        return nytp_call_slowop(aTHX_ rec, type);
    return nytp_real_op(aTHX_ type);
}

#define NYTP_SLOWOP(type)                                                                      \
    static OP *on_##type(pTHX)                                                                 \
    {                                                                                          \
        return slowop(aTHX_ type);                                                             \
    }
#include "XS/options/slowops.def"

/* leavewrite ends a scope, and is a builtin if those are wanted. */
static OP *on_leavewrite(pTHX)
{
    struct nytp_recorder *const rec = listening(aTHX);
    OP *const next = rec != NULL && rec->options.slowops > 0
                         ? slowop(aTHX_ OP_LEAVEWRITE)
                         : nytp_real_op(aTHX_ OP_LEAVEWRITE);
    if (rec != NULL && rec->on.stmts && rec->on.leave) {
        rec->last.left_fresh = false;
        nytp_stmt_return(aTHX_ rec);
    }
    return next;
}

#ifdef __linux__

/* Returns a numeric argument of perl's syscall, or -1. */
static IV number_argument(pTHX_ int n)
{
    SV *const *const argument = PL_stack_base + TOPMARK + 1 + n;
    return argument <= PL_stack_sp && SvNIOKp(*argument) && !SvGMAGICAL(*argument)
               ? SvIV_nomg(*argument)
               : -1;
}

/* Linux denies these calls to a process with a second thread. The thread is not ended without
 * need: after unshare(CLONE_NEWPID) none can be started again. */
static bool needs_one_thread(pTHX)
{
    const IV call = number_argument(aTHX_ 0), first = number_argument(aTHX_ 1);
    IV kinds = number_argument(aTHX_ 2);
    if (call == SYS_unshare)
        return (first & (CLONE_NEWUSER | CLONE_VM | CLONE_SIGHAND | CLONE_THREAD)) != 0;
    if (call != SYS_setns)
        return false;
    if (kinds <= 0)
        kinds = ioctl((int)first, NS_GET_NSTYPE);
    return kinds <= 0 || (kinds & (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWTIME)) != 0;
}

#else

static bool needs_one_thread(pTHX)
{
    PERL_UNUSED_CONTEXT;
    return false;
}

#endif

static void run_ticks_again(const struct nytp_recorder *rec)
{
    char error[120];
    dSAVE_ERRNO;
    if (!nytp_ticks_run(error, sizeof error))
        nytp_say(&rec->options, "sampling and control end here, children have them: %s", error);
    RESTORE_ERRNO;
}

static OP *on_syscall(pTHX)
{
    const struct nytp_recorder *const rec = nytp_recorder_of(aTHX);
    const bool is_event = rec != NULL && rec->on.subs && rec->options.slowops > 0;
    const bool stops = rec != NULL && needs_one_thread(aTHX) && nytp_ticks_stop();
    OP *const next = is_event ? slowop(aTHX_ OP_SYSCALL) : nytp_real_op(aTHX_ OP_SYSCALL);
    if (stops)
        run_ticks_again(rec);
    return next;
}

static OP *on_entereval(pTHX)
{
    struct nytp_recorder *const rec = listening(aTHX);
    if (rec != NULL && rec->state != NYTP_OFF)
        return nytp_eval_string(aTHX_ rec);
    return nytp_real_op(aTHX_ OP_ENTEREVAL);
}

/* The statement that ends the program has ended before perl unwinds; END blocks follow. */
static OP *on_program_exit(pTHX)
{
    struct nytp_recorder *const rec = listening(aTHX);
    if (rec != NULL && rec->on.stmts && rec->on.leave) {
        rec->last.left_fresh = false;
        nytp_stmt_return(aTHX_ rec);
    }
    return nytp_real_op(aTHX_ OP_EXIT);
}

/* In the child perl forgets that a safe point was requested (pp_sys.c, pp_fork). Sampling and
 * control begin anew there. Where neither has begun our hook is not set, and perl may have no
 * table of signals, which its own requires. */
static OP *on_fork(pTHX)
{
    OP *const next = nytp_real_op(aTHX_ OP_FORK);
    struct nytp_recorder *const rec = nytp_recorder_of(aTHX);
    if (rec != NULL && rec->run.forked &&
        (rec->on.samples || rec->load->waits > 0 || rec->control != NULL))
        nytp_safe_point_ask((void *)rec->interpreter);
    return next;
}

static OP *on_exec(pTHX)
{
    struct nytp_recorder *const rec = listening(aTHX);
    nytp_exits_leave();
    if (rec != NULL)
        return nytp_exec(aTHX_ rec);
    return nytp_real_op(aTHX_ OP_EXEC);
}

/* Returns the recorder if it wants compiled code, else NULL. Checkers outlive interpreters. */
static struct nytp_recorder *watching(pTHX)
{
    struct nytp_recorder *const rec = nytp_recorder_of(aTHX);
    return rec != NULL && rec->subs->called != NULL && rec->state != NYTP_OFF ? rec : NULL;
}

/* The op ends a body that has just been compiled: of a sub, a format, a file or a string. */
static OP *check_end(pTHX_ OP *op)
{
    const int type = op->op_type;
    OP *const root = real_checks[type](aTHX_ op);
    struct nytp_recorder *const rec = watching(aTHX);
    const bool is_sub = type == OP_LEAVESUB || type == OP_LEAVESUBLV;
    if (rec == NULL || (is_sub && PL_compcv == NULL))
        return root;
    nytp_excluded_time_begin(rec);
    if (is_sub)
        nytp_sub_compiled(aTHX_ rec, root);
    else if (type == OP_LEAVEWRITE)
        nytp_format_compiled(aTHX_ rec, root);
    nytp_switch_ops_compiled(rec, root);
    nytp_excluded_time_end(rec);
    return root;
}

/* A file or string is about to be compiled for `op`. */
static void on_compile(pTHX_ OP *op)
{
    struct nytp_recorder *const rec = watching(aTHX);
    if (rec == NULL)
        return;
    nytp_excluded_time_begin(rec);
    nytp_compile(aTHX_ rec, op);
    nytp_excluded_time_end(rec);
}

/* Called for each freed op; for a body's root when its last owner is freed (op.c, op_free). */
static void on_op_free(pTHX_ OP *op)
{
    struct nytp_recorder *const rec = nytp_recorder_of(aTHX);
    const int type = op->op_type;
    if ((type == OP_NEXTSTATE || type == OP_DBSTATE) && rec != NULL)
        nytp_sample_forget_cop(rec, op);
    if ((type == OP_LEAVESUB || type == OP_LEAVESUBLV || type == OP_LEAVEWRITE) &&
        rec != NULL) {
        nytp_guard(rec);
        nytp_body_freed(aTHX_ rec, op);
        nytp_unguard(rec);
    }
    if (nytp_real_op_free != NULL)
        nytp_real_op_free(aTHX_ op);
}

/* A new thread without redirected ops has no first event to wait for. */
static bool is_thread_to_sample(const struct nytp_recorder *rec)
{
    return rec->options.sample > 0 && rec->profile->is_thread && rec->state == NYTP_ARMED &&
           !rec->run.is_ended;
}

static void at_safe_point(pTHX)
{
    struct nytp_recorder *const rec = nytp_recorder_of(aTHX);
    nytp_ticks_follow_rights();
    if (rec == NULL || !(nytp_sample_is_due(rec) || is_thread_to_sample(rec)))
        return;
    if (rec->run.is_ended && !nytp_sample_is_worth_new_end(rec))
        return;
    if (rec->state == NYTP_ARMED && nytp_is_between_statements(aTHX))
        nytp_start_armed(aTHX_ rec);
    if (is_thread_to_sample(rec))
        nytp_safe_point_ask((void *)NYTP_THX); /* not a suitable moment */
    else if (nytp_sample_is_due(rec))
        nytp_sample_take_ticks(aTHX_ rec);
}

struct op_handler {
    int type;
    Perl_ppaddr_t handler;
};

static const struct op_handler leave_ops[] = {
#define LEAVE_OP(type) {type, on_##type},
    LEAVE_OPS(LEAVE_OP)};

static const struct op_handler slow_ops[] = {
#define NYTP_SLOWOP(type) {type, on_##type},
#include "XS/options/slowops.def"
};

/* perl frees its list of block hooks with an interpreter, but without MULTIPLICITY the next one
 * finds it in the same variable. */
void nytp_hooks_forget(pTHX)
{
    AV *const hooks = PL_blockhooks;
    if (atomic_load(&nytp_recorders_count.all) == 1)
        nytp_ops_restore();
    if (hooks == NULL)
        return;
    SV **const newest = av_fetch(hooks, av_len(hooks), FALSE);
    if (newest != NULL && SvIV(*newest) == PTR2IV(&block_hooks))
        SvREFCNT_dec(av_pop(hooks));
    if (av_len(hooks) >= 0)
        return; /* other modules' hooks */
    PL_blockhooks = NULL;
    SvREFCNT_dec((SV *)hooks);
}

static void redirect_events(const struct nytp_recorder *rec)
{
    if (rec->options.stmts && !rec->options.use_db_sub) {
        const bool counts = rec->on.counts;
        nytp_nextstate_look();
        nytp_op_redirect(OP_NEXTSTATE, counts ? on_counted_OP_NEXTSTATE : on_nextstate,
                         NYTP_OP_SWITCHED);
        nytp_op_redirect(OP_DBSTATE, counts ? on_counted_OP_DBSTATE : on_dbstate,
                         NYTP_OP_SWITCHED);
        for (size_t i = 0; rec->on.leave && i < C_ARRAY_LENGTH(leave_ops); i++)
            nytp_op_redirect(leave_ops[i].type, leave_ops[i].handler, NYTP_OP_SWITCHED);
    }
    if (rec->options.subs) {
        nytp_op_redirect(OP_ENTERSUB, on_entersub, NYTP_OP_SWITCHED);
        nytp_op_redirect(OP_GOTO, on_goto, NYTP_OP_SWITCHED);
    }
    if (rec->options.subs && rec->options.slowops > 0) {
        for (size_t i = 0; i < C_ARRAY_LENGTH(slow_ops); i++)
            nytp_op_redirect(slow_ops[i].type, slow_ops[i].handler, NYTP_OP_SWITCHED);
    }
    nytp_op_redirect(OP_LEAVEWRITE, on_leavewrite, NYTP_OP_SWITCHED);
    nytp_op_redirect(OP_EXIT, on_program_exit, NYTP_OP_SWITCHED);
}

void nytp_hooks_install(pTHX_ struct nytp_recorder *rec)
{
    static const Optype ends[] = {OP_LEAVESUB, OP_LEAVESUBLV, OP_LEAVEWRITE, OP_LEAVEEVAL};
    if (atomic_load(&nytp_recorders_count.not_off) == 1)
        nytp_ops_restore(); /* the new options may want fewer ops */
    nytp_op_free_redirect(on_op_free);
    if (rec->options.sample > 0)
        nytp_safe_point_set(NYTP_ASKER_SAMPLE, at_safe_point);
    nytp_regexes_begin(rec);
    redirect_events(rec);
    nytp_op_redirect(OP_ENTEREVAL, on_entereval, NYTP_OP_ALWAYS);
    nytp_op_redirect(OP_LEAVEEVAL, on_leaveeval, NYTP_OP_ALWAYS);
    nytp_op_redirect(OP_EXEC, on_exec, NYTP_OP_ALWAYS);
    nytp_op_redirect(OP_FORK, on_fork, NYTP_OP_ALWAYS);
    if (rec->options.sample > 0 || rec->options.control != NULL)
        nytp_op_redirect(OP_SYSCALL, on_syscall, NYTP_OP_ALWAYS);
    for (size_t i = 0; i < C_ARRAY_LENGTH(ends); i++)
        wrap_op_checker(ends[i], check_end, &real_checks[ends[i]]);
    if (!rec->run.sees_compilation) {
        BhkENTRY_set(&block_hooks, bhk_eval, on_compile);
        Perl_blockhook_register(aTHX_ & block_hooks);
    }
    rec->run.sees_compilation = true;
    nytp_renames_watch(aTHX);
    nytp_exits_watch_posix(aTHX_ nytp_finish);
    if (rec->state == NYTP_ARMED && rec->kind == NYTP_EXACT)
        nytp_ops_turn(true);
}

/* The interpreter was cloned with its block hooks. */
void nytp_hooks_thread(struct nytp_recorder *rec, const struct nytp_recorder *from)
{
    rec->run.sees_compilation = from->run.sees_compilation;
    nytp_regexes_begin(rec);
}

void nytp_hooks_watch_returns(pTHX_ const struct nytp_recorder *rec)
{
    struct nytp_perl_stack walk;
    struct nytp_perl_call call;
    const bool are_watched = rec->options.stmts && rec->on.leave;
    nytp_perl_stack_begin(aTHX_ & walk);
    if (!rec->options.subs || are_watched || !nytp_perl_stack_next(&walk, &call))
        return;
    nytp_op_redirect(OP_LEAVESUB, on_OP_LEAVESUB, NYTP_OP_SWITCHED);
    nytp_op_redirect(OP_LEAVESUBLV, on_OP_LEAVESUBLV, NYTP_OP_SWITCHED);
    nytp_op_redirect(OP_RETURN, on_OP_RETURN, NYTP_OP_SWITCHED);
}
