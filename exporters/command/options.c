/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Command line to struct, --help and --list-formats; see options.h. Own parsing rather than
 * getopt_long(): that is no POSIX, and the formats' flags are known only at run time.
 */
#include "options.h"
#include "../core/near.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum nytp_option_kind {
    NYTP_OPTION_FLAG,
    NYTP_OPTION_TEXT,
    NYTP_OPTION_COUNT,
    NYTP_OPTION_PERCENT,
    NYTP_OPTION_UNIT,
    NYTP_OPTION_WEIGHT,
    NYTP_OPTION_CLOCK,
    NYTP_OPTION_PATTERN,
    NYTP_OPTION_LIST, /* a text each time it is given */
    NYTP_OPTION_FORMAT,
    NYTP_OPTION_ROWS, /* chooses the format of the same name; the value is optional */
    NYTP_OPTION_SUBS, /* so does this, with a regular expression */
    NYTP_OPTION_MODE,
};

struct option {
    const char *name; /* NULL: `help` is a section's title */
    char letter;
    enum nytp_option_kind kind;
    size_t target; /* offset in struct nytp_cli; the mode itself for NYTP_OPTION_MODE */
    const char *value;
    const char *help;
};

/* A row's target is a member or, for MODE, an enum value: TARGET_kind() knows which. */
#define MEMBER(target)         offsetof(struct nytp_cli, target)
#define TARGET_FLAG(target)    MEMBER(target)
#define TARGET_TEXT(target)    MEMBER(target)
#define TARGET_COUNT(target)   MEMBER(target)
#define TARGET_PERCENT(target) MEMBER(target)
#define TARGET_UNIT(target)    MEMBER(target)
#define TARGET_WEIGHT(target)  MEMBER(target)
#define TARGET_CLOCK(target)   MEMBER(target)
#define TARGET_PATTERN(target) MEMBER(target)
#define TARGET_LIST(target)    MEMBER(target)
#define TARGET_FORMAT(target)  MEMBER(target)
#define TARGET_ROWS(target)    MEMBER(target)
#define TARGET_SUBS(target)    MEMBER(target)
#define TARGET_MODE(target)    (size_t)(target)

static const struct option options[] = {
#define NYTP_GROUP(title) {NULL, 0, NYTP_OPTION_FLAG, 0, NULL, title},
#define NYTP_OPTION(name, letter, kind, target, value, help)                                   \
    {name, letter, NYTP_OPTION_##kind, TARGET_##kind(target), value, help},
#include "options.def"
#undef NYTP_GROUP
#undef NYTP_OPTION
};

#define N_OPTIONS (sizeof options / sizeof *options)

#define usage_error(error, ...) nytp_error_set(error, NYTP_ERR_FORMAT, __VA_ARGS__)

/* ---- suggestions ---- */

struct nearest {
    const char *text; /* what was typed */
    size_t len;
    unsigned distance; /* of the best so far */
    const char *name;  /* NULL = nothing near enough */
};

static void nearest_consider(struct nearest *nearest, const char *name)
{
    const size_t name_len = strlen(name);
    unsigned d = nytp_edit_distance(nearest->text, nearest->len, name, name_len);
    const size_t shorter = name_len < nearest->len ? name_len : nearest->len;
    const bool one_begins_the_other =
        shorter >= 2 && strncmp(name, nearest->text, shorter) == 0 &&
        (name_len > nearest->len || nearest->text[name_len] == '-');
    if (one_begins_the_other)
        d = 1;
    if (d > nearest->distance ||
        (d == nearest->distance && nearest->name != NULL && name_len <= strlen(nearest->name)))
        return;
    nearest->distance = d;
    nearest->name = name;
}

static struct nearest nearest_to(const char *text, size_t len)
{
    const unsigned limit = len >= 6 ? (unsigned)(len / 3) : len >= 3 ? 1 : 0;
    return (struct nearest){.text = text, .len = len, .distance = limit};
}

static bool unknown_option(const char *argument, size_t name_len, struct nytp_error *error)
{
    struct nearest nearest = nearest_to(argument + 2, name_len);
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (options[i].name != NULL)
            nearest_consider(&nearest, options[i].name);
    for (size_t i = 0; nytp_exporters[i] != NULL; i++)
        nearest_consider(&nearest, nytp_exporters[i]->name);
    char typed[80];
    snprintf(typed, sizeof typed, "%.*s", (int)(name_len < 70 ? name_len : 70), argument + 2);
    if (nearest.name == NULL)
        return usage_error(error, "unknown option --%s", typed);
    return usage_error(error, "unknown option --%s; did you mean --%s?", typed, nearest.name);
}

/* ---- values ---- */

static const struct nytp_exporter *find_exporter(const char *name, size_t len)
{
    for (size_t i = 0; nytp_exporters[i] != NULL; i++)
        if (strlen(nytp_exporters[i]->name) == len &&
            memcmp(nytp_exporters[i]->name, name, len) == 0)
            return nytp_exporters[i];
    return NULL;
}

static bool set_exporter(struct nytp_cli *cli, const struct nytp_exporter *exporter,
                         struct nytp_error *error)
{
    if (cli->exporter != NULL && cli->exporter != exporter)
        return usage_error(error, "two formats: %s and %s", cli->exporter->name,
                           exporter->name);
    cli->exporter = exporter;
    return true;
}

static bool set_format(struct nytp_cli *cli, const char *name, struct nytp_error *error)
{
    const struct nytp_exporter *exporter = find_exporter(name, strlen(name));
    if (exporter != NULL)
        return set_exporter(cli, exporter, error);
    struct nearest nearest = nearest_to(name, strlen(name));
    for (size_t i = 0; nytp_exporters[i] != NULL; i++)
        nearest_consider(&nearest, nytp_exporters[i]->name);
    if (nearest.name != NULL)
        return usage_error(error, "unknown format %s; did you mean %s?", name, nearest.name);
    return usage_error(error, "unknown format %s; see --list-formats", name);
}

static bool read_count(const char *text, uint32_t *count)
{
    uint32_t value = 0;
    if (*text == '\0' || strlen(text) > 9)
        return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9')
            return false;
        value = value * 10 + (uint32_t)(*text - '0');
    }
    *count = value;
    return true;
}

