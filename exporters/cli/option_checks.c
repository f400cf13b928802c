/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Refuses options that do not go together; see option_checks.h.
 */
#include "option_checks.h"

#include "option_places.h"

#include "formats/model/svs.h"

#include <string.h>

static bool is_sort_key(const char *key)
{
    static const char *const keys[] = {"self", "incl", "calls", "percall", "name", "ops"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return nytp_memory_named(key) < NYTP_N_WEIGHTS;
}

static bool unknown_sort_key(const char *key, struct nytp_error *error)
{
    char known[200];
    return usage_error(
        error, "unknown --sort key \"%s\": self, incl, calls, percall, name, ops, %s", key,
        nytp_measures_list("", "time calls statements ops incl cpu", known, sizeof known));
}

/* Comparing and limits. */
static bool check_comparison(const struct nytp_cli *cli, struct nytp_error *error)
{
    const bool gate = cli->limits.n + cli->gate_files.n > 0;
    const int n_answers = nytp_cli_n_answers(cli);
    if (cli->bases.n > 0 && cli->exporter->write_diff == NULL &&
        cli->exporter->write_set == NULL)
        return usage_error(
            error, "--diff: %s cannot show a difference: %s", cli->exporter->name,
            cli->exporter->no_diff != NULL ? cli->exporter->no_diff : "use --json or --pprof");
    const enum nytp_weight weight = cli->export.weight;
    if (cli->bases.n > 0 && !cli->exporter->shows_stacks && weight == NYTP_WEIGHT_CPU)
        return usage_error(
            error, "--diff: processor times (--weight cpu) are compared by stacks only: "
                   "--collapsed or --flamegraph");
    if (cli->export.spread && cli->export.lines)
        return usage_error(error, "--spread is of subs, not of --lines");
    if (cli->limits.n > 0 && cli->bases.n == 0)
        return usage_error(error, "--fail-over needs a base: --diff BASE");
    if ((n_answers > 0 || cli->gate_junit != NULL) && !gate)
        return usage_error(error, "there is no limit: --fail-over LIMIT or --gate FILE");
    if (cli->annotations != NULL && strcmp(cli->annotations, "github") != 0)
        return usage_error(error, "unknown --annotations kind \"%s\": github",
                           cli->annotations);
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
    const char *list = cli->export.auto_labels;
    static const char *const known[] = {"pid", "script", "pid,script", "script,pid", "none"};
    for (size_t i = 0; list != NULL && i < sizeof known / sizeof *known; i++)
        if (strcmp(list, known[i]) == 0)
            list = NULL;
    return list == NULL ||
           usage_error(error, "--labels takes pid, script, pid,script or none, not \"%s\"",
                       list);
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

bool nytp_cli_check(struct nytp_cli *cli, struct nytp_error *error)
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
    if (cli->export.sort != NULL && !is_sort_key(cli->export.sort))
        return unknown_sort_key(cli->export.sort, error);
    if (cli->export.sort != NULL && strcmp(cli->export.sort, "ops") == 0 &&
        strcmp(cli->exporter->name, "top") != 0)
        return usage_error(error, "--sort ops is of --top only");
    if (cli->export.as != NYTP_FORM_TEXT && cli->export.by_query)
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
