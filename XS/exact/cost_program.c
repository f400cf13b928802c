/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Small programs for measuring; see cost_program.h.
 */
#include "cost_program.h"

#include "call_frames.h"
#include "calls.h"
#include "XS/names/subs.h"
#include "XS/perl/ops.h"
#include "XS/state/state.h"
#include "stmts.h"

#include <stdlib.h>

enum {
    N_VARIABLES = 6,
    N_CONSTANTS = 4,
    MOST_OPS = 128,
    MOST_EVENTS = NYTP_COST_STATEMENTS + 24,
    STACK_ROOM = 8, /* more than any of the ops pushes */
    CONTEXT_ROOM = 2,
    FIRST_LINE = 100,
};

enum body {
    BODY_OF_PERL,
    BODY_OF_C,
    N_BODIES
};

union any_op {
    OP op;
    COP cop;
    UNOP unop;
    BINOP binop;
    LOGOP logop;
    SVOP svop;
};

/* A sub that is in no stash and was not compiled. */
struct sub {
    CV cv;
    XPVCV body;
    PADLIST pad_list;
    PAD *pads[2];
};

/* A recorded op with both handlers. In the program of `kind` it is measured, recorded or
 * not. */
struct event {
    OP *op;
    Perl_ppaddr_t real_op, recording_op;
    enum nytp_cost_kind kind;
};

struct nytp_cost_program {
    struct nytp_recorder *recorder;
    struct event events[MOST_EVENTS];
    unsigned n_events;
    COP statements[NYTP_COST_STATEMENTS];
    unsigned n_statements;
    union any_op ops[MOST_OPS];
    unsigned n_ops;
    OP *last;
    OP *first[NYTP_COST_KINDS];
    unsigned n_measured[NYTP_COST_KINDS]; /* events of the kind in its program */
    enum nytp_cost_kind kind;             /* of the program being written */
    struct sub subs[N_BODIES];
    SV values[N_VARIABLES + N_CONSTANTS];
    SV *pad[1 + N_VARIABLES]; /* indexed from 1, as ops count */
    AV pad_list;              /* its pad list, checked by perls built with assertions */
    AV arguments;             /* @_ of perl's sub */
    XPVAV arguments_body;
    SV *argument;
};

/* Returns perl's handler, not ours or another's. */
static Perl_ppaddr_t handler_of(int type)
{
    return nytp_real_ops[type] != NULL ? nytp_real_ops[type] : PL_ppaddr[type];
}

static OP *on_fence(pTHX)
{
    nytp_finish_ops();
    return PL_op->op_next;
}

/* Like an op that ends a block. */
static OP *back_to_outer(pTHX)
{
    PL_curcop--;
    return PL_op->op_next;
}

/* ---- recorded ops, as in hooks.c ---- */

static inline struct nytp_recorder *scratch_recorder(pTHX)
{
    return nytp_recorder_of(aTHX)->costs.recorder;
}

static OP *on_statement(pTHX)
{
    return nytp_stmt_run(aTHX_ scratch_recorder(aTHX), handler_of(OP_NEXTSTATE));
}

static inline OP *leave(pTHX_ int type)
{
    return nytp_stmt_leave(aTHX_ scratch_recorder(aTHX), handler_of(type));
}

static OP *on_leave(pTHX)
{
    return leave(aTHX_ OP_UNSTACK);
}

static OP *on_return(pTHX)
{
    return leave(aTHX_ OP_LEAVESUB);
}

static void on_scope_exit(pTHX_ void *serial)
{
    nytp_scope_left(aTHX_ scratch_recorder(aTHX), (uint32_t)PTR2UV(serial));
}

/* Replaces the last destructor on the save stack by one that finds this recorder. */
static OP *on_call(pTHX)
{
    struct nytp_recorder *const rec = scratch_recorder(aTHX);
    OP *const next = nytp_call_sub(aTHX_ rec, nytp_callee_cv(aTHX_ * PL_stack_sp));
    PL_savestack[PL_savestack_ix - 3].any_dxptr = on_scope_exit;
    return next;
}

