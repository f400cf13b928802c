/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * s/REGEX/TEXT/ as an object; see substitute.h.
 */
#include "substitute.h"

#include "patterns.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#define MATCH_LIMIT  100000 /* steps of one match, as in patterns.c */
#define LONGEST_TEXT 65536

struct nytp_substitute {
    pcre2_code *code;
    pcre2_match_context *context;
    const char *text; /* with text_len bytes, in the expression */
    size_t text_len;
    uint32_t flags;
    char result[LONGEST_TEXT];
};

static char closing(char opening)
{
    static const char pairs[] = "{}()[]<>";
    const char *const at = strchr(pairs, opening);
    return at != NULL && (at - pairs) % 2 == 0 ? at[1] : opening;
}

/* The text between `opening`, which stands before *at, and what closes it, which is passed;
 * brackets within it are counted, a backslash protects what follows. False without an end. */
static bool delimited(const char **at, char opening, const char **text, size_t *len)
{
    const char close = closing(opening);
    unsigned depth = 1;
    *text = *at;
    for (const char *c = *at; *c != '\0'; c++) {
        if (*c == '\\' && c[1] != '\0') {
            c++;
        } else if (*c == close && --depth == 0) {
            *len = (size_t)(c - *text);
            *at = c + 1;
            return true;
        } else if (*c == opening && opening != close) {
            depth++;
        }
    }
    return false;
}

static bool read_flags(struct nytp_substitute *s, const char *flags, uint32_t *options)
{
    for (; *flags != '\0'; flags++) {
        if (*flags == 'g')
            s->flags |= PCRE2_SUBSTITUTE_GLOBAL;
        else if (*flags == 'i')
            *options |= PCRE2_CASELESS;
        else
            return false;
    }
    return true;
}

static bool parse(struct nytp_substitute *s, const char *expression, struct nytp_error *error)
{
    const char *at = expression + 2, *regex;
    size_t regex_len, offset = 0;
    uint32_t options = PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C;
    const char opening = expression[0] == 's' ? expression[1] : '\0';
    bool ok = opening != '\0' && delimited(&at, opening, &regex, &regex_len);
    if (ok && closing(opening) != opening)
        ok = *at++ == opening;
    if (!ok || !delimited(&at, opening, &s->text, &s->text_len) || !read_flags(s, at, &options))
        return nytp_error_set(error, NYTP_ERR_FORMAT,
                              "takes s/REGEX/TEXT/ with the flags g and i, not \"%.80s\"",
                              expression);
    int code = 0;
    s->code = pcre2_compile((PCRE2_SPTR)regex, regex_len, options, &code, &offset, NULL);
    s->context = pcre2_match_context_create(NULL);
    if (s->code == NULL)
        return nytp_bad_pattern(expression, code, (size_t)(regex - expression) + offset, error);
    if (s->context == NULL)
        return nytp_out_of_memory(error);
    pcre2_set_match_limit(s->context, MATCH_LIMIT);
    return true;
}

struct nytp_substitute *nytp_substitute_new(const char *expression, struct nytp_error *error)
{
    struct nytp_substitute *const s = calloc(1, sizeof *s);
    if (s == NULL)
        nytp_out_of_memory(error);
    if (s == NULL || parse(s, expression, error))
        return s;
    nytp_substitute_free(s);
    return NULL;
}

void nytp_substitute_free(struct nytp_substitute *s)
{
    if (s == NULL)
        return;
    pcre2_code_free(s->code);
    pcre2_match_context_free(s->context);
    free(s);
}

struct nytp_str nytp_substitute_apply(struct nytp_substitute *s, struct nytp_str text)
{
    PCRE2_SIZE len = sizeof s->result;
    const int n =
        pcre2_substitute(s->code, (PCRE2_SPTR)text.ptr, text.len, 0, s->flags, NULL, s->context,
                         (PCRE2_SPTR)s->text, s->text_len, (PCRE2_UCHAR *)s->result, &len);
    if (n <= 0)
        return text;
    struct nytp_str result = text;
    result.ptr = s->result;
    result.len = (uint32_t)len;
    return result;
}
