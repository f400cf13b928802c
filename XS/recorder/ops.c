/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * perl's table of op handlers; see ops.h.
 */
#include "ops.h"

Perl_ppaddr_t nytp_real_ops[MAXO];
static Perl_ppaddr_t own_ops[MAXO]; /* what we put in their place */

void nytp_op_redirect(int type, Perl_ppaddr_t handler)
{
    if (nytp_real_ops[type] == NULL)
        nytp_real_ops[type] = PL_ppaddr[type];
    if (PL_ppaddr[type] != nytp_real_ops[type] && PL_ppaddr[type] != own_ops[type])
        return; /* somebody came after us, and leads here */
    PL_ppaddr[type] = own_ops[type] = handler;
}

void nytp_ops_restore(pTHX)
{
    PERL_UNUSED_CONTEXT;
    for (int type = 0; type < MAXO; type++)
        if (own_ops[type] != NULL && PL_ppaddr[type] == own_ops[type])
            PL_ppaddr[type] = nytp_real_ops[type];
}
