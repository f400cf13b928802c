/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Collects the questions of rules; see questions.h.
 */
#include "questions.h"

#include "exporters/base/near.h"
#include "formats/base/bisect.h"
#include "formats/base/printable.h"
#include "exporters/base/wait_rows.h"
#include "exporters/compare/diff_amounts.h"
#include "exporters/compare/other_program.h"
#include "exporters/compare/diff_formats.h"
#include "exporters/compare/match.h"
#include "exporters/compare/rank_test.h"
#include "exporters/stacks/queries.h"
#include "formats/base/arena.h"
#include "formats/model/profile.h"
#include "formats/base/units.h"
#include "formats/base/utf8.h"
#include "formats/base/wide.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_OF_NEAR = 80, /* bytes of a similar name in an answer */
    MOST_NEAR = 100,   /* rules for which similar names are searched */
};

struct asking {
    const struct nytp_gate *gate;
    const struct nytp_diff *diff;
    struct nytp_gate_questions *questions;
    struct nytp_gate_answer *answers;
    uint32_t rule;
    int64_t *values; /* of one question: for each run of the base, then of the new side */
    uint32_t n_base, n_runs; /* values */
    uint32_t n_absent;       /* rules on missing subs */
    struct nytp_error error; /* sticky */
};

static const struct nytp_gate_rule *rule_of(const struct asking *a)
{
    return &a->gate->rules[a->rule];
}

static bool asks_for_chance(const struct nytp_gate_rule *rule)
{
    return nytp_weight_is_time(rule->value) && rule->from_base;
}

__attribute__((format(printf, 3, 4))) static bool
answer(struct asking *a, enum nytp_gate_verdict verdict, const char *format, ...)
{
    struct nytp_gate_answer *answer = &a->answers[a->rule];
    va_list args;
    va_start(args, format);
    vsnprintf(answer->text, sizeof answer->text, format, args);
    va_end(args);
    nytp_make_printable(answer->text);
    answer->verdict = verdict;
    return true;
}

/* ---- rules that cannot be judged ---- */

#define LOST "the selection leaves out what it speaks of"

/* Returns true if a side that the rule needs was recorded without this. */
static bool lacks(const struct asking *a, enum nytp_has what)
{
    const uint32_t *const has = a->diff->has;
    return (has[NYTP_DIFF_NEW] & what) == 0 ||
           (rule_of(a)->from_base && (has[NYTP_DIFF_BASE] & what) == 0);
}

static bool is_unjudgeable(struct asking *a)
{
    const struct nytp_gate_rule *rule = rule_of(a);
    const struct nytp_diff *diff = a->diff;
    const bool is_time = nytp_weight_is_time(rule->value);
    const bool counts = !is_time && !nytp_weight_is_bytes(rule->value);
    if (counts &&
        (diff->sampled[NYTP_DIFF_NEW] || (rule->from_base && diff->sampled[NYTP_DIFF_BASE])))
        return answer(a, NYTP_GATE_UNJUDGED,
                      "it was sampled, and how many samples and calls were seen is chance");
    if (is_time && !diff->has_times)
        return answer(a, NYTP_GATE_UNJUDGED,
                      "a limit on time, and the recording has counts only (counts=1)");
    if (rule->value == NYTP_WEIGHT_SVS && lacks(a, NYTP_HAS_COUNTED_SVS))
        return answer(a, NYTP_GATE_UNJUDGED,
                      "a limit on SVs, which recordings with NYTPROF=memory=1 have");
    if (nytp_weight_is_bytes(rule->value) && lacks(a, NYTP_HAS_BYTES))
        return answer(a, NYTP_GATE_UNJUDGED,
                      "a limit on bytes, which recordings of nytp run --memory have");
    if (rule->from_base && nytp_diff_other_program(diff))
        return answer(a, NYTP_GATE_UNJUDGED, "the base is of another program");
    return rule->from_base && is_time && !diff->base_has_times &&
           answer(a, NYTP_GATE_UNJUDGED, "a limit on time, and the base holds counts only");
}

