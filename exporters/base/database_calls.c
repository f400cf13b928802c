/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Subs of DBI by their names; see database_calls.h.
 */
#include "database_calls.h"

#include <string.h>

static const struct {
    const char *name; /* or its start */
    enum nytp_database_call call;
} calls[] = {
    {"DBI::db::do", NYTP_STATEMENT},     {"DBI::db::select", NYTP_STATEMENT},
    {"DBI::st::execute", NYTP_PREPARED}, {"DBI::st::fetch", NYTP_FETCHING},
    {"DBI::db::", NYTP_DATABASE},        {"DBI::st::", NYTP_DATABASE},
    {"DBI::dr::", NYTP_DATABASE},        {"DBI::common::", NYTP_DATABASE},
    {"DBI::connect", NYTP_DATABASE},
};

static bool starts(struct nytp_name name, const char *text)
{
    const size_t len = strlen(text);
    return name.len >= len && memcmp(name.ptr, text, len) == 0;
}

/* Asked of each call that a time line could have: mostly the first bytes say no. */
enum nytp_database_call nytp_database_call_of(struct nytp_name sub)
{
    if (!starts(sub, "DBI::"))
        return NYTP_NO_DATABASE;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (starts(sub, calls[i].name))
            return calls[i].call;
    return NYTP_NO_DATABASE;
}

bool nytp_is_of_database(struct nytp_name sub)
{
    return nytp_database_call_of(sub) != NYTP_NO_DATABASE;
}
