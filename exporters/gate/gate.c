/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Applies limits to a comparison; see gate.h. A value above its limit becomes an offender with
 * a message. The value nearest to a kept limit becomes the rule's answer.
 */
#include "gate.h"

#include "formats/base/printable.h"
#include "exporters/base/text.h"
#include "exporters/compare/diff_formats.h"
#include "exporters/compare/rank_test.h"
#include "formats/base/arena.h"
#include "formats/base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_SHARE 0.001 /* of the base's total */

enum {
    MOST_OF_NAME = 150, /* bytes in a message */
};

struct checking {
    struct nytp_gate *gate;
    const struct nytp_diff *diff;
    struct nytp_gate_result *result;
    struct nytp_error error; /* sticky */
};

/* ---- limits ---- */

static double ticks_of_ns(const struct nytp_diff *diff, double ns)
{
    return ns * ((double)diff->ticks_per_sec / 1e9);
}

/* SVs may be negative. */
static double grown(int64_t base, double percent)
{
    return (double)base + fabs((double)base) * percent / 100;
}

static double most_allowed(const struct checking *c, const struct nytp_gate_rule *rule,
                           int64_t base)
{
    double plus = (double)rule->plus;
    if (nytp_weight_is_time(rule->value))
        plus = ticks_of_ns(c->diff, plus);
    return rule->from_base ? grown(base, rule->percent) + plus : plus;
}

static double least_growth(const struct checking *c, enum nytp_weight value)
{
    if (nytp_measures[value].nature == NYTP_MEASURE_NET)
        return 0; /* the sum may be negative, so it has no share */
    return (double)nytp_diff_value(&c->diff->total.median[NYTP_DIFF_BASE], value) * LEAST_SHARE;
}

/* An accept line is for subs and packages; only "total" is for the total. */
static bool is_for(struct checking *c, const struct nytp_gate_accept *accept,
                   const struct nytp_gate_question *q)
{
    const struct nytp_gate_rule *const rule = &c->gate->rules[q->rule];
    if (rule->counted != NYTP_GATE_SUBS)
        return false;
    return rule->scope == NYTP_GATE_TOTAL
               ? strcmp(accept->text, "total") == 0
               : nytp_patterns_match(&accept->pattern, q->name, &c->error);
}

static bool is_accepted(struct checking *c, const struct nytp_gate_question *q)
{
    const enum nytp_weight value = c->gate->rules[q->rule].value;
    bool accepted = false;
    for (uint32_t i = 0; i < c->gate->n_accepts; i++) {
        struct nytp_gate_accept *accept = &c->gate->accepts[i];
        if (!is_for(c, accept, q))
            continue;
        accept->used = true;
        accepted |= accept->any || (accept->value == value &&
                                    (double)q->now <= grown(q->base, accept->percent));
    }
    return accepted;
}

/* Returns true if the value exceeds the limit, and a time also chance and noise. */
static bool exceeds(const struct checking *c, const struct nytp_gate_rule *rule,
                    const struct nytp_gate_question *q)
{
    const int64_t growth = q->now - q->base;
    if ((double)q->now <= most_allowed(c, rule, q->base) ||
        (rule->needs_least && (double)growth <= least_growth(c, rule->value)))
        return false;
    const bool by_chance = rule->from_base && nytp_weight_is_time(rule->value) &&
                           (q->p >= NYTP_SIGNIFICANT_P || growth <= q->noise);
    return !by_chance;
}

/* ---- messages ---- */

static const char *counted(const struct nytp_diff *diff, const struct nytp_gate_rule *rule)
{
    return rule->counted == NYTP_GATE_QUERIES ? "SQL statements"
           : rule->counted == NYTP_GATE_LOOPS ? "SQL statements in a loop"
                                              : nytp_diff_weight_title(diff, rule->value);
}

static void put_amount(const struct nytp_diff *diff, const struct nytp_gate_rule *rule,
                       int64_t amount, char *text, size_t size)
{
    if (nytp_weight_is_time(rule->value))
        nytp_diff_time(diff, amount, false, text, size);
    else
        snprintf(text, size, "%lld %s", (long long)amount, counted(diff, rule));
}

/* Stores the base's value or the limit. */
static void put_limit(const struct checking *c, const struct nytp_gate_rule *rule,
                      const struct nytp_gate_question *q, char *text, size_t size)
{
    const bool is_time = nytp_weight_is_time(rule->value);
    char amount[60], percent[40], chance[32] = "";
    if (!rule->from_base) {
        put_amount(c->diff, rule, (int64_t)most_allowed(c, rule, 0), amount, sizeof amount);
        snprintf(text, size, "at most %s allowed", amount);
        return;
    }
    nytp_diff_percent(q->base, q->now, percent, sizeof percent);
    if (is_time)
        nytp_diff_time(c->diff, q->base, false, amount, sizeof amount);
    else
        snprintf(amount, sizeof amount, "%lld", (long long)q->base);
    if (is_time)
        snprintf(chance, sizeof chance, ", p=%.2g", q->p);
    snprintf(text, size, "%s %s (%s%s)", is_time ? "was" : "were", amount, percent, chance);
}

