/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Holders of an object: the way to it from a variable that has a name, as
 * %My::App::sessions{...}[...].
 */
#ifndef NYTP_SPY_HOLDERS_H
#define NYTP_SPY_HOLDERS_H

#include "census.h"

/* Find the holder of one of the examples of each class that has some objects. What neither a
 * package's variables, subs and constants nor lexical variables lead to is "itself{...}" where
 * it leads to itself, else it stays without. False when memory is out. */
bool nytp_find_holders(struct nytp_census *census, struct nytp_perl *perl,
                       const struct nytp_interpreter *of, uint32_t n_of,
                       nytp_census_progress_fn *progress);

#endif
