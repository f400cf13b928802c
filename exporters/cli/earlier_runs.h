/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Inputs that are left from an earlier run. A recording replaces the one of an earlier run that
 * has its name, but not those of the processes that the earlier run had forked, whose names end
 * in ".PID": `nytprof.out*` would add them to a run that they are not of.
 */
#ifndef NYTP_EARLIER_RUNS_H
#define NYTP_EARLIER_RUNS_H

#include "cli.h"

/* Take what is left from an earlier run out of cli->files, and say so. It is a recording PATH.N
 * of process N where PATH is an input, too, which began later, and whose process, or one that is
 * kept beside it, did not start N. */
void nytp_leave_out_earlier_runs(struct nytp_cli *cli);

#endif
