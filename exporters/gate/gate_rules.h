/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Limits on what a program may count and take, for CI jobs: how much more than the base, or how
 * much at all, as people write them on the command line and in files. Counts may fail a build,
 * since they are the same in each run; times may only where there are enough runs to tell a
 * change from noise.
 *
 * A limit on the command line is P%[:VALUE[:SCOPE]], as 2%, 2%:calls:sub, 5%:time:^Foo::.
 * VALUE is statements, calls, ops (both together), time (a sub's own), incl (a sub's with what
 * it calls: not of total and not of a package, where it would count twice), svs (made less
 * freed, so it may be below 0), or alloc_space, alloc_objects, inuse_space and inuse_objects,
 * which are estimates from samples; SCOPE is total, sub (each one), or an expression (each sub
 * whose name matches).
 *
 * A rule in a file, one a line, is VALUE WHAT <= MOST, as "calls DBI::st::execute <= 12",
 * "statements main:: <= base +10%", "time /^Foo::get/ <= 20 ms". WHAT is total, a sub, a
 * package with its "::" at the end (the sum of its subs and of those of packages below it), or
 * /an expression/ (each sub); MOST is a number (of a time with its unit, of bytes with B, kB,
 * MB, GB or TB, or nothing), base, base +P% or base +N. Empty lines and lines that begin with #
 * mean nothing. A rule that ends in "or absent" is kept where there is no such sub.
 *
 * "queries" are SQL statements that are sent through DBI (stacks/statements.h): of total all of
 * them, of /an expression/ the most in one of the requests of a name that matches. "loops
 * total" are those that are sent again and again (N+1).
 *
 * "waits" are the time that sampled programs waited: of total all of it, of /an expression/
 * what was waited for a reason that matches, with the other side, as "socket 127.0.0.1:5432".
 */
#ifndef NYTP_GATE_RULES_H
#define NYTP_GATE_RULES_H

#include "exporters/base/exporter.h"
#include "exporters/base/patterns.h"

enum nytp_gate_scope {
    NYTP_GATE_TOTAL,
    NYTP_GATE_EACH,    /* sub, if it matches the expression */
    NYTP_GATE_SUB,     /* that of the name */
    NYTP_GATE_PACKAGE, /* the sum of all whose names begin so */
};

/* What a rule counts. */
enum nytp_gate_counted {
    NYTP_GATE_SUBS, /* its `value`, of subs */
    NYTP_GATE_QUERIES,
    NYTP_GATE_LOOPS,
    NYTP_GATE_WAITS,
};

struct nytp_gate_rule {
    char *text;  /* as it was written */
    char *place; /* "FILE:LINE" where, or NULL: on the command line */
    enum nytp_gate_counted counted;
    enum nytp_weight value; /* of WAITS: TIME; of the others CALLS */
    enum nytp_gate_scope scope;
    char *name;                   /* the sub, package or expression; NULL: each */
    bool or_absent;               /* kept where there is no such sub */
    struct nytp_patterns pattern; /* none matches all */
    bool from_base;   /* at most base * (1 + percent / 100) + plus; else at most plus */
    bool needs_least; /* broken only if it also grew by 0.1 % of the base's total */
    double percent;
    int64_t plus; /* of a time: nanoseconds */
};

/* A line of a file of rules that accepts known growth: "accept REGEX P%[:VALUE]" of one value,
 * "accept REGEX any" of all values. */
struct nytp_gate_accept {
    char *text, *place;           /* as it was written; "FILE:LINE" where */
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
};

/* Add what was written on the command line or in files. False with *error saying what is wrong;
 * for files with the line. */
bool nytp_gate_add_limit(struct nytp_gate *gate, const char *text, struct nytp_error *error);
bool nytp_gate_read_rules(struct nytp_gate *gate, const char *path, struct nytp_error *error);
void nytp_gate_free(struct nytp_gate *gate);

/* Whether some rule speaks of the base, or of SQL statements. */
bool nytp_gate_needs_base(const struct nytp_gate *gate);
bool nytp_gate_needs_statements(const struct nytp_gate *gate);

#endif
