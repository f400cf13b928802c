/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The rows of options.def as a table for those who look options up by name; see
 * option_table.h.
 */
#include "option_table.h"

#include <assert.h>
#include <stddef.h>

/* A row's target is a member or, for MODE, an enum value: TARGET_kind() knows which. */
#define MEMBER(target)            offsetof(struct nytp_cli, target)
#define TARGET_FLAG(target)       MEMBER(target)
#define TARGET_TEXT(target)       MEMBER(target)
#define TARGET_COUNT(target)      MEMBER(target)
#define TARGET_PERCENT(target)    MEMBER(target)
#define TARGET_UNIT(target)       MEMBER(target)
#define TARGET_FORM(target)       MEMBER(target)
#define TARGET_WEIGHT(target)     MEMBER(target)
#define TARGET_CLOCK(target)      MEMBER(target)
#define TARGET_PATTERN(target)    MEMBER(target)
#define TARGET_LIST(target)       MEMBER(target)
#define TARGET_FORMAT(target)     MEMBER(target)
#define TARGET_ROWS(target)       MEMBER(target)
#define TARGET_SUBS(target)       MEMBER(target)
#define TARGET_SUBSTITUTE(target) MEMBER(target)
#define TARGET_WHERE(target)      MEMBER(target)
#define TARGET_BY(target)         MEMBER(target)
#define TARGET_MODE(target)       (size_t)(target)

const struct nytp_option nytp_options[] = {
#define NYTP_GROUP(title) {NULL, 0, NYTP_OPTION_FLAG, 0, NULL, NULL, title},
#define NYTP_OPTION(name, letter, kind, target, value, where, help)                            \
    {name, letter, NYTP_OPTION_##kind, TARGET_##kind(target), value, where, help},
#include "options.def"
#undef NYTP_GROUP
#undef NYTP_OPTION
};

const size_t nytp_n_options = sizeof nytp_options / sizeof *nytp_options;

static_assert(sizeof nytp_options / sizeof *nytp_options <= NYTP_MOST_OPTIONS,
              "each option has its place among those that were given");
