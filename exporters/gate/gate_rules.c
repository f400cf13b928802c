/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Reads limits; see gate_rules.h for the forms.
 */
#include "gate_rules.h"

#include "exporters/base/number.h"
#include "formats/base/arena.h"
#include "formats/base/printable.h"
#include "formats/base/utf8.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINE        4096
#define MAX_LINES       100000
#define BYTE_ORDER_MARK "\xef\xbb\xbf" /* written by some editors */

static char *copy_text(const char *text, size_t len)
{
    char *copy = malloc(len + 1);
    if (copy != NULL) {
        memcpy(copy, text, len);
        copy[len] = '\0';
    }
    return copy;
}

static bool find_value(const char *text, size_t len, enum nytp_weight *value)
{
    const bool is_short = len == 5 && memcmp(text, "stmts", len) == 0;
    *value = is_short ? NYTP_WEIGHT_STATEMENTS : nytp_measure_named(text, len);
    return *value != NYTP_WEIGHT_CPU && *value != NYTP_N_WEIGHTS;
}

static const char *values_known(char *text, size_t size)
{
    return nytp_measures_list("queries, loops, waits, ", "cpu", ", ", text, size);
}

/* Things to count other than values of subs. */
static const struct {
    const char *name;
    enum nytp_weight value;
    bool has_names; /* /REGEX/ may choose among them */
} counted[] = {
    [NYTP_GATE_QUERIES] = {"queries", NYTP_WEIGHT_CALLS, true},
    [NYTP_GATE_LOOPS] = {"loops", NYTP_WEIGHT_CALLS, false},
    [NYTP_GATE_WAITS] = {"waits", NYTP_WEIGHT_TIME, true},
};

static bool find_counted(const char *text, size_t len, struct nytp_gate_rule *rule)
{
    for (int i = NYTP_GATE_SUBS + 1; i < (int)(sizeof counted / sizeof *counted); i++)
        if (strlen(counted[i].name) == len && memcmp(counted[i].name, text, len) == 0) {
            rule->counted = (enum nytp_gate_counted)i;
            rule->value = counted[i].value;
            return true;
        }
    return false;
}

/* Returns true if the combination of value and scope is possible. */
static bool counts_that(const struct nytp_gate_rule *rule, struct nytp_error *error)
{
    if (rule->value == NYTP_WEIGHT_INCL &&
        (rule->scope == NYTP_GATE_TOTAL || rule->scope == NYTP_GATE_PACKAGE))
        return nytp_error_set(error, NYTP_ERR_FORMAT,
                              "incl is of a sub or of /REGEX/: of total%s say time",
                              rule->scope == NYTP_GATE_PACKAGE ? ", or of a package," : "");
    return rule->counted == NYTP_GATE_SUBS || rule->scope == NYTP_GATE_TOTAL ||
           (counted[rule->counted].has_names && rule->scope == NYTP_GATE_EACH) ||
           nytp_error_set(error, NYTP_ERR_FORMAT, "%s are of total%s, not of \"%.60s\"",
                          counted[rule->counted].name,
                          counted[rule->counted].has_names ? " or of /REGEX/" : "", rule->name);
}

/* Reads "12.5%"; *end is behind it. */
static bool read_percent(const char *text, const char **end, double *percent)
{
    const char *stop;
    if (!nytp_read_number(text, &stop, percent) || *stop != '%' || *percent > 1e9)
        return false;
    *end = stop + 1;
    return true;
}

/* The text of a rule for logs: harmless, and UTF-8. */
static void make_shown(char *text)
{
    const bool valid = nytp_utf8_valid(text, strlen(text));
    for (char *c = text; *c != '\0'; c++)
        *c = (char)(*c == '\t' ? ' ' : !valid && (unsigned char)*c >= 0x80 ? '?' : *c);
    nytp_make_printable(text);
}

static struct nytp_gate_rule *add_rule(struct nytp_gate *gate, const char *text,
                                       struct nytp_error *error)
{
    if (!nytp_grow(&gate->rules, &gate->rules_capacity, gate->n_rules, sizeof *gate->rules)) {
        nytp_out_of_memory(error);
        return NULL;
    }
    struct nytp_gate_rule *rule = &gate->rules[gate->n_rules];
    *rule = (struct nytp_gate_rule){.text = copy_text(text, strlen(text))};
    if (rule->text == NULL) {
        nytp_out_of_memory(error);
        return NULL;
    }
    make_shown(rule->text);
    gate->n_rules++;
    return rule;
}

