/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Perl's values and allocated memory (struct nytp_svs) beside the lines of a profile. Most
 * recordings have none, so they are an array of their own, and a list by place while lines are
 * sorted.
 */
#ifndef NYTP_SVS_H
#define NYTP_SVS_H

#include "model.h"

#include <stddef.h>

/* The SVs of a node line, and of a line cost, by index. */
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

/* What is in use may have been allocated before the recording began. */
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

/* Also of what counts elsewhere, or at another time. */
static inline bool nytp_svs_are_empty(struct nytp_svs svs)
{
    return nytp_svs_are_none(svs) && svs.elsewhere.objects == 0 && svs.elsewhere.space == 0 &&
           svs.peak_space == 0;
}

/* By which a measure of memory is known outside, and what it counts. */
struct nytp_bytes_name {
    const char *name;  /* alloc_space */
    const char *unit;  /* bytes, count */
    const char *title; /* bytes allocated */
    bool is_space;
};
extern const struct nytp_bytes_name nytp_bytes_names[NYTP_N_BYTES_MEASURES];

/* NYTP_N_BYTES_MEASURES for another name, or none. */
enum nytp_bytes_measure nytp_bytes_measure_of(const char *name);

/* Zeroed = empty. The caller frees `rows`. */
struct nytp_svs_rows {
    struct nytp_svs_row {
        uint32_t node, file, line;
        struct nytp_svs svs;
    } * rows;
    uint32_t n, capacity;
};

/* False when memory is out, as below. What is nothing is not added. */
bool nytp_svs_rows_add(struct nytp_svs_rows *rows, struct nytp_svs_row row);

/* Make p->node_line_svs, where p->has says that there are SVs. Each row's place is that of a
 * line of its node; several of one place are added up. */
bool nytp_svs_place(struct nytp_profile *p, const struct nytp_svs_rows *rows);

#endif