/* ---- one question ---- */

static void add_values(struct asking *a, const struct nytp_diff_row *row)
{
    for (uint32_t run = 0; run < a->n_runs; run++)
        a->values[run] += nytp_diff_value(&row->runs[run], rule_of(a)->value);
}

static void forget(struct asking *a)
{
    memset(a->values, 0, a->n_runs * sizeof *a->values);
}

/* Adds a question with the values in a->values, and zeroes these. */
static bool ask(struct asking *a, const struct nytp_diff_row *row, struct nytp_name name)
{
    struct nytp_gate_questions *q = a->questions;
    const uint32_t n_new = a->n_runs - a->n_base;
    int64_t *base = a->values, *now = a->values + a->n_base;
    if (!nytp_grow(&q->list, &q->capacity, q->n, sizeof *q->list))
        return false;
    struct nytp_gate_question *question = &q->list[q->n++];
    *question = (struct nytp_gate_question){.rule = a->rule, .row = row, .name = name};
    if (asks_for_chance(rule_of(a)))
        question->p = nytp_rank_test(base, a->n_base, now, n_new);
    question->base = nytp_median(base, a->n_base);
    question->now = nytp_median(now, n_new);
    const int64_t noise[] = {nytp_median_deviation(base, a->n_base),
                             nytp_median_deviation(now, n_new)};
    question->noise = noise[0] > noise[1] ? noise[0] : noise[1];
    forget(a);
    return question->p >= 0;
}

/* ---- existing and missing subs ---- */

static bool matches(struct asking *a, struct nytp_name name)
{
    const struct nytp_gate_rule *rule = rule_of(a);
    const size_t len = rule->name != NULL ? strlen(rule->name) : 0;
    if (rule->scope == NYTP_GATE_EACH)
        return rule->pattern.n == 0 || nytp_patterns_match(&rule->pattern, name, &a->error);
    return name.len >= len && memcmp(name.ptr, rule->name, len) == 0 &&
           (rule->scope == NYTP_GATE_PACKAGE || name.len == len);
}

/* Returns the first name of a sorted list, `stride` bytes apart, that may match. */
static uint32_t first_of(const struct asking *a, const struct nytp_name *names, size_t stride,
                         uint32_t n)
{
    const struct nytp_gate_rule *const rule = rule_of(a);
    const struct nytp_name wanted = nytp_name_of_text(rule->name);
    const char *const first = (const char *)names;
    uint32_t low = 0;
    NYTP_BISECT(low, rule->scope == NYTP_GATE_EACH ? 0 : n, at,
                nytp_compare_names(*(const struct nytp_name *)(first + at * stride), wanted) <
                    0);
    return low;
}

static bool is_among(struct asking *a, const struct nytp_name *names, uint32_t n)
{
    const bool each = rule_of(a)->scope == NYTP_GATE_EACH;
    for (uint32_t i = first_of(a, names, sizeof *names, n); i < n; i++)
        if (matches(a, names[i]))
            return true;
        else if (!each)
            return false;
    return false;
}

static bool say_absent(struct asking *a, bool gone)
{
    const struct nytp_gate_rule *rule = rule_of(a);
    const enum nytp_gate_verdict verdict =
        rule->or_absent ? NYTP_GATE_KEPT : NYTP_GATE_UNJUDGED;
    if (gone)
        return answer(a, verdict, "gone: in the base alone");
    struct nytp_near near;
    nytp_near_begin(&near, rule->name);
    const bool looks = a->n_absent++ < MOST_NEAR;
    for (uint32_t i = 0; looks && i < a->diff->n_rows; i++)
        nytp_near_consider(&near, a->diff->rows[i].name);
    char names[300] = "";
    size_t len = 0;
    for (uint32_t i = 0; i < near.n; i++) {
        const struct nytp_name name = near.best[i].name;
        len += (size_t)snprintf(
            names + len, sizeof names - len, "%s%.*s", i == 0 ? "; near it: " : ", ",
            (int)nytp_utf8_whole(name.ptr, name.len, MOST_OF_NEAR), name.ptr);
    }
    return answer(a, verdict, "no sub matches%s", names);
}

