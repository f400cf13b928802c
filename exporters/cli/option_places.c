/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Reads the column `where` of options.def; see option_places.h.
 */
#include "option_places.h"

#include <stdio.h>
#include <string.h>

/* The chosen format and mode, in the words of `where`. */
struct chosen {
    const struct nytp_cli *cli;
    const char *name; /* of the format or the mode */
    bool is_format, is_diff;
};

static struct chosen what_was_chosen(const struct nytp_cli *cli)
{
    static const char *const modes[] = {
        [NYTP_MODE_STATS] = "stats",
        [NYTP_MODE_CHECK] = "check",
        [NYTP_MODE_DUMP] = "dump",
        [NYTP_MODE_BY_LABEL] = "by",
        [NYTP_MODE_LIST_FORMATS] = "list-formats",
    };
    const bool is_format = cli->mode == NYTP_MODE_EXPORT;
    return (struct chosen){cli, is_format ? cli->exporter->name : modes[cli->mode], is_format,
                           is_format && cli->bases.n > 0};
}

/* One word of `where`. */
struct word {
    const char *at;
    size_t len; /* of the name */
    bool is_not, is_option, only_diff, never_diff;
};

/* The word at *at, which is moved behind it. False at the end. */
static bool next_word(const char **at, struct word *word)
{
    *at += strspn(*at, " ");
    const size_t len = strcspn(*at, " ");
    *word = (struct word){.at = *at, .len = len};
    *at += len;
    word->is_option = len > 2 && memcmp(word->at, "--", 2) == 0;
    word->is_not = len > 0 && *word->at == '!';
    const size_t skip = word->is_option ? 2 : word->is_not;
    word->at += skip;
    word->len -= skip;
    const char *const end = word->at + word->len;
    if (word->len > 5 && memcmp(end - 4, "diff", 4) == 0) {
        word->only_diff = end[-5] == '+';
        word->never_diff = end[-5] == '-';
        word->len -= 5;
    }
    return len > 0;
}

static bool is_name(const struct word *word, const char *name)
{
    return strlen(name) == word->len && memcmp(name, word->at, word->len) == 0;
}

static bool is_given(const struct nytp_cli *cli, const struct word *word)
{
    for (size_t i = 0; i < nytp_n_options; i++)
        if (cli->given[i] && is_name(word, nytp_options[i].name))
            return true;
    return cli->exporter != NULL && is_name(word, cli->exporter->name);
}

static bool holds(const struct word *word, const struct chosen *chosen)
{
    if (word->is_option)
        return is_given(chosen->cli, word);
    if (chosen->is_diff ? word->never_diff : word->only_diff)
        return false;
    return is_name(word, chosen->name) || (chosen->is_format && is_name(word, "formats"));
}

static bool fits(const struct nytp_option *option, const struct chosen *chosen)
{
    struct word word;
    bool does = *option->where == '\0' && chosen->cli->mode != NYTP_MODE_LIST_FORMATS;
    for (const char *at = option->where; next_word(&at, &word);)
        if (holds(&word, chosen))
            does = !word.is_not;
    return does;
}

void nytp_option_places(const struct nytp_option *option, char *text, size_t size)
{
    struct word word;
    size_t len = 0;
    *text = '\0';
    for (const char *at = option->where;
         next_word(&at, &word) && !is_name(&word, "formats") && len < size;)
        len += (size_t)snprintf(text + len, size - len, "%s%s%.*s%s", len > 0 ? ", " : "",
                                word.is_option ? "--" : "", (int)word.len, word.at,
                                word.only_diff ? " --diff" : "");
}

bool nytp_options_fit(const struct nytp_cli *cli, struct nytp_error *error)
{
    const struct chosen chosen = what_was_chosen(cli);
    for (size_t i = 0; i < nytp_n_options; i++) {
        const struct nytp_option *const option = &nytp_options[i];
        const bool is_mode = option->kind == NYTP_OPTION_MODE || option->kind == NYTP_OPTION_BY;
        if (!cli->given[i] || is_mode || fits(option, &chosen))
            continue;
        char places[256];
        nytp_option_places(option, places, sizeof places);
        return usage_error(error, "--%s means nothing for --%s%s%s%s", option->name,
                           chosen.name, chosen.is_diff ? " --diff" : "",
                           *places != '\0' ? ", only for " : "", places);
    }
    return true;
}
