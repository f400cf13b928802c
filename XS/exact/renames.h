/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Closures that get a name while the program runs, from Sub::Util::set_subname or
 * Sub::Name::subname. Such a sub belongs in the list of all subs even if nobody ever calls it,
 * so we have to be there when it is named. perl -d has a list for that, which the program could
 * see; instead those two xsubs are made to pass through us. That costs other calls nothing, and
 * works with subs=0 and while nothing is recorded, too.
 */
#ifndef NYTP_RENAMES_H
#define NYTP_RENAMES_H

#include "XS/perl/perl_compat.h"

/* Watch those of the two functions that exist by now and are xsubs. To be called whenever new
 * ones may have come: when the recorder is loaded, and behind each file that was loaded. Calls
 * of them in an interpreter without a recorder go straight through. */
void nytp_renames_watch(pTHX);

#endif
