/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Regular expressions that select subs. They are Perl's, by PCRE2, compiled to machine code
 * where PCRE2 can. A match has a budget, so that an expression which backtracks without end
 * is an error and no hang.
 */
#ifndef NYTP_PATTERNS_H
#define NYTP_PATTERNS_H

#include "formats/model/model.h"

struct nytp_pattern;

/* Any of the expressions may match. Zeroed = none. */
struct nytp_patterns {
    struct nytp_pattern *list;
    uint32_t n;
};

/* Add an expression. `option` is the name of the command line option that it came with, for
 * messages; it and `text` are borrowed. False with the expression, the place in it and the
 * reason in *error. */
bool nytp_patterns_add(struct nytp_patterns *patterns, const char *option, const char *text,
                       struct nytp_error *error);

void nytp_patterns_free(struct nytp_patterns *patterns);

/* Sets the error of PCRE2 with this code at the offset in the text. Returns false. */
bool nytp_bad_pattern(const char *text, int code, size_t offset, struct nytp_error *error);

/* Returns whether one of the expressions matches somewhere in the name. False with *error set,
 * too, when a match used up its budget; the error is left alone otherwise. */
bool nytp_patterns_match(const struct nytp_patterns *patterns, struct nytp_name name,
                         struct nytp_error *error);

/* Per sub whether its name or the name of its file matches; the caller frees it. Expressions
 * `by_themselves` ask for subs: one that matches names of subs is not looked for in names of
 * files. NULL with *error set: memory, or a match that used up its budget. */
bool *nytp_patterns_match_subs(const struct nytp_patterns *patterns,
                               const struct nytp_profile *profile, bool by_themselves,
                               struct nytp_error *error);

/* The i-th expression (i < n) matches no sub of the profile and no file of a sub. Then `text`
 * (of `size` bytes) says so in one line and names up to three subs that come near. False,
 * and `text` is left alone, when it matches. */
bool nytp_patterns_describe_miss(const struct nytp_patterns *patterns, uint32_t i,
                                 const struct nytp_profile *profile, char *text, size_t size);

#endif
