/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Text; see text.h.
 */
#include "text.h"

enum {
    LIKELY_PRINTED = 80, /* bytes: most need no second attempt */
};

char *nytp_copy(const char *bytes, size_t len)
{
    char *copy;
    Newx(copy, len + 1, char);
    Copy(bytes, copy, len, char);
    copy[len] = '\0';
    return copy;
}

char *nytp_copy_string(const char *string)
{
    return string == NULL ? NULL : nytp_copy(string, strlen(string));
}

void nytp_free(void *memory)
{
    Safefree(memory);
}

struct nytp_shared_text *nytp_shared_text_new(const char *bytes, size_t len)
{
    struct nytp_shared_text *const text =
        (struct nytp_shared_text *)safemalloc(sizeof *text + len);
    text->owners = 1;
    text->len = len;
    Copy(bytes, text->bytes, len, char);
    return text;
}

struct nytp_shared_text *nytp_shared_text_own(struct nytp_shared_text *text)
{
    text->owners++;
    return text;
}

void nytp_shared_text_drop(struct nytp_shared_text *text)
{
    if (text != NULL && --text->owners == 0)
        Safefree(text);
}

void nytp_text_clear(struct nytp_text *text)
{
    text->len = 0;
}

/* Makes room for `len` more bytes and a NUL. */
static void make_room(struct nytp_text *text, size_t len)
{
    if (text->len + len < text->size)
        return;
    text->size = (text->len + len + 1) * 2;
    Renew(text->ptr, text->size, char);
}

void nytp_text_append(struct nytp_text *text, const char *bytes, size_t len)
{
    make_room(text, len);
    Copy(bytes, text->ptr + text->len, len, char);
    text->len += len;
    text->ptr[text->len] = '\0';
}

void nytp_text_puts(struct nytp_text *text, const char *string)
{
    nytp_text_append(text, string, strlen(string));
}

void nytp_text_printf(struct nytp_text *text, const char *format, ...)
{
    va_list args;
    make_room(text, LIKELY_PRINTED);
    const size_t room = text->size - text->len;
    va_start(args, format);
    const int len = vsnprintf(text->ptr + text->len, room, format, args);
    va_end(args);
    if (len < 0)
        return;
    if ((size_t)len >= room) {
        make_room(text, (size_t)len);
        va_start(args, format);
        vsnprintf(text->ptr + text->len, (size_t)len + 1, format, args);
        va_end(args);
    }
    text->len += (size_t)len;
}

void nytp_text_append_latin1(struct nytp_text *text, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        const U8 c = (U8)bytes[i];
        const char two[] = {(char)(0xC0 | c >> 6), (char)(0x80 | (c & 0x3F))};
        if (c < 0x80)
            nytp_text_append(text, bytes + i, 1);
        else
            nytp_text_append(text, two, 2);
    }
}

void nytp_text_append_hek(struct nytp_text *text, const HEK *hek)
{
    if (HEK_UTF8(hek))
        nytp_text_append(text, HEK_KEY(hek), (size_t)HEK_LEN(hek));
    else
        nytp_text_append_latin1(text, HEK_KEY(hek), (size_t)HEK_LEN(hek));
}

void nytp_text_append_package(struct nytp_text *text, const HV *stash)
{
    const HEK *const hek =
        stash != NULL && SvTYPE((const SV *)stash) == SVt_PVHV ? HvNAME_HEK((HV *)stash) : NULL;
    if (hek != NULL)
        nytp_text_append_hek(text, hek);
    else
        nytp_text_puts(text, "__ANON__");
    nytp_text_puts(text, "::");
}
