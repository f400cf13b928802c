/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What rules ask of a comparison: of the total, a sub, a package, or of each of many subs, with
 * what each of them had and has, and how likely chance is to make such a difference.
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

/* What became of a rule. */
struct nytp_gate_answer {
    enum nytp_gate_verdict verdict;
    char text[400]; /* what was measured of whom comes nearest to the limit, or why it cannot be
                       judged */
};

struct nytp_gate_question {
    uint32_t rule;
    const struct nytp_diff_row *row; /* NULL: the total or a package */
    struct nytp_name name;
    int64_t base, now; /* medians of the runs; ticks or counts */
    int64_t noise;     /* the larger of both sides' median absolute deviations */
    double p;          /* of more time than in the base; 0 where chance has no part */
};

struct nytp_gate_questions {
    struct nytp_gate_question *list; /* rule by rule */
    uint32_t n, capacity;
};

/* Collect the questions of all rules. A rule that has none, or that cannot be judged, has its
 * answer (one for each rule, zeroed before) after it. False with *error set: memory, or an
 * expression that backtracks too much; nytp_gate_questions_free() in either case. */
bool nytp_gate_ask(const struct nytp_gate *gate, const struct nytp_diff *diff,
                   struct nytp_gate_questions *questions, struct nytp_gate_answer *answers,
                   struct nytp_error *error);
void nytp_gate_questions_free(struct nytp_gate_questions *questions);

#endif
