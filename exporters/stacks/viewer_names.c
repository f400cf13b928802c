/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Names that viewers load and keep apart; the rules are in viewer_names.h.
 */
#include "viewer_names.h"

#include <stdlib.h>
#include <string.h>

#define ESCAPE_LEN 4 /* \xHH */

struct nytp_viewer_text {
    struct nytp_viewer_text *next;
    char bytes[];
};

static bool is_hex(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool looks_escaped(const unsigned char *at, size_t left)
{
    return left >= ESCAPE_LEN && at[0] == '\\' && at[1] == 'x' && is_hex(at[2]) &&
           is_hex(at[3]);
}

/* Returns whether the byte at `i` must be written as \xHH. */
static bool must_escape(const unsigned char *text, size_t len, size_t i)
{
    const unsigned char c = text[i];
    if (c > ' ' && c < 0x7f && c != '\\' && i > 0)
        return false;
    if (c < ' ' || c == 0x7f)
        return true;
    if (c == ' ')
        return i == 0;
    if (c == '\\')
        return looks_escaped(text + i, len - i);
    if (c == '(' && i == 0)
        return len > 1 && text[1] >= '0' && text[1] <= '9';
    return c == '?' && i == 0 && len == 3 && memcmp(text, "???", 3) == 0;
}

static size_t count_escapes(const unsigned char *text, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += must_escape(text, len, i);
    return n;
}

static char *put_escaped(char *to, const unsigned char *text, size_t len)
{
    static const char hex[] = "0123456789abcdef";
    for (size_t i = 0; i < len; i++) {
        if (!must_escape(text, len, i)) {
            *to++ = (char)text[i];
            continue;
        }
        *to++ = '\\';
        *to++ = 'x';
        *to++ = hex[text[i] >> 4];
        *to++ = hex[text[i] & 15];
    }
    return to;
}

static char *new_text(struct nytp_viewer_names *names, size_t len)
{
    struct nytp_viewer_text *text = malloc(sizeof *text + len + 1);
    if (text == NULL)
        return NULL;
    text->next = names->texts;
    names->texts = text;
    text->bytes[len] = '\0';
    return text->bytes;
}

bool nytp_viewer_names_escape(struct nytp_viewer_names *names, struct nytp_name name,
                              struct nytp_name *escaped)
{
    const unsigned char *text = (const unsigned char *)name.ptr;
    const size_t n_escapes = count_escapes(text, name.len);
    if (n_escapes == 0) {
        *escaped = name;
        return true;
    }
    const size_t len = name.len + n_escapes * (ESCAPE_LEN - 1);
    char *to = new_text(names, len);
    if (to == NULL)
        return false;
    put_escaped(to, text, name.len);
    *escaped = (struct nytp_name){.ptr = to, .len = (uint32_t)len};
    return true;
}

/* "name [file]", both already escaped. */
static bool append_file(struct nytp_viewer_names *names, struct nytp_name *name,
                        struct nytp_name file)
{
    const size_t len = (size_t)name->len + file.len + 3;
    char *text = new_text(names, len);
    if (text == NULL)
        return false;
    char *to = text;
    memcpy(to, name->ptr, name->len);
    to += name->len;
    memcpy(to, " [", 2);
    to += 2;
    memcpy(to, file.ptr, file.len);
    to += file.len;
    *to = ']';
    *name = (struct nytp_name){.ptr = text, .len = (uint32_t)len};
    return true;
}

static bool name_files(struct nytp_viewer_names *names, const struct nytp_profile *profile)
{
    names->files[0] = (struct nytp_name){.ptr = "", .len = 0};
    for (uint32_t i = 1; i < profile->n_files; i++)
        if (!nytp_viewer_names_escape(names, profile->files[i].name, &names->files[i]))
            return false;
    return true;
}

/* Subs [first, end) have one name: add the file unless the files' names are equal, too. */
static bool name_run(struct nytp_viewer_names *names, const struct nytp_profile *profile,
                     uint32_t first, uint32_t end)
{
    struct nytp_name name = {.ptr = "???", .len = 3};
    if (profile->subs[first].name.len > 0 &&
        !nytp_viewer_names_escape(names, profile->subs[first].name, &name))
        return false;
    bool differ = false;
    for (uint32_t i = first; i < end; i++) {
        names->subs[i] = name;
        differ |= profile->files[nytp_sub_file(profile, i)].name.ptr !=
                  profile->files[nytp_sub_file(profile, first)].name.ptr;
    }
    for (uint32_t i = first; differ && i < end; i++)
        if (nytp_sub_file(profile, i) != 0 &&
            !append_file(names, &names->subs[i], names->files[nytp_sub_file(profile, i)]))
            return false;
    return true;
}

/* Subs are sorted by name from 1 on; sub 0 is alone. */
static bool name_subs(struct nytp_viewer_names *names, const struct nytp_profile *profile)
{
    uint32_t first = 0;
    while (first < profile->n_subs) {
        uint32_t end = first + 1;
        while (first > 0 && end < profile->n_subs &&
               profile->subs[end].name.ptr == profile->subs[first].name.ptr)
            end++;
        if (!name_run(names, profile, first, end))
            return false;
        first = end;
    }
    return true;
}

struct nytp_viewer_names *nytp_viewer_names_new(const struct nytp_profile *profile)
{
    struct nytp_viewer_names *names = calloc(1, sizeof *names);
    if (names == NULL)
        return NULL;
    names->subs = calloc(profile->n_subs, sizeof *names->subs);
    names->files = calloc(profile->n_files, sizeof *names->files);
    if (names->subs == NULL || names->files == NULL || !name_files(names, profile) ||
        !name_subs(names, profile)) {
        nytp_viewer_names_free(names);
        return NULL;
    }
    return names;
}

void nytp_viewer_names_free(struct nytp_viewer_names *names)
{
    if (names == NULL)
        return;
    while (names->texts != NULL) {
        struct nytp_viewer_text *next = names->texts->next;
        free(names->texts);
        names->texts = next;
    }
    free(names->subs);
    free(names->files);
    free(names);
}
