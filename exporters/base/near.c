/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Compares names by how many letters have to change; see near.h. Lower and upper case are the
 * same, and both the whole name and the part behind the last "::" count, as people leave
 * packages out.
 */
#include "near.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define MAX_NAME NYTP_EDIT_LONGEST

/* ---- names of subs ---- */

static bool is_name_char(char c)
{
    const unsigned char byte = (unsigned char)c;
    return isalnum(byte) || c == '_' || c == ':' || byte >= 0x80;
}

/* In lower case, its first MAX_NAME bytes; returns how many these are. */
static size_t copy_lower(char *to, const char *from, size_t len)
{
    len = len < MAX_NAME ? len : MAX_NAME;
    for (size_t i = 0; i < len; i++)
        to[i] = (char)tolower((unsigned char)from[i]);
    to[len] = '\0';
    return len;
}

void nytp_near_begin(struct nytp_near *near, const char *text)
{
    *near = (struct nytp_near){0};
    const char *longest = text;
    size_t longest_len = 0;
    for (const char *at = text; *at != '\0';) {
        size_t len = 0;
        while (is_name_char(at[len]))
            len++;
        if (len > longest_len) {
            longest = at;
            longest_len = len;
        }
        at += len > 0 ? len : 1;
    }
    near->word_len = copy_lower(near->word, longest, longest_len);
    near->limit = near->word_len >= 3 ? 1 + (unsigned)near->word_len / 4 : 0;
}

/* Returns the distance of a name from the word; one that contains the word is very near. */
static unsigned distance_to(const struct nytp_near *near, struct nytp_name name)
{
    char text[MAX_NAME + 1], base[MAX_NAME + 1];
    const size_t len = copy_lower(text, name.ptr, name.len);
    uint32_t start = name.len;
    while (start > 0 && name.ptr[start - 1] != ':')
        start--;
    const size_t base_len = copy_lower(base, name.ptr + start, name.len - start);
    if (strstr(text, near->word) != NULL || strstr(base, near->word) != NULL)
        return 1;
    const unsigned whole = nytp_edit_distance(near->word, near->word_len, text, len),
                   last = nytp_edit_distance(near->word, near->word_len, base, base_len);
    return whole < last ? whole : last;
}

void nytp_near_consider(struct nytp_near *near, struct nytp_name name)
{
    if (near->limit == 0)
        return;
    const unsigned distance = distance_to(near, name);
    if (distance > near->limit)
        return;
    const uint32_t most = sizeof near->best / sizeof *near->best;
    uint32_t at = near->n;
    while (at > 0 && near->best[at - 1].distance > distance)
        at--;
    if (at == most)
        return;
    const uint32_t moved = (near->n < most ? near->n : most - 1) - at;
    memmove(&near->best[at + 1], &near->best[at], moved * sizeof *near->best);
    near->best[at] = (struct nytp_near_name){name, distance};
    near->n += near->n < most;
}
