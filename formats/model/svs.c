/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * SVs and memory of the lines of a profile; see svs.h.
 */
#include "svs.h"

#include "formats/base/arena.h"
#include "profile.h"

#include <stdlib.h>

bool nytp_svs_rows_add(struct nytp_svs_rows *rows, struct nytp_svs_row row)
{
    if (nytp_svs_are_empty(row.svs))
        return true;
    if (!nytp_grow(&rows->rows, &rows->capacity, rows->n, sizeof *rows->rows))
        return false;
    rows->rows[rows->n++] = row;
    return true;
}

bool nytp_svs_place(struct nytp_profile *p, const struct nytp_svs_rows *rows)
{
    if ((p->has & NYTP_HAS_SVS) == 0)
        return true;
    free(p->node_line_svs);
    p->node_line_svs = calloc((size_t)p->n_node_lines + 1, sizeof *p->node_line_svs);
    if (p->node_line_svs == NULL)
        return false;
    for (uint32_t i = 0; i < rows->n; i++) {
        const struct nytp_svs_row *const row = &rows->rows[i];
        const struct nytp_node_line *const line =
            nytp_node_line_at(p, &p->nodes[row->node], row->file, row->line);
        if (line != NULL)
            nytp_svs_add(&p->node_line_svs[line - p->node_lines], row->svs);
    }
    return true;
}
