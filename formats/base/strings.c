/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Interned strings; see strings.h. The bytes are in an arena, so that they never move.
 */
#include "strings.h"

#include "arena.h"

#include <stdlib.h>
#include <string.h>

#define RECENT 4096u

struct nytp_strings {
    struct nytp_arena *arena;
    NYTP_LIST(struct nytp_name) names; /* by id */
    struct nytp_table by_hash;         /* (hash, length, which of those) -> id */
    uint32_t recent[RECENT]; /* ids of names seen recently */
    char *scratch;           /* for re-encoded names */
    uint32_t scratch_capacity;
};

/* Eight bytes a step: a name is hashed for every call event. */
static uint32_t hash_bytes(const char *bytes, size_t len)
{
    uint64_t h = len * 0x9E3779B97F4A7C15u;
    while (len >= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        h = (h ^ word) * 0xBF58476D1CE4E5B9u;
        h ^= h >> 31;
        bytes += 8;
        len -= 8;
    }
    uint64_t tail = 0;
    memcpy(&tail, bytes, len);
    h = (h ^ tail) * 0x94D049BB133111EBu;
    return (uint32_t)(h >> 32);
}

struct nytp_strings *nytp_strings_new(void)
{
    struct nytp_strings *strings = calloc(1, sizeof *strings);
    if (strings == NULL)
        return NULL;
    strings->arena = nytp_arena_new();
    if (strings->arena == NULL || nytp_strings_intern(strings, "", 0) != 0) {
        nytp_strings_free(strings);
        return NULL;
    }
    return strings;
}

void nytp_strings_free(struct nytp_strings *strings)
{
    if (strings == NULL)
        return;
    nytp_arena_free(strings->arena);
    free(strings->names.at);
    nytp_table_free(&strings->by_hash);
    free(strings->scratch);
    free(strings);
}

uint32_t nytp_strings_intern(struct nytp_strings *strings, const char *bytes, size_t len)
{
    struct nytp_key key = {hash_bytes(bytes, len), (uint32_t)len, 0, 0};
    uint32_t id;
    for (; (id = nytp_table_get(&strings->by_hash, key)) != NYTP_TABLE_NONE; key.c++)
        if (strings->names.at[id].len == len &&
            memcmp(strings->names.at[id].ptr, bytes, len) == 0)
            return id;
    if (len > UINT32_MAX - 1 || !NYTP_GROW(&strings->names))
        return UINT32_MAX;
    char *const copy = nytp_arena_alloc(strings->arena, len + 1);
    id = strings->names.n;
    if (copy == NULL || !nytp_table_put(&strings->by_hash, key, id))
        return UINT32_MAX;
    memcpy(copy, bytes, len);
    copy[len] = '\0';
    strings->names.at[id] = (struct nytp_name){copy, (uint32_t)len};
    strings->names.n++;
    return id;
}

struct nytp_key nytp_file_key(struct nytp_strings *strings, uint32_t name)
{
    static const char hook[] = "/loader/0x";
    const size_t skip = sizeof hook - 1;
    const struct nytp_name text = nytp_strings_get(strings, name);
    const char *const behind = text.len > skip && memcmp(text.ptr, hook, skip) == 0
                                   ? memchr(text.ptr + skip, '/', text.len - skip)
                                   : NULL;
    if (behind == NULL)
        return (struct nytp_key){.a = name};
    const size_t len = text.len - (size_t)(behind - text.ptr);
    return (struct nytp_key){.a = nytp_strings_intern(strings, behind, len), .b = 1};
}

/* Appends a part, re-encoded from Latin-1 if it is not UTF-8. Returns the new end. */
static char *put_part(char *to, const char *part, size_t len)
{
    if (nytp_utf8_valid(part, len)) {
        memcpy(to, part, len);
        return to + len;
    }
    for (size_t i = 0; i < len; i++)
        to += nytp_utf8_encode((unsigned char)part[i], to);
    return to;
}