static bool set_count(uint32_t *target, const struct option *option, const char *value,
                      struct nytp_error *error)
{
    if (!read_count(value, target) || *target == 0)
        return usage_error(error, "--%s takes a number from 1, not \"%s\"", option->name,
                           value);
    return true;
}

static bool set_percent(double *target, const struct option *option, const char *value,
                        struct nytp_error *error)
{
    char *end;
    const double percent = strtod(value, &end);
    const bool number = end != value && (*end == '\0' || strcmp(end, "%") == 0);
    if (!number || !(percent >= 0 && percent <= 100))
        return usage_error(error, "--%s takes a number from 0 to 100, not \"%s\"", option->name,
                           value);
    *target = percent;
    return true;
}

static bool set_unit(const struct nytp_unit **target, const char *value,
                     struct nytp_error *error)
{
    *target = nytp_unit_find(value);
    if (*target == NULL)
        return usage_error(error, "unknown unit \"%s\": ns, us, ms, s or ticks", value);
    return true;
}

static bool set_weight(enum nytp_weight *target, const char *value, struct nytp_error *error)
{
    static const char *const names[] = {
        [NYTP_WEIGHT_TIME] = "time",
        [NYTP_WEIGHT_CALLS] = "calls",
        [NYTP_WEIGHT_STATEMENTS] = "statements",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(value, names[i]) == 0) {
            *target = (enum nytp_weight)i;
            return true;
        }
    return usage_error(error, "unknown weight \"%s\": time, calls or statements", value);
}

static bool set_clock(char *target, const char *value, struct nytp_error *error)
{
    static const char *const names[] = {"user", "system", "real"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(value, names[i]) == 0) {
            *target = names[i][0];
            return true;
        }
    return usage_error(error, "unknown clock \"%s\": user, system or real", value);
}

static bool set_mode(struct nytp_cli *cli, const struct option *option,
                     struct nytp_error *error)
{
    const enum nytp_mode mode = (enum nytp_mode)option->target;
    if (cli->mode == NYTP_MODE_HELP || cli->mode == NYTP_MODE_VERSION)
        return true;
    const bool wins = mode == NYTP_MODE_HELP || mode == NYTP_MODE_VERSION;
    if (cli->mode != NYTP_MODE_EXPORT && cli->mode != mode && !wins)
        return usage_error(error, "--%s does not go with another of its kind", option->name);
    cli->mode = mode;
    return true;
}

static bool set_rows(struct nytp_cli *cli, uint32_t *target, const struct option *option,
                     const char *value, struct nytp_error *error)
{
    if (value != NULL) {
        if (!read_count(value, target))
            return usage_error(error, "--%s takes a number, not \"%s\"", option->name, value);
        if (*target == 0)
            *target = UINT32_MAX;
    }
    return set_format(cli, option->name, error);
}

