/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Turns the text of an option's value into what the option's kind says, and suggests the
 * nearest name where a name is not known; see options.h.
 */
#include "option_table.h"

#include "exporters/base/near.h"
#include "exporters/base/number.h"
#include "formats/base/utf8.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_OF_OPTION = 70, /* bytes that a message has of what was typed */
};

/* ---- suggestions ---- */

struct nearest {
    const char *text; /* the word that was typed */
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

/* Names that other programs, and people, use for a format or an option. */
static const struct {
    const char *typed, *meant;
} other_words[] = {
    {"flame", "flamegraph"},      {"folded", "collapsed"}, {"kcachegrind", "callgrind"},
    {"perfetto", "chrome-trace"}, {"svg", "flamegraph"},   {"to", "format"},
    {"vscode", "cpuprofile"},
};

/* Options that went, and what does their work. */
static const struct {
    const char *typed, *instead;
} former[] = {
    {"accept", "write \"accept REGEX P%\" into the file of --gate"},
    {"allow-absent", "end the rule in the file of --gate with \"or absent\""},
    {"brief=json", "use --json"},
    {"fail-least", "a rule in the file of --gate has no such bound"},
    {"keep-overhead", "use --as-recorded"},
};

bool nytp_former_option(const char *argument, struct nytp_error *error)
{
    for (size_t i = 0; i < sizeof former / sizeof *former; i++) {
        const size_t len = strlen(former[i].typed);
        if (strncmp(argument + 2, former[i].typed, len) == 0 &&
            (argument[2 + len] == '\0' || argument[2 + len] == '=')) {
            usage_error(error, "--%s is gone: %s", former[i].typed, former[i].instead);
            return true;
        }
    }
    return false;
}

static void consider_formats(struct nearest *nearest)
{
    for (size_t i = 0; nytp_exporters[i] != NULL; i++)
        nearest_consider(nearest, nytp_exporters[i]->name);
    for (size_t i = 0; i < sizeof other_words / sizeof *other_words; i++)
        if (strlen(other_words[i].typed) == nearest->len &&
            memcmp(other_words[i].typed, nearest->text, nearest->len) == 0)
            nearest->name = other_words[i].meant;
}

bool nytp_unknown_option(const char *argument, size_t name_len, struct nytp_error *error)
{
    struct nearest nearest = nearest_to(argument + 2, name_len);
    const struct nytp_option *option;
    for (size_t i = 0; (option = nytp_option_at(i)) != NULL; i++)
        if (option->name != NULL)
            nearest_consider(&nearest, option->name);
    consider_formats(&nearest);
    const int len = (int)nytp_utf8_whole(argument + 2, name_len, MOST_OF_OPTION);
    if (nearest.name == NULL)
        return usage_error(error, "unknown option --%.*s", len, argument + 2);
    return usage_error(error, "unknown option --%.*s; did you mean --%s?", len, argument + 2,
                       nearest.name);
}

/* ---- values ---- */

const struct nytp_exporter *nytp_exporter_named(const char *name, size_t len)
{
    for (size_t i = 0; nytp_exporters[i] != NULL; i++)
        if (strlen(nytp_exporters[i]->name) == len &&
            memcmp(nytp_exporters[i]->name, name, len) == 0)
            return nytp_exporters[i];
    return NULL;
}

bool nytp_choose_exporter(struct nytp_cli *cli, const struct nytp_exporter *exporter,
                          struct nytp_error *error)
{
    if (cli->exporter != NULL && cli->exporter != exporter)
        return usage_error(error, "two formats: %s and %s", cli->exporter->name,
                           exporter->name);
    cli->exporter = exporter;
    return true;
}

bool nytp_choose_format(struct nytp_cli *cli, const char *name, struct nytp_error *error)
{
    const struct nytp_exporter *exporter = nytp_exporter_named(name, strlen(name));
    if (exporter != NULL)
        return nytp_choose_exporter(cli, exporter, error);
    struct nearest nearest = nearest_to(name, strlen(name));
    consider_formats(&nearest);
    if (nearest.name != NULL)
        return usage_error(error, "unknown format %s; did you mean %s?", name, nearest.name);
    return usage_error(error, "unknown format %s; see --list-formats", name);
}

bool nytp_read_count(const char *text, uint32_t *count)
{
    const size_t len = strspn(text, "0123456789");
    if (len == 0 || len > 9 || text[len] != '\0')
        return false;
    *count = (uint32_t)strtoul(text, NULL, 10);
    return true;
}

static bool set_count(uint32_t *target, const struct nytp_option *option, const char *value,
                      struct nytp_error *error)
{
    if (!nytp_read_count(value, target) || *target == 0)
        return usage_error(error, "--%s takes a number from 1, not \"%s\"", option->name,
                           value);
    return true;
}

static bool set_percent(double *target, const struct nytp_option *option, const char *value,
                        struct nytp_error *error)
{
    const char *end;
    double percent;
    if (!nytp_read_number(value, &end, &percent) || (*end != '\0' && strcmp(end, "%") != 0) ||
        percent > 100)
        return usage_error(error, "--%s takes a number from 0 to 100, not \"%s\"", option->name,
                           value);
    *target = percent;
    return true;
}

/* The words that an option takes, with | between them. */
static const char *words_of(const struct nytp_option *option, char *text, size_t size)
{
    if (option->kind == NYTP_OPTION_WEIGHT)
        return nytp_measures_list("", "incl", "|", text, size);
    if (option->kind != NYTP_OPTION_SORT)
        return option->value;
    return nytp_measures_list("self|incl|calls|percall|name|ops",
                              "time calls statements ops incl cpu", "|", text, size);
}

/* The index of `value` among the words of `option`, or -1 with *error set. */
static int find_word(const struct nytp_option *option, const char *value,
                     struct nytp_error *error)
{
    char text[256], known[400] = "";
    const char *at = words_of(option, text, sizeof text);
    size_t used = 0;
    for (int i = 0;; i++) {
        const size_t len = strcspn(at, "|");
        if (len == strlen(value) && memcmp(at, value, len) == 0)
            return i;
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%.*s", i > 0 ? ", " : "",
                                 (int)len, at);
        if (at[len] == '\0')
            break;
        at += len + 1;
    }
    usage_error(error, "unknown --%s \"%s\": %s", option->name, value, known);
    return -1;
}

