/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Limits on counts and times of a program, for CI jobs: how much more than the base, or how
 * much at all. They are written on the command line and in files. Counts are the same in each
 * run, so they may fail a build. Times may only if there are enough runs to distinguish a
 * change from noise.
 *
 * A limit on the command line is P%[:VALUE[:SCOPE]], such as 2%, 2%:calls:sub, 5%:time:^Foo::.
 * VALUE is statements, calls, ops (both together), time (exclusive), incl (inclusive; not for
 * total or a package, where it would count twice), svs (made minus freed, may be negative), or
 * the estimates alloc_space, alloc_objects, inuse_space and inuse_objects. SCOPE is total, sub
 * (each one), or an expression (each sub whose name matches).
 *
 * A file has one rule a line: VALUE WHAT <= MOST, such as "calls DBI::st::execute <= 12",
 * "statements main:: <= base +10%", "time /^Foo::get/ <= 20 ms". WHAT is total, a sub, a
 * package with its "::" (the sum of its subs and of packages below it), or /an expression/
 * (each sub). MOST is a number, base, base +P% or base +N. A time needs a unit; bytes may have
 * B, kB, MB, GB or TB. Empty lines and lines that begin with # are ignored. A rule that ends
 * in "or absent" is kept if there is no such sub.
 *
 * "queries" are SQL statements sent through DBI (stacks/queries.h): all of them for total;
 * for /an expression/ the most in one request of a matching name. "loops total" are those sent
 * again and again (N+1). "waits" are waiting times of sampled programs: all for total; for /an
 * expression/ those whose reason and other side match, such as "socket 127.0.0.1:5432".
 */
#ifndef NYTP_GATE_RULES_H
#define NYTP_GATE_RULES_H

#include "exporters/base/exporter.h"
#include "exporters/base/patterns.h"

enum nytp_gate_scope {
    NYTP_GATE_TOTAL,
    NYTP_GATE_EACH,    /* each sub, or each that matches the expression */
    NYTP_GATE_SUB,     /* the sub of that name */
    NYTP_GATE_PACKAGE, /* the sum of all subs with that prefix */
};

/* The kind of thing that a rule counts. */
enum nytp_gate_counted {
    NYTP_GATE_SUBS, /* `value`, for subs */
    NYTP_GATE_QUERIES,
    NYTP_GATE_LOOPS,
    NYTP_GATE_WAITS,
};

struct nytp_gate_rule {
    char *text;  /* as written */
    char *place; /* its "FILE:LINE"; NULL: the command line */
    enum nytp_gate_counted counted;
    enum nytp_weight value; /* TIME for WAITS, CALLS for QUERIES and LOOPS */
    enum nytp_gate_scope scope;
    char *name;                   /* sub, package or expression; NULL: each */
    bool or_absent;               /* kept if there is no such sub */
    struct nytp_patterns pattern; /* empty: matches all */
    bool from_base;   /* at most base * (1 + percent / 100) + plus; else at most plus */
    bool needs_least; /* broken only if it also grew by 0.1 % of the base's total */
    double percent;
    int64_t plus; /* times in nanoseconds */
};

/* A line of a file that accepts known growth: "accept REGEX P%[:VALUE]" for one value, "accept
 * REGEX any" for all values. */
struct nytp_gate_accept {
    char *text, *place;           /* as written; its "FILE:LINE" */
    struct nytp_patterns pattern; /* subs to which it applies */
    enum nytp_weight value;
    bool any; /* all values; `value` and `percent` are unused */
    double percent;
    bool used; /* nytp_gate_check() found a sub that needed it */
};

/* A zeroed struct has no limits. Free with nytp_gate_free(). */
struct nytp_gate {
    struct nytp_gate_rule *rules;
    uint32_t n_rules, rules_capacity;
    struct nytp_gate_accept *accepts;
    uint32_t n_accepts, accepts_capacity;
};

/* Add limits from the command line or a file. Return false with *error (and its line) set. */
bool nytp_gate_add_limit(struct nytp_gate *gate, const char *text, struct nytp_error *error);
bool nytp_gate_read_rules(struct nytp_gate *gate, const char *path, struct nytp_error *error);
void nytp_gate_free(struct nytp_gate *gate);

/* Return true if any rule concerns the base, or SQL statements. */
bool nytp_gate_needs_base(const struct nytp_gate *gate);
bool nytp_gate_needs_statements(const struct nytp_gate *gate);

#endif
