/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Numbers for the interpreters of a process; see thread_number.h.
 */
#include "thread_number.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned last; /* tids, too, only grow */

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
    pthread_mutex_lock(&lock);
    last = tid > last ? tid : last + 1;
    const unsigned number = last;
    pthread_mutex_unlock(&lock);
    return number;
}
