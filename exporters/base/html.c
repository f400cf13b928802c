/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Escaping; see html.h. Each function walks over the text once: runs of plain bytes go out as
 * they are, whatever else is decoded to a character and put by what it is.
 */
#include "html.h"

#include "formats/base/utf8.h"

#include <string.h>

/* How a kind of output writes one character that must not stand there as it is. */
typedef void put_special_fn(struct nytp_out *out, uint32_t character);

/* One character of UTF-8 at `at`, or a single byte taken for Latin-1. Returns its bytes. */
static size_t decode_character(const char *at, size_t left, uint32_t *character)
{
    const size_t len = nytp_utf8_decode(at, left, character);
    if (len > 0)
        return len;
    *character = (unsigned char)*at;
    return 1;
}

static void put_character(struct nytp_out *out, uint32_t character)
{
    char bytes[NYTP_UTF8_MOST];
    nytp_put(out, bytes, nytp_utf8_encode(character, bytes));
}

/* Characters above ASCII that would deceive or break what stands around them. */
static bool is_treacherous(uint32_t c)
{
    return (c >= 0x80 && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff ||
           (c >= 0xfdd0 && c <= 0xfdef) || (c & 0xfffe) == 0xfffe;
}

/* Writes the picture of a control character, or the character itself if it is none. */
static void put_visible(struct nytp_out *out, uint32_t c)
{
    if (c < ' ' && c != '\t')
        put_character(out, 0x2400 + c);
    else if (c == 0x7f)
        put_character(out, 0x2421);
    else if (is_treacherous(c))
        nytp_printf(out, "\xe2\x9f\xa8U+%04X\xe2\x9f\xa9", (unsigned)c);
    else
        put_character(out, c);
}

/* A tab and what ASCII has of visible characters pass in runs, but for those in `special`. All
 * others go through `put_special`, decoded. */
static void put_escaped(struct nytp_out *out, const char *text, size_t len, const char *special,
                        put_special_fn *put_special)
{
    const char *at = text, *const end = text + len;
    unsigned char plain[128] = {['\t'] = 1};
    memset(plain + ' ', 1, 0x7f - ' ');
    for (const char *c = special; *c != '\0'; c++)
        plain[(unsigned char)*c] = 0;
    while (at < end) {
        const char *run = at;
        while (at < end && (unsigned char)*at < 0x80 && plain[(unsigned char)*at])
            at++;
        if (at > run)
            nytp_put(out, run, (size_t)(at - run));
        if (at == end)
            return;
        uint32_t character;
        at += decode_character(at, (size_t)(end - at), &character);
        put_special(out, character);
    }
}

/* ---- text ---- */

static void put_text_special(struct nytp_out *out, uint32_t c)
{
    if (c == '&')
        nytp_puts(out, "&amp;");
    else if (c == '<')
        nytp_puts(out, "&lt;");
    else if (c == '>')
        nytp_puts(out, "&gt;");
    else
        put_visible(out, c);
}

static void put_attribute_special(struct nytp_out *out, uint32_t c)
{
    if (c == '"')
        nytp_puts(out, "&quot;");
    else if (c == '\'')
        nytp_puts(out, "&#39;");
    else
        put_text_special(out, c);
}

void nytp_html_text(struct nytp_out *out, const char *text, size_t len)
{
    put_escaped(out, text, len, "&<", put_text_special);
}

void nytp_xml_text(struct nytp_out *out, const char *text, size_t len)
{
    put_escaped(out, text, len, "&<>", put_text_special);
}

void nytp_html_attribute(struct nytp_out *out, const char *text, size_t len)
{
    put_escaped(out, text, len, "&<>\"'", put_attribute_special);
}

void nytp_html_puts(struct nytp_out *out, const char *text)
{
    nytp_xml_text(out, text, strlen(text));
}

/* ---- URLs ---- */

static bool is_plain_in_url(unsigned char c, const char *also)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
           (c != '\0' && strchr(also, c) != NULL);
}

static void put_url(struct nytp_out *out, const char *text, size_t len, const char *also)
{
    const char *at = text, *const end = text + len;
    while (at < end) {
        const char *const run = at;
        while (at < end && is_plain_in_url((unsigned char)*at, also))
            at++;
        nytp_put(out, run, (size_t)(at - run));
        if (at == end)
            return;
        const unsigned char c = (unsigned char)*at++;
        nytp_printf(out, "%%%02X", c);
    }
}

void nytp_html_url(struct nytp_out *out, const char *text, size_t len)
{
    put_url(out, text, len, "-._~()@!,;");
}

void nytp_html_id(struct nytp_out *out, const char *text, size_t len)
{
    put_url(out, text, len, "-._~()[]@!,;:");
}

void nytp_html_url_path(struct nytp_out *out, const char *text, size_t len)
{
    put_url(out, text, len, "-._~()@!,;/");
}

/* ---- JSON and dot ---- */

static void put_json_special(struct nytp_out *out, uint32_t c)
{
    if (c == '"' || c == '\\') {
        nytp_putc(out, '\\');
        nytp_putc(out, (char)c);
    } else if (c == '<' || c == '>' || c == '&' || c == '\'' || c == '\t') {
        nytp_printf(out, "\\u%04X", (unsigned)c);
    } else {
        put_visible(out, c);
    }
}

void nytp_html_json(struct nytp_out *out, const char *text, size_t len)
{
    nytp_putc(out, '"');
    put_escaped(out, text, len, "&<>\"'\\\t", put_json_special);
    nytp_putc(out, '"');
}
