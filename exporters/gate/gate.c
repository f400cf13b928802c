/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Applies limits to a comparison; see gate.h. Each rule is checked against the total, a sub, a
 * package or every sub, and everything above its limit becomes an offender with a message.
 */
#include "gate.h"

#include "exporters/base/printable.h"
#include "exporters/base/text.h"

#include "formats/base/arena.h"
#include "exporters/compare/diff_formats.h"
#include "exporters/compare/rank_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_LEAST_SHARE 0.001 /* of the base's total */
#define SIGNIFICANT_P       0.05

bool nytp_gate_needs_base(const struct nytp_gate *gate)
{
    for (uint32_t i = 0; i < gate->n_rules; i++)
        if (gate->rules[i].from_base)
            return true;
    return false;
}

bool nytp_gate_needs_times(const struct nytp_gate *gate)
{
    for (uint32_t i = 0; i < gate->n_rules; i++)
        if (gate->rules[i].from_base && gate->rules[i].value == NYTP_WEIGHT_TIME)
            return true;
    return false;
}

struct checking {
    struct nytp_gate *gate;
    const struct nytp_diff *diff;
    struct nytp_gate_result *result;
    uint32_t rule;
    struct nytp_error error; /* sticky */
};

/* ---- may it? ---- */

static double ticks_of_ns(const struct nytp_diff *diff, double ns)
{
    return ns * ((double)diff->ticks_per_sec / 1e9);
}

static double most_allowed(const struct checking *c, const struct nytp_gate_rule *rule, int64_t base)
{
    double plus = (double)rule->plus;
    if (rule->value == NYTP_WEIGHT_TIME)
        plus = ticks_of_ns(c->diff, plus);
    return rule->from_base ? (double)base * (1 + rule->percent / 100) + plus : plus;
}

static double least_growth(const struct checking *c, enum nytp_weight value)
{
    const struct nytp_gate *gate = c->gate;
    const double total = (double)nytp_diff_value(&c->diff->total.median[NYTP_DIFF_BASE], value);
    if (!gate->has_least)
        return total * DEFAULT_LEAST_SHARE;
    if (gate->least_is_percent)
        return total * gate->least / 100;
    return value == NYTP_WEIGHT_TIME ? ticks_of_ns(c->diff, gate->least) : gate->least;
}

static bool is_accepted(struct checking *c, enum nytp_weight value, struct nytp_name name,
                        int64_t base, int64_t now)
{
    bool accepted = false;
    for (uint32_t i = 0; i < c->gate->n_accepts; i++) {
        struct nytp_gate_accept *accept = &c->gate->accepts[i];
        if (!nytp_patterns_match(&accept->pattern, name, &c->error))
            continue;
        accept->used = true;
        accepted |= accept->any || (accept->value == value &&
                                    (double)now <= (double)base * (1 + accept->percent / 100));
    }
    return accepted;
}

static bool exceeds(const struct checking *c, const struct nytp_gate_rule *rule, int64_t base,
                    int64_t now)
{
    if ((double)now <= most_allowed(c, rule, base))
        return false;
    return !rule->needs_least || (double)now - (double)base > least_growth(c, rule->value);
}

/* ---- what to say ---- */

static void put_amount(const struct nytp_diff *diff, enum nytp_weight value, int64_t amount,
                       char *text, size_t size)
{
    if (value == NYTP_WEIGHT_TIME)
        nytp_diff_time(diff, amount, false, text, size);
    else
        snprintf(text, size, "%lld %s", (long long)amount,
                 value == NYTP_WEIGHT_CALLS ? "calls" : nytp_text_statements(diff->profile));
}

