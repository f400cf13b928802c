/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The rows of options.def as a table, and what looks at it: parsing, the values, --help.
 */
#ifndef NYTP_OPTION_TABLE_H
#define NYTP_OPTION_TABLE_H

#include "cli.h"

/* How the value is read, and so what the member at `target` is (option_values.c). */
enum nytp_option_kind {
    NYTP_OPTION_FLAG,
    NYTP_OPTION_TEXT,
    NYTP_OPTION_COUNT,
    NYTP_OPTION_PERCENT,
    NYTP_OPTION_UNIT,
    NYTP_OPTION_WEIGHT,
    NYTP_OPTION_CLOCK,
    NYTP_OPTION_FORM,
    NYTP_OPTION_PATTERN,
    NYTP_OPTION_LIST, /* a text each time it is given */
    NYTP_OPTION_FORMAT,
    NYTP_OPTION_ROWS,       /* chooses the format of the same name; the value is optional */
    NYTP_OPTION_SUBS,       /* so does this, with a regular expression */
    NYTP_OPTION_BY,         /* a mode with the key of labels */
    NYTP_OPTION_WHERE,      /* KEY=~REGEX of labels, each time it is given */
    NYTP_OPTION_SUBSTITUTE, /* s/REGEX/TEXT/ */
    NYTP_OPTION_MODE,
};

struct nytp_option {
    const char *name; /* NULL: `help` is a section's title */
    char letter;      /* the short form, 0: none */
    enum nytp_option_kind kind;
    size_t target;     /* offset in struct nytp_cli; the mode itself for NYTP_OPTION_MODE */
    const char *value; /* what --help calls the value, "[=N]" where it is optional */
    const char *where; /* for which formats and modes it means something (options.def) */
    const char *help;
};

extern const struct nytp_option nytp_options[];
extern const size_t nytp_n_options;

/* "[=N]": a value can only be attached, so that what follows is a FILE. */
static inline bool nytp_has_optional_value(const struct nytp_option *option)
{
    return option->value[0] == '[';
}

/* A message about the command line; the value is false. */
#define usage_error(error, ...) nytp_error_set(error, NYTP_ERR_FORMAT, __VA_ARGS__)

#endif
