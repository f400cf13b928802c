/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The rows of options.def and of the exporters as one table; see options.h.
 */
#include "options.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Bits of the column `where`. */
#define AT(mode)     (1u << NYTP_MODE_##mode)
#define PLAIN        AT(EXPORT)
#define DIFF         (1u << 30)
#define FORMATS      (PLAIN | DIFF)
#define STATS        AT(STATS)
#define CHECK        AT(CHECK)
#define DUMP         AT(DUMP)
#define BY_LABEL     AT(BY_LABEL)
#define ANYWHERE     (FORMATS | STATS | CHECK | DUMP | BY_LABEL)
#define BY_EXPORTERS 0

static const struct nytp_option common[] = {
#define NYTP_GROUP(title) {NULL, 0, NYTP_OPTION_FLAG, 0, NULL, 0, NULL, title},
#define NYTP_OPTION(name, letter, kind, target, value, where, help)                            \
    NYTP_BESIDE(name, letter, kind, target, value, where, NULL, help)
#define NYTP_BESIDE(name, letter, kind, target, value, where, beside, help)                    \
    {name,   letter, NYTP_OPTION_##kind, offsetof(struct nytp_cli, target), value, where,      \
     beside, help},
#define NYTP_MODE(name, letter, mode, help)                                                    \
    {name, letter, NYTP_OPTION_MODE, NYTP_MODE_##mode, "", 0, NULL, help},
#include "options.def"
    NYTP_GROUP("One format only")
#undef NYTP_GROUP
#undef NYTP_OPTION
};

static const char *const modes[] = {"", "stats", "check", "dump", "by", "list-formats"};

const struct nytp_option *nytp_option_at(size_t i)
{
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

static bool is_given(const struct nytp_cli *cli, const char *name)
{
    const struct nytp_option *option;
    for (size_t i = 0; (option = nytp_option_at(i)) != NULL; i++)
        if (cli->given[i] && strcmp(option->name, name) == 0)
            return true;
    return cli->exporter != NULL && strcmp(cli->exporter->name, name) == 0;
}

static bool has_word(const char *words, const char *word)
{
    const size_t len = strlen(word);
    for (const char *at = words; at != NULL && *at != '\0'; at += strspn(at, " ")) {
        const size_t end = strcspn(at, " ");
        if (end == len && memcmp(at, word, len) == 0)
            return true;
        at += end;
    }
    return false;
}

static bool owns(const struct nytp_exporter *exporter, const struct nytp_option *option)
{
    const struct nytp_option *own = exporter->options;
    while (own != NULL && own->name != NULL && own != option)
        own++;
    return own == option;
}

static bool takes(const struct nytp_exporter *exporter, const struct nytp_option *option,
                  bool is_diff)
{
    if (option->where == NYTP_OF_EXPORTER)
        return owns(exporter, option);
    if (strcmp(option->name, "diff") == 0)
        return nytp_exporter_compares(exporter);
    return !has_word(exporter->refuses, option->name) &&
           ((option->where & (is_diff ? DIFF : PLAIN)) != 0 ||
            has_word(is_diff ? exporter->takes_diff : exporter->takes, option->name));
}

static bool fits(const struct nytp_cli *cli, const struct nytp_option *option)
{
    if (option->beside != NULL && is_given(cli, option->beside))
        return true;
    return cli->mode == NYTP_MODE_EXPORT ? takes(cli->exporter, option, cli->bases.n > 0)
                                         : (option->where >> cli->mode & 1) != 0;
}

static size_t add(char *text, size_t size, size_t len, const char *before, const char *name,
                  const char *behind)
{
    if (len >= size)
        return len;
    return len + (size_t)snprintf(text + len, size - len, "%s%s%s%s", len > 0 ? ", " : "",
                                  before, name, behind);
}

void nytp_option_places(const struct nytp_option *option, char *text, size_t size)
{
    size_t len = 0;
    *text = '\0';
    if ((option->where & FORMATS) != 0 || option->kind == NYTP_OPTION_MODE)
        return;
    for (size_t i = 0; nytp_exporters[i] != NULL; i++) {
        const bool plain = takes(nytp_exporters[i], option, false);
        if (plain || takes(nytp_exporters[i], option, true))
            len = add(text, size, len, "", nytp_exporters[i]->name, plain ? "" : " --diff");
    }
    for (size_t i = 1; i < sizeof modes / sizeof *modes; i++)
        if (option->where != NYTP_OF_EXPORTER && (option->where >> i & 1) != 0)
            len = add(text, size, len, "", modes[i], "");
    if (option->beside != NULL)
        add(text, size, len, "--", option->beside, "");
}

bool nytp_options_fit(const struct nytp_cli *cli, struct nytp_error *error)
{
    const bool is_format = cli->mode == NYTP_MODE_EXPORT;
    const struct nytp_option *option;
    for (size_t i = 0; (option = nytp_option_at(i)) != NULL; i++) {
        if (!cli->given[i] || option->kind == NYTP_OPTION_MODE ||
            option->kind == NYTP_OPTION_BY || fits(cli, option))
            continue;
        char places[256];
        nytp_option_places(option, places, sizeof places);
        return usage_error(error, "--%s means nothing for --%s%s%s%s", option->name,
                           is_format ? cli->exporter->name : modes[cli->mode],
                           is_format && cli->bases.n > 0 ? " --diff" : "",
                           *places != '\0' ? ", only for " : "", places);
    }
    return true;
}
