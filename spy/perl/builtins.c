/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Builtins that are shown; see builtins.h.
 */
#include "builtins.h"

#include "attach.h"

#include <strings.h>

static const char *const timed[] = {
#define NYTP_SLOWOP(type) #type,
#include "XS/options/slowops.def"
};

static bool is_timed(const char *name)
{
    for (size_t i = 0; i < sizeof timed / sizeof *timed; i++)
        if (strcasecmp(timed[i] + 3, name) == 0) /* OP_… */
            return true;
    return false;
}

const char *nytp_timed_builtin(struct nytp_perl *perl, unsigned type)
{
    if (type >= NYTP_OP_TYPES)
        return NULL;
    enum nytp_op_kind *const kind = &perl->op_kinds[type];
    if (*kind == NYTP_OP_UNKNOWN)
        *kind = is_timed(nytp_op_name(perl, type)) ? NYTP_OP_TIMED : NYTP_OP_OTHER;
    return *kind == NYTP_OP_TIMED ? nytp_op_name(perl, type) : NULL;
}
