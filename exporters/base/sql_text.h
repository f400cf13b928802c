/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The text of an SQL statement without what differs from call to call.
 */
#ifndef NYTP_SQL_TEXT_H
#define NYTP_SQL_TEXT_H

#include "formats/base/strings.h"

/* Write the statement to `to`, which has room for sql.len bytes, and return how many it is:
 * literals and placeholders as "?", a list after IN as "(?)", blanks and comments as one blank.
 * Names in quotes stay. `sql` is as labels have it, control characters as \xHH. What is no SQL,
 * or was cut, gives some text that is no longer. */
size_t nytp_sql_normalize(struct nytp_name sql, char *to);

#endif
