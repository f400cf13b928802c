/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The run that this process is part of. If the environment loads the profiler (PERL5OPT,
 * HARNESS_PERL_SWITCHES, or a PERL5DB from outside, since `perl -d:NYTProf` sets that for
 * itself), the run is one command of a shell, say `prove`, with all programs that it starts:
 * all write the same file. Otherwise it is this process, also before an exec.
 */
#ifndef NYTP_RUN_H
#define NYTP_RUN_H

#include <stdbool.h>
#include <time.h>

/* Returns whether the environment loads the profiler into the perls that this process starts.
 * PERL5DB does not count: it is for perls with -d. */
bool nytp_run_is_handed_down(void);

/* Returns whether this process descends from the one of this pid, which existed after this one
 * had begun. Ancestors are older, so nobody else can have had their pids. */
bool nytp_run_is_ancestor(long pid);

/* Returns when the run began, on the clock of file times, or now if the system does not say.
 * Its processes are one process group: an interactive shell makes one for each command. */
struct timespec nytp_run_began(void);

/* Returns whether the program has rights that the user who started it, and made its environment
 * and folder, has not: it is set-user-ID or set-group-ID, or its file has capabilities. Ambient
 * capabilities are that user's own. Root has every right. */
bool nytp_run_has_more_rights(void);

#endif
