/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Stacks of moments in which perl compiles, or in which a string eval ended that was read too
 * late. PL_curpad is that of the code being compiled then, which no call has.
 */
#ifndef NYTP_SPY_COMPILED_H
#define NYTP_SPY_COMPILED_H

#include "walker.h"

/* Each finds the stack in walker->reading, and returns false if it is not known. `end_both` is
 * nytp_end_of_both(). */

/* The innermost code, for when it is known that nothing moves. */
bool nytp_find_innermost(struct nytp_walker *walker, int32_t end_both,
                         struct nytp_found *found);

/* An eval or a file that is compiled while the program runs. */
bool nytp_find_compiled(struct nytp_walker *walker, int32_t end_both, struct nytp_found *found);

/* The main program, while it is compiled; changes the moment's statement. */
bool nytp_find_main_compiled(struct nytp_walker *walker, struct nytp_spied_moment *moment,
                             struct nytp_found *found);

/* An eval that has ended before it was known where in it the program was: its statements are
 * freed, and the next one has their memory. So it is shown at the statement that runs it, or,
 * if it has called a sub, as calling that from there. Who looked for another moment would find
 * those who run no short evals. Changes the moment. */
bool nytp_find_ended(struct nytp_walker *walker, struct nytp_spied_moment *moment,
                     struct nytp_found *found);

/* Whether the innermost call, an eval, is still being compiled, run by the same statement as
 * when it was looked at: code being compiled has its place in one variable. */
bool nytp_is_compiled_yet(struct nytp_walker *walker, const struct nytp_call *call);

#endif