static OP *call_new_xsub(pTHX_ struct nytp_recorder *rec, CV *cv)
{
    return nytp_call_new_xsub(aTHX_ rec, cv, nytp_sub_of_cv(aTHX_ rec, cv));
}

static OP *on_xsub(pTHX)
{
    CV *const cv = nytp_callee_cv(aTHX_ * PL_stack_sp);
    return nytp_call_xsub(aTHX_ scratch_recorder(aTHX), cv, call_new_xsub);
}

static OP *on_builtin(pTHX)
{
    return nytp_call_slowop(aTHX_ scratch_recorder(aTHX), OP_SORT);
}

/* ---- the programs ---- */

static void chain(struct nytp_cost_program *p, OP *op, int type)
{
    op->op_type = (OPCODE)type;
    op->op_ppaddr = handler_of(type);
    op->op_flags = OPf_WANT_SCALAR;
    if (p->last != NULL)
        p->last->op_next = op;
    p->last = op;
}

static union any_op *add_op(struct nytp_cost_program *p, int type)
{
    union any_op *const any = &p->ops[p->n_ops++];
    chain(p, &any->op, type);
    return any;
}

/* Comes before and behind every third event of the kind that is measured. */
static void fence(struct nytp_cost_program *p, enum nytp_cost_kind kind)
{
    if (kind == p->kind && p->n_measured[kind] % 3 == 1)
        add_op(p, OP_NULL)->op.op_ppaddr = on_fence;
}

/* Makes the last op an event that `recording_op` records. */
static void event(struct nytp_cost_program *p, Perl_ppaddr_t recording_op,
                  enum nytp_cost_kind kind)
{
    p->events[p->n_events++] = (struct event){
        .op = p->last,
        .real_op = p->last->op_ppaddr,
        .recording_op = recording_op,
        .kind = kind,
    };
    fence(p, kind);
    p->n_measured[kind] += kind == p->kind;
}

static void statement(struct nytp_cost_program *p)
{
    COP *const cop = &p->statements[p->n_statements];
    CopLINE_set(cop, (line_t)(FIRST_LINE + p->n_statements));
    p->n_statements++;
    fence(p, NYTP_COST_STATEMENT);
    chain(p, (OP *)cop, OP_NEXTSTATE);
    event(p, on_statement, NYTP_COST_STATEMENT);
}

static void variable(struct nytp_cost_program *p, PADOFFSET number)
{
    add_op(p, OP_PADSV)->op.op_targ = number;
}

static void constant(struct nytp_cost_program *p, unsigned number)
{
    add_op(p, OP_CONST)->svop.op_sv = &p->values[N_VARIABLES + number];
}

/* An op on the two values pushed last. The result goes into variable `into`; 0: the first. */
static void binary(struct nytp_cost_program *p, int type, PADOFFSET into)
{
    OP *const op = &add_op(p, type)->op;
    op->op_targ = into;
    if (into == 0)
        op->op_flags |= OPf_STACKED;
    else
        op->op_private |= OPpTARGET_MY;
}

/* Makes an integer without a body (sv.c, new_SV and SVt_IV; all versions). */
static void set_integer(SV *sv, IV value)
{
    sv->sv_any = (char *)&sv->sv_u.svu_iv - STRUCT_OFFSET(XPVIV, xiv_iv);
    sv->sv_refcnt = 1;
    sv->sv_flags = SVt_IV | SVf_IOK | SVp_IOK;
    sv->sv_u.svu_iv = value;
}

enum {
    X = 1,
    Y,
    Z,
    I,
    N,
    W
};

static void assign(struct nytp_cost_program *p, PADOFFSET from, PADOFFSET to)
{
    variable(p, from);
    variable(p, to);
    add_op(p, OP_SASSIGN);
}

