/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Waiting by reason and line; see wait_rows.h.
 */
#include "wait_rows.h"

#include "formats/model/profile.h"

#include <stdio.h>
#include <stdlib.h>

static int by_what(const void *x, const void *y)
{
    const struct nytp_waited *a = x, *b = y;
    NYTP_RETURN_ORDER(a->reason, b->reason);
    NYTP_RETURN_ORDER(a->file, b->file);
    NYTP_RETURN_ORDER(a->line, b->line);
    return nytp_compare_names(a->peer, b->peer);
}

static int by_time(const void *x, const void *y)
{
    const struct nytp_waited *a = x, *b = y;
    NYTP_RETURN_ORDER(b->ns, a->ns);
    return by_what(x, y);
}

bool nytp_wait_rows_init(struct nytp_wait_rows *rows, const struct nytp_profile *profile,
                         const bool *only)
{
    struct nytp_waited *const list = malloc(((size_t)profile->n_waited + 1) * sizeof *list);
    uint32_t n_all = 0, n = 0;
    *rows = (struct nytp_wait_rows){.rows = list};
    if (list == NULL)
        return false;
    for (uint32_t i = 0; i < profile->n_waited; i++)
        if (only == NULL || only[profile->processes[profile->waited[i].process].recording])
            list[n_all++] = profile->waited[i];
    qsort(list, n_all, sizeof *list, by_what);
    for (uint32_t i = 0; i < n_all; i++) {
        rows->total_ns = nytp_ticks_sum(rows->total_ns, list[i].ns);
        if (list[i].reason != NYTP_WAIT_UNKNOWN)
            rows->known_ns = nytp_ticks_sum(rows->known_ns, list[i].ns);
        if (n > 0 && by_what(&list[n - 1], &list[i]) == 0) {
            list[n - 1].ns = nytp_ticks_sum(list[n - 1].ns, list[i].ns);
            list[n - 1].samples += list[i].samples;
        } else {
            list[n++] = list[i];
        }
    }
    qsort(list, n, sizeof *list, by_time);
    rows->n = n;
    return true;
}

void nytp_wait_rows_free(struct nytp_wait_rows *rows)
{
    free(rows->rows);
}

struct nytp_name nytp_wait_text(const struct nytp_waited *row, char text[NYTP_MAX_WAIT_TEXT])
{
    const int len =
        snprintf(text, NYTP_MAX_WAIT_TEXT, "%s%s%.*s", nytp_wait_reason_name(row->reason),
                 row->peer.len > 0 ? " " : "", (int)row->peer.len, row->peer.ptr);
    return (struct nytp_name){text, (uint32_t)len};
}