/* Put in words how much an offender has, and how much it had or may have. */
static void explain_failure(const struct checking *c, const struct nytp_gate_rule *rule,
                            const char *name, struct nytp_gate_offender *offender)
{
    char now[60], was[60], percent[40], line[16] = "";
    put_amount(c->diff, rule->value, offender->now, now, sizeof now);
    if (offender->line > 0)
        snprintf(line, sizeof line, ":%lu", (unsigned long)offender->line);
    const char *separator = offender->place[0] != '\0' ? ": " : "";
    if (!rule->from_base) {
        put_amount(c->diff, rule->value, (int64_t)most_allowed(c, rule, 0), was, sizeof was);
        snprintf(offender->message, sizeof offender->message, "%s%s%s%.150s: %s, at most %s allowed",
                 offender->place, line, separator, name, now, was);
        return;
    }
    nytp_diff_percent(offender->base, offender->now, percent, sizeof percent);
    if (rule->value == NYTP_WEIGHT_TIME)
        nytp_diff_time(c->diff, offender->base, false, was, sizeof was);
    else
        snprintf(was, sizeof was, "%lld", (long long)offender->base);
    snprintf(offender->message, sizeof offender->message, "%s%s%s%.150s: %s, %s %s (%s)",
             offender->place, line, separator, name, now,
             rule->value == NYTP_WEIGHT_TIME ? "was" : "were", was, percent);
}

static bool add_offender(struct checking *c, const struct nytp_diff_row *row, const char *name,
                         int64_t base, int64_t now)
{
    struct nytp_gate_result *result = c->result;
    if (!nytp_grow(&result->offenders, &result->capacity, result->n_offenders,
                   sizeof *result->offenders))
        return false;
    struct nytp_gate_offender *offender = &result->offenders[result->n_offenders++];
    *offender = (struct nytp_gate_offender){.rule = c->rule, .row = row, .base = base, .now = now};
    const struct nytp_part *part = &c->diff->profile->parts[0];
    struct nytp_name file = row != NULL ? row->file : part->application;
    const uint32_t most = sizeof offender->place - 1;
    if (file.len > most)
        file = (struct nytp_name){file.ptr + file.len - most, most};
    memcpy(offender->place, file.ptr, file.len);
    offender->line = row != NULL && file.len > 0 ? row->line : 0;
    explain_failure(c, &c->gate->rules[c->rule], name, offender);
    nytp_make_printable(offender->message);
    nytp_make_printable(offender->place);
    return true;
}

/* ---- who is asked ---- */

static bool check_one(struct checking *c, const struct nytp_diff_row *row, struct nytp_name name,
                      bool significant, const struct nytp_diff_cell *median)
{
    const struct nytp_gate_rule *rule = &c->gate->rules[c->rule];
    const int64_t base = nytp_diff_value(&median[NYTP_DIFF_BASE], rule->value);
    const int64_t now = nytp_diff_value(&median[NYTP_DIFF_NEW], rule->value);
    if (rule->value == NYTP_WEIGHT_TIME && rule->from_base && !significant)
        return true;
    if (!exceeds(c, rule, base, now) || is_accepted(c, rule->value, name, base, now))
        return true;
    return add_offender(c, row, name.ptr, base, now);
}

static bool begins_with(struct nytp_name name, const char *start)
{
    const size_t len = strlen(start);
    return name.len >= len && memcmp(name.ptr, start, len) == 0;
}

static bool is_asked(struct checking *c, const struct nytp_diff_row *row)
{
    const struct nytp_gate_rule *rule = &c->gate->rules[c->rule];
    if (rule->scope == NYTP_GATE_PACKAGE)
        return begins_with(row->name, rule->name);
    if (rule->scope == NYTP_GATE_SUB)
        return row->name.len == strlen(rule->name) && begins_with(row->name, rule->name);
    return rule->pattern.n == 0 || nytp_patterns_match(&rule->pattern, row->name, &c->error);
}