static void assign_constant(struct nytp_cost_program *p, unsigned number, PADOFFSET to)
{
    constant(p, number);
    variable(p, to);
    add_op(p, OP_SASSIGN);
}

/* Statements as in real programs, of two to six ops, and a false condition. */
static void write_statements(struct nytp_cost_program *p)
{
    statement(p); /* $x = 1 */
    assign_constant(p, 0, X);
    statement(p); /* $x += $i */
    variable(p, X);
    variable(p, I);
    binary(p, OP_ADD, 0);
    statement(p); /* $y = $x */
    assign(p, X, Y);
    statement(p); /* $z = $y & 0xffff */
    variable(p, Y);
    constant(p, 1);
    binary(p, OP_BIT_AND, Z);
    statement(p); /* $n = 1 if $x > 1_000_000 */
    variable(p, X);
    constant(p, 2);
    add_op(p, OP_GT);
    add_op(p, OP_AND);
    statement(p); /* ++$n */
    variable(p, N);
    add_op(p, OP_PREINC);
    statement(p); /* $w = $x + $z */
    variable(p, X);
    variable(p, Z);
    binary(p, OP_ADD, W);
    statement(p); /* $w -= $y */
    variable(p, W);
    variable(p, Y);
    binary(p, OP_SUBTRACT, 0);
    statement(p); /* $n = 3 */
    assign_constant(p, 3, N);
}

/* The ops that follow are the rest of the statement before the last one. */
static void outer_statement(struct nytp_cost_program *p)
{
    add_op(p, OP_NULL)->op.op_ppaddr = back_to_outer;
}

/* The op that ends a block in a loop, after a statement of the block. */
static void write_leaves(struct nytp_cost_program *p)
{
    for (PADOFFSET to = Y; to <= N; to++) {
        statement(p);
        assign(p, X, to);
        outer_statement(p);
        fence(p, NYTP_COST_LEAVE);
        add_op(p, OP_UNSTACK)->op.op_flags |= OPf_SPECIAL;
        event(p, on_leave, NYTP_COST_LEAVE);
    }
}

static void push_sub(struct nytp_cost_program *p, enum body body)
{
    add_op(p, OP_PUSHMARK);
    variable(p, X);
    add_op(p, OP_CONST)->svop.op_sv = (SV *)&p->subs[body].cv;
    fence(p, body == BODY_OF_PERL ? NYTP_COST_CALL : NYTP_COST_XSUB);
    add_op(p, OP_ENTERSUB)->op.op_flags = OPf_WANT_VOID | OPf_STACKED;
}

/* Each from its own line, as in real programs, and with an argument. That makes a call more
 * dear: what perl does for it leaves less room. In real programs, without comments, four of
 * five calls have to search for their arc, too. */
static void write_calls(struct nytp_cost_program *p)
{
    for (unsigned i = 0; i < 4; i++) {
        statement(p); /* &f */
        push_sub(p, BODY_OF_PERL);
        event(p, on_call, NYTP_COST_CALL);
    }
}

static void write_xsubs(struct nytp_cost_program *p)
{
    for (unsigned i = 0; i < 4; i++) {
        statement(p); /* f() */
        push_sub(p, BODY_OF_C);
        event(p, on_xsub, NYTP_COST_XSUB);
    }
}

/* An empty sort needs only a mark on the stack. */
static void write_builtins(struct nytp_cost_program *p)
{
    for (unsigned i = 0; i < 4; i++) {
        statement(p); /* scalar sort () */
        add_op(p, OP_PUSHMARK);
        fence(p, NYTP_COST_BUILTIN);
        add_op(p, OP_SORT);
        event(p, on_builtin, NYTP_COST_BUILTIN);
    }
}