static bool add_text(struct nytp_texts *texts, const char *value, struct nytp_error *error)
{
    const char **grown = realloc(texts->at, (texts->n + 1) * sizeof *grown);
    if (grown == NULL)
        return nytp_error_set(error, NYTP_ERR_MEMORY, "out of memory");
    texts->at = grown;
    texts->at[texts->n++] = value;
    return true;
}

/* Whether an option chooses what of the profile is shown. */
static bool selects(const struct option *option)
{
    const size_t first = offsetof(struct nytp_cli, selection);
    return option->kind != NYTP_OPTION_MODE &&
           ((option->target >= first &&
             option->target < first + sizeof(struct nytp_selection)) ||
            option->target == offsetof(struct nytp_cli, export.max_depth) ||
            option->target == offsetof(struct nytp_cli, export.collapse_recursion));
}

/* Adds "--focus=Foo" to what a report says of itself. */
static bool note_selection(struct nytp_cli *cli, const struct option *option, const char *value,
                           struct nytp_error *error)
{
    const char *before = cli->selected != NULL ? cli->selected : "";
    const size_t size =
        strlen(before) + strlen(option->name) + 8 + (value != NULL ? strlen(value) : 0);
    char *text = malloc(size);
    if (text == NULL)
        return nytp_error_set(error, NYTP_ERR_MEMORY, "out of memory");
    snprintf(text, size, "%s%s--%s%s%s", before, *before != '\0' ? " " : "", option->name,
             value != NULL ? "=" : "", value != NULL ? value : "");
    free(cli->selected);
    cli->selected = text;
    cli->export.selected = text;
    return true;
}

static bool set_value(struct nytp_cli *cli, const struct option *option, const char *value,
                      struct nytp_error *error)
{
    if (selects(option) && !note_selection(cli, option, value, error))
        return false;
    void *target = (char *)cli + (option->kind == NYTP_OPTION_MODE ? 0 : option->target);
    switch (option->kind) {
    case NYTP_OPTION_FLAG:
        *(bool *)target = true;
        return true;
    case NYTP_OPTION_TEXT:
        *(const char **)target = value;
        return true;
    case NYTP_OPTION_LIST:
        return add_text(target, value, error);
    case NYTP_OPTION_COUNT:
        return set_count(target, option, value, error);
    case NYTP_OPTION_PERCENT:
        return set_percent(target, option, value, error);
    case NYTP_OPTION_UNIT:
        return set_unit(target, value, error);
    case NYTP_OPTION_WEIGHT:
        cli->export.weight_given = true;
        return set_weight(target, value, error);
    case NYTP_OPTION_CLOCK:
        return set_clock(target, value, error);
    case NYTP_OPTION_PATTERN:
        return nytp_patterns_add(target, option->name, value, error);
    case NYTP_OPTION_FORMAT:
        return set_format(cli, value, error);
    case NYTP_OPTION_ROWS:
        return set_rows(cli, target, option, value, error);
    case NYTP_OPTION_SUBS:
        return (value == NULL || nytp_patterns_add(target, option->name, value, error)) &&
               set_format(cli, option->name, error);
    case NYTP_OPTION_MODE:
        return set_mode(cli, option, error);
    }
    return true;
}

/* ---- words ---- */

struct words {
    char **argv;
    int argc, next;
    int after_value_option; /* index of the word after the last option of cli->value_option */
    enum nytp_option_kind value_kind; /* of that option */
};

/* "[=N]": a value can only be attached, so that what follows is a FILE. */
static bool has_optional_value(const struct option *option)
{
    return option->value[0] == '[';
}

static bool takes_value(const struct option *option)
{
    return option->value[0] != '\0' && !has_optional_value(option);
}

static bool apply(struct nytp_cli *cli, const struct option *option, const char *attached,
                  struct words *words, struct nytp_error *error)
{
    if (option->value[0] == '\0' && attached != NULL)
        return usage_error(error, "--%s takes no value", option->name);
    if (has_optional_value(option) && attached == NULL) {
        cli->value_option = option->name;
        words->value_kind = option->kind;
        words->after_value_option = words->next;
    }
    if (!takes_value(option) || attached != NULL)
        return set_value(cli, option, attached, error);
    if (words->next == words->argc)
        return usage_error(error, "--%s needs a value: %s", option->name, option->value);
    return set_value(cli, option, words->argv[words->next++], error);
}

