/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Numbers for the interpreters of a process; see thread_number.h.
 */
#include "thread_number.h"

#include <stdatomic.h>

/* tids, too, only grow. It has no lock: a child that is forked while another thread holds one
 * would wait for ever. */
static atomic_uint last;

/* 0: the first thread, or there is no such module. */
static unsigned tid_by_perl(pTHX)
{
    CV *const tid = get_cv("threads::tid", 0);
    if (tid == NULL || !CvISXSUB(tid))
        return 0;
    dSP;
    ENTER;
    SAVETMPS;
    PUSHMARK(SP);
    mXPUSHs(newSVpvs("threads"));
    PUTBACK;
    const I32 n = call_sv((SV *)tid, G_SCALAR);
    SPAGAIN;
    const unsigned number = n == 1 ? (unsigned)POPu : 0;
    PUTBACK;
    FREETMPS;
    LEAVE;
    return number;
}

unsigned nytp_thread_number(pTHX)
{
    const unsigned tid = tid_by_perl(aTHX);
    unsigned before = last, number;
    do
        number = tid > before ? tid : before + 1;
    while (!atomic_compare_exchange_weak(&last, &before, number));
    return number;
}
