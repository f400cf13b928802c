/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Text that is put together: copies, and a buffer that grows. Names of subs and files are made
 * in the recorder's one buffer (rec->scratch), so what is in it lasts until the next name.
 * Memory that is out ends the program, as perl's own allocation does.
 */
#ifndef NYTP_TEXT_H
#define NYTP_TEXT_H

#include "perl_compat.h"

/* A NUL-terminated copy; give it to Safefree(). */
char *nytp_copy(const char *bytes, size_t len);

/* Bytes with several owners, none of them a value of perl's: the program may count those. */
struct nytp_shared_text {
    uint32_t owners;
    size_t len;
    char bytes[];
};

/* One owner's; give each to nytp_shared_text_drop(), which takes NULL, too. */
struct nytp_shared_text *nytp_shared_text_new(const char *bytes, size_t len);
struct nytp_shared_text *nytp_shared_text_own(struct nytp_shared_text *text);
void nytp_shared_text_drop(struct nytp_shared_text *text);

/* Bytes being put together; always NUL-terminated once something was appended. */
struct nytp_text {
    char *ptr;
    size_t len, size;
};

void nytp_text_clear(struct nytp_text *text);
void nytp_text_append(struct nytp_text *text, const char *bytes, size_t len);
/* Each byte is a character up to U+00FF; what is appended is UTF-8. */
void nytp_text_append_latin1(struct nytp_text *text, const char *bytes, size_t len);

/* The string of perl's, as UTF-8. */
void nytp_text_append_hek(struct nytp_text *text, const HEK *hek);

/* The name of a package and "::". A stash that has no name any more, or is none, is __ANON__.
 */
void nytp_text_append_package(struct nytp_text *text, const HV *stash);

void nytp_text_puts(struct nytp_text *text, const char *string);
void nytp_text_printf(struct nytp_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