static bool choose_mode(struct nytp_cli *cli, enum nytp_mode mode,
                        const struct nytp_option *option, struct nytp_error *error)
{
    if (cli->mode == NYTP_MODE_HELP || cli->mode == NYTP_MODE_VERSION)
        return true;
    const bool wins = mode == NYTP_MODE_HELP || mode == NYTP_MODE_VERSION;
    if (cli->mode != NYTP_MODE_EXPORT && cli->mode != mode && !wins)
        return usage_error(error, "--%s does not go with another of its kind", option->name);
    cli->mode = mode;
    return true;
}

/* "label" for all, else KEY or "label=KEY"; with ",sql" behind it the statements of each. */
static bool set_by(struct nytp_cli *cli, const char **key, const struct nytp_option *option,
                   const char *value, struct nytp_error *error)
{
    static const char statements[] = ",sql";
    const bool has_word = strncmp(value, "label=", 6) == 0;
    const char *const name = has_word ? value + 6 : value;
    const size_t len = strlen(name), end = sizeof statements - 1;
    const bool by_query = len > end && strcmp(name + len - end, statements) == 0;
    cli->export.request_key = (struct nytp_name){by_query ? name : NULL, 0};
    *key = strcmp(value, "label") == 0 ? NULL : name;
    if (len == 0)
        return find_word(option, value, error) >= 0;
    if (!by_query)
        return choose_mode(cli, NYTP_MODE_BY_LABEL, option, error);
    if (strncmp(name, "label,", 6) != 0)
        cli->export.request_key.len = (uint32_t)(len - end);
    return nytp_choose_format(cli, "sql", error);
}

static bool set_substitute(struct nytp_substitute **target, const struct nytp_option *option,
                           const char *value, struct nytp_error *error)
{
    struct nytp_error why = {0};
    nytp_substitute_free(*target);
    *target = nytp_substitute_new(value, &why);
    return *target != NULL || usage_error(error, "--%s: %s", option->name, why.message);
}

static bool set_rows(struct nytp_cli *cli, uint32_t *target, const struct nytp_option *option,
                     const char *value, struct nytp_error *error)
{
    if (value != NULL) {
        if (!nytp_read_count(value, target))
            return usage_error(error, "--%s takes a number, not \"%s\"", option->name, value);
        if (*target == 0)
            *target = UINT32_MAX;
    }
    return nytp_choose_format(cli, option->name, error);
}

