/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The sub that a call names.
 *
 * An xsub that takes a microsecond is over when the tick thread reads perl's stack. The op of
 * `foo(1)` tells what it calls, too: its last child is the glob *foo. An op is looked at once.
 */
#ifndef NYTP_NAMED_CALLEE_H
#define NYTP_NAMED_CALLEE_H

#include "XS/perl/perl_compat.h"

enum {
    NYTP_NAMED_CALLS = 1024, /* a power of two */
};

/* All zero at first. */
struct nytp_named_calls {
    struct nytp_named_call {
        const void *op, *next; /* the op behind it tells whether it is still the same */
        UV place;            /* of the glob: in the pad, or without threads its address; or 0 */
    } all[NYTP_NAMED_CALLS]; /* by hash */
};

/* Returns the glob, or the reference, that an entersub names, or NULL if it calls a method or a
 * variable. `pad` is the PL_curpad with which it ran: that of a sub that lives, as the op does.
 * An eval's may be another's by now. */
const void *nytp_named_callee(struct nytp_named_calls *known, const void *op, const void *next,
                              const void *pad);

#endif
