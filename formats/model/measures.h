/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The measures of a profile, as a table (measures.def).
 */
#ifndef NYTP_MEASURES_H
#define NYTP_MEASURES_H

#include "model.h"

/* A measure; for formats with one value per stack what the numbers are (--weight). */
enum nytp_weight {
#define NYTP_MEASURE(id, ...) NYTP_WEIGHT_##id,
#include "measures.def"
#undef NYTP_MEASURE
    NYTP_N_WEIGHTS,
    /* measures of memory are those from the first one to before the end */
    NYTP_MEMORY_FIRST = NYTP_WEIGHT_SVS,
    NYTP_MEMORY_END = NYTP_WEIGHT_PEAK_SPACE
};
#define NYTP_N_MEMORY (NYTP_MEMORY_END - NYTP_MEMORY_FIRST)

enum nytp_measure_unit {
    NYTP_MEASURE_COUNT,
    NYTP_MEASURE_TIME,
    NYTP_MEASURE_SPACE
};

enum nytp_measure_nature {
    NYTP_MEASURE_SUM,
    NYTP_MEASURE_NET,
    NYTP_MEASURE_ESTIMATE
};

/* Returns the value of a line in a context. */
typedef int64_t nytp_measure_fn(const struct nytp_node_line *line,
                                const struct nytp_svs *memory);

struct nytp_measure {
    const char *name, *title, *kept, *event; /* as in measures.def */
    enum nytp_measure_unit unit;
    enum nytp_measure_nature nature;
    uint32_t has;
    nytp_measure_fn *own, *weight;
};

extern const struct nytp_measure nytp_measures[NYTP_N_WEIGHTS];

/* Returns the measure of this name, or NYTP_N_WEIGHTS for an unknown one and NULL. */
enum nytp_weight nytp_measure_named(const char *name, size_t len);
/* The same for a measure of memory. */
enum nytp_weight nytp_memory_named(const char *name);

/* Stores `first` and the names of all measures but those in `except` (with blanks between
 * them), with `separator` before each but the first measure. Returns `text`. */
const char *nytp_measures_list(const char *first, const char *except, const char *separator,
                               char *text, size_t size);

/* Returns true if the profile has a measure of memory or of time. */
static inline bool nytp_profile_has(const struct nytp_profile *profile, enum nytp_weight weight)
{
    return (profile->has & nytp_measures[weight].has) != 0;
}

static inline bool nytp_weight_is_memory(enum nytp_weight weight)
{
    return weight >= NYTP_MEMORY_FIRST;
}

static inline bool nytp_weight_is_bytes(enum nytp_weight weight)
{
    return nytp_measures[weight].has == NYTP_HAS_BYTES;
}

/* Returns true for bytes, false for blocks. */
static inline bool nytp_weight_is_space(enum nytp_weight weight)
{
    return nytp_measures[weight].unit == NYTP_MEASURE_SPACE;
}

static inline bool nytp_weight_is_time(enum nytp_weight weight)
{
    return nytp_measures[weight].unit == NYTP_MEASURE_TIME;
}

/* Returns true if pictures of two sides show it by stack only. */
static inline bool nytp_weight_is_of_stacks(enum nytp_weight weight)
{
    return weight >= NYTP_WEIGHT_CPU;
}

/* Returns memory that the sub itself made or kept, by a measure of memory. */
int64_t nytp_sub_memory(const struct nytp_sub *sub, enum nytp_weight weight);

#endif
