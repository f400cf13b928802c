/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Regular expressions that select subs; see patterns.h.
 *
 * Names are UTF-8 in the model, so expressions are compiled for UTF-8 and the subject is not
 * checked again. The budget is PCRE2's match limit (backtracking steps), its depth limit and
 * its heap limit; the machine code that PCRE2 makes counts its steps too. Without such a limit
 * (a+)+$ on a long name would run for years.
 */
#include "patterns.h"
#include "near.h"

#include "formats/base/printable.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef NYTP_HAVE_VALGRIND
#include <valgrind/valgrind.h>
#endif

#define MATCH_LIMIT 100000 /* steps of one match: about a millisecond */
#define DEPTH_LIMIT 10000
#define HEAP_KIB    65536
#define JIT_STACK   (1 << 20)

struct nytp_pattern {
    const char *option, *text;
    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *context;
    pcre2_jit_stack *stack; /* NULL: the machine code does with 32 KiB */
};

static void free_pattern(struct nytp_pattern *pattern)
{
    pcre2_jit_stack_free(pattern->stack);
    pcre2_match_context_free(pattern->context);
    pcre2_match_data_free(pattern->match);
    pcre2_code_free(pattern->code);
}

/* PCRE2's machine code reads whole vector registers, past the end of a name but never past a
 * page: memcheck takes that for an error. */
static bool may_use_machine_code(void)
{
#ifdef NYTP_HAVE_VALGRIND
    return RUNNING_ON_VALGRIND == 0;
#else
    return true;
#endif
}

/* Everything that a match needs; false when memory is out. */
static bool prepare_match(struct nytp_pattern *pattern)
{
    pattern->match = pcre2_match_data_create(1, NULL);
    pattern->context = pcre2_match_context_create(NULL);
    if (pattern->match == NULL || pattern->context == NULL)
        return false;
    pcre2_set_match_limit(pattern->context, MATCH_LIMIT);
    pcre2_set_depth_limit(pattern->context, DEPTH_LIMIT);
    pcre2_set_heap_limit(pattern->context, HEAP_KIB);
    /* If compiling to machine code fails, PCRE2 interprets. */
    if (may_use_machine_code() && pcre2_jit_compile(pattern->code, PCRE2_JIT_COMPLETE) == 0)
        pattern->stack = pcre2_jit_stack_create(JIT_STACK / 32, JIT_STACK, NULL);
    if (pattern->stack != NULL)
        pcre2_jit_stack_assign(pattern->context, NULL, pattern->stack);
    return true;
}

bool nytp_bad_pattern(const char *text, int code, size_t offset, struct nytp_error *error)
{
    PCRE2_UCHAR reason[120] = "";
    pcre2_get_error_message(code, reason, sizeof reason);
    return nytp_error_set(error, NYTP_ERR_FORMAT,
                          "bad regular expression \"%.80s\": %s, at character %lu", text,
                          (const char *)reason, (unsigned long)offset + 1);
}

bool nytp_patterns_add(struct nytp_patterns *patterns, const char *option, const char *text,
                       struct nytp_error *error)
{
    struct nytp_pattern *list =
        realloc(patterns->list, ((size_t)patterns->n + 1) * sizeof *patterns->list);
    if (list == NULL)
        return nytp_out_of_memory(error);
    patterns->list = list;
    struct nytp_pattern pattern = {.option = option, .text = text};
    int code = 0;
    PCRE2_SIZE offset = 0;
    pattern.code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
                                 PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C, &code, &offset, NULL);
    if (pattern.code == NULL)
        return nytp_bad_pattern(text, code, offset, error);
    if (!prepare_match(&pattern)) {
        free_pattern(&pattern);
        return nytp_out_of_memory(error);
    }
    patterns->list[patterns->n++] = pattern;
    return true;
}

void nytp_patterns_free(struct nytp_patterns *patterns)
{
    for (uint32_t i = 0; i < patterns->n; i++)
        free_pattern(&patterns->list[i]);
    free(patterns->list);
    *patterns = (struct nytp_patterns){0};
}

