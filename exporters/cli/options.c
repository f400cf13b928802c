/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Fills struct nytp_cli from the command line; see options.h. The parsing is our own:
 * getopt_long() is not in POSIX, and the flags of formats are known only at run time.
 */
#include "options.h"
#include "option_table.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

struct words {
    char **argv;
    int argc, next;
    int after_value_option; /* index of the word after the last option of cli->value_option */
    enum nytp_option_kind value_kind; /* of that option */
};

static bool takes_value(const struct nytp_option *option)
{
    return option->value[0] != '\0' && !nytp_has_optional_value(option);
}

static bool apply_option(struct nytp_cli *cli, const struct nytp_option *option,
                         const char *attached, struct words *words, struct nytp_error *error)
{
    if (option->value[0] == '\0' && attached != NULL)
        return usage_error(error, "--%s takes no value", option->name);
    if (nytp_has_optional_value(option) && attached == NULL) {
        cli->value_option = option->name;
        words->value_kind = option->kind;
        words->after_value_option = words->next;
    }
    if (!takes_value(option) || attached != NULL)
        return nytp_option_set(cli, option, attached, error);
    if (words->next == words->argc)
        return usage_error(error, "--%s needs a value: %s", option->name, option->value);
    return nytp_option_set(cli, option, words->argv[words->next++], error);
}

static const struct nytp_option *find_name(const char *name, size_t len)
{
    const struct nytp_option *option;
    for (size_t i = 0; (option = nytp_option_at(i)) != NULL; i++)
        if (option->name != NULL && strlen(option->name) == len &&
            memcmp(option->name, name, len) == 0)
            break;
    return option;
}

static bool parse_long(struct nytp_cli *cli, const char *argument, struct words *words,
                       struct nytp_error *error)
{
    const char *name = argument + 2;
    const size_t len = strcspn(name, "=");
    const char *attached = name[len] == '=' ? name + len + 1 : NULL;
    const struct nytp_option *option = find_name(name, len);
    if (option != NULL)
        return apply_option(cli, option, attached, words, error);
    if (nytp_former_option(argument, error))
        return false;
    const struct nytp_exporter *exporter = nytp_exporter_named(name, len);
    if (exporter == NULL)
        return nytp_unknown_option(argument, len, error);
    if (attached != NULL)
        return usage_error(error, "--%s takes no value", exporter->name);
    return nytp_choose_exporter(cli, exporter, error);
}

static const struct nytp_option *find_letter(char letter)
{
    const struct nytp_option *option;
    for (size_t i = 0; (option = nytp_option_at(i)) != NULL; i++)
        if (option->letter == letter)
            break;
    return option;
}

/* A long name behind one hyphen is what other programs take. */
static bool unknown_letter(const char *argument, char letter, struct nytp_error *error)
{
    const char *const name = argument + 1;
    const size_t len = strcspn(name, "=");
    if (find_name(name, len) != NULL || nytp_exporter_named(name, len) != NULL)
        return usage_error(error, "unknown option -%c; did you mean -%.80s?", letter, argument);
    return usage_error(error, "unknown option -%c", letter);
}

static bool parse_letters(struct nytp_cli *cli, const char *argument, struct words *words,
                          struct nytp_error *error)
{
    for (const char *at = argument + 1; *at != '\0'; at++) {
        const struct nytp_option *option = find_letter(*at);
        if (option == NULL)
            return unknown_letter(argument, *at, error);
        if (takes_value(option))
            return apply_option(cli, option, at[1] != '\0' ? at + 1 : NULL, words, error);
        if (!apply_option(cli, option, NULL, words, error))
            return false;
    }
    return true;
}

/* A FILE right after an option with an optional value may be meant as that value: a number, or
 * a name without folders. */
