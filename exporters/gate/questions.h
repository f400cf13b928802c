/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The questions that rules ask about a comparison: about the total, a sub, a package, or each
 * of many subs. Each has the values of both sides and the probability of such a difference by
 * chance.
 */
#ifndef NYTP_QUESTIONS_H
#define NYTP_QUESTIONS_H

#include "exporters/compare/diff.h"
#include "gate_rules.h"

enum nytp_gate_verdict {
    NYTP_GATE_KEPT,
    NYTP_GATE_BROKEN,
    NYTP_GATE_UNJUDGED
};

/* The result of a rule. */
struct nytp_gate_answer {
    enum nytp_gate_verdict verdict;
    char text[400]; /* the value nearest to the limit, or why it cannot be judged */
};

struct nytp_gate_question {
    uint32_t rule;
    const struct nytp_diff_row *row; /* NULL: the total or a package */
    struct nytp_name name;
    int64_t base, now; /* medians of the runs; ticks or counts */
    int64_t noise;     /* the larger median absolute deviation of both sides */
    double p;          /* of more time than in the base; 0 for exact values */
};

struct nytp_gate_questions {
    struct nytp_gate_question *list; /* rule by rule */
    uint32_t n, capacity;
};

/* Collects the questions of all rules. `answers` has one zeroed element for each rule. A rule
 * without questions, or one that cannot be judged, gets its answer here. Returns false with
 * *error set: memory, or an expression that backtracks too much. Call
 * nytp_gate_questions_free() in either case. */
bool nytp_gate_ask(const struct nytp_gate *gate, const struct nytp_diff *diff,
                   struct nytp_gate_questions *questions, struct nytp_gate_answer *answers,
                   struct nytp_error *error);
void nytp_gate_questions_free(struct nytp_gate_questions *questions);

#endif
