/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The line that a BEGIN block is named by; see begin_line.h.
 */
#include "begin_line.h"

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

static bool begins_with_word(struct code code, const char *word)
{
    const size_t len = strlen(word);
    return code.len >= len && memcmp(code.text, word, len) == 0 && skip_word(code, 0) == len;
}

static bool is_use(struct code code)
{
    return begins_with_word(code, "use") || begins_with_word(code, "no");
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