static const char *find_colons(const char *at, const char *end)
{
    for (; end - at >= 2; at++)
        if (at[0] == ':' && at[1] == ':')
            return at;
    return end;
}

/* nytp_strings_intern_mixed() without its cache. */
static uint32_t intern_any(struct nytp_strings *strings, const char *bytes, size_t len)
{
    if (nytp_utf8_valid(bytes, len))
        return nytp_strings_intern(strings, bytes, len);
    if (!nytp_reserve(&strings->scratch, &strings->scratch_capacity, 2 * (uint64_t)len, 1))
        return UINT32_MAX;
    char *to = strings->scratch;
    const char *const end = bytes + len;
    for (const char *at = bytes; at < end;) {
        const char *colons = find_colons(at, end);
        to = put_part(to, at, (size_t)(colons - at));
        for (at = colons; at < end && *at == ':'; at++)
            *to++ = ':';
    }
    return nytp_strings_intern(strings, strings->scratch, (size_t)(to - strings->scratch));
}

/* The cache slot of a name of at least 8 bytes, chosen by its end, where names differ. */
static uint32_t recent_slot(const char *bytes, size_t len)
{
    uint64_t end;
    memcpy(&end, bytes + len - sizeof end, sizeof end);
    return (uint32_t)(((end ^ len) * 0x9E3779B97F4A7C15u) >> 32) % RECENT;
}

uint32_t nytp_strings_intern_mixed(struct nytp_strings *strings, const char *bytes, size_t len)
{
    if (len < 8)
        return intern_any(strings, bytes, len);
    uint32_t *const recent = &strings->recent[recent_slot(bytes, len)];
    const struct nytp_name name = strings->names.at[*recent];
    if (name.len == len && memcmp(name.ptr, bytes, len) == 0)
        return *recent;
    const uint32_t id = intern_any(strings, bytes, len);
    if (id != UINT32_MAX)
        *recent = id;
    return id;
}

struct nytp_name nytp_strings_get(const struct nytp_strings *strings, uint32_t id)
{
    return strings->names.at[id];
}

uint32_t nytp_strings_count(const struct nytp_strings *strings)
{
    return strings->names.n;
}

int nytp_compare_bytes(const char *a, size_t a_len, const char *b, size_t b_len)
{
    const size_t shorter = a_len < b_len ? a_len : b_len;
    const int order = shorter > 0 ? memcmp(a, b, shorter) : 0;
    return order != 0 ? order : (a_len > b_len) - (a_len < b_len);
}

/* Reduces "(eval 0)[/x/a.pl:7]" to "/x/a.pl". Returns false if the path is no string eval. */
static bool strip_eval(struct nytp_name *path)
{
    uint32_t end = path->len;
    if (end == 0 || path->ptr[0] != '(' || path->ptr[--end] != ']')
        return false;
    const uint32_t behind_digits = end;
    while (end > 0 && path->ptr[end - 1] >= '0' && path->ptr[end - 1] <= '9')
        end--;
    const char *bracket = memchr(path->ptr, '[', end);
    if (end == behind_digits || end == 0 || path->ptr[--end] != ':' || bracket == NULL)
        return false;
    const uint32_t start = (uint32_t)(bracket + 1 - path->ptr);
    *path = (struct nytp_name){path->ptr + start, end - start};
    return true;
}

struct nytp_name nytp_without_folders(struct nytp_name path)
{
    uint32_t start = path.len;
    while (start > 0 && path.ptr[start - 1] != '/')
        start--;
    return (struct nytp_name){path.ptr + start, path.len - start};
}

struct nytp_name nytp_base_name(struct nytp_name path)
{
    while (strip_eval(&path))
        continue;
    return nytp_without_folders(path);
}

uint64_t nytp_str_number(struct nytp_str text)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++)
        if (value < UINT64_MAX / 16)
            value = value * 10 + (uint64_t)(text.ptr[i] - '0');
    return value;
}
