/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The table of measures; see measures.h.
 */
#include "measures.h"

#include <stdio.h>
#include <string.h>

#define NYTP_MEASURE(id, name, title, kept, event, unit, nature, has, own, weight)             \
    static int64_t own_##id(const struct nytp_node_line *line, const struct nytp_svs *memory)  \
    {                                                                                          \
        (void)line;                                                                            \
        (void)memory;                                                                          \
        return own;                                                                            \
    }                                                                                          \
    static int64_t weight_##id(const struct nytp_node_line *line,                              \
                               const struct nytp_svs *memory)                                  \
    {                                                                                          \
        (void)line;                                                                            \
        (void)memory;                                                                          \
        return weight;                                                                         \
    }
#include "measures.def"
#undef NYTP_MEASURE

const struct nytp_measure nytp_measures[NYTP_N_WEIGHTS] = {
#define NYTP_MEASURE(id, name, title, kept, event, unit, nature, has, own, weight)             \
    {name, title,    kept,       event, NYTP_MEASURE_##unit, NYTP_MEASURE_##nature,            \
     has,  own_##id, weight_##id},
#include "measures.def"
#undef NYTP_MEASURE
};

enum nytp_weight nytp_measure_named(const char *name, size_t len)
{
    int i = 0;
    while (i < NYTP_N_WEIGHTS &&
           (name == NULL || len == 0 || strlen(nytp_measures[i].name) != len ||
            memcmp(nytp_measures[i].name, name, len) != 0))
        i++;
    return (enum nytp_weight)i;
}

enum nytp_weight nytp_memory_named(const char *name)
{
    const enum nytp_weight weight = nytp_measure_named(name, name != NULL ? strlen(name) : 0);
    return weight >= NYTP_MEMORY_FIRST ? weight : NYTP_N_WEIGHTS;
}

int64_t nytp_sub_memory(const struct nytp_sub *sub, enum nytp_weight weight)
{
    const struct nytp_svs memory = {.net = sub->svs, .bytes = sub->bytes};
    return nytp_measures[weight].own(NULL, &memory);
}

const char *nytp_measures_list(const char *first, const char *except, const char *separator,
                               char *text, size_t size)
{
    size_t len = (size_t)snprintf(text, size, "%s", first);
    for (int i = 0; i < NYTP_N_WEIGHTS && len < size; i++) {
        const char *const name = nytp_measures[i].name;
        const char *const at = strstr(except, name);
        if (*name != '\0' && (at == NULL || strcspn(at, " ") != strlen(name)))
            len +=
                (size_t)snprintf(text + len, size - len, "%s%s", i > 0 ? separator : "", name);
    }
    return text;
}
