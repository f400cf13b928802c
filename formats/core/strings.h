/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Interned strings, and the one place where bytes of unknown encoding become UTF-8.
 */
#ifndef NYTP_STRINGS_H
#define NYTP_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nytp_name;
struct nytp_strings;

struct nytp_strings *nytp_strings_new(void);
void nytp_strings_free(struct nytp_strings *strings);

/* Id of these bytes, the same for equal bytes; ids count from 0 in order of first sight, and
 * id 0 is "". UINT32_MAX when memory is out. */
uint32_t nytp_strings_intern(struct nytp_strings *strings, const char *bytes, size_t len);

/* As above, for a name of a sub or file as recordings hold them: each part between "::" is
 * UTF-8 where it is valid UTF-8, else Latin-1 (recorders glue a package and a sub name that
 * are encoded each its own way). What is interned is valid UTF-8. */
uint32_t nytp_strings_intern_mixed(struct nytp_strings *strings, const char *bytes, size_t len);

/* The string of an id; lives as long as `strings`. */
struct nytp_name nytp_strings_get(const struct nytp_strings *strings, uint32_t id);

uint32_t nytp_strings_count(const struct nytp_strings *strings);

/* Whether the bytes are well-formed UTF-8 (RFC 3629: no surrogates, nothing overlong). */
bool nytp_utf8_valid(const char *bytes, size_t len);

#endif
