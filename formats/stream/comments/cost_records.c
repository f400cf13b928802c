/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Reads the comments about recording costs; see cost_records.h.
 */
#include "cost_records.h"

#include <stddef.h>
#include <string.h>

/* Limit for one event: 100 us, a hundred times the cost of a clock. */
#define MOST_PICOSECONDS 100000000

static const struct {
    const char *name;
    size_t offset;
} cost_kinds[] = {
#define NYTP_COST(kind) {#kind, offsetof(struct nytp_costs, kind)},
#include "cost_kinds.def"
};

static const char head[] = "nytp-costs";

bool nytp_is_costs(const struct nytp_str *comment)
{
    const size_t len = sizeof head - 1;
    return comment->len > len && memcmp(comment->ptr, head, len) == 0 &&
           comment->ptr[len] == ' ';
}

static void note_word(struct nytp_costs *costs, const char *word, size_t len)
{
    const char *const equals = memchr(word, '=', len);
    if (equals == NULL || equals + 1 == word + len)
        return;
    int64_t value = 0;
    for (const char *at = equals + 1; at < word + len; at++) {
        if (*at < '0' || *at > '9' || value > MOST_PICOSECONDS)
            return;
        value = value * 10 + (*at - '0');
    }
    const size_t name_len = (size_t)(equals - word);
    for (size_t i = 0; i < sizeof cost_kinds / sizeof *cost_kinds; i++) {
        int64_t *const cost = (int64_t *)((char *)costs + cost_kinds[i].offset);
        if (strlen(cost_kinds[i].name) == name_len &&
            memcmp(cost_kinds[i].name, word, name_len) == 0 && value > 0 &&
            value <= MOST_PICOSECONDS)
            *cost = value;
    }
}

void nytp_costs_note(struct nytp_costs *costs, const struct nytp_str *comment)
{
    if (!nytp_is_costs(comment))
        return;
    const char *const end = comment->ptr + comment->len;
    for (const char *at = comment->ptr + sizeof head; at < end;) {
        const char *stop = at;
        while (stop < end && *stop != ' ' && *stop != '\n')
            stop++;
        note_word(costs, at, (size_t)(stop - at));
        at = stop + 1;
    }
}
