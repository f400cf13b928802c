/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Text: copies, and a growing buffer; growing arrays. Names of subs and files are built in the
 * recorder's one buffer (rec->scratch), so its content lasts until the next name. Out of memory
 * ends the program, as in perl's own allocation.
 */
#ifndef NYTP_TEXT_H
#define NYTP_TEXT_H

#include "perl_compat.h"

/* Returns a NUL-terminated copy, for Safefree(). The second returns NULL for NULL. */
char *nytp_copy(const char *bytes, size_t len);
char *nytp_copy_string(const char *string);

/* Safefree() as a function. */
void nytp_free(void *memory);

/* Makes room for one more in an array of `n` elements, allocated for `size`. */
#define NYTP_MAKE_ROOM(array, n, size, type)                                                   \
    ((n) < (size) ? (void)0 : (void)((size) = (size) * 2 + 16, Renew(array, size, type)))

/* Bytes with several owners. No SV of perl, since the program may count those. */
struct nytp_shared_text {
    uint32_t owners;
    size_t len;
    char bytes[];
};

/* Both return a reference for nytp_shared_text_drop(), which accepts NULL. */
struct nytp_shared_text *nytp_shared_text_new(const char *bytes, size_t len);
struct nytp_shared_text *nytp_shared_text_own(struct nytp_shared_text *text);
void nytp_shared_text_drop(struct nytp_shared_text *text);

struct nytp_text {
    char *ptr; /* NUL-terminated once something was appended */
    size_t len, size;
};

void nytp_text_clear(struct nytp_text *text);
void nytp_text_append(struct nytp_text *text, const char *bytes, size_t len);
/* Appends as UTF-8; each byte is a character up to U+00FF. */
void nytp_text_append_latin1(struct nytp_text *text, const char *bytes, size_t len);

/* Appends perl's string as UTF-8. */
void nytp_text_append_hek(struct nytp_text *text, const HEK *hek);

/* Appends a package's name and "::". A nameless stash, or none, is __ANON__. */
void nytp_text_append_package(struct nytp_text *text, const HV *stash);

void nytp_text_puts(struct nytp_text *text, const char *string);
/* The arguments are not of `text` itself. */
void nytp_text_printf(struct nytp_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
