/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A field of comma-separated values; see csv_field.h.
 */
#include "csv_field.h"

#include <string.h>

/* Returns true if a spreadsheet would take the text for a formula, as the file "-e". */
static bool looks_like_formula(struct nytp_name text)
{
    return text.len > 0 && text.ptr[0] != '\0' && strchr("=+-@\t\r", text.ptr[0]) != NULL;
}

void nytp_csv_field(struct nytp_out *out, struct nytp_name text)
{
    const char *const mark = looks_like_formula(text) ? "'" : "";
    bool quote = false;
    for (uint32_t i = 0; i < text.len && !quote; i++)
        quote = text.ptr[i] == '\0' || strchr(",\"\r\n ", text.ptr[i]) != NULL;
    if (!quote) {
        nytp_puts(out, mark);
        nytp_put(out, text.ptr, text.len);
        return;
    }
    nytp_putc(out, '"');
    nytp_puts(out, mark);
    for (uint32_t i = 0; i < text.len; i++) {
        const char c = text.ptr[i];
        if (c == '"')
            nytp_putc(out, '"');
        nytp_putc(out, c == '\0' ? ' ' : c); /* spreadsheets end the file at a NUL */
    }
    nytp_putc(out, '"');
}
