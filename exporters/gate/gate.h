/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Applies limits to a comparison.
 *
 * A rule is kept or broken; or it cannot be judged, and then nobody may take it for kept: the
 * sub is not there, or gone since the base; counts were sampled; the base has no times, or is
 * of another program; there are too few runs; a selection left out what it speaks of, or its
 * expression can match no wait. A sub that is there and was not called has 0.
 *
 * More time than in the base breaks a rule if the runs' times differ significantly
 * (rank_test.h) and by more than the noise. What is asked of single subs, packages and the
 * total by all rules together is one family of questions, for which p is corrected: one rule
 * about one sub is one question, "each sub" is as many as take a thousandth of the time or
 * more.
 */
#ifndef NYTP_GATE_H
#define NYTP_GATE_H

#include "questions.h"

/* One breach of a rule: who broke it, by what. */
struct nytp_gate_offender {
    uint32_t rule;
    char message[680]; /* "FILE:LINE: NAME: 42000 statements, were 12000 (+250.0 %)" */
    char place[256];   /* FILE of it, may be "" */
    uint32_t line;     /* 0 = unknown */
};

struct nytp_gate_result {
    struct nytp_gate_offender *offenders;
    uint32_t n_offenders, capacity;
    struct nytp_gate_answer *answers; /* one for each rule */
};

/* Judge all rules and find all offenders, rule by rule. False with *error set: memory, or an
 * expression that backtracks too much. */
bool nytp_gate_check(struct nytp_gate *gate, const struct nytp_diff *diff,
                     struct nytp_gate_result *result, struct nytp_error *error);
void nytp_gate_result_free(struct nytp_gate_result *result);

#endif
