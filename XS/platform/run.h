/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The run that this process is part of. Where the environment loads the profiler (PERL5OPT,
 * HARNESS_PERL_SWITCHES, or PERL5DB, which `perl -d:NYTProf` sets for itself, too, and which
 * therefore has to come from outside), the run is what was started by one command of a shell,
 * `prove`, say, and all the programs that it starts: they are told to write the same file.
 * Where the profiler was named for this program alone, the run is the process, with all that it
 * was before an exec.
 */
#ifndef NYTP_RUN_H
#define NYTP_RUN_H

#include <stdbool.h>
#include <time.h>

/* Whether the environment loads the profiler into the perls that this process starts. PERL5DB
 * does not tell: `perl -d:NYTProf` sets it, and it is for perls with -d. */
bool nytp_run_is_handed_down(void);

/* Whether the process of this pid, which was there after this one had begun, started this one,
 * or started one that did. Those that did are older, so nobody else can have had their pids. */
bool nytp_run_is_ancestor(long pid);

/* When the run began, on the clock of file times. The processes of a run are one process group:
 * a shell with a person before it makes one for each command. Where the system does not
 * tell, now. */
struct timespec nytp_run_began(void);

/* Whether the program has rights that the user who started it has not: it is set-user-ID or
 * set-group-ID, or its file has capabilities. That user made its environment and chose its
 * folder. Ambient capabilities are that user's own. Root has every right. */
bool nytp_run_has_more_rights(void);

#endif