static bool add_text(struct nytp_texts *texts, const char *value, struct nytp_error *error)
{
    const char **grown = realloc(texts->at, (texts->n + 1) * sizeof *grown);
    if (grown == NULL)
        return nytp_out_of_memory(error);
    texts->at = grown;
    texts->at[texts->n++] = value;
    return true;
}

/* Returns whether an option selects a part of the profile, other than by renaming. */
static bool selects(const struct nytp_option *option)
{
    const size_t first = offsetof(struct nytp_cli, selection);
    const bool is_common = option->kind != NYTP_OPTION_MODE && !option->is_own;
    return option->kind == NYTP_OPTION_WHERE ||
           (is_common && option->target >= first &&
            option->target < first + sizeof(struct nytp_selection) &&
            option->target != offsetof(struct nytp_cli, selection.detail));
}

/* Adds "--focus=Foo" to what a report says of itself. */
static bool note_selection(struct nytp_cli *cli, const struct nytp_option *option,
                           const char *value, struct nytp_error *error)
{
    const char *before = cli->selected != NULL ? cli->selected : "";
    const size_t size =
        strlen(before) + strlen(option->name) + 8 + (value != NULL ? strlen(value) : 0);
    char *text = malloc(size);
    if (text == NULL)
        return nytp_out_of_memory(error);
    snprintf(text, size, "%s%s--%s%s%s", before, *before != '\0' ? " " : "", option->name,
             value != NULL ? "=" : "", value != NULL ? value : "");
    free(cli->selected);
    cli->selected = text;
    cli->export.selected = text;
    return true;
}

bool nytp_option_set(struct nytp_cli *cli, const struct nytp_option *option, const char *value,
                     struct nytp_error *error)
{
    if (selects(option) && !note_selection(cli, option, value, error))
        return false;
    size_t index = 0;
    while (nytp_option_at(index) != option)
        index++;
    cli->given[index] = true;
    char *const base = option->is_own ? (char *)&cli->export : (char *)cli;
    void *const target = base + (option->kind == NYTP_OPTION_MODE ? 0 : option->target);
    const bool has_words = option->kind >= NYTP_OPTION_WORD && option->kind <= NYTP_OPTION_FORM;
    const int word = has_words ? find_word(option, value, error) : 0;
    if (word < 0)
        return false;
    switch (option->kind) {
    case NYTP_OPTION_FLAG:
        *(bool *)target = true;
        return true;
    case NYTP_OPTION_TEXT:
    case NYTP_OPTION_WORD:
    case NYTP_OPTION_SORT:
        *(const char **)target = value;
        return true;
    case NYTP_OPTION_UNIT:
        *(const struct nytp_unit **)target = nytp_unit_find(value);
        return true;
    case NYTP_OPTION_WEIGHT:
        cli->export.weight_given = true;
        *(enum nytp_weight *)target = nytp_measure_named(value, strlen(value));
        return true;
    case NYTP_OPTION_FORM:
        *(enum nytp_form *)target = (enum nytp_form)word;
        return true;
    case NYTP_OPTION_LIST:
        return add_text(target, value, error);
    case NYTP_OPTION_COUNT:
        return set_count(target, option, value, error);
    case NYTP_OPTION_PERCENT:
        return set_percent(target, option, value, error);
    case NYTP_OPTION_PATTERN:
        return nytp_patterns_add(target, option->name, value, error);
    case NYTP_OPTION_FORMAT:
        return nytp_choose_format(cli, value, error);
    case NYTP_OPTION_ROWS:
        return set_rows(cli, target, option, value, error);
    case NYTP_OPTION_SUBS:
        return (value == NULL || nytp_patterns_add(target, option->name, value, error)) &&
               nytp_choose_format(cli, option->name, error);
    case NYTP_OPTION_MODE:
        return choose_mode(cli, (enum nytp_mode)option->target, option, error);
    case NYTP_OPTION_WHERE:
        return nytp_label_where_add(target, value, error);
    case NYTP_OPTION_SUBSTITUTE:
        return set_substitute(target, option, value, error);
    case NYTP_OPTION_BY:
        return set_by(cli, target, option, value, error);
    }
    return true;
}
