/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The table of waiting system calls; see wait_calls.h.
 */
#include "wait_calls.h"

#ifdef __linux__
#include <sys/syscall.h>
#endif

const struct nytp_wait_call nytp_wait_calls[] = {
#define NYTP_WAIT_CALL(name, subject, reason)                                                  \
    {SYS_##name, #name, NYTP_WAITS_##subject, NYTP_WAIT_##reason},
#include "wait_calls.def"
    {.name = NULL},
};