/* The medians and, of times, the verdict on the sums of all subs of a package. */
static bool check_package(struct checking *c)
{
    const struct nytp_diff *diff = c->diff;
    const struct nytp_gate_rule *rule = &c->gate->rules[c->rule];
    const uint32_t n_base = diff->n_runs[NYTP_DIFF_BASE];
    const uint32_t n = n_base + diff->n_runs[NYTP_DIFF_NEW];
    int64_t *sums = calloc((size_t)n + 1, sizeof *sums);
    if (sums == NULL)
        return false;
    for (uint32_t i = 0; i < diff->n_rows; i++)
        for (uint32_t run = 0; is_asked(c, &diff->rows[i]) && run < n; run++)
            sums[run] += nytp_diff_value(&diff->rows[i].runs[run], rule->value);
    struct nytp_diff_cell median[NYTP_DIFF_SIDES] = {{0}};
    const double p = diff->tested ? nytp_rank_test(sums, n_base, sums + n_base, n - n_base) : 1;
    const int64_t base = nytp_median(sums, n_base), now = nytp_median(sums + n_base, n - n_base);
    median[NYTP_DIFF_BASE] = (struct nytp_diff_cell){base, base, base, 0};
    median[NYTP_DIFF_NEW] = (struct nytp_diff_cell){now, now, now, 0};
    const struct nytp_name name = {rule->name, (uint32_t)strlen(rule->name)};
    free(sums);
    return p >= 0 && check_one(c, NULL, name, p < SIGNIFICANT_P, median);
}

static bool check_rule(struct checking *c)
{
    const struct nytp_diff *diff = c->diff;
    const struct nytp_gate_rule *rule = &c->gate->rules[c->rule];
    if (rule->scope == NYTP_GATE_TOTAL)
        return check_one(c, NULL, (struct nytp_name){"total", 5}, diff->total.significant,
                         diff->total.median);
    if (rule->scope == NYTP_GATE_PACKAGE)
        return check_package(c);
    bool ok = true;
    for (uint32_t i = 0; ok && i < diff->n_rows; i++)
        if (is_asked(c, &diff->rows[i]))
            ok = check_one(c, &diff->rows[i], diff->rows[i].name, diff->rows[i].significant,
                           diff->rows[i].median);
    return ok;
}

bool nytp_gate_check(struct nytp_gate *gate, const struct nytp_diff *diff,
                     struct nytp_gate_result *result, struct nytp_error *error)
{
    struct checking c = {.gate = gate, .diff = diff, .result = result};
    *result = (struct nytp_gate_result){0};
    bool ok = true;
    for (c.rule = 0; ok && c.rule < gate->n_rules; c.rule++)
        ok = check_rule(&c) && c.error.status == NYTP_OK;
    if (ok)
        return true;
    nytp_error_set(&c.error, NYTP_ERR_MEMORY, "out of memory");
    *error = c.error;
    return false;
}

void nytp_gate_result_free(struct nytp_gate_result *result)
{
    free(result->offenders);
    *result = (struct nytp_gate_result){0};
}

/* ---- for machines ---- */

void nytp_gate_put_tap(const struct nytp_gate *gate, const struct nytp_gate_result *result,
                       struct nytp_out *out)
{
    nytp_printf(out, "1..%lu\n", (unsigned long)gate->n_rules);
    uint32_t at = 0; /* offenders come in the order of the rules */
    for (uint32_t i = 0; i < gate->n_rules; i++) {
        const bool ok = at == result->n_offenders || result->offenders[at].rule != i;
        nytp_printf(out, "%sok %lu - ", ok ? "" : "not ", (unsigned long)i + 1);
        for (const char *c = gate->rules[i].text; *c != '\0'; c++)
            nytp_puts(out, *c == '#' ? "\\#" : (const char[]){*c, '\0'});
        nytp_putc(out, '\n');
        for (; at < result->n_offenders && result->offenders[at].rule == i; at++)
            nytp_printf(out, "# %s\n", result->offenders[at].message);
    }
}

static void put_github_text(struct nytp_out *out, const char *text, bool property)
{
    for (; *text != '\0'; text++) {
        const bool special = *text == '%' || (property && (*text == ':' || *text == ','));
        if (special)
            nytp_printf(out, "%%%02X", (unsigned char)*text);
        else
            nytp_putc(out, *text);
    }
}

void nytp_gate_put_github(const struct nytp_gate_result *result, struct nytp_out *out)
{
    for (uint32_t i = 0; i < result->n_offenders; i++) {
        const struct nytp_gate_offender *offender = &result->offenders[i];
        nytp_puts(out, "::error file=");
        put_github_text(out, offender->place, true);
        if (offender->line > 0)
            nytp_printf(out, ",line=%lu", (unsigned long)offender->line);
        nytp_puts(out, "::");
        put_github_text(out, offender->message, false);
        nytp_putc(out, '\n');
    }
}
