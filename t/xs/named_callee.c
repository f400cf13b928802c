/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A call's op whose memory is something else's by now, so that its children lie in a circle: it
 * names no sub. An alarm ends this program where the search goes on and on.
 */
#include "XS/sampling/named_callee.h"

#include "XS/platform/memory.h"

#include <stdio.h>
#include <unistd.h>

enum {
    PATIENCE = 100, /* seconds, of which a thousandth is enough */
};

int main(void)
{
    static struct nytp_named_calls known;
    static UNOP call, child;
    alarm(PATIENCE);
    nytp_memory_begin();
    call.op_first = (OP *)&child;
#ifdef OpMORESIB_set
    OpMORESIB_set(&child, (OP *)&child);
#else
    child.op_sibling = (OP *)&child;
#endif
    puts(nytp_named_callee(&known, &call, NULL, NULL) == NULL ? "none" : "some");
    return 0;
}
