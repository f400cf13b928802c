/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The subs of DBI by which a program talks to its database.
 */
#ifndef NYTP_DATABASE_CALLS_H
#define NYTP_DATABASE_CALLS_H

#include "formats/base/strings.h"

#include <stdbool.h>

enum nytp_database_call {
    NYTP_NO_DATABASE,
    NYTP_DATABASE,
    NYTP_FETCHING,  /* asks for a statement's rows */
    NYTP_PREPARED,  /* executes a prepared statement */
    NYTP_STATEMENT, /* sends a statement as text */
};

enum nytp_database_call nytp_database_call_of(struct nytp_name sub);

/* Returns true if the calls of this sub are the database's time, so that they have to be on the
 * profile's time line: struct nytp_build_options' spans_of may be this function. */
bool nytp_is_of_database(struct nytp_name sub);

#endif
