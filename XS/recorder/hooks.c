/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Our op handlers, and what else perl calls us for. Code that was compiled before the handlers
 * were taken back (ops.h) keeps coming here; every handler therefore asks first whether it is
 * wanted, and otherwise is perl's own.
 *
 * The table belongs to the process, the recorder to one interpreter: other interpreters'
 * ops (threads) pass through.
 */
#include "hooks.h"

#include "calls.h"
#include "compile.h"
#include "life.h"
#include "ops.h"
#include "stmts.h"
#include "subs.h"

static Perl_check_t real_check_leavesub, real_check_leavesublv, real_check_leavewrite;
static BHK block_hooks;

/* The recorder if it is to see this event. */
static inline struct nytp_recorder *listening(pTHX)
{
    struct nytp_recorder *const rec = nytp_recorder_of(aTHX);
    if (UNLIKELY(rec == NULL))
        return NULL;
    if (UNLIKELY(rec->state == NYTP_ARMED))
        nytp_start_armed(aTHX_ rec);
    return rec;
}

/* perl's handler comes first: it frees the temporaries of the statement before, which may take
 * long and belongs there. */
static OP *on_nextstate(pTHX)
{
    struct nytp_recorder *const rec = listening(aTHX);
    const COP *const cop = cCOPx(PL_op);
    OP *const next = nytp_real_op(aTHX_ OP_NEXTSTATE);
    if (LIKELY(rec != NULL && rec->stmts_on))
        nytp_stmt_begin(aTHX_ rec, cop);
    return next;
}

static OP *on_dbstate(pTHX)
{
    struct nytp_recorder *const rec = listening(aTHX);
    const COP *const cop = cCOPx(PL_op);
    OP *const next = nytp_real_op(aTHX_ OP_DBSTATE);
    if (rec != NULL && rec->stmts_on)
        nytp_stmt_begin(aTHX_ rec, cop);
    return next;
}

/* Which handler was called says which op it is: XS modules call one out of PL_ppaddr while an
 * op of their own is current. */
static OP *leave(pTHX_ int type)
{
    struct nytp_recorder *const rec = listening(aTHX);
    if (rec != NULL)
        rec->left_fresh = false;
    OP *const next = nytp_real_op(aTHX_ type);
    if (LIKELY(rec != NULL && rec->stmts_on))
        nytp_stmt_return(aTHX_ rec);
    return next;
}

#define LEAVE_OPS(EACH)                                                                        \
    EACH(OP_LEAVESUB)                                                                          \
    EACH(OP_LEAVESUBLV)                                                                        \
    EACH(OP_LEAVE)                                                                             \
    EACH(OP_LEAVELOOP)                                                                         \
    EACH(OP_LEAVEEVAL)                                                                         \
    EACH(OP_LEAVETRY)                                                                          \
    EACH(OP_RETURN)                                                                            \
    EACH(OP_UNSTACK)

#define ON_LEAVE(type)                                                                         \
    static OP *on_##type(pTHX)                                                                 \
    {                                                                                          \
        return leave(aTHX_ type);                                                              \
    }
LEAVE_OPS(ON_LEAVE)

/* Some xsubs are no part of what is measured, whether they are called or jumped to: those that
 * switch the recorder, and POSIX::_exit, which ends the process behind perl's back, so that the
 * profile is finished first. Decided here and nowhere else. NULL for them, and where no profile
 * is open; else the sub to record. */
static struct nytp_rec_sub *ordinary_xsub(pTHX_ struct nytp_recorder *rec, CV *cv)
{
    if (!nytp_file_is_open(rec))
        return NULL;
    struct nytp_rec_sub *const sub = nytp_sub_of_cv(aTHX_ rec, cv);
    if (LIKELY(sub->special <= NYTP_SUB_NAMES))
        return sub;
    if (sub->special == NYTP_SUB_EXITS)
        nytp_finish(aTHX_ rec);
    return NULL;
}

/* A closure that got a name is a sub like any other, also if nobody ever calls it. The debugger
 * would have it in its list, which there is none of. */
static void note_named_closure(pTHX_ struct nytp_recorder *rec)
{
    SV *const result = *PL_stack_sp;
    CV *const cv =
        SvROK(result) && SvTYPE(SvRV(result)) == SVt_PVCV ? (CV *)SvRV(result) : NULL;
    if (cv != NULL && CvROOT(cv) != NULL && !CvISXSUB(cv))
        nytp_sub_of_cv(aTHX_ rec, cv);
}