static void (*const write_program[NYTP_COST_KINDS])(struct nytp_cost_program *) = {
    [NYTP_COST_STATEMENT] = write_statements, [NYTP_COST_LEAVE] = write_leaves,
    [NYTP_COST_CALL] = write_calls,           [NYTP_COST_XSUB] = write_xsubs,
    [NYTP_COST_BUILTIN] = write_builtins,
};

static void return_at_once(pTHX_ CV *cv)
{
    PERL_UNUSED_VAR(cv);
    PL_stack_sp = PL_stack_base + TOPMARK;
    (void)POPMARK;
}

/* Makes an empty @_ with room for one argument. Like perl's it does not count references. */
static void make_arguments(struct nytp_cost_program *p)
{
    AV *const av = &p->arguments;
    av->sv_any = &p->arguments_body;
    av->sv_refcnt = 1;
    av->sv_flags = SVt_PVAV | SVpav_REIFY;
    AvALLOC(av) = AvARRAY(av) = &p->argument;
    AvMAX(av) = 0;
    AvFILLp(av) = -1;
}

/* Makes a sub that the debugger does not see. */
static struct sub *make_sub(struct nytp_cost_program *p, enum body body)
{
    struct sub *const sub = &p->subs[body];
    sub->cv.sv_any = &sub->body;
    sub->cv.sv_refcnt = 1;
    sub->cv.sv_flags = SVt_PVCV;
    sub->body.xcv_flags = CVf_NODEBUG;
    return sub;
}

static void make_xsub(struct nytp_cost_program *p)
{
    struct sub *const sub = make_sub(p, BODY_OF_C);
    sub->body.xcv_flags |= CVf_ISXSUB;
    sub->body.xcv_root_u.xcv_xsub = return_at_once;
}

/* A sub of one statement on the programs' variables. Up to four statements the number makes no
 * difference to the cost of a call. */
static void make_perl_sub(struct nytp_cost_program *p)
{
    struct sub *const sub = make_sub(p, BODY_OF_PERL);
    sub->pads[1] = &p->pad_list;
    PadlistARRAY(&sub->pad_list) = sub->pads;
    PadlistMAX(&sub->pad_list) = 1;
    NYTP_XPVCV_PADLIST(&sub->body) = &sub->pad_list;
    COP *const start = &p->statements[p->n_statements];
    p->last = NULL;
    statement(p); /* $y = $x */
    assign(p, X, Y);
    add_op(p, OP_LEAVESUB);
    event(p, on_return, NYTP_COST_CALL);
    sub->body.xcv_start_u.xcv_start = (OP *)start;
    sub->body.xcv_root_u.xcv_root = p->last;
}

/* Makes the subs known to the recorder and opens the call that makes all others. */
static void introduce_subs(pTHX_ struct nytp_cost_program *p)
{
    static const struct {
        char name;
        enum nytp_rec_sub_kind kind;
    } subs[N_BODIES] = {{'f', NYTP_REC_SUB_PERL}, {'x', NYTP_REC_SUB_XSUB}};
    struct nytp_recorder *const rec = p->recorder;
    struct nytp_call_site site = {.fid = 1, .line = 1};
    for (unsigned i = 0; i < N_BODIES; i++)
        nytp_sub_introduce(rec, &p->subs[i].cv,
                           nytp_sub_named(rec, &subs[i].name, 1, subs[i].kind));
    site.caller = nytp_sub_named(rec, "main", 4, NYTP_REC_SUB_PERL);
    nytp_frame_open(rec, site.caller, &site);
}

