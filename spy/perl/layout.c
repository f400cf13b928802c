/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The layouts of all perls; see layout.h.
 */
#include "layout.h"

#include <string.h>

/* Offsets of variables come first in a row, then the members in the same order. */
#define NYTP_LAYOUT(version, machine, threads, option, ...)                                    \
    {version, #machine, #option, threads, __VA_ARGS__},

#pragma GCC diagnostic ignored "-Wmissing-braces"
const struct nytp_layout nytp_layouts[] = {
#include "layouts.def"
    {0}};

static const char *const names[] = {
#define NYTP_VARIABLE(name) #name,
#include "fields.def"
};

bool nytp_layout_is_debugging(const struct nytp_layout *layout)
{
    static const char word[] = "debugging";
    return strncmp(layout->option, word, sizeof word - 1) == 0;
}

const char *nytp_variable_name(enum nytp_variable variable)
{
    return names[variable];
}
