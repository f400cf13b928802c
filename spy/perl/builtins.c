/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Builtins that are shown; see builtins.h.
 */
#include "builtins.h"

#include <ctype.h>
#include <stddef.h>
#include <strings.h>

static const char *const timed[] = {
#define NYTP_SLOWOP(type) #type,
#include "XS/options/slowops.def"
};

bool nytp_is_timed_builtin(const char *name)
{
    for (size_t i = 0; i < sizeof timed / sizeof *timed; i++)
        if (tolower(timed[i][3]) == name[0] && strcasecmp(timed[i] + 3, name) == 0) /* OP_… */
            return true;
    return false;
}