static void add_file(struct nytp_cli *cli, const struct words *words, char *file)
{
    uint32_t ignored;
    const bool numbers = words->value_kind == NYTP_OPTION_ROWS;
    const bool may_be_value =
        numbers ? nytp_read_count(file, &ignored) : strchr(file, '/') == NULL;
    if (cli->value_option != NULL && words->next - 1 == words->after_value_option &&
        may_be_value)
        cli->value_file = file;
    cli->files[cli->n_files++] = file;
}

static bool parse_words(struct nytp_cli *cli, struct words *words, struct nytp_error *error)
{
    bool options_end = false;
    while (words->next < words->argc) {
        char *argument = words->argv[words->next++];
        if (options_end || argument[0] != '-' || argument[1] == '\0') {
            add_file(cli, words, argument);
        } else if (strcmp(argument, "--") == 0) {
            options_end = true;
        } else if (argument[1] == '-') {
            if (!parse_long(cli, argument, words, error))
                return false;
        } else if (!parse_letters(cli, argument, words, error)) {
            return false;
        }
    }
    return true;
}

/* ---- the command line as a whole ---- */

bool nytp_cli_is_compressed(const char *path)
{
    const size_t len = strlen(path);
    return len > 3 && strcmp(path + len - 3, ".gz") == 0;
}

/* Returns how long the longest suffix or prefix is that the first bytes of a name have. */
static size_t longest_suffix(const struct nytp_exporter *exporter, const char *name,
                             size_t name_len)
{
    size_t best = 0;
    for (const char *at = exporter->suffixes; at != NULL && *at != '\0';) {
        at += strspn(at, " ");
        const size_t len = strcspn(at, " ");
        const bool prefix = len > 1 && at[len - 1] == '*';
        const size_t fixed = prefix ? len - 1 : len;
        const char *place = prefix ? name : name + name_len - fixed;
        if (fixed > best && name_len >= fixed && memcmp(place, at, fixed) == 0)
            best = fixed;
        at += len;
    }
    return best;
}

size_t nytp_cli_suffix_len(const struct nytp_exporter *exporter, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const size_t name_len = strlen(name);
    const size_t len = longest_suffix(exporter, name, name_len);
    if (len > 0 || !nytp_cli_is_compressed(name))
        return len;
    const size_t before_gz = longest_suffix(exporter, name, name_len - 3);
    return before_gz > 0 ? before_gz + 3 : 0;
}

static const struct nytp_exporter *exporter_for_path(const char *path)
{
    const struct nytp_exporter *found = NULL;
    size_t best = 0;
    for (size_t i = 0; nytp_exporters[i] != NULL; i++) {
        const size_t len = nytp_cli_suffix_len(nytp_exporters[i], path);
        if (len > best) {
            best = len;
            found = nytp_exporters[i];
        }
    }
    return found;
}

/* A format that was not named is that of the output's name. */
static bool choose_exporter(struct nytp_cli *cli, struct nytp_error *error)
{
    cli->format_given = cli->exporter != NULL;
    const bool to_file = cli->output != NULL && strcmp(cli->output, "-") != 0;
    if (cli->exporter == NULL && to_file)
        cli->exporter = exporter_for_path(cli->output);
    if (cli->exporter != NULL || cli->mode != NYTP_MODE_EXPORT)
        return true;
    if (!to_file)
        return nytp_choose_format(cli, "top", error);
    return usage_error(error, "%s: the name tells no format; see --list-formats", cli->output);
}

/* ---- options that go together, checked when all have been read ---- */

