/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Names in Markdown; see markdown.h. Within code nothing is mark-up but the back quote, which
 * longer runs of back quotes around it take care of, and in a table the bar, which a backslash
 * does. Control characters become '?': a line's end would end the table.
 */
#include "markdown.h"

#include "formats/base/utf8.h"

#define MOST 300 /* bytes of a name that are shown */

static uint32_t shown_len(struct nytp_name text)
{
    return (uint32_t)nytp_utf8_whole(text.ptr, text.len, MOST);
}

static char visible(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f ? '?' : c;
}

static uint32_t longest_run(struct nytp_name text, char c)
{
    uint32_t longest = 0, run = 0;
    for (uint32_t i = 0; i < text.len; i++) {
        run = text.ptr[i] == c ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

static void put_code(struct nytp_out *out, struct nytp_name text, bool in_table)
{
    text.len = shown_len(text);
    const uint32_t n_quotes = longest_run(text, '`') + 1;
    for (uint32_t i = 0; i < n_quotes; i++)
        nytp_putc(out, '`');
    if (n_quotes > 1)
        nytp_putc(out, ' ');
    for (uint32_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '|' && in_table)
            nytp_putc(out, '\\');
        nytp_putc(out, visible(text.ptr[i]));
    }
    if (text.len == 0 || n_quotes > 1)
        nytp_putc(out, ' ');
    for (uint32_t i = 0; i < n_quotes; i++)
        nytp_putc(out, '`');
}

void nytp_markdown_code(struct nytp_out *out, struct nytp_name text)
{
    put_code(out, text, true);
}

void nytp_markdown_code_in_text(struct nytp_out *out, struct nytp_name text)
{
    put_code(out, text, false);
}

void nytp_markdown_text(struct nytp_out *out, struct nytp_name text)
{
    text.len = shown_len(text);
    for (uint32_t i = 0; i < text.len; i++) {
        if (strchr("\\`*_{}[]<>#|~&", text.ptr[i]) != NULL && text.ptr[i] != '\0')
            nytp_putc(out, '\\');
        nytp_putc(out, visible(text.ptr[i]));
    }
}
