/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Interned strings: each distinct text is stored once and has a number, so that names are
 * compared by number or pointer. Also the one place where bytes of unknown encoding become
 * UTF-8.
 */
#ifndef NYTP_STRINGS_H
#define NYTP_STRINGS_H

#include "table.h"
#include "utf8.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct nytp_strings;

/* Counted bytes as the input holds them; may contain NUL. `utf8` is the input's own claim
 * (string tag `"`), not verified. Borrowed: valid until the sink returns. */
struct nytp_str {
    const char *ptr;
    uint32_t len;
    bool utf8;
};

/* Interned bytes, followed by a NUL that len does not count; they may contain NUL. Equal
 * strings of one `struct nytp_strings` have equal ptr. */
struct nytp_name {
    const char *ptr;
    uint32_t len;
};

/* An empty set, which holds "" as id 0; NULL when memory is out. Freeing it frees all its
 * strings; NULL is accepted. */
struct nytp_strings *nytp_strings_new(void);
void nytp_strings_free(struct nytp_strings *strings);

/* Id of these bytes, the same for equal bytes; ids count from 0 in order of first sight, and
 * id 0 is "". UINT32_MAX when memory is out. */
uint32_t nytp_strings_intern(struct nytp_strings *strings, const char *bytes, size_t len);

/* As above, for a name of a sub or file as recordings hold them: each part between "::" is
 * UTF-8 where it is valid UTF-8, else Latin-1 (recorders glue a package and a sub name that
 * are encoded each its own way). What is interned is valid UTF-8. */
uint32_t nytp_strings_intern_mixed(struct nytp_strings *strings, const char *bytes, size_t len);

/* What files of several processes have in common: their name, but perl names what a hook in
 * @INC has delivered "/loader/0xADDRESS/Foo.pm", and each process has the hook somewhere else.
 * `a` is UINT32_MAX when memory is out. `d` is 0: a recording may have several files of one
 * name, whose keys get numbers there, up to the limit. */
#define NYTP_MOST_TEXTS_OF_NAME 100
struct nytp_key nytp_file_key(struct nytp_strings *strings, uint32_t name);

/* The string of an id; lives as long as `strings`. */
struct nytp_name nytp_strings_get(const struct nytp_strings *strings, uint32_t id);

uint32_t nytp_strings_count(const struct nytp_strings *strings);

static inline struct nytp_name nytp_name_of_text(const char *text)
{
    return (struct nytp_name){text, (uint32_t)strlen(text)};
}

/* As of memcmp(). */
static inline int nytp_compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* The order of two texts byte by byte, a shorter one before those that it begins; as of
 * memcmp(). */
int nytp_compare_bytes(const char *a, size_t a_len, const char *b, size_t b_len);

static inline int nytp_compare_names(struct nytp_name a, struct nytp_name b)
{
    return nytp_compare_bytes(a.ptr, a.len, b.ptr, b.len);
}

static inline int nytp_compare_texts(struct nytp_str a, struct nytp_str b)
{
    return nytp_compare_bytes(a.ptr, a.len, b.ptr, b.len);
}

/* A path without its folders. */
struct nytp_name nytp_without_folders(struct nytp_name path);

/* The same; of a string eval, "(eval 0)[/x/a.pl:7]", the name of the file it
 * is in, "a.pl". */
struct nytp_name nytp_base_name(struct nytp_name path);

#endif