/* After a failure nothing is tried any more: each trial might take as long. */
static bool match_one(const struct nytp_pattern *pattern, struct nytp_name name,
                      struct nytp_error *error)
{
    if (error->status != NYTP_OK)
        return false;
    const int found = pcre2_match(pattern->code, (PCRE2_SPTR)name.ptr, name.len, 0,
                                  PCRE2_NO_UTF_CHECK, pattern->match, pattern->context);
    if (found >= 0)
        return true;
    if (found != PCRE2_ERROR_NOMATCH)
        nytp_error_set(
            error, NYTP_ERR_LIMIT,
            "--%s: the regular expression \"%.80s\" backtracks too much on \"%.80s\"",
            pattern->option, pattern->text, name.ptr);
    return false;
}

bool nytp_patterns_match(const struct nytp_patterns *patterns, struct nytp_name name,
                         struct nytp_error *error)
{
    for (uint32_t i = 0; i < patterns->n; i++)
        if (match_one(&patterns->list[i], name, error))
            return true;
    return false;
}

/* ---- subs ---- */

/* Adds the subs whose names match; returns whether any does. */
static bool match_sub_names(const struct nytp_patterns *patterns,
                            const struct nytp_profile *profile, bool *matches,
                            struct nytp_error *error)
{
    bool any = false;
    for (uint32_t i = 0; i < profile->n_subs; i++)
        if (nytp_patterns_match(patterns, profile->subs[i].name, error))
            any = matches[i] = true;
    return any;
}

/* The name of a file of many subs is looked at once. */
static void match_sub_files(const struct nytp_patterns *patterns,
                            const struct nytp_profile *profile, bool *matches,
                            struct nytp_error *error)
{
    bool *files = calloc((size_t)profile->n_files + 1, sizeof *files);
    if (files == NULL)
        nytp_out_of_memory(error);
    for (uint32_t i = 1; files != NULL && i < profile->n_files; i++)
        files[i] = nytp_patterns_match(patterns, profile->files[i].name, error);
    for (uint32_t i = 0; files != NULL && i < profile->n_subs; i++)
        matches[i] |= files[profile->subs[i].file];
    free(files);
}

bool *nytp_patterns_match_subs(const struct nytp_patterns *patterns,
                               const struct nytp_profile *profile, bool by_themselves,
                               struct nytp_error *error)
{
    struct nytp_error failed = {0};
    bool *matches = calloc((size_t)profile->n_subs + 1, sizeof *matches);
    if (matches == NULL)
        nytp_out_of_memory(&failed);
    const uint32_t step = by_themselves ? 1 : patterns->n;
    for (uint32_t i = 0; i < patterns->n && failed.status == NYTP_OK; i += step) {
        const struct nytp_patterns some = {patterns->list + i, step};
        if (!match_sub_names(&some, profile, matches, &failed) || !by_themselves)
            match_sub_files(&some, profile, matches, &failed);
    }
    if (failed.status == NYTP_OK)
        return matches;
    *error = failed;
    free(matches);
    return NULL;
}

/* True, too, when a match used up its budget: who applies the expression says so. */
static bool matches_some_sub(const struct nytp_pattern *pattern,
                             const struct nytp_profile *profile)
{
    struct nytp_error failed = {0};
    for (uint32_t i = 1; i < profile->n_files; i++)
        if (match_one(pattern, profile->files[i].name, &failed))
            return true;
    for (uint32_t i = 0; i < profile->n_subs; i++)
        if (match_one(pattern, profile->subs[i].name, &failed))
            return true;
    return failed.status != NYTP_OK;
}

bool nytp_patterns_describe_miss(const struct nytp_patterns *patterns, uint32_t i,
                                 const struct nytp_profile *profile, char *text, size_t size)
{
    const struct nytp_pattern *pattern = &patterns->list[i];
    if (matches_some_sub(pattern, profile))
        return false;
    struct nytp_near near;
    nytp_near_begin(&near, pattern->text);
    for (uint32_t s = 0; s < profile->n_subs; s++)
        nytp_near_consider(&near, profile->subs[s].name);
    int len = snprintf(text, size, "--%s: no sub and no file matches \"%.80s\"",
                       pattern->option, pattern->text);
    for (uint32_t n = 0; n < near.n && len > 0 && (size_t)len < size; n++)
        len += snprintf(text + len, size - (size_t)len, "%s%.80s",
                        n == 0 ? "; near it: " : ", ", near.best[n].name.ptr);
    nytp_make_printable(text);
    return true;
}
