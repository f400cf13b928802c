/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * perl's table of op handlers; see ops.h.
 */
#include "ops.h"

Perl_ppaddr_t nytp_real_ops[MAXO];
Perl_ophook_t nytp_real_op_free;

static Perl_ppaddr_t own_ops[MAXO]; /* what we put in their place */
static Perl_ophook_t own_op_free;

void nytp_op_redirect(int type, Perl_ppaddr_t handler)
{
    if (nytp_real_ops[type] == NULL)
        nytp_real_ops[type] = PL_ppaddr[type];
    if (PL_ppaddr[type] != nytp_real_ops[type] && PL_ppaddr[type] != own_ops[type])
        return; /* somebody came after us, and leads here */
    PL_ppaddr[type] = own_ops[type] = handler;
}

void nytp_op_free_redirect(Perl_ophook_t hook)
{
    dTHX;
    if (nytp_real_op_free == NULL)
        nytp_real_op_free = PL_opfreehook;
    if (PL_opfreehook == nytp_real_op_free)
        PL_opfreehook = own_op_free = hook;
}

void nytp_ops_restore(void)
{
    dTHX;
    if (own_op_free != NULL && PL_opfreehook == own_op_free)
        PL_opfreehook = nytp_real_op_free;
    for (int type = 0; type < MAXO; type++)
        if (own_ops[type] != NULL && PL_ppaddr[type] == own_ops[type])
            PL_ppaddr[type] = nytp_real_ops[type];
}
