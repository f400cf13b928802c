/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * SVs and allocated memory (struct nytp_svs) of the lines of a profile. Most recordings have
 * none, so they are in a separate array, and in a list of rows while lines are sorted.
 */
#ifndef NYTP_SVS_H
#define NYTP_SVS_H

#include "model.h"

#include <stddef.h>

/* Returns the SVs of a node line or line cost, by index. */
static inline struct nytp_svs nytp_svs_of_line(const struct nytp_profile *p, uint32_t line)
{
    return p->node_line_svs != NULL ? p->node_line_svs[line] : (struct nytp_svs){0};
}

static inline struct nytp_svs nytp_svs_of_cost(const struct nytp_profile *p, uint32_t cost)
{
    return p->line_cost_svs != NULL ? p->line_cost_svs[cost] : (struct nytp_svs){0};
}

static inline void nytp_bytes_add(struct nytp_bytes *sum, struct nytp_bytes bytes)
{
    for (int i = 0; i < NYTP_N_BYTES_MEASURES; i++)
        sum->of[i] += bytes.of[i];
}

static inline void nytp_in_use_add(struct nytp_in_use *sum, struct nytp_in_use in_use)
{
    sum->objects += in_use.objects;
    sum->space += in_use.space;
}

static inline void nytp_svs_add(struct nytp_svs *sum, struct nytp_svs svs)
{
    sum->net += svs.net;
    sum->kept += svs.kept;
    nytp_bytes_add(&sum->bytes, svs.bytes);
    nytp_in_use_add(&sum->inherited, svs.inherited);
    nytp_in_use_add(&sum->elsewhere, svs.elsewhere);
    sum->peak_space += svs.peak_space;
}

/* All four are tested: memory in use may have been allocated before the recording. */
static inline bool nytp_bytes_are_none(struct nytp_bytes bytes)
{
    for (int i = 0; i < NYTP_N_BYTES_MEASURES; i++)
        if (bytes.of[i] != 0)
            return false;
    return true;
}

static inline bool nytp_svs_are_none(struct nytp_svs svs)
{
    return svs.net == 0 && svs.kept == 0 && nytp_bytes_are_none(svs.bytes);
}

/* Also tests memory that is counted elsewhere or at the peak. */
static inline bool nytp_svs_are_empty(struct nytp_svs svs)
{
    return nytp_svs_are_none(svs) && svs.elsewhere.objects == 0 && svs.elsewhere.space == 0 &&
           svs.peak_space == 0;
}

/* A zeroed list is empty. The caller frees `rows`. */
struct nytp_svs_rows {
    struct nytp_svs_row {
        uint32_t node, file, line;
        struct nytp_svs svs;
    } * rows;
    uint32_t n, capacity;
};

/* Adds a row unless it is all zero. Returns false if memory is out. */
bool nytp_svs_rows_add(struct nytp_svs_rows *rows, struct nytp_svs_row row);

/* Makes p->node_line_svs, if p->has includes SVs. The place of each row must be a line of its
 * node; rows of one place are added up. Returns false if memory is out. */
bool nytp_svs_place(struct nytp_profile *p, const struct nytp_svs_rows *rows);

#endif
