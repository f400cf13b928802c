/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Xsubs with a special meaning for the recorder. subs.c asks once for each xsub, when it names
 * it; hooks.c acts on it at each call and `goto &xsub`.
 */
#ifndef NYTP_SPECIALS_H
#define NYTP_SPECIALS_H

#include "options.h"
#include "XS/perl/perl_compat.h"

enum nytp_sub_special {
    NYTP_SUB_ORDINARY,
    NYTP_SUB_SQL,     /* DBI's methods that run a statement, with sql=1 */
    NYTP_SUB_EXITS,   /* POSIX::_exit: not recorded */
    NYTP_SUB_CONTROL, /* DB::enable_profile and others: not recorded */
};

/* Returns the meaning of the xsub with this full name ("POSIX::_exit", NUL-terminated). */
enum nytp_sub_special nytp_special_of(const struct nytp_options *options, const char *name);

#endif