static void explain(const struct checking *c, const struct nytp_gate_question *q, char *text,
                    size_t size)
{
    const struct nytp_gate_rule *rule = &c->gate->rules[q->rule];
    const bool is_package = rule->scope == NYTP_GATE_PACKAGE;
    const uint32_t n_runs = c->diff->n_runs[NYTP_DIFF_NEW];
    const uint32_t len = is_package ? q->name.len - 2 : q->name.len; /* without the "::" */
    const int shown = (int)nytp_utf8_whole(q->name.ptr, len, MOST_OF_NAME);
    const bool uncalled =
        q->row != NULL ? q->row->status == NYTP_DIFF_UNCALLED : rule->scope == NYTP_GATE_SUB;
    char now[60], limit[160], runs[40] = "";
    put_amount(c->diff, rule, q->now, now, sizeof now);
    put_limit(c, rule, q, limit, sizeof limit);
    if (n_runs > 1)
        snprintf(runs, sizeof runs, " (median of %lu runs)", (unsigned long)n_runs);
    snprintf(text, size, "%s%.*s: %s%s%s, %s%s", is_package ? "package " : "", shown,
             q->name.ptr, now, rule->value == NYTP_WEIGHT_INCL ? " with what it calls" : "",
             runs, limit, uncalled ? ", not called" : "");
    nytp_make_printable(text);
}

static bool add_offender(struct checking *c, const struct nytp_gate_question *q)
{
    struct nytp_gate_result *result = c->result;
    if (!nytp_grow(&result->offenders, &result->capacity, result->n_offenders,
                   sizeof *result->offenders))
        return false;
    struct nytp_gate_offender *offender = &result->offenders[result->n_offenders++];
    *offender = (struct nytp_gate_offender){.rule = q->rule};
    const struct nytp_recording *recording = &c->diff->profile->recordings[0];
    struct nytp_name file = q->row != NULL ? q->row->file : recording->application;
    uint32_t from =
        file.len < sizeof offender->place ? 0 : file.len - sizeof offender->place + 1;
    while (from > 0 && from < file.len && nytp_utf8_inside(file.ptr[from]))
        from++;
    memcpy(offender->place, file.ptr + from, file.len - from);
    offender->line = q->row != NULL && file.len > 0 ? q->row->line : 0;
    nytp_make_printable(offender->place);
    char line[16] = "", text[400];
    if (offender->line > 0)
        snprintf(line, sizeof line, ":%lu", (unsigned long)offender->line);
    explain(c, q, text, sizeof text);
    snprintf(offender->message, sizeof offender->message, "%s%s%s%s", offender->place, line,
             offender->place[0] != '\0' ? ": " : "", text);
    return true;
}

/* ---- the answers ---- */

/* Returns how near the value is to its limit, negative below it. */
static double nearness(const struct checking *c, const struct nytp_gate_question *q)
{
    return (double)q->now - most_allowed(c, &c->gate->rules[q->rule], q->base);
}

/* Judges a rule's questions, the first `n`: those above the limit, and the nearest below. */
static bool judge_rule(struct checking *c, uint32_t i, const struct nytp_gate_question *list,
                       uint32_t n)
{
    struct nytp_gate_answer *answer = &c->result->answers[i];
    const struct nytp_gate_rule *rule = &c->gate->rules[i];
    const struct nytp_gate_question *nearest = NULL;
    if (answer->verdict == NYTP_GATE_UNJUDGED)
        return true;
    for (uint32_t k = 0; k < n; k++) {
        if (nearest == NULL || nearness(c, &list[k]) > nearness(c, nearest))
            nearest = &list[k];
        if (!exceeds(c, rule, &list[k]) || is_accepted(c, &list[k]))
            continue;
        answer->verdict = NYTP_GATE_BROKEN;
        if (!add_offender(c, &list[k]))
            return false;
    }
    if (nearest != NULL)
        explain(c, nearest, answer->text, sizeof answer->text);
    else if (answer->text[0] == '\0')
        snprintf(answer->text, sizeof answer->text, "nobody takes a thousandth of the time");
    return true;
}

bool nytp_gate_check(struct nytp_gate *gate, const struct nytp_diff *diff,
                     struct nytp_gate_result *result, struct nytp_error *error)
{
    struct checking c = {.gate = gate, .diff = diff, .result = result};
    struct nytp_gate_questions questions = {0};
    *result = (struct nytp_gate_result){
        .answers = calloc((size_t)gate->n_rules + 1, sizeof *result->answers)};
    bool ok = result->answers != NULL &&
              nytp_gate_ask(gate, diff, &questions, result->answers, &c.error);
    uint32_t at = 0;
    for (uint32_t i = 0; ok && i < gate->n_rules; i++) {
        const uint32_t first = at;
        while (at < questions.n && questions.list[at].rule == i)
            at++;
        ok = judge_rule(&c, i, questions.list + first, at - first) && c.error.status == NYTP_OK;
    }
    nytp_gate_questions_free(&questions);
    if (ok)
        return true;
    nytp_out_of_memory(&c.error);
    *error = c.error;
    return false;
}

void nytp_gate_result_free(struct nytp_gate_result *result)
{
    free(result->offenders);
    free(result->answers);
    *result = (struct nytp_gate_result){0};
}