/* Comparing and limits. */
static bool check_comparison(const struct nytp_cli *cli, struct nytp_error *error)
{
    const bool gate = cli->gate.limits.n + cli->gate.files.n > 0;
    const int n_answers = nytp_cli_n_answers(cli);
    if (cli->bases.n > 0 && !nytp_exporter_compares(cli->exporter))
        return usage_error(
            error, "--diff: %s cannot show a difference: %s", cli->exporter->name,
            cli->exporter->no_diff != NULL ? cli->exporter->no_diff : "use --json or --pprof");
    if (cli->bases.n > 0 && !cli->exporter->shows_stacks && cli->export.weight == NYTP_WEIGHT_CPU)
        return usage_error(
            error, "--diff: processor times (--weight cpu) are compared by stacks only: "
                   "--collapsed or --flamegraph");
    if (cli->export.spread && cli->export.lines)
        return usage_error(error, "--spread is of subs, not of --lines");
    if (cli->gate.limits.n > 0 && cli->bases.n == 0)
        return usage_error(error, "--fail-over needs a base: --diff BASE");
    if ((n_answers > 0 || cli->gate.junit != NULL) && !gate)
        return usage_error(error, "there is no limit: --fail-over LIMIT or --gate FILE");
    const bool to_stdout = cli->output == NULL || strcmp(cli->output, "-") == 0;
    if (n_answers > 0 && (cli->format_given || cli->output != NULL) && to_stdout)
        return usage_error(error,
                           "--gate-tap, --annotations and --gate-junit=- write to standard "
                           "output: use -o FILE for %s",
                           cli->exporter->name);
    if (n_answers > 1)
        return usage_error(error, "--gate-tap, --annotations and --gate-junit=-: one of them");
    return true;
}

static bool check_labels(const struct nytp_cli *cli, struct nytp_error *error)
{
    for (uint32_t i = 0; i < cli->export.labels.n; i++) {
        const char *text = cli->export.labels.at[i];
        if (strchr(text, '=') == NULL || text[0] == '=')
            return usage_error(error, "--label takes KEY=VALUE, not \"%s\"", text);
    }
    return true;
}

/* A format where none is written, or one that labels have no place in. */
static bool check_mode(const struct nytp_cli *cli, struct nytp_error *error)
{
    static const char *const of_labels[] = {"json", "csv", "markdown", "rows"};
    if (cli->mode == NYTP_MODE_EXPORT || cli->exporter == NULL)
        return true;
    if (cli->mode != NYTP_MODE_BY_LABEL)
        return usage_error(error,
                           "%s is a format, and what is asked for instead of exporting is text",
                           cli->exporter->name);
    if (cli->export.unit != NULL && strcmp(cli->exporter->name, "rows") == 0)
        return usage_error(error, "--unit means nothing for --rows, which are in ns");
    for (size_t i = 0; i < sizeof of_labels / sizeof *of_labels; i++)
        if (strcmp(cli->exporter->name, of_labels[i]) == 0)
            return true;
    return usage_error(error,
                       "--by has a table of its own, or --json, --csv, --markdown, "
                       "--rows; not --%s",
                       cli->exporter->name);
}

static bool check(struct nytp_cli *cli, struct nytp_error *error)
{
    if (cli->mode == NYTP_MODE_HELP || cli->mode == NYTP_MODE_VERSION)
        return true;
    if (!check_labels(cli, error) || !check_mode(cli, error))
        return false;
    if (cli->mode == NYTP_MODE_EXPORT && cli->exporter->wants_names && cli->export.names.n == 0)
        return usage_error(error, "%s of which subs? --%s=REGEX", cli->exporter->name,
                           cli->exporter->name);
    if (cli->mode == NYTP_MODE_EXPORT && !check_comparison(cli, error))
        return false;
    if (!nytp_options_fit(cli, error))
        return false;
    if (cli->export.sort != NULL && strcmp(cli->export.sort, "ops") == 0 &&
        strcmp(cli->exporter->name, "top") != 0)
        return usage_error(error, "--sort ops is of --top only");
    if (cli->export.as != NYTP_FORM_TEXT && cli->export.request_key.ptr != NULL)
        return usage_error(error, "--as: the statements of requests are text only");
    if (cli->per_process && (cli->output == NULL || strcmp(cli->output, "-") == 0) &&
        cli->mode == NYTP_MODE_EXPORT)
        return usage_error(error, "--per-process needs -o FILE");
    if (cli->open &&
        (cli->per_process || (cli->output != NULL && strcmp(cli->output, "-") == 0)))
        return usage_error(error, "--open shows one file");
    int n_stdin = 0;
    for (int i = 0; i < cli->n_files; i++)
        n_stdin += strcmp(cli->files[i], "-") == 0;
    for (uint32_t i = 0; i < cli->bases.n; i++)
        n_stdin += strcmp(cli->bases.at[i], "-") == 0;
    if (n_stdin > 1)
        return usage_error(error, "standard input (-) can be read only once");
    return true;
}