/* Asks about each matching row, or about the sum of a package. */
static bool ask_rows(struct asking *a)
{
    const struct nytp_gate_rule *rule = rule_of(a);
    const bool each = rule->scope != NYTP_GATE_PACKAGE;
    const struct nytp_name name = {rule->name,
                                   rule->name != NULL ? (uint32_t)strlen(rule->name) : 0};
    const struct nytp_defined *const defined = a->diff->defined;
    const struct nytp_diff_row *const rows = a->diff->rows;
    uint32_t n = 0, n_gone = 0, n_called = 0;
    bool ok = true;
    uint32_t i =
        a->diff->n_rows > 0 ? first_of(a, &rows->name, sizeof *rows, a->diff->n_rows) : 0;
    for (; ok && i < a->diff->n_rows; i++) {
        const struct nytp_diff_row *row = &rows[i];
        if (!matches(a, row->name)) {
            if (rule->scope == NYTP_GATE_EACH)
                continue;
            break;
        }
        n_gone += row->status == NYTP_DIFF_GONE;
        n += row->status != NYTP_DIFF_GONE;
        n_called += row->status != NYTP_DIFF_GONE && row->status != NYTP_DIFF_UNCALLED;
        const bool too_small = rule->scope == NYTP_GATE_EACH && asks_for_chance(rule) &&
                               !nytp_diff_is_worth_a_test(a->diff, row, rule->value);
        if (each && (row->status == NYTP_DIFF_GONE || too_small))
            continue;
        add_values(a, row);
        ok = !each || ask(a, row, row->name);
    }
    if (!ok || a->error.status != NYTP_OK)
        return false;
    const bool is_there =
        n > 0 || (n_gone == 0 && defined != NULL && is_among(a, defined->names, defined->n));
    const bool all = rule->scope == NYTP_GATE_EACH && rule->pattern.n == 0;
    if (n_called == 0 && !all && defined != NULL &&
        is_among(a, defined->lost, defined->n_lost)) {
        forget(a);
        return answer(a, NYTP_GATE_UNJUDGED, LOST);
    }
    if (!is_there && !all) {
        forget(a);
        return say_absent(a, n_gone > 0);
    }
    if (each && n > 0)
        return true;
    return all || ask(a, NULL, name);
}

/* ---- SQL statements ---- */

/* Returns the rule's count in one run. Sets *found if a request matches. */
static int64_t count_queries(struct asking *a, const struct nytp_queries *queries, bool *found)
{
    const struct nytp_gate_rule *rule = rule_of(a);
    int64_t most = 0;
    if (rule->counted == NYTP_GATE_LOOPS)
        return queries->n_repeats;
    if (rule->scope == NYTP_GATE_TOTAL)
        return (int64_t)queries->n;
    for (uint32_t i = 0; i < queries->n_requests; i++) {
        const struct nytp_request *const request = &queries->requests[i];
        const bool is_all = queries->key.len == 0;
        if ((request->n == 0 && !is_all) ||
            !nytp_patterns_match(&rule->pattern,
                                 is_all ? nytp_name_of_text("(all)") : request->value,
                                 &a->error))
            continue;
        *found = true;
        most = (int64_t)request->most > most ? (int64_t)request->most : most;
    }
    return most;
}

static bool count_run(struct asking *a, uint32_t run, bool *only, bool *found)
{
    struct nytp_queries queries;
    nytp_diff_choose_run(a->diff, run, only);
    const bool ok =
        nytp_queries_init_of(&queries, a->diff->profile, only, nytp_name_of_text(""));
    if (ok)
        a->values[run] = count_queries(a, &queries, found);
    nytp_queries_free(&queries);
    return ok;
}

