/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Limits on what a program may count and take, for CI jobs: how much more than the base, or how
 * much at all. Counts may fail a build, since they are the same in each run; times may only
 * where there are enough runs to tell a change from noise.
 *
 * A limit on the command line:   2%            2%:calls:sub        5%:time:^Foo::
 *     P%[:VALUE[:SCOPE]]; VALUE is statements, calls or time; SCOPE is total, sub (each one), or
 *     an expression (each sub whose name matches)
 * A rule in a file, one a line:  calls DBI::st::execute <= 12
 *                                statements main:: <= base +10%
 *                                time /^Foo::get/ <= 20 ms
 *     VALUE WHAT <= MOST; WHAT is total, a sub, a package with its "::" at the end (the sum of its
 *     subs and of those of packages below it), or /an expression/ (each sub); MOST is a number
 *     (of a time with its unit), base, base +P% or base +N. Empty lines and lines that begin
 *     with # mean nothing.
 */
#ifndef NYTP_GATE_H
#define NYTP_GATE_H

#include "exporters/base/exporter.h"
#include "exporters/base/patterns.h"
#include "exporters/compare/diff.h"

enum nytp_gate_scope {
    NYTP_GATE_TOTAL,
    NYTP_GATE_EACH,    /* sub, if it matches the expression */
    NYTP_GATE_SUB,     /* that of the name */
    NYTP_GATE_PACKAGE, /* the sum of all whose names begin so */
};

struct nytp_gate_rule {
    char *text; /* as it was written */
    enum nytp_weight value;
    enum nytp_gate_scope scope;
    char *name;
    struct nytp_patterns pattern; /* none matches all */
    bool from_base;   /* at most base * (1 + percent / 100) + plus; else at most plus */
    bool needs_least; /* broken only if it also grew by more than the gate's `least` */
    double percent;
    int64_t plus;     /* of a time: nanoseconds */
};

/* Growth that is known and accepted. A file holds one a line: "REGEX P%[:VALUE]" accepts so much
 * growth of one value, "REGEX any" any growth of all of them. */
struct nytp_gate_accept {
    char *text;                   /* as it was written */
    struct nytp_patterns pattern; /* subs that it is for */
    enum nytp_weight value;
    bool any; /* `value` and `percent` mean nothing */
    double percent;
    bool used; /* nytp_gate_check() met a sub that needed it */
};

/* Zeroed = no limits; nytp_gate_free() at the end. */
struct nytp_gate {
    struct nytp_gate_rule *rules;
    uint32_t n_rules, rules_capacity;
    struct nytp_gate_accept *accepts;
    uint32_t n_accepts, accepts_capacity;
    bool has_least, least_is_percent;
    double least; /* of the base's total if in percent; without it 0.1 % */
};

/* One breach of a rule: who broke it, by what. */
struct nytp_gate_offender {
    uint32_t rule;
    const struct nytp_diff_row *row; /* NULL: the total or a package */
    int64_t base, now;               /* ticks or counts */
    char message[640];               /* "FILE:LINE: NAME: 42000 statements, were 12000 (+250.0 %)" */
    char place[256];                 /* FILE of it, may be "" */
    uint32_t line;
};

struct nytp_gate_result {
    struct nytp_gate_offender *offenders;
    uint32_t n_offenders, capacity;
};

/* Add what was written on the command line or in files. False with *error saying what is wrong;
 * for files with the line. */
bool nytp_gate_add_limit(struct nytp_gate *gate, const char *text, struct nytp_error *error);
bool nytp_gate_set_least(struct nytp_gate *gate, const char *text, struct nytp_error *error);
bool nytp_gate_read_rules(struct nytp_gate *gate, const char *path, struct nytp_error *error);
bool nytp_gate_read_accepts(struct nytp_gate *gate, const char *path, struct nytp_error *error);
void nytp_gate_free(struct nytp_gate *gate);

/* Whether some rule speaks of the base; of the base's time. */
bool nytp_gate_needs_base(const struct nytp_gate *gate);
bool nytp_gate_needs_times(const struct nytp_gate *gate);

/* Find all offenders, rule by rule. False with *error set: memory, or an expression that
 * backtracks too much. */
bool nytp_gate_check(struct nytp_gate *gate, const struct nytp_diff *diff,
                     struct nytp_gate_result *result, struct nytp_error *error);
void nytp_gate_result_free(struct nytp_gate_result *result);

/* One "ok" or "not ok" for each rule, as Perl's test programs say it. */
void nytp_gate_put_tap(const struct nytp_gate *gate, const struct nytp_gate_result *result,
                       struct nytp_out *out);

/* Commands that make GitHub show each offender at its line. */
void nytp_gate_put_github(const struct nytp_gate_result *result, struct nytp_out *out);

#endif
