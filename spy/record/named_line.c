/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The lines that code without a name of its own is named by; see named_line.h.
 */
#include "named_line.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A line without blanks at both ends, and without a comment that begins behind a blank. */
struct code {
    const char *text;
    size_t len;
};

static struct code code_of(const char *line, size_t len)
{
    size_t from = 0;
    while (from < len && isspace((unsigned char)line[from]))
        from++;
    for (size_t i = from; i < len; i++)
        if (line[i] == '#' && (i == from || isspace((unsigned char)line[i - 1])))
            len = i;
    while (len > from && isspace((unsigned char)line[len - 1]))
        len--;
    return (struct code){line + from, len - from};
}

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == ':';
}

static size_t skip_blanks(struct code code, size_t at)
{
    while (at < code.len && isspace((unsigned char)code.text[at]))
        at++;
    return at;
}

static size_t skip_word(struct code code, size_t at)
{
    while (at < code.len && is_word_char(code.text[at]))
        at++;
    return at;
}

static bool is_use(struct code code)
{
    const size_t len = skip_word(code, 0);
    return (len == 3 && memcmp(code.text, "use", len) == 0) ||
           (len == 2 && memcmp(code.text, "no", len) == 0);
}

/* `use`, `use Module`, and the rest is on other lines. */
static bool is_use_alone(struct code code)
{
    const size_t module = skip_blanks(code, skip_word(code, 0));
    return is_use(code) && skip_word(code, module) == code.len;
}

static bool ends_in_begin(struct code code)
{
    static const char word[] = "BEGIN";
    const size_t len = sizeof word - 1;
    return code.len >= len && memcmp(code.text + code.len - len, word, len) == 0 &&
           (code.len == len || !is_word_char(code.text[code.len - len - 1]));
}

static struct code without_brace(struct code code)
{
    if (code.len > 0 && code.text[code.len - 1] == '{')
        return code_of(code.text, code.len - 1);
    return (struct code){code.text, 0};
}

static bool has_begin_and_brace(struct code code)
{
    for (size_t i = 0; i < code.len; i++)
        if (code.text[i] == '{' &&
            ends_in_begin(without_brace((struct code){code.text, i + 1})))
            return true;
    return false;
}

uint32_t nytp_begin_line(FILE *source, uint32_t first_statement)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t len;
    uint32_t block = 0, use = 0; /* where one was begun of which there is no statement yet */
    bool is_block_to_come = false, is_list_to_come = false; /* on the next line with code */
    for (uint32_t n = 1; n < first_statement && (len = getline(&line, &size, source)) > 0;
         n++) {
        const struct code code = code_of(line, (size_t)len);
        if (code.len == 0)
            continue;
        const bool is_brace = code.len == 1 && code.text[0] == '{';
        if (ends_in_begin(without_brace(code)) || (is_brace && is_block_to_come))
            block = n;
        else if (!is_brace)
            block = 0;
        is_block_to_come = ends_in_begin(code);
        if (code.text[code.len - 1] == ';')
            use = 0;
        else if (is_list_to_come || is_use(code))
            use = n;
        is_list_to_come = is_use_alone(code);
        if (is_list_to_come)
            use = 0;
    }
    len = getline(&line, &size, source);
    const struct code code = len > 0 ? code_of(line, (size_t)len) : (struct code){line, 0};
    const bool is_itself =
        code.len == 0 || is_list_to_come || is_use(code) || has_begin_and_brace(code);
    free(line);
    return is_itself ? first_statement : block > 0 ? block : use > 0 ? use : first_statement;
}

/* ---- anonymous subs ---- */

#define BLANKS " \t" /* of an indentation */

/* The brace that opens the body of an anonymous sub. */
struct opening {
    size_t indentation;
    uint32_t depth; /* of braces; 0: there is none, or it is closed */
    bool is_last;   /* nothing follows on its line */
};

/* Where `sub` without a name is, the last one of the line; code.len: nowhere. */
static size_t find_sub_word(struct code code)
{
    size_t found = code.len;
    for (size_t i = 0; i + 3 <= code.len; i++) {
        const size_t next = skip_blanks(code, i + 3);
        const bool is_word = memcmp(code.text + i, "sub", 3) == 0 &&
                             (i == 0 || !is_word_char(code.text[i - 1])) &&
                             skip_word(code, i) == i + 3;
        if (is_word && (next == code.len || !is_word_char(code.text[next])))
            found = i;
    }
    return found;
}

/* Quoted text is no code. A quote behind a sigil or a word is none: $' or Package'name.
 */
static size_t skip_quoted(struct code code, size_t at)
{
    const char quote = code.text[at];
    if ((quote != '"' && quote != '\'') ||
        (at > 0 &&
         (is_word_char(code.text[at - 1]) || strchr("$@%&", code.text[at - 1]) != NULL)))
        return at;
    for (size_t i = at + 1; i < code.len; i++) {
        if (code.text[i] == '\\')
            i++;
        else if (code.text[i] == quote)
            return i;
    }
    return at;
}

/* The depth of braces after the line; 0: the brace that made it 1 is closed there. */
static uint32_t depth_after(struct code code, size_t from, uint32_t depth)
{
    for (size_t i = from; i < code.len; i++) {
        i = skip_quoted(code, i);
        if (code.text[i] == '{')
            depth++;
        else if (code.text[i] == '}' && --depth == 0)
            break;
    }
    return depth;
}

/* A line above the first statement may be of a declaration, or of the same statement, which
 * perl may place at a later one of its lines. */
static bool may_be_above(struct code code)
{
    return is_use(code) || strchr(";{}", code.text[code.len - 1]) == NULL;
}

/* Take notice of a line, up to that of the first statement. */
static void look_for_opening(const char *line, struct code code, bool is_first_statement,
                             bool *is_brace_to_come, struct opening *opening)
{
    const size_t word = *is_brace_to_come ? 0 : find_sub_word(code);
    const char *const brace = memchr(code.text + word, '{', code.len - word);
    const bool is_last = brace == code.text + code.len - 1;
    *is_brace_to_come = word < code.len && word + 3 == code.len;
    if (brace != NULL && is_last != is_first_statement) {
        if (!is_first_statement || opening->depth == 0)
            *opening =
                (struct opening){strspn(line, BLANKS),
                                 depth_after(code, (size_t)(brace - code.text), 0), is_last};
    } else if (!is_first_statement && !may_be_above(code)) {
        opening->depth = 0;
    }
}

uint32_t nytp_anonymous_line(FILE *source, uint32_t first_statement)
{
    struct opening opening = {0};
    char *line = NULL;
    size_t size = 0;
    ssize_t len;
    uint32_t found = 0;
    bool is_brace_to_come = false;
    for (uint32_t n = 1; found == 0 && (len = getline(&line, &size, source)) > 0; n++) {
        const struct code code = code_of(line, (size_t)len);
        if (code.len == 0)
            continue;
        if (n <= first_statement)
            look_for_opening(line, code, n == first_statement, &is_brace_to_come, &opening);
        else if (opening.depth == 0)
            break;
        else if (!opening.is_last)
            opening.depth = depth_after(code, 0, opening.depth);
        else if (code.text[0] == '}' && strspn(line, BLANKS) == opening.indentation)
            opening.depth = 0;
        if (n >= first_statement && opening.depth == 0)
            found = n;
    }
    free(line);
    return found > 0 ? found : first_statement;
}
