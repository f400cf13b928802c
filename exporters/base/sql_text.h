/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The subs of DBI by which a program talks to its database, and the text of an SQL statement
 * without what differs from call to call.
 */
#ifndef NYTP_SQL_TEXT_H
#define NYTP_SQL_TEXT_H

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

/* Write the statement to `to`, which has room for sql.len bytes, and return how many it is:
 * literals and placeholders as "?", a list after IN as "(?)", blanks and comments as one blank.
 * Names in quotes stay. `sql` is as labels have it, control characters as \xHH. What is no SQL,
 * or was cut, gives some text that is no longer. *has_list becomes true where a list after IN
 * has several values, and is left alone otherwise. */
size_t nytp_sql_normalize(struct nytp_name sql, char *to, bool *has_list);

/* How a statement is sent. */
enum nytp_sql_sent {
    NYTP_SQL_PREPARED, /* a prepared statement is executed */
    NYTP_SQL_WHOLE,    /* as text */
};

/* Whether one statement for all could do where this normalized one is sent again and again with
 * other values. Not so:
 * - a prepared INSERT (REPLACE, MERGE): the rows come from the program, and this is how DBI has
 *   them sent; nor one of several rows that is sent as text;
 * - what already asks for many at a time: a list after IN of several values (`has_list`), or a
 *   page (LIMIT and the like with OFFSET, or behind a value that the last page ended with);
 * - what begins or ends transactions, sets options and the like. */
bool nytp_sql_could_be_one(struct nytp_name normalized, enum nytp_sql_sent sent, bool has_list);

#endif
