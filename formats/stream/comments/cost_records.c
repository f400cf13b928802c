/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Reads the comments about recording costs; see cost_records.h.
 */
#include "cost_records.h"

#include "formats/stream/comments/words.h"

/* Limit for one event: 100 us, a hundred times the cost of a clock. */
#define MOST_PICOSECONDS 100000000

static const struct {
    const char *name;
    size_t offset;
} cost_kinds[] = {
#define NYTP_COST(kind) {#kind, offsetof(struct nytp_costs, kind)},
#include "cost_kinds.def"
};

bool nytp_is_costs(const struct nytp_str *comment)
{
    struct nytp_str rest = *comment;
    return nytp_cut_word(&rest, NYTP_COSTS_HEAD);
}

static void note_word(struct nytp_costs *costs, struct nytp_str word)
{
    const struct nytp_str name = nytp_cut_part(&word, '=');
    uint64_t value;
    if (!nytp_cut_number(&word, '\0', MOST_PICOSECONDS, &value) || value == 0)
        return;
    for (size_t i = 0; i < sizeof cost_kinds / sizeof *cost_kinds; i++)
        if (nytp_str_is(name, cost_kinds[i].name))
            *(int64_t *)((char *)costs + cost_kinds[i].offset) = (int64_t)value;
}

void nytp_costs_note(struct nytp_costs *costs, const struct nytp_str *comment)
{
    struct nytp_str rest = nytp_comment_text(comment);
    if (!nytp_cut_word(&rest, NYTP_COSTS_HEAD))
        return;
    while (rest.len > 0)
        note_word(costs, nytp_cut_part(&rest, ' '));
}
