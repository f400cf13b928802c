/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The state of an interpreter: its stack of calls, as it was at one moment.
 */
#ifndef NYTP_SPY_STACK_H
#define NYTP_SPY_STACK_H

#include "walker.h"

enum nytp_sampled {
    NYTP_WHOLE,
    NYTP_TORN, /* the program went on while it was read */
    NYTP_GONE, /* the process or thread has ended */
};

/* Returns false if memory is out. Free in any case. */
bool nytp_walker_init(struct nytp_walker *walker, struct nytp_names *names,
                      const struct nytp_interpreter *of);
void nytp_walker_free(struct nytp_walker *walker);

/* Look at the stack now; with NYTP_WHOLE it is in walker->stack. */
enum nytp_sampled nytp_sample(struct nytp_walker *walker);

#endif