/* Not to make room on the stack for calls of perl subs, too. */
__attribute__((noinline)) static OP *call_xsub(pTHX_ struct nytp_recorder *rec, CV *cv)
{
    struct nytp_rec_sub *const sub = ordinary_xsub(aTHX_ rec, cv);
    const bool is_recorded = sub != NULL && rec->subs_on;
    const bool names =
        rec->state != NYTP_OFF &&
        (sub != NULL ? sub : nytp_sub_of_cv(aTHX_ rec, cv))->special == NYTP_SUB_NAMES;
    OP *const next =
        is_recorded ? nytp_call_xsub(aTHX_ rec, sub) : nytp_real_op(aTHX_ OP_ENTERSUB);
    if (UNLIKELY(names) && rec->state != NYTP_OFF)
        note_named_closure(aTHX_ rec);
    return next;
}

static OP *on_entersub(pTHX)
{
    struct nytp_recorder *const rec = listening(aTHX);
    if (UNLIKELY(rec == NULL))
        return nytp_real_op(aTHX_ OP_ENTERSUB);
    CV *const cv = nytp_callee_cv(aTHX_ * PL_stack_sp);
    if (cv != NULL && CvISXSUB(cv))
        return call_xsub(aTHX_ rec, cv);
    return LIKELY(rec->subs_on) ? nytp_call_sub(aTHX_ rec, cv)
                                : nytp_real_op(aTHX_ OP_ENTERSUB);
}

/* What `goto &sub` jumps to; NULL for a goto to a label. */
static CV *jump_target(pTHX)
{
    SV *const sv = PL_op->op_flags & OPf_STACKED ? *PL_stack_sp : NULL;
    return sv != NULL && SvROK(sv) && SvTYPE(SvRV(sv)) == SVt_PVCV ? (CV *)SvRV(sv) : NULL;
}

static OP *on_goto(pTHX)
{
    struct nytp_recorder *const rec = listening(aTHX);
    CV *const cv = rec == NULL ? NULL : jump_target(aTHX);
    const bool is_recorded =
        cv != NULL && (!CvISXSUB(cv) || ordinary_xsub(aTHX_ rec, cv) != NULL) && rec->subs_on;
    return is_recorded ? nytp_call_goto(aTHX_ rec, cv) : nytp_real_op(aTHX_ OP_GOTO);
}

/* Not to be copied into a hundred handlers. */
__attribute__((noinline)) static OP *slowop(pTHX_ int type)
{
    struct nytp_recorder *const rec = listening(aTHX);
    if (LIKELY(rec != NULL && rec->subs_on))
        return nytp_call_slowop(aTHX_ rec, type);
    return nytp_real_op(aTHX_ type);
}

#define NYTP_SLOWOP(type)                                                                      \
    static OP *on_##type(pTHX)                                                                 \
    {                                                                                          \
        return slowop(aTHX_ type);                                                             \
    }
#include "slowops.def"
#undef NYTP_SLOWOP

/* leavewrite ends a scope, and is a builtin unless these are not wanted. */
static OP *on_leavewrite(pTHX)
{
    struct nytp_recorder *const rec = listening(aTHX);
    OP *const next = rec != NULL && rec->options.slowops > 0
                         ? slowop(aTHX_ OP_LEAVEWRITE)
                         : nytp_real_op(aTHX_ OP_LEAVEWRITE);
    if (rec != NULL && rec->stmts_on && rec->leave_on) {
        rec->left_fresh = false;
        nytp_stmt_return(aTHX_ rec);
    }
    return next;
}

static OP *on_entereval(pTHX)
{
    struct nytp_recorder *const rec = listening(aTHX);
    if (rec != NULL && rec->state != NYTP_OFF)
        return nytp_eval_string(aTHX_ rec);
    return nytp_real_op(aTHX_ OP_ENTEREVAL);
}

/* The statement that ends the program is over before perl unwinds; END blocks follow. */
static OP *on_program_exit(pTHX)
{
    struct nytp_recorder *const rec = listening(aTHX);
    if (rec != NULL && rec->stmts_on && rec->leave_on) {
        rec->left_fresh = false;
        nytp_stmt_return(aTHX_ rec);
    }
    return nytp_real_op(aTHX_ OP_EXIT);
}

static OP *on_exec(pTHX)
{
    struct nytp_recorder *const rec = listening(aTHX);
    if (rec != NULL)
        return nytp_exec(aTHX_ rec);
    return nytp_real_op(aTHX_ OP_EXEC);
}

/* The recorder if it is to see what is compiled; checkers outlive the interpreter that they
 * were set for. */
static struct nytp_recorder *watching(pTHX)
{
    struct nytp_recorder *const rec = nytp_recorder_of(aTHX);
    return rec != NULL && rec->subs.called != NULL && rec->state != NYTP_OFF ? rec : NULL;
}