static bool set_regex(struct nytp_gate_rule *rule, const char *option, const char *text,
                      struct nytp_error *error)
{
    rule->scope = NYTP_GATE_EACH;
    return nytp_patterns_add(&rule->pattern, option, text, error);
}

bool nytp_gate_add_limit(struct nytp_gate *gate, const char *text, struct nytp_error *error)
{
    struct nytp_gate_rule *rule = add_rule(gate, text, error);
    if (rule == NULL)
        return false;
    const char *at;
    rule->value = NYTP_WEIGHT_STATEMENTS;
    rule->from_base = rule->needs_least = true;
    if (!read_percent(text, &at, &rule->percent) || (*at != '\0' && *at != ':'))
        return nytp_error_set(error, NYTP_ERR_FORMAT,
                              "--fail-over takes P%%[:VALUE[:SCOPE]], not \"%.80s\"", text);
    if (*at == '\0')
        return true;
    char known[200];
    const size_t len = strcspn(++at, ":");
    if (!find_counted(at, len, rule) && !find_value(at, len, &rule->value))
        return nytp_error_set(error, NYTP_ERR_FORMAT, "--fail-over: unknown value \"%.*s\": %s",
                              (int)(len < 40 ? len : 40), at,
                              values_known(known, sizeof known));
    rule->needs_least = rule->counted == NYTP_GATE_SUBS || nytp_weight_is_time(rule->value);
    at += len;
    if (*at == '\0' || strcmp(at, ":total") == 0)
        return counts_that(rule, error);
    if (strcmp(at, ":sub") == 0 && rule->counted == NYTP_GATE_SUBS) {
        rule->scope = NYTP_GATE_EACH;
        return true;
    }
    rule->name = copy_text(at + 1, strlen(at + 1));
    if (rule->name == NULL)
        return nytp_out_of_memory(error);
    return set_regex(rule, "fail-over", rule->name, error) && counts_that(rule, error);
}

/* ---- rules in a file ---- */

/* Skips blanks and returns the length of the next word. */
static size_t next_word(const char **at)
{
    *at += strspn(*at, " \t");
    return strcspn(*at, " \t");
}

static bool set_what(struct nytp_gate_rule *rule, const char *text, size_t len,
                     struct nytp_error *error)
{
    rule->name = copy_text(text, len);
    if (rule->name == NULL)
        return nytp_out_of_memory(error);
    if (strcmp(rule->name, "total") == 0) {
        rule->scope = NYTP_GATE_TOTAL;
    } else if (len >= 2 && text[0] == '/' && text[len - 1] == '/') {
        memmove(rule->name, text + 1, len - 2);
        rule->name[len - 2] = '\0';
        return set_regex(rule, "gate", rule->name, error);
    } else if (len > 2 && memcmp(text + len - 2, "::", 2) == 0) {
        rule->scope = NYTP_GATE_PACKAGE;
    } else {
        rule->scope = NYTP_GATE_SUB;
    }
    return true;
}

static int64_t bytes_of(const char *unit)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    int64_t bytes = 1;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++, bytes *= 1000)
        if (strcmp(unit, units[i]) == 0)
            return bytes;
    return 0;
}

/* Reads a count, bytes with an optional unit, or a time with its unit as nanoseconds. */
static bool read_amount(const char *text, enum nytp_weight value, int64_t *amount)
{
    const char *end;
    double number;
    if (!nytp_read_number(text, &end, &number) || number >= 9e15)
        return false;
    end += strspn(end, " \t");
    if (nytp_weight_is_space(value) && *end != '\0') {
        const double bytes = nearbyint(number * (double)bytes_of(end));
        *amount = bytes < 9e15 ? (int64_t)bytes : 0;
        return bytes_of(end) > 0 && bytes < 9e15;
    }
    if (!nytp_weight_is_time(value)) {
        *amount = (int64_t)number;
        return *end == '\0' && (double)*amount == number;
    }
    const struct nytp_unit *unit = nytp_unit_find(end);
    const bool is_minutes = strcmp(end, "min") == 0;
    if (!is_minutes && (unit == NULL || unit->per_sec == 0))
        return false;
    const double ns = number * (is_minutes ? 60e9 : 1e9 / (double)unit->per_sec);
    *amount = (int64_t)ns;
    return ns < 9e18;
}

