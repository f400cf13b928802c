/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A little program to measure by; see cost_program.h.
 */
#include "cost_program.h"

#include "XS/perl/ops.h"
#include "XS/state/state.h"
#include "stmts.h"

#include <stdlib.h>

enum {
    N_VARIABLES = 6,
    N_CONSTANTS = 4,
    MOST_OPS = 48,
    STACK_ROOM = 8, /* more than any of the ops pushes */
};

/* perl's op of a statement, and who records it. */
struct statement {
    COP cop;
    Perl_ppaddr_t real_op;
    struct nytp_recorder *recorder;
};

/* Any of the ops that are used. */
union any_op {
    OP op;
    BINOP binop;
    LOGOP logop;
    SVOP svop;
};

struct nytp_cost_program {
    struct statement statements[NYTP_COST_STATEMENTS];
    union any_op ops[MOST_OPS];
    unsigned n_statements, n_ops;
    OP *last;
    SV values[N_VARIABLES + N_CONSTANTS];
    SV *pad[1 + N_VARIABLES]; /* as ops count: from 1 */
    AV pad_list;              /* of it, as perl asserts when it was built with assertions */
};

/* perl's handler, not ours or another's. */
static Perl_ppaddr_t handler_of(int type)
{
    return nytp_real_ops[type] != NULL ? nytp_real_ops[type] : PL_ppaddr[type];
}

static void chain(struct nytp_cost_program *p, OP *op, int type)
{
    op->op_type = (OPCODE)type;
    op->op_ppaddr = handler_of(type);
    op->op_flags = OPf_WANT_SCALAR;
    if (p->last != NULL)
        p->last->op_next = op;
    p->last = op;
}

static void statement(struct nytp_cost_program *p)
{
    struct statement *const s = &p->statements[p->n_statements];
    COP *const cop = &s->cop;
    CopLINE_set(cop, (line_t)(100 + p->n_statements));
    p->n_statements++;
    chain(p, (OP *)cop, OP_NEXTSTATE);
    s->real_op = cop->op_ppaddr;
}

static union any_op *add_op(struct nytp_cost_program *p, int type)
{
    union any_op *const any = &p->ops[p->n_ops++];
    chain(p, &any->op, type);
    return any;
}

static void variable(struct nytp_cost_program *p, PADOFFSET number)
{
    add_op(p, OP_PADSV)->op.op_targ = number;
}

static void constant(struct nytp_cost_program *p, unsigned number)
{
    add_op(p, OP_CONST)->svop.op_sv = &p->values[N_VARIABLES + number];
}

/* Of the two values pushed last, into a variable; 0: into the first of them. */
static void binary(struct nytp_cost_program *p, int type, PADOFFSET into)
{
    OP *const op = &add_op(p, type)->op;
    op->op_targ = into;
    if (into == 0)
        op->op_flags |= OPf_STACKED;
    else
        op->op_private |= OPpTARGET_MY;
}

/* What an integer without a body looks like (sv.c, new_SV and SVt_IV; all versions). */
static void set_integer(SV *sv, IV value)
{
    sv->sv_any = (char *)&sv->sv_u.svu_iv - STRUCT_OFFSET(XPVIV, xiv_iv);
    sv->sv_refcnt = 1;
    sv->sv_flags = SVt_IV | SVf_IOK | SVp_IOK;
    sv->sv_u.svu_iv = value;
}

/* Statements as programs have them, of two to six ops, and a condition that does not hold. */
static void write_program(struct nytp_cost_program *p)
{
    enum {
        X = 1,
        Y,
        Z,
        I,
        N,
        W
    };
    statement(p); /* $x = 1 */
    constant(p, 0);
    variable(p, X);
    add_op(p, OP_SASSIGN);
    statement(p); /* $x += $i */
    variable(p, X);
    variable(p, I);
    binary(p, OP_ADD, 0);
    statement(p); /* $y = $x */
    variable(p, X);
    variable(p, Y);
    add_op(p, OP_SASSIGN);
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
    constant(p, 3);
    variable(p, N);
    add_op(p, OP_SASSIGN);
}

struct nytp_cost_program *nytp_cost_program_new(struct nytp_recorder *recorder)
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
    for (unsigned i = 0; i < NYTP_COST_STATEMENTS; i++)
        p->statements[i].recorder = recorder;
    p->pad_list.sv_refcnt = 1;
    p->pad_list.sv_flags = SVt_PVAV;
    AvARRAY(&p->pad_list) = p->pad;
    write_program(p);
    return p;
}

const COP *nytp_cost_program_cop(const struct nytp_cost_program *p, unsigned number)
{
    return &p->statements[number].cop;
}

/* As on_nextstate() in hooks.c. */
static OP *on_statement(pTHX)
{
    struct statement *const s = (struct statement *)PL_op;
    struct nytp_recorder *const rec = nytp_recorder_of(aTHX) == NULL ? NULL : s->recorder;
    OP *const next = s->real_op(aTHX);
    if (LIKELY(rec != NULL && rec->stmts_on))
        nytp_stmt_begin(aTHX_ rec, &s->cop);
    return next;
}

bool nytp_cost_program_fits(pTHX)
{
    return PL_phase != PERL_PHASE_DESTRUCT && cxstack_ix >= 0 &&
           PL_stack_max - PL_stack_sp > STACK_ROOM;
}

static void run(pTHX_ struct nytp_cost_program *p)
{
    PL_op = (OP *)&p->statements[0].cop;
    while ((PL_op = PL_op->op_ppaddr(aTHX)) != NULL) {
    }
}

/* perl's signals stay pending while it runs. */
static void wait_with_signals(pTHX)
{
    PERL_UNUSED_CONTEXT;
}

static uint64_t time_of_runs(pTHX_ struct nytp_cost_program *p, unsigned times)
{
    const struct nytp_clock *const clock = &p->statements[0].recorder->clock;
    run(aTHX_ p); /* the processor has seen it then */
    const uint64_t begun = nytp_clock_raw(clock);
    for (unsigned i = 0; i < times; i++)
        run(aTHX_ p);
    return nytp_clock_raw(clock) - begun;
}

/* A statement drops what is on the stack and frees temporaries: it is to see none. */
uint64_t nytp_cost_program_time(pTHX_ struct nytp_cost_program *p, bool recorded,
                                unsigned times)
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
    for (unsigned i = 0; i < p->n_statements; i++) {
        struct statement *const s = &p->statements[i];
        s->cop.op_ppaddr = recorded ? on_statement : s->real_op;
    }
    PL_curpad = p->pad;
    PL_comppad = &p->pad_list;
    PL_tmps_floor = PL_tmps_ix;
    PL_signalhook = wait_with_signals;
    cx->blk_oldsp = (I32)(sp - PL_stack_base);
    const uint64_t raw = time_of_runs(aTHX_ p, times);
    cx->blk_oldsp = oldsp;
    PL_signalhook = hook;
    PL_tmps_floor = floor;
    PL_stack_sp = sp;
    PL_curpad = pad;
    PL_comppad = pad_list;
    PL_curcop = cop;
    PL_op = op;
    TAINT_set(tainted);
    PERL_UNUSED_VAR(tainted); /* of a perl without taint */
    return raw;
}
