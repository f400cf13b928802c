/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Closures named at run time by Sub::Util::set_subname or Sub::Name::subname. Such a sub
 * belongs in the list of all subs even if it is never called, so its naming must be seen. perl
 * -d has a list for that, but the program could see it. Instead these two xsubs are made to
 * pass through us. Other calls pay nothing, and it works with subs=0 and while nothing is
 * recorded.
 */
#ifndef NYTP_RENAMES_H
#define NYTP_RENAMES_H

#include "XS/perl/perl_compat.h"

/* Watches those of the two functions that exist and are xsubs. Call it when new ones may have
 * come: when the recorder is loaded, and after each loaded file. In an interpreter without a
 * recorder the functions run unchanged. */
void nytp_renames_watch(pTHX);

#endif