/* Reads "base", "base +10%", "base + 12" or an amount. */
static bool set_most(struct nytp_gate_rule *rule, const char *text)
{
    if (strncmp(text, "base", 4) != 0)
        return read_amount(text, rule->value, &rule->plus);
    rule->from_base = true;
    text += 4;
    text += strspn(text, " \t");
    if (*text == '\0')
        return true;
    if (*text++ != '+')
        return false;
    text += strspn(text, " \t");
    const char *end;
    if (read_percent(text, &end, &rule->percent))
        return *end == '\0';
    rule->percent = 0;
    return read_amount(text, rule->value, &rule->plus);
}

static bool cut_ending(char *text, const char *ending)
{
    size_t len = strlen(text);
    const size_t ending_len = strlen(ending);
    if (len <= ending_len || strcmp(text + len - ending_len, ending) != 0)
        return false;
    len -= ending_len;
    while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\t'))
        len--;
    text[len] = '\0';
    return true;
}

/* Reads "accept REGEX P%[:VALUE]" or "accept REGEX any", without its first word. */
static bool read_accept(struct nytp_gate *gate, const char *line, const char *place,
                        struct nytp_error *error)
{
    if (!nytp_grow(&gate->accepts, &gate->accepts_capacity, gate->n_accepts,
                   sizeof *gate->accepts))
        return nytp_out_of_memory(error);
    struct nytp_gate_accept accept = {.value = NYTP_WEIGHT_STATEMENTS};
    const char *limit = line + strlen(line);
    while (limit > line && limit[-1] != ' ' && limit[-1] != '\t')
        limit--;
    const char *end = limit, *stop = limit;
    while (end > line && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    accept.any = strcmp(limit, "any") == 0;
    bool ok = end > line && (accept.any || read_percent(limit, &stop, &accept.percent));
    if (ok && !accept.any && *stop == ':')
        ok = find_value(stop + 1, strlen(stop + 1), &accept.value);
    else if (ok && !accept.any)
        ok = *stop == '\0';
    if (!ok)
        return nytp_error_set(
            error, NYTP_ERR_FORMAT,
            "accept REGEX P%%[:VALUE] or accept REGEX any expected, not \"%.80s\"", line);
    accept.text = copy_text(line, (size_t)(end - line));
    accept.place = copy_text(place, strlen(place));
    gate->accepts[gate->n_accepts] = accept; /* freed with the gate */
    if (accept.text == NULL || accept.place == NULL) {
        gate->n_accepts++;
        return nytp_out_of_memory(error);
    }
    return nytp_patterns_add(&gate->accepts[gate->n_accepts++].pattern, "accept", accept.text,
                             error);
}

static bool read_rule(struct nytp_gate *gate, const char *line, const char *place,
                      struct nytp_error *error)
{
    if (strncmp(line, "accept ", 7) == 0)
        return read_accept(gate, line + 7 + strspn(line + 7, " \t"), place, error);
    struct nytp_gate_rule *rule = add_rule(gate, line, error);
    if (rule == NULL)
        return false;
    rule->place = copy_text(place, strlen(place));
    if (rule->place == NULL)
        return nytp_out_of_memory(error);
    char known[200];
    const char *at = line;
    size_t len = next_word(&at);
    if (!find_counted(at, len, rule) && !find_value(at, len, &rule->value))
        return nytp_error_set(error, NYTP_ERR_FORMAT, "unknown value \"%.*s\": %s",
                              (int)(len < 40 ? len : 40), at,
                              values_known(known, sizeof known));
    at += len;
    len = next_word(&at);
    if (len == 0)
        return nytp_error_set(error, NYTP_ERR_FORMAT, "VALUE WHAT <= MOST expected");
    if (!set_what(rule, at, len, error))
        return false;
    if (!counts_that(rule, error))
        return false;
    at += len;
    len = next_word(&at);
    if (len != 2 || memcmp(at, "<=", 2) != 0)
        return nytp_error_set(error, NYTP_ERR_FORMAT, "\"<=\" expected behind \"%.60s\"",
                              rule->name);
    at += len;
    next_word(&at);
    char most[MAX_LINE];
    snprintf(most, sizeof most, "%s", at);
    rule->or_absent = cut_ending(most, " or absent");
    if (!set_most(rule, most))
        return nytp_error_set(
            error, NYTP_ERR_FORMAT,
            "\"%.60s\" is no limit: N (of a time with its unit), base, base +P%% "
            "or base +N",
            most);
    return true;
}

static void skip_byte_order_mark(char *line)
{
    const size_t len = strlen(BYTE_ORDER_MARK);
    if (strncmp(line, BYTE_ORDER_MARK, len) == 0)
        memmove(line, line + len, strlen(line + len) + 1);
}

/* Cuts the line end, a comment and blanks. Returns false if nothing is left. A comment begins
 * at the start of the line or behind a blank, since names and expressions may contain '#'. */
static bool trim_line(char *line)
{
    size_t len = strcspn(line, "#") == 0 ? 0 : strlen(line);
    for (size_t i = 1; i < len; i++)
        if (line[i] == '#' && (line[i - 1] == ' ' || line[i - 1] == '\t'))
            len = i;
    line[len] = '\0';
    while (len > 0 && strchr(" \t\r\n", line[len - 1]) != NULL)
        line[--len] = '\0';
    const size_t blanks = strspn(line, " \t");
    memmove(line, line + blanks, len - blanks + 1);
    return line[0] != '\0';
}

/* Reads each line of a file, and adds its number to a message. */
static bool read_lines(struct nytp_gate *gate, const char *path, struct nytp_error *error)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return nytp_error_set(error, NYTP_ERR_IO, "%.100s: %s", path, strerror(errno));
    char line[MAX_LINE];
    unsigned number = 0;
    bool ok = true;
    while (ok && fgets(line, sizeof line, file) != NULL) {
        struct nytp_error reason = {0};
        char place[120];
        snprintf(place, sizeof place, "%.100s:%u", path, ++number);
        if (strlen(line) == sizeof line - 1 || number > MAX_LINES)
            ok = nytp_error_set(error, NYTP_ERR_LIMIT, "%s: line too long, or too many", place);
        if (number == 1)
            skip_byte_order_mark(line);
        if (ok && trim_line(line) && !read_rule(gate, line, place, &reason))
            ok = nytp_error_set(error, reason.status, "%s: %s", place, reason.message);
    }
    if (ok && ferror(file))
        ok = nytp_error_set(error, NYTP_ERR_IO, "%.100s: %s", path, strerror(errno));
    fclose(file);
    return ok;
}

