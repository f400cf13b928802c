/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The rows of options.def and of the exporters as one table; see options.h. --help and
 * --list-formats are made from it and the table of exporters, so they cannot go out of date.
 */
#include "option_table.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Places in which an option means something: an export without and with --diff, other modes. */
enum {
    NOWHERE = 0,
    PLAIN = 1 << NYTP_MODE_EXPORT,
    STATS = 1 << NYTP_MODE_STATS,
    CHECK = 1 << NYTP_MODE_CHECK,
    DUMP = 1 << NYTP_MODE_DUMP,
    BY = 1 << NYTP_MODE_BY_LABEL,
    DIFF = 1 << (NYTP_MODE_HELP + 1),
    FORMATS = PLAIN | DIFF,
    ANYWHERE = FORMATS | STATS | CHECK | DUMP | BY,
};

static const struct nytp_option common[] = {
#define NYTP_GROUP(title) {NULL, 0, NYTP_OPTION_FLAG, 0, NULL, NOWHERE, "", title, false},
#define NYTP_OPTION(name, letter, kind, target, value, where, beside, help)                    \
    {name,  letter, NYTP_OPTION_##kind, offsetof(struct nytp_cli, target), value, where,       \
     beside, help,  false},
#define NYTP_MODE(name, letter, mode, help)                                                    \
    {name, letter, NYTP_OPTION_MODE, NYTP_MODE_##mode, "", ANYWHERE, "", help, false},
#include "options.def"
    NYTP_GROUP("One format only")
#undef NYTP_GROUP
#undef NYTP_OPTION
#undef NYTP_MODE
};

static const char *const modes[] = {"", "stats", "check", "dump", "by", "list-formats"};

const struct nytp_option *nytp_option_at(size_t i)
{
    if (i >= NYTP_MOST_OPTIONS)
        return NULL;
    if (i < sizeof common / sizeof *common)
        return &common[i];
    i -= sizeof common / sizeof *common;
    for (size_t j = 0; nytp_exporters[j] != NULL; j++)
        for (const struct nytp_option *own = nytp_exporters[j]->options;
             own != NULL && own->name != NULL; own++)
            if (i-- == 0)
                return own;
    return NULL;
}

/* ---- where an option means something ---- */

/* Adds a place to a list, as far as there is room. */
static void add(char *text, size_t size, const char *name, const char *behind)
{
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s%s", used > 0 ? ", " : "", name, behind);
}

/* Returns whether a list of names, separated by blanks, has this one. NULL is an empty list. */
static bool has_name(const char *names, const char *name)
{
    const size_t len = strlen(name);
    for (const char *at = names; at != NULL && *at != '\0'; at += strspn(at, " ")) {
        const size_t name_len = strcspn(at, " ");
        if (name_len == len && memcmp(at, name, len) == 0)
            return true;
        at += name_len;
    }
    return false;
}

/* Returns whether the option or format of that name is on the command line. */
static bool is_given(const struct nytp_cli *cli, const char *name)
{
    const struct nytp_option *option;
    for (size_t i = 0; (option = nytp_option_at(i)) != NULL; i++)
        if (cli->given[i] && strcmp(option->name, name) == 0)
            return true;
    return cli->exporter != NULL && strcmp(cli->exporter->name, name) == 0;
}

/* Returns whether the format lists the option, or has it as its own. */
static bool lists(const struct nytp_exporter *exporter, const struct nytp_option *option,
                  bool is_diff)
{
    for (const struct nytp_option *own = exporter->options;
         own != NULL && own->name != NULL; own++)
        if (own == option)
            return true;
    return strcmp(option->name, "diff") == 0
               ? nytp_exporter_compares(exporter)
               : has_name(is_diff ? exporter->takes_diff : exporter->takes, option->name);
}

/* The formats and modes of an option that is for some only, as "top, tree"; "" for one that is
 * for all formats. */
static void list_places(const struct nytp_option *option, char *text, size_t size)
{
    *text = '\0';
    if ((option->where & FORMATS) != 0)
        return;
    for (size_t i = 0; nytp_exporters[i] != NULL; i++) {
        const bool plain = lists(nytp_exporters[i], option, false);
        if (plain || lists(nytp_exporters[i], option, true))
            add(text, size, nytp_exporters[i]->name, plain ? "" : " --diff");
    }
    for (unsigned mode = 0; mode < sizeof modes / sizeof *modes; mode++)
        if ((option->where & 1u << mode) != 0)
            add(text, size, modes[mode], "");
    if (*option->beside != '\0')
        add(text, size, "--", option->beside);
}

static bool fits(const struct nytp_cli *cli, const struct nytp_option *option)
{
    const bool is_format = cli->mode == NYTP_MODE_EXPORT, is_diff = cli->bases.n > 0;
    const unsigned here = is_format && is_diff ? DIFF : 1u << cli->mode;
    if (is_format && lists(cli->exporter, option, is_diff))
        return true;
    if (is_format && has_name(cli->exporter->refuses, option->name))
        return false;
    return (option->where & here) != 0 || is_given(cli, option->beside);
}

bool nytp_options_fit(const struct nytp_cli *cli, struct nytp_error *error)
{
    const bool is_format = cli->mode == NYTP_MODE_EXPORT, is_diff = cli->bases.n > 0;
    const struct nytp_option *option;
    char places[256];
    for (size_t i = 0; (option = nytp_option_at(i)) != NULL; i++) {
        if (!cli->given[i] || option->kind == NYTP_OPTION_MODE || fits(cli, option))
            continue;
        list_places(option, places, sizeof places);
        return usage_error(error, "--%s means nothing for --%s%s%s%s", option->name,
                           is_format ? cli->exporter->name : modes[cli->mode],
                           is_format && is_diff ? " --diff" : "",
                           *places != '\0' ? ", only for " : "", places);
    }
    return true;
}

/* ---- --help and --list-formats ---- */

#define HELP_COLUMN 26
#define HELP_WIDTH  100

/* A row whose right side is continued below itself where it is too long. */
static void put_row(struct nytp_out *out, const char *left, const char *right)
{
    size_t column = strlen(left) < HELP_COLUMN ? strlen(left) : HELP_WIDTH;
    nytp_printf(out, "  %s", left);
    for (const char *end; *right != '\0'; right = end + strspn(end, " ")) {
        end = right + strcspn(right, " ");
        const size_t len = (size_t)(end - right);
        const bool fits = column + 1 + len <= HELP_WIDTH - 2;
        if (!fits)
            nytp_puts(out, "\n  ");
        const size_t from = fits ? column : 0;
        const size_t gap = from < HELP_COLUMN ? HELP_COLUMN - from : 1;
        nytp_printf(out, "%*s%.*s", (int)gap, "", (int)len, right);
        column = from + gap + len;
    }
    nytp_putc(out, '\n');
}

static void put_option(struct nytp_out *out, const struct nytp_option *option)
{
    char left[80];
    snprintf(left, sizeof left, "%s%c%s--%s%s%s", option->letter != 0 ? "-" : "",
             option->letter != 0 ? option->letter : ' ', option->letter != 0 ? ", " : "   ",
             option->name,
             nytp_has_optional_value(option) || option->value[0] == '\0' ? "" : " ",
             option->value);
    char right[512], places[256];
    list_places(option, places, sizeof places);
    snprintf(right, sizeof right, "%s%s%s%s", option->help, *places != '\0' ? " [" : "", places,
             *places != '\0' ? "]" : "");
    put_row(out, left, right);
}

void nytp_cli_put_help(struct nytp_out *out)
{
    nytp_puts(
        out,
        "usage: nytp-export [FORMAT] [OPTION]... [FILE]...\n"
        "Turn profiles of Perl programs into files for other viewers, or answer in the\n"
        "terminal. FILE is nytprof.out by default; - is standard input. Several are merged.\n"
        "Without FORMAT the -o suffix tells it, without -o it is --top.\n\n"
        "Formats:\n");
    for (size_t i = 0; nytp_exporters[i] != NULL; i++) {
        char left[80];
        snprintf(left, sizeof left, "    --%s", nytp_exporters[i]->name);
        put_row(out, left, nytp_exporters[i]->title);
    }
    const struct nytp_option *option;
    for (size_t i = 0; (option = nytp_option_at(i)) != NULL; i++) {
        if (option->name == NULL)
            nytp_printf(out, "\n%s:\n", option->help);
        else
            put_option(out, option);
    }
    nytp_puts(out,
              "\nExit status: 0 done, 1 unusable input, 2 usage, 3 partial input exported,\n"
              "4 output failed, 10 a limit exceeded.\n");
}

void nytp_cli_put_formats(struct nytp_out *out)
{
    nytp_puts(out, "Output:\n");
    for (size_t i = 0; nytp_exporters[i] != NULL; i++) {
        const struct nytp_exporter *exporter = nytp_exporters[i];
        const bool has_suffix = exporter->suffixes != NULL && exporter->suffixes[0] != '\0';
        nytp_printf(out, "  %-14s %s%s%s%s\n", exporter->name, exporter->title,
                    has_suffix ? " (" : "", has_suffix ? exporter->suffixes : "",
                    has_suffix ? ")" : "");
    }
    nytp_puts(out, "Input:\n");
    for (size_t i = 0; nytp_formats[i] != NULL; i++)
        nytp_printf(out, "  %-14s %s\n", nytp_formats[i]->name, nytp_formats[i]->title);
}
