/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The results of limits, in the forms that people and CI systems read.
 */
#ifndef NYTP_GATE_ANSWERS_H
#define NYTP_GATE_ANSWERS_H

#include "gate.h"

/* TAP: one "ok" or "not ok" for each rule, with the measured value. */
void nytp_gate_put_tap(const struct nytp_gate *gate, const struct nytp_gate_result *result,
                       struct nytp_out *out);

/* GitHub commands that show each breach at its line. */
void nytp_gate_put_github(const struct nytp_gate *gate, const struct nytp_gate_result *result,
                          struct nytp_out *out);

/* JUnit: a test suite as XML, with a test case for each rule. */
void nytp_gate_put_junit(const struct nytp_gate *gate, const struct nytp_gate_result *result,
                         struct nytp_out *out);

/* A Markdown table of the rules and measured values. */
void nytp_gate_put_markdown(const struct nytp_gate *gate, const struct nytp_gate_result *result,
                            struct nytp_out *out);

/* Returns the number of rules with this verdict. */
uint32_t nytp_gate_count(const struct nytp_gate *gate, const struct nytp_gate_result *result,
                         enum nytp_gate_verdict verdict);

#endif