bool nytp_gate_read_rules(struct nytp_gate *gate, const char *path, struct nytp_error *error)
{
    const uint32_t before = gate->n_rules + gate->n_accepts;
    if (!read_lines(gate, path, error))
        return false;
    return gate->n_rules + gate->n_accepts > before ||
           nytp_error_set(error, NYTP_ERR_FORMAT, "%.100s: there is no rule in it", path);
}

bool nytp_gate_needs_base(const struct nytp_gate *gate)
{
    for (uint32_t i = 0; i < gate->n_rules; i++)
        if (gate->rules[i].from_base)
            return true;
    return false;
}

bool nytp_gate_needs_statements(const struct nytp_gate *gate)
{
    for (uint32_t i = 0; i < gate->n_rules; i++)
        if (gate->rules[i].counted == NYTP_GATE_QUERIES ||
            gate->rules[i].counted == NYTP_GATE_LOOPS)
            return true;
    return false;
}

void nytp_gate_free(struct nytp_gate *gate)
{
    for (uint32_t i = 0; i < gate->n_rules; i++) {
        free(gate->rules[i].text);
        free(gate->rules[i].place);
        free(gate->rules[i].name);
        nytp_patterns_free(&gate->rules[i].pattern);
    }
    for (uint32_t i = 0; i < gate->n_accepts; i++) {
        free(gate->accepts[i].text);
        free(gate->accepts[i].place);
        nytp_patterns_free(&gate->accepts[i].pattern);
    }
    free(gate->rules);
    free(gate->accepts);
    *gate = (struct nytp_gate){0};
}
