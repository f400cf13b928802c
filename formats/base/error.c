/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Fills in errors; see error.h. Messages reach terminals, so harmful characters become '?'.
 */
#include "error.h"

#include "printable.h"
#include "utf8.h"

#include <stdio.h>
#include <string.h>

/* Removes half a character from the end of a message that was cut. */
static void cut_between_characters(char *text)
{
    const size_t len = strlen(text);
    size_t at = len;
    uint32_t character;
    while (at > 0 && nytp_utf8_inside(text[at - 1]))
        at--;
    if (at > 0 && nytp_utf8_decode(text + at - 1, len - at + 1, &character) == 0)
        text[at - 1] = '\0';
}

static void put_message(struct nytp_error *error, enum nytp_status status, const char *format,
                        va_list args)
{
    error->status = status;
    if (vsnprintf(error->message, sizeof error->message, format, args) >=
        (int)sizeof error->message)
        cut_between_characters(error->message);
    nytp_make_printable(error->message);
}

bool nytp_error_set(struct nytp_error *error, enum nytp_status status, const char *format, ...)
{
    if (error->status != NYTP_OK)
        return false;
    va_list args;
    va_start(args, format);
    put_message(error, status, format, args);
    va_end(args);
    return false;
}

bool nytp_error_at(struct nytp_error *error, enum nytp_status status, uint64_t offset,
                   bool inflated, const char *format, ...)
{
    if (error->status != NYTP_OK)
        return false;
    error->has_offset = true;
    error->offset = offset;
    error->inflated = inflated;
    va_list args;
    va_start(args, format);
    put_message(error, status, format, args);
    va_end(args);
    return false;
}

bool nytp_out_of_memory(struct nytp_error *error)
{
    return nytp_error_set(error, NYTP_ERR_MEMORY, "out of memory");
}