static bool ask_statements(struct asking *a)
{
    const struct nytp_gate_rule *rule = rule_of(a);
    const uint32_t first = rule->from_base ? 0 : a->n_base;
    if ((a->diff->profile->lost & NYTP_LOST_CALLS) != 0)
        return answer(a, NYTP_GATE_UNJUDGED, LOST);
    if ((rule->from_base && !a->diff->base_has_times) ||
        !nytp_diff_has_calls(a->diff, rule->from_base))
        return answer(
            a, NYTP_GATE_UNJUDGED,
            "a limit on SQL statements, for which all calls have to be known one by one");
    bool *const only = calloc((size_t)a->diff->profile->n_recordings + 1, sizeof *only);
    bool ok = only != NULL, found = rule->scope == NYTP_GATE_TOTAL;
    for (uint32_t run = first; ok && run < a->n_runs; run++)
        ok = count_run(a, run, only, &found);
    free(only);
    if (ok && !found) {
        forget(a);
        return answer(a, rule->or_absent ? NYTP_GATE_KEPT : NYTP_GATE_UNJUDGED,
                      "no request matches");
    }
    return ok && ask(a, NULL,
                     nytp_name_of_text(rule->scope == NYTP_GATE_TOTAL ? "total" : rule->name));
}

/* ---- waits ---- */

static bool wait_of_run(struct asking *a, uint32_t run, bool *only)
{
    struct nytp_wait_rows rows;
    int64_t ns = 0;
    nytp_diff_choose_run(a->diff, run, only);
    const bool ok = nytp_wait_rows_init(&rows, a->diff->profile, only);
    for (uint32_t i = 0; ok && i < rows.n; i++) {
        char text[NYTP_MAX_WAIT_TEXT];
        if (nytp_patterns_match(&rule_of(a)->pattern, nytp_wait_text(&rows.rows[i], text),
                                &a->error))
            ns = nytp_ticks_sum(ns, rows.rows[i].ns);
    }
    a->values[run] = nytp_mul_div_signed(rule_of(a)->pattern.n > 0 ? ns : rows.total_ns,
                                         a->diff->ticks_per_sec, NYTP_NS_PER_SEC);
    nytp_wait_rows_free(&rows);
    return ok;
}

static bool is_sampled(const struct asking *a)
{
    const struct nytp_profile *const profile = a->diff->profile;
    bool all = true;
    for (uint32_t i = 0; i < profile->n_processes; i++)
        if (rule_of(a)->from_base ||
            a->diff->side_of_recording[profile->processes[i].recording] == NYTP_DIFF_NEW)
            all = all && profile->processes[i].sampled;
    return all;
}

/* Returns true if the rule can match a wait: an existing reason, or a recorded other side. */
static bool matches_a_wait(struct asking *a, bool *ok)
{
    const struct nytp_patterns *const pattern = &rule_of(a)->pattern;
    bool found = pattern->n == 0;
    for (int reason = 0; !found && reason < NYTP_WAIT_REASONS; reason++)
        found = nytp_patterns_match(
            pattern, nytp_name_of_text(nytp_wait_reason_name((enum nytp_wait_reason)reason)),
            &a->error);
    struct nytp_wait_rows rows = {0};
    *ok = found || nytp_wait_rows_init(&rows, a->diff->profile, NULL);
    for (uint32_t i = 0; *ok && !found && i < rows.n; i++) {
        char text[NYTP_MAX_WAIT_TEXT];
        found = nytp_patterns_match(pattern, nytp_wait_text(&rows.rows[i], text), &a->error);
    }
    nytp_wait_rows_free(&rows);
    return found;
}

