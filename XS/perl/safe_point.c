/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * perl's safe points; see safe_point.h.
 *
 * perl calls PL_signalhook there (5.14 and up). threads::shared redirects it, too: the hook
 * below ours has to be called.
 */
#include "safe_point.h"

_Atomic unsigned nytp_safe_point_asks;

static nytp_at_safe_point_fn *askers[NYTP_N_ASKERS];
static despatch_signals_proc_t below;

/* perl makes its table of signals when the program first uses %SIG, and despatch_signals (mg.c)
 * requires that table. */
static void at_safe_point(pTHX)
{
    const unsigned asks = nytp_safe_point_asks;
    for (int i = 0; i < NYTP_N_ASKERS; i++)
        if (askers[i] != NULL)
            askers[i](aTHX);
    if (PL_psig_pend == NULL && below == Perl_despatch_signals)
        PL_sig_pending = 0;
    else
        below(aTHX);
    if (nytp_safe_point_asks != asks)
        PL_sig_pending = 1; /* requested during this call: perl has just cleared the flag */
}

void nytp_safe_point_set(enum nytp_asker asker, nytp_at_safe_point_fn *call)
{
    askers[asker] = call;
}

/* A thread's interpreter is a clone with its creator's hook. If another function, like
 * threads::shared's, was set after ours, it still leads to ours. */
void nytp_safe_point_begin(pTHX)
{
    if (PL_signalhook == at_safe_point ||
        (below != NULL && PL_signalhook != below && PL_signalhook != Perl_despatch_signals))
        return;
    below = PL_signalhook;
    if (PL_psig_pend == NULL && below != Perl_despatch_signals)
        gv_fetchpvs("SIG", GV_ADD | GV_NOTQUAL, SVt_PVHV); /* makes the table */
    PL_signalhook = at_safe_point;
}

bool nytp_is_between_statements(pTHX)
{
    static const int types[] = {OP_NEXTSTATE, OP_DBSTATE, OP_UNSTACK,  OP_AND,
                                OP_OR,        OP_DOR,     OP_COND_EXPR};
    for (size_t i = 0; PL_op != NULL && i < C_ARRAY_LENGTH(types); i++)
        if (PL_op->op_type == types[i])
            return true;
    return false;
}
