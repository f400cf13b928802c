/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Xsubs that mean something to the recorder. subs.c asks once for each xsub, when it gives it
 * its name; hooks.c does what the answer calls for, at each call and `goto &xsub` alike.
 */
#ifndef NYTP_SPECIALS_H
#define NYTP_SPECIALS_H

#include "options.h"
#include "XS/perl/perl_compat.h"

enum nytp_sub_special {
    NYTP_SUB_ORDINARY,
    NYTP_SUB_SQL,     /* DBI's methods that run a statement, with sql=1 */
    NYTP_SUB_EXITS,   /* POSIX::_exit: in no profile */
    NYTP_SUB_CONTROL, /* DB::enable_profile and its like: calls of them are not recorded */
};

/* What the xsub with this full name ("POSIX::_exit", NUL-terminated) is for us. */
enum nytp_sub_special nytp_special_of(const struct nytp_options *options, const char *name);

#endif
