/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What became of the limits, in the forms that people and CI systems read.
 */
#ifndef NYTP_GATE_ANSWERS_H
#define NYTP_GATE_ANSWERS_H

#include "gate.h"

/* One "ok" or "not ok" for each rule, as Perl's test programs say it, with what was measured.
 */
void nytp_gate_put_tap(const struct nytp_gate *gate, const struct nytp_gate_result *result,
                       struct nytp_out *out);

/* Commands that make GitHub show each breach at its line. */
void nytp_gate_put_github(const struct nytp_gate *gate, const struct nytp_gate_result *result,
                          struct nytp_out *out);

/* A test suite as XML, with a test case for each rule. */
void nytp_gate_put_junit(const struct nytp_gate *gate, const struct nytp_gate_result *result,
                         struct nytp_out *out);

/* A table of the rules and what was measured. */
void nytp_gate_put_markdown(const struct nytp_gate *gate, const struct nytp_gate_result *result,
                            struct nytp_out *out);

/* How many rules have this verdict. */
uint32_t nytp_gate_count(const struct nytp_gate *gate, const struct nytp_gate_result *result,
                         enum nytp_gate_verdict verdict);

#endif
