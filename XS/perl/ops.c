/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * perl's table of op handlers; see ops.h.
 */
#include "ops.h"

Perl_ppaddr_t nytp_real_ops[MAXO];
Perl_ophook_t nytp_real_op_free;
Perl_ppaddr_t nytp_own_ops[MAXO];
bool nytp_op_is_switched[MAXO];

static bool is_on; /* state of the last nytp_ops_turn() */
static Perl_ophook_t own_op_free;

void nytp_op_redirect(int type, Perl_ppaddr_t handler, enum nytp_op_when when)
{
    if (nytp_real_ops[type] == NULL)
        nytp_real_ops[type] = PL_ppaddr[type];
    nytp_own_ops[type] = handler;
    nytp_op_is_switched[type] = when == NYTP_OP_SWITCHED;
    if (is_on || !nytp_op_is_switched[type])
        nytp_handler_turn(&PL_ppaddr[type], type, true);
}

void nytp_op_wrap(int type, Perl_ppaddr_t wrapper, Perl_ppaddr_t *inner)
{
    if (*inner != NULL)
        return;
    *inner = nytp_real_ops[type] != NULL ? nytp_real_ops[type] : PL_ppaddr[type];
    if (nytp_real_ops[type] != NULL)
        nytp_real_ops[type] = wrapper;
    if (PL_ppaddr[type] == *inner)
        PL_ppaddr[type] = wrapper;
}

void nytp_ops_turn(bool on)
{
    is_on = on;
    for (int type = 0; type < MAXO; type++)
        if (nytp_op_is_switched[type])
            nytp_handler_turn(&PL_ppaddr[type], type, on);
}

void nytp_op_free_redirect(Perl_ophook_t hook)
{
    dTHX;
    if (PL_opfreehook == hook)
        return;
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
    is_on = false;
    for (int type = 0; type < MAXO; type++) {
        nytp_handler_turn(&PL_ppaddr[type], type, false);
        nytp_op_is_switched[type] = false;
    }
}