struct nytp_cost_program *nytp_cost_program_new(pTHX_ struct nytp_recorder *recorder)
{
    static const IV constants[N_CONSTANTS] = {1, 0xffff, 1000000, 3};
    struct nytp_cost_program *const p = calloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    for (unsigned i = 0; i < N_VARIABLES; i++) {
        set_integer(&p->values[i], 1 + (IV)i);
        p->pad[1 + i] = &p->values[i];
    }
    for (unsigned i = 0; i < N_CONSTANTS; i++)
        set_integer(&p->values[N_VARIABLES + i], constants[i]);
    p->recorder = recorder;
    p->pad_list.sv_refcnt = 1;
    p->pad_list.sv_flags = SVt_PVAV;
    AvARRAY(&p->pad_list) = p->pad;
    p->pad[0] = (SV *)&p->arguments; /* where perl looks for @_ */
    make_arguments(p);
    p->kind = NYTP_COST_KINDS;
    make_perl_sub(p);
    make_xsub(p);
    for (p->kind = 0; p->kind < NYTP_COST_KINDS; p->kind++) {
        COP *const first = &p->statements[p->n_statements];
        p->last = NULL;
        write_program[p->kind](p);
        p->first[p->kind] = (OP *)first;
    }
    introduce_subs(aTHX_ p);
    return p;
}

const COP *nytp_cost_program_cop(const struct nytp_cost_program *p, unsigned number)
{
    return &p->statements[number];
}

unsigned nytp_cost_program_events(const struct nytp_cost_program *p, enum nytp_cost_kind kind)
{
    return p->n_measured[kind];
}

/* ---- runs ---- */

/* perl's context stack must not move: an op that leaves a scope may be running above. */
bool nytp_cost_program_fits(pTHX)
{
    return PL_phase != PERL_PHASE_DESTRUCT && cxstack_ix >= 0 &&
           cxstack_max - cxstack_ix > CONTEXT_ROOM && PL_stack_max - PL_stack_sp > STACK_ROOM;
}

static void run(pTHX_ OP *first)
{
    PL_op = first;
    while ((PL_op = PL_op->op_ppaddr(aTHX)) != NULL) {
    }
}

/* Leaves perl's signals pending during the run. */
static void wait_with_signals(pTHX)
{
    PERL_UNUSED_CONTEXT;
}

static uint64_t time_of_runs(pTHX_ const struct nytp_clock *clock, OP *first, unsigned times)
{
    run(aTHX_ first); /* warms the processor's caches */
    const uint64_t begun = nytp_clock_raw(clock);
    for (unsigned i = 0; i < times; i++)
        run(aTHX_ first);
    return nytp_clock_raw(clock) - begun;
}

/* A statement empties the stack and frees temporaries, so it is shown empty ones. */
uint64_t nytp_cost_program_time(pTHX_ struct nytp_cost_program *p, enum nytp_cost_kind kind,
                                bool recorded, unsigned times)
{
    PERL_CONTEXT *const cx = NYTP_CX_TOP;
    OP *const op = PL_op;
    COP *const cop = (COP *)PL_curcop;
    SV **const pad = PL_curpad;
    PAD *const pad_list = PL_comppad;
    SV **const sp = PL_stack_sp;
    const I32 oldsp = cx->blk_oldsp;
    const SSize_t floor = PL_tmps_floor;
    const bool tainted = TAINT_get;
    despatch_signals_proc_t const hook = PL_signalhook;
    for (unsigned i = 0; i < p->n_events; i++) {
        const struct event *const e = &p->events[i];
        e->op->op_ppaddr = recorded || e->kind != kind ? e->recording_op : e->real_op;
    }
    PL_curpad = p->pad;
    PL_comppad = &p->pad_list;
    PL_tmps_floor = PL_tmps_ix;
    PL_signalhook = wait_with_signals;
    cx->blk_oldsp = (I32)(sp - PL_stack_base);
    const uint64_t raw = time_of_runs(aTHX_ & p->recorder->clock, p->first[kind], times);
    cx->blk_oldsp = oldsp;
    PL_signalhook = hook;
    PL_tmps_floor = floor;
    PL_stack_sp = sp;
    PL_curpad = pad;
    PL_comppad = pad_list;
    PL_curcop = cop;
    PL_op = op;
    TAINT_set(tainted);
    PERL_UNUSED_VAR(tainted); /* unused if perl has no taint */
    return raw;
}