static bool ask_waits(struct asking *a)
{
    const struct nytp_gate_rule *rule = rule_of(a);
    bool ok;
    if ((a->diff->profile->lost & NYTP_LOST_TIME) != 0)
        return answer(a, NYTP_GATE_UNJUDGED, LOST);
    if (!is_sampled(a))
        return answer(a, NYTP_GATE_UNJUDGED,
                      "a limit on waiting, whose reasons samples know (NYTPROF=sample=100)");
    if (!matches_a_wait(a, &ok) && ok)
        return answer(
            a, rule->or_absent ? NYTP_GATE_KEPT : NYTP_GATE_UNJUDGED,
            "no reason of waiting matches, and no other side of a socket that was met");
    bool *const only = calloc((size_t)a->diff->profile->n_recordings + 1, sizeof *only);
    ok = ok && only != NULL;
    for (uint32_t run = rule->from_base ? 0 : a->n_base; ok && run < a->n_runs; run++)
        ok = wait_of_run(a, run, only);
    free(only);
    return ok && ask(a, NULL,
                     nytp_name_of_text(rule->scope == NYTP_GATE_TOTAL ? "total" : rule->name));
}

static bool ask_rule(struct asking *a)
{
    if (is_unjudgeable(a))
        return true;
    if (rule_of(a)->counted == NYTP_GATE_WAITS)
        return ask_waits(a);
    if (rule_of(a)->counted != NYTP_GATE_SUBS)
        return ask_statements(a);
    if (rule_of(a)->scope != NYTP_GATE_TOTAL)
        return ask_rows(a);
    add_values(a, &a->diff->total);
    return ask(a, NULL, (struct nytp_name){"total", 5});
}

/* ---- chance ---- */

/* Corrects p for all questions, or says how many runs would be needed. */
static bool correct_chances(struct asking *a)
{
    struct nytp_gate_questions *q = a->questions;
    double *p = malloc(((size_t)q->n + 1) * sizeof *p);
    if (p == NULL)
        return false;
    uint32_t n = 0;
    for (uint32_t i = 0; i < q->n; i++)
        if (asks_for_chance(&a->gate->rules[q->list[i].rule]))
            p[n++] = q->list[i].p;
    const uint32_t n_new = a->n_runs - a->n_base;
    const bool enough =
        a->diff->tested && nytp_rank_test_least(a->n_base, n_new) * n < NYTP_SIGNIFICANT_P;
    bool ok = nytp_false_discovery_rates(p, n);
    uint32_t at = 0;
    for (uint32_t i = 0; ok && i < q->n; i++) {
        a->rule = q->list[i].rule;
        if (!asks_for_chance(rule_of(a)))
            continue;
        q->list[i].p = p[at++];
        if (!enough)
            answer(a, NYTP_GATE_UNJUDGED,
                   "a limit on time needs %lu runs on each side%s, here are %lu and %lu",
                   (unsigned long)nytp_rank_test_needs(n),
                   n > 1 ? " when so many are asked about" : "", (unsigned long)a->n_base,
                   (unsigned long)n_new);
    }
    free(p);
    return ok;
}

bool nytp_gate_ask(const struct nytp_gate *gate, const struct nytp_diff *diff,
                   struct nytp_gate_questions *questions, struct nytp_gate_answer *answers,
                   struct nytp_error *error)
{
    const uint32_t n_base = diff->n_runs[NYTP_DIFF_BASE];
    struct asking a = {.gate = gate,
                       .diff = diff,
                       .questions = questions,
                       .answers = answers,
                       .n_base = n_base,
                       .n_runs = n_base + diff->n_runs[NYTP_DIFF_NEW]};
    a.values = calloc((size_t)a.n_runs + 1, sizeof *a.values);
    bool ok = a.values != NULL;
    for (; ok && a.rule < gate->n_rules; a.rule++)
        ok = ask_rule(&a) && a.error.status == NYTP_OK;
    ok = ok && correct_chances(&a);
    free(a.values);
    if (ok)
        return true;
    nytp_out_of_memory(&a.error);
    *error = a.error;
    return false;
}

void nytp_gate_questions_free(struct nytp_gate_questions *questions)
{
    free(questions->list);
    *questions = (struct nytp_gate_questions){0};
}