static bool parse_long(struct nytp_cli *cli, const char *argument, struct words *words,
                       struct nytp_error *error)
{
    const char *name = argument + 2;
    const size_t len = strcspn(name, "=");
    const char *attached = name[len] == '=' ? name + len + 1 : NULL;
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (options[i].name != NULL && strlen(options[i].name) == len &&
            memcmp(options[i].name, name, len) == 0)
            return apply(cli, &options[i], attached, words, error);
    const struct nytp_exporter *exporter = find_exporter(name, len);
    if (exporter == NULL)
        return unknown_option(argument, len, error);
    if (attached != NULL)
        return usage_error(error, "--%s takes no value", exporter->name);
    return set_exporter(cli, exporter, error);
}

static const struct option *find_letter(char letter)
{
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (options[i].name != NULL && options[i].letter == letter)
            return &options[i];
    return NULL;
}

static bool parse_letters(struct nytp_cli *cli, const char *argument, struct words *words,
                          struct nytp_error *error)
{
    for (const char *at = argument + 1; *at != '\0'; at++) {
        const struct option *option = find_letter(*at);
        if (option == NULL)
            return usage_error(error, "unknown option -%c", *at);
        if (takes_value(option))
            return apply(cli, option, at[1] != '\0' ? at + 1 : NULL, words, error);
        if (!apply(cli, option, NULL, words, error))
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
    const bool may_be_value = numbers ? read_count(file, &ignored) : strchr(file, '/') == NULL;
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

size_t nytp_cli_suffix_len(const struct nytp_exporter *exporter, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const size_t name_len = strlen(name);
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

static bool choose_exporter(struct nytp_cli *cli, struct nytp_error *error)
{
    cli->format_given = cli->exporter != NULL;
    if (cli->exporter != NULL)
        return true;
    const bool to_file = cli->output != NULL && strcmp(cli->output, "-") != 0;
    if (!to_file)
        return set_format(cli, "top", error);
    cli->exporter = exporter_for_path(cli->output);
    if (cli->exporter == NULL)
        return usage_error(error, "%s: the name tells no format; see --list-formats",
                           cli->output);
    return true;
}

static bool is_sort_key(const char *key)
{
    static const char *const keys[] = {"self", "incl", "calls", "percall", "name"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

/* Comparing and limits. */
static bool check_comparison(const struct nytp_cli *cli, struct nytp_error *error)
{
    const bool gate = cli->limits.n + cli->gate_files.n > 0;
    const bool answers = cli->gate_tap || cli->annotations != NULL;
    if (cli->bases.n > 0 && cli->exporter->write_diff == NULL)
        return usage_error(
            error, "--diff: %s cannot show a difference: %s", cli->exporter->name,
            cli->exporter->no_diff != NULL ? cli->exporter->no_diff : "use --json or --pprof");
    if (cli->bases.n > 0 && (cli->per_process || cli->export.source_dir != NULL))
        return usage_error(error, "--diff does not go with --per-process and --source-dir");
    if (gate && cli->exporter->write == NULL)
        return usage_error(error, "limits do not go with --%s", cli->exporter->name);
    if (cli->limits.n > 0 && cli->bases.n == 0)
        return usage_error(error, "--fail-over needs a base: --diff BASE");
    if ((answers || cli->accept_files.n > 0 || cli->fail_least != NULL) && !gate)
        return usage_error(error, "there is no limit: --fail-over LIMIT or --gate FILE");
    if (cli->annotations != NULL && strcmp(cli->annotations, "github") != 0)
        return usage_error(error, "unknown --annotations kind \"%s\": github",
                           cli->annotations);
    const bool to_stdout = cli->output == NULL || strcmp(cli->output, "-") == 0;
    if (answers && (cli->format_given || cli->output != NULL) && to_stdout)
        return usage_error(error,
                           "--gate-tap and --annotations write to standard output: use -o "
                           "FILE for %s",
                           cli->exporter->name);
    if (cli->gate_tap && cli->annotations != NULL)
        return usage_error(error, "--gate-tap and --annotations: one of them");
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
           usage_error(error, "--labels takes pid, script, pid,script or none, not \"%s\"", list);
}

static bool check_combination(struct nytp_cli *cli, struct nytp_error *error)
{
    if (!check_labels(cli, error))
        return false;
    if (cli->mode == NYTP_MODE_EXPORT && !check_comparison(cli, error))
        return false;
    if (cli->export.sort != NULL && !is_sort_key(cli->export.sort))
        return usage_error(error,
                           "unknown --sort key \"%s\": self, incl, calls, percall or name",
                           cli->export.sort);
    if (cli->per_process && (cli->output == NULL || strcmp(cli->output, "-") == 0) &&
        cli->mode == NYTP_MODE_EXPORT)
        return usage_error(error, "--per-process needs -o FILE");
    if (cli->open && cli->mode == NYTP_MODE_EXPORT) {
        if (cli->exporter->viewer == NULL)
            return usage_error(error, "--open: no viewer is known for %s", cli->exporter->name);
        if (cli->per_process || (cli->output != NULL && strcmp(cli->output, "-") == 0))
            return usage_error(error, "--open shows one file");
    }
    const bool report = cli->mode == NYTP_MODE_EXPORT && cli->exporter->write_set != NULL;
    if (report && (cli->per_process || cli->export.source_dir != NULL))
        return usage_error(error, "--%s does not go with %s",
                           cli->per_process ? "per-process" : "source-dir",
                           cli->exporter->name);
    if (report && cli->trim_paths.n > 0)
        return usage_error(error, "--trim-path does not go with %s: --lib does it there",
                           cli->exporter->name);
    int n_stdin = 0;
    for (int i = 0; i < cli->n_files; i++)
        n_stdin += strcmp(cli->files[i], "-") == 0;
    for (uint32_t i = 0; i < cli->bases.n; i++)
        n_stdin += strcmp(cli->bases.at[i], "-") == 0;
    if (n_stdin > 1)
        return usage_error(error, "standard input (-) can be read only once");
    return true;
}

bool nytp_cli_parse(struct nytp_cli *cli, int argc, char **argv, struct nytp_error *error)
{
    static char default_file[] = "nytprof.out";
    cli->files = calloc((size_t)argc + 1, sizeof *cli->files);
    if (cli->files == NULL)
        return nytp_error_set(error, NYTP_ERR_MEMORY, "out of memory");
    struct words words = {.argv = argv, .argc = argc, .next = 1};
    cli->selection.min_percent = -1; /* not given */
    if (!parse_words(cli, &words, error))
        return false;
    if (cli->n_files == 0) {
        cli->default_file = true;
        cli->files[cli->n_files++] = default_file;
    }
    if (cli->mode == NYTP_MODE_EXPORT && !choose_exporter(cli, error))
        return false;
    if (cli->bases.n > 0 || (cli->exporter != NULL && (cli->exporter->stable_names || cli->exporter->merges_evals)))
        cli->selection.merge_evals = true;
    cli->export.has_min_percent = cli->selection.min_percent >= 0;
    cli->export.min_percent = cli->selection.min_percent;
    if (cli->exporter != NULL && cli->exporter->prunes_itself)
        cli->selection.min_percent = -1;
    cli->export.waits = &cli->selection.waits;
    cli->selection.max_depth = cli->export.max_depth;
    cli->selection.collapse_recursion = cli->export.collapse_recursion;
    return check_combination(cli, error);
}

void nytp_cli_free(struct nytp_cli *cli)
{
    for (int i = 0; cli->owns_files && i < cli->n_files; i++)
        free(cli->files[i]);
    free(cli->files);
    free(cli->export.libs.at);
    free(cli->selected);
    free(cli->trim_paths.at);
    free(cli->export.labels.at);
    free(cli->bases.at);
    free(cli->limits.at);
    free(cli->gate_files.at);
    free(cli->accept_files.at);
    nytp_patterns_free(&cli->selection.focus);
    nytp_patterns_free(&cli->selection.ignore);
    nytp_patterns_free(&cli->selection.hide);
    nytp_patterns_free(&cli->selection.show);
    nytp_patterns_free(&cli->selection.show_from);
    nytp_patterns_free(&cli->export.names);
    nytp_patterns_free(&cli->selection.waits);
}

/* ---- help ---- */

#define HELP_COLUMN 26

static void put_row(struct nytp_out *out, const char *left, const char *right)
{
    const size_t len = strlen(left);
    nytp_printf(out, "  %s%*s%s\n", left, len < HELP_COLUMN ? (int)(HELP_COLUMN - len) : 1, "",
                right);
}

static void put_option(struct nytp_out *out, const struct option *option)
{
    char left[80];
    snprintf(left, sizeof left, "%s%c%s--%s%s%s", option->letter != 0 ? "-" : "",
             option->letter != 0 ? option->letter : ' ', option->letter != 0 ? ", " : "   ",
             option->name, has_optional_value(option) || option->value[0] == '\0' ? "" : " ",
             option->value);
    put_row(out, left, option->help);
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
    for (size_t i = 0; i < N_OPTIONS; i++) {
        if (options[i].name == NULL)
            nytp_printf(out, "\n%s:\n", options[i].help);
        else
            put_option(out, &options[i]);
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
