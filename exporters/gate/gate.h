/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Applies limits to a comparison.
 *
 * A rule is kept or broken, or it cannot be judged. The latter never counts as kept. Reasons
 * are: the sub is missing, or gone since the base; counts were sampled; the base has no times,
 * or is of another program; there are too few runs; a selection left the data out; the
 * expression can match no wait. A sub that exists and was not called has 0.
 *
 * More time than in the base breaks a rule if the runs' times differ significantly
 * (rank_test.h) and by more than the noise. All questions of all rules about subs, packages
 * and the total are one family, for which p is corrected. A rule about one sub is one
 * question. "Each sub" is as many as have a thousandth of the time or more.
 */
#ifndef NYTP_GATE_H
#define NYTP_GATE_H

#include "questions.h"

/* A breach of a rule. */
struct nytp_gate_offender {
    uint32_t rule;
    char message[680]; /* "FILE:LINE: NAME: 42000 statements, were 12000 (+250.0 %)" */
    char place[256];   /* its FILE, may be "" */
    uint32_t line;     /* 0 = unknown */
};

struct nytp_gate_result {
    struct nytp_gate_offender *offenders;
    uint32_t n_offenders, capacity;
    struct nytp_gate_answer *answers; /* one for each rule */
};

/* Judges all rules and finds all offenders, rule by rule. Returns false with *error set:
 * memory, or an expression that backtracks too much. */
bool nytp_gate_check(struct nytp_gate *gate, const struct nytp_diff *diff,
                     struct nytp_gate_result *result, struct nytp_error *error);
void nytp_gate_result_free(struct nytp_gate_result *result);

#endif