static bool is_empty(const char *name)
{
    return name != NULL && *name == '\0';
}

static bool has_empty(const struct nytp_texts *names)
{
    uint32_t i = 0;
    while (i < names->n && !is_empty(names->at[i]))
        i++;
    return i < names->n;
}

/* Refuses empty names: a variable of the shell may not be set. */
static bool check_names(const struct nytp_cli *cli, struct nytp_error *error)
{
    const char *empty = is_empty(cli->output)         ? "--output"
                        : is_empty(cli->gate.junit)   ? "--gate-junit"
                        : has_empty(&cli->gate.files) ? "--gate"
                        : has_empty(&cli->bases)      ? "--diff"
                                                      : NULL;
    for (int i = 0; i < cli->n_files; i++)
        if (is_empty(cli->files[i]))
            empty = "FILE";
    return empty == NULL || usage_error(error, "%s: the name is empty", empty);
}

bool nytp_cli_parse(struct nytp_cli *cli, int argc, char **argv, struct nytp_error *error)
{
    static char default_file[] = "nytprof.out";
    cli->files = calloc((size_t)argc + 1, sizeof *cli->files);
    if (cli->files == NULL)
        return nytp_out_of_memory(error);
    struct words words = {.argv = argv, .argc = argc, .next = 1};
    cli->selection.min_percent = -1; /* not given */
    if (!parse_words(cli, &words, error))
        return false;
    if (cli->n_files == 0) {
        cli->default_file = true;
        cli->files[cli->n_files++] = default_file;
    }
    if (!check_names(cli, error) || !choose_exporter(cli, error))
        return false;
    if (cli->bases.n > 0 ||
        (cli->exporter != NULL && (cli->exporter->stable_names || cli->exporter->merges_evals)))
        cli->selection.merge_evals = true;
    cli->export.min_percent = cli->selection.min_percent;
    if (cli->exporter != NULL && cli->exporter->prunes_itself)
        cli->selection.min_percent = -1;
    cli->export.waits = &cli->selection.waits;
    cli->export.max_depth = cli->selection.max_depth;
    cli->export.collapse_recursion = cli->selection.collapse_recursion;
    return check(cli, error);
}

void nytp_cli_free(struct nytp_cli *cli)
{
    for (int i = 0; cli->owns_files && i < cli->n_files; i++)
        free(cli->files[i]);
    free(cli->files);
    free(cli->export.report.libs.at);
    nytp_label_where_free(&cli->where);
    nytp_substitute_free(cli->group);
    free(cli->selected);
    free(cli->trim_paths.at);
    free(cli->export.labels.at);
    for (uint32_t i = 0; cli->owns_bases && i < cli->bases.n; i++)
        free((char *)(uintptr_t)cli->bases.at[i]);
    free(cli->bases.at);
    free(cli->gate.limits.at);
    free(cli->gate.files.at);
    nytp_patterns_free(&cli->selection.focus);
    nytp_patterns_free(&cli->selection.ignore);
    nytp_patterns_free(&cli->selection.hide);
    nytp_patterns_free(&cli->selection.show);
    nytp_patterns_free(&cli->selection.show_from);
    nytp_patterns_free(&cli->export.names);
    nytp_patterns_free(&cli->selection.waits);
}