static void note_compiled(pTHX_ const OP *root)
{
    struct nytp_recorder *const rec = watching(aTHX);
    if (rec == NULL || PL_compcv == NULL)
        return;
    nytp_guard(rec);
    nytp_sub_compiled(aTHX_ rec, root);
    nytp_unguard(rec);
}

static OP *check_leavesub(pTHX_ OP *op)
{
    OP *const checked = real_check_leavesub(aTHX_ op);
    note_compiled(aTHX_ checked);
    return checked;
}

static OP *check_leavesublv(pTHX_ OP *op)
{
    OP *const checked = real_check_leavesublv(aTHX_ op);
    note_compiled(aTHX_ checked);
    return checked;
}

static OP *check_leavewrite(pTHX_ OP *op)
{
    OP *const checked = real_check_leavewrite(aTHX_ op);
    struct nytp_recorder *const rec = watching(aTHX);
    if (rec == NULL)
        return checked;
    nytp_guard(rec);
    nytp_format_compiled(aTHX_ rec, checked);
    nytp_unguard(rec);
    return checked;
}

/* A file or string is about to be compiled for the op that asks for it. */
static void on_compile(pTHX_ OP *op)
{
    struct nytp_recorder *const rec = watching(aTHX);
    if (rec == NULL)
        return;
    nytp_guard(rec);
    nytp_compile(aTHX_ rec, op);
    nytp_unguard(rec);
}

/* Called for the root of a body when its last owner is gone (op.c, op_free). */
static void on_op_free(pTHX_ OP *op)
{
    struct nytp_recorder *const rec = nytp_recorder_of(aTHX);
    const int type = op->op_type;
    if ((type == OP_LEAVESUB || type == OP_LEAVESUBLV || type == OP_LEAVEWRITE) &&
        rec != NULL) {
        nytp_guard(rec);
        nytp_body_freed(aTHX_ rec, op);
        nytp_unguard(rec);
    }
    if (nytp_real_op_free != NULL)
        nytp_real_op_free(aTHX_ op);
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
#include "slowops.def"
#undef NYTP_SLOWOP
};

/* perl frees its list of block hooks with an interpreter, but without MULTIPLICITY the next
 * one finds it in the same variable. */
void nytp_hooks_forget(pTHX)
{
    AV *const hooks = PL_blockhooks;
    nytp_ops_restore();
    if (hooks == NULL)
        return;
    SV **const newest = av_fetch(hooks, av_len(hooks), FALSE);
    if (newest != NULL && SvIV(*newest) == PTR2IV(&block_hooks))
        SvREFCNT_dec(av_pop(hooks));
    if (av_len(hooks) >= 0)
        return; /* other modules' */
    PL_blockhooks = NULL;
    SvREFCNT_dec((SV *)hooks);
}

void nytp_hooks_install(pTHX_ struct nytp_recorder *rec)
{
    nytp_ops_restore();
    nytp_op_free_redirect(on_op_free);
    if (rec->options.stmts && !rec->options.use_db_sub) {
        nytp_op_redirect(OP_NEXTSTATE, on_nextstate);
        nytp_op_redirect(OP_DBSTATE, on_dbstate);
        for (size_t i = 0; rec->leave_on && i < C_ARRAY_LENGTH(leave_ops); i++)
            nytp_op_redirect(leave_ops[i].type, leave_ops[i].handler);
    }
    if (rec->options.subs || rec->options.posix_exit) {
        nytp_op_redirect(OP_ENTERSUB, on_entersub);
        nytp_op_redirect(OP_GOTO, on_goto);
    }
    if (rec->options.subs && rec->options.slowops > 0) {
        for (size_t i = 0; i < C_ARRAY_LENGTH(slow_ops); i++)
            nytp_op_redirect(slow_ops[i].type, slow_ops[i].handler);
    }
    nytp_op_redirect(OP_LEAVEWRITE, on_leavewrite);
    nytp_op_redirect(OP_ENTEREVAL, on_entereval);
    nytp_op_redirect(OP_EXEC, on_exec);
    nytp_op_redirect(OP_EXIT, on_program_exit);
    if (real_check_leavesub == NULL) {
        wrap_op_checker(OP_LEAVESUB, check_leavesub, &real_check_leavesub);
        wrap_op_checker(OP_LEAVESUBLV, check_leavesublv, &real_check_leavesublv);
        wrap_op_checker(OP_LEAVEWRITE, check_leavewrite, &real_check_leavewrite);
    }
    if (!rec->sees_compilation) {
        BhkENTRY_set(&block_hooks, bhk_eval, on_compile);
        Perl_blockhook_register(aTHX_ & block_hooks);
    }
    rec->sees_compilation = true;
}
