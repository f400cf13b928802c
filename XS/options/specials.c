/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Xsubs with a special meaning for the recorder; see specials.h.
 */
#include "specials.h"

static const struct {
    const char *name;
    enum nytp_sub_special special;
} specials[] = {
    {"DB::enable_profile", NYTP_SUB_CONTROL},
    {"DB::finish_profile", NYTP_SUB_CONTROL},
    {"DB::set_option", NYTP_SUB_CONTROL},
    {"DB::DB", NYTP_SUB_CONTROL},
    {"DB::label", NYTP_SUB_CONTROL},
    {"DB::label_profile", NYTP_SUB_CONTROL},
    {"DB::rotate_profile", NYTP_SUB_CONTROL},
    {"DB::checkpoint_profile", NYTP_SUB_CONTROL},
    {"POSIX::_exit", NYTP_SUB_EXITS},
    /* These take the statement as their first argument, or are its methods. */
    {"DBI::st::execute", NYTP_SUB_SQL},
    {"DBI::st::execute_array", NYTP_SUB_SQL},
    {"DBI::db::do", NYTP_SUB_SQL},
    {"DBI::db::selectall_array", NYTP_SUB_SQL},
    {"DBI::db::selectall_arrayref", NYTP_SUB_SQL},
    {"DBI::db::selectall_hashref", NYTP_SUB_SQL},
    {"DBI::db::selectcol_arrayref", NYTP_SUB_SQL},
    {"DBI::db::selectrow_array", NYTP_SUB_SQL},
    {"DBI::db::selectrow_arrayref", NYTP_SUB_SQL},
    {"DBI::db::selectrow_hashref", NYTP_SUB_SQL},
};

enum nytp_sub_special nytp_special_of(const struct nytp_options *options, const char *name)
{
    for (size_t i = 0; i < C_ARRAY_LENGTH(specials); i++)
        if (strEQ(name, specials[i].name))
            return specials[i].special == NYTP_SUB_SQL && !options->sql ? NYTP_SUB_ORDINARY
                                                                        : specials[i].special;
    return NYTP_SUB_ORDINARY;
}
