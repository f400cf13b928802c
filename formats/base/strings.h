/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Interned strings: each distinct text is stored once and has a number, so that names are
 * compared by number or pointer. Bytes of unknown encoding become UTF-8 here.
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

/* Counted bytes as the input holds them; they may contain NUL. `utf8` is the input's claim
 * (string tag `"`), not verified. Borrowed: valid until the sink returns. */
struct nytp_str {
    const char *ptr;
    uint32_t len;
    bool utf8;
};

/* Interned bytes, which may contain NUL. A NUL that len does not count follows them. Equal
 * strings of one `struct nytp_strings` have equal ptr. */
struct nytp_name {
    const char *ptr;
    uint32_t len;
};

/* Returns a set that holds "" as id 0, or NULL if memory is out. Freeing it frees all its
 * strings; NULL is accepted. */
struct nytp_strings *nytp_strings_new(void);
void nytp_strings_free(struct nytp_strings *strings);

/* Returns the id of these bytes (from 0, by first use), or UINT32_MAX if memory is out. */
uint32_t nytp_strings_intern(struct nytp_strings *strings, const char *bytes, size_t len);

/* The same for the name of a sub or file in a recording. Each part between "::" that is not
 * valid UTF-8 is taken as Latin-1, since recorders join a package and a sub of different
 * encodings. The interned name is valid UTF-8. */
uint32_t nytp_strings_intern_mixed(struct nytp_strings *strings, const char *bytes, size_t len);

/* Returns the key under which files of several processes are the same. The key is the name,
 * except for "/loader/0xADDRESS/Foo.pm", which a hook in @INC delivered: the address differs
 * in each process and is left out. `a` is UINT32_MAX if memory is out. `d` is 0; a caller
 * numbers files of one name there, up to the limit. */
#define NYTP_MOST_TEXTS_OF_NAME 100
struct nytp_key nytp_file_key(struct nytp_strings *strings, uint32_t name);

/* Returns the string of an id. It lives as long as `strings`. */
struct nytp_name nytp_strings_get(const struct nytp_strings *strings, uint32_t id);

uint32_t nytp_strings_count(const struct nytp_strings *strings);

static inline bool nytp_str_is(struct nytp_str text, const char *word)
{
    return text.len == strlen(word) && memcmp(text.ptr, word, text.len) == 0;
}

static inline bool nytp_name_ends(struct nytp_name name, const char *tail)
{
    const size_t len = strlen(tail);
    return name.len >= len && memcmp(name.ptr + name.len - len, tail, len) == 0;
}

/* Returns the number that begins a text, or 0 without digits. */
uint64_t nytp_str_number(struct nytp_str text);

static inline struct nytp_name nytp_name_of_text(const char *text)
{
    return (struct nytp_name){text, (uint32_t)strlen(text)};
}

/* Returns less than, equal to or greater than 0, like memcmp(). */
static inline int nytp_compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Compares byte by byte, like memcmp(). A text comes before longer ones that begin with it. */
int nytp_compare_bytes(const char *a, size_t a_len, const char *b, size_t b_len);

static inline int nytp_compare_names(struct nytp_name a, struct nytp_name b)
{
    return nytp_compare_bytes(a.ptr, a.len, b.ptr, b.len);
}

static inline int nytp_compare_texts(struct nytp_str a, struct nytp_str b)
{
    return nytp_compare_bytes(a.ptr, a.len, b.ptr, b.len);
}

/* Returns the path without its folders. */
struct nytp_name nytp_without_folders(struct nytp_name path);

/* The same. For a string eval, "(eval 0)[/x/a.pl:7]", returns the file it is in: "a.pl". */
struct nytp_name nytp_base_name(struct nytp_name path);

#endif
