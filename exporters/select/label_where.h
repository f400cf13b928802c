/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * --where: conditions on labels, KEY=~REGEX or KEY=VALUE, for
 * formats/build/gather/label_selection.h.
 */
#ifndef NYTP_LABEL_WHERE_H
#define NYTP_LABEL_WHERE_H

#include "exporters/base/patterns.h"

#include "formats/base/strings.h"

#define NYTP_MOST_CONDITIONS 32

/* Zeroed = none. */
struct nytp_label_where {
    struct nytp_label_condition {
        const char *text; /* as given; the key is its begin */
        uint32_t key_len;
        const char *value;          /* NULL: regex */
        struct nytp_patterns regex; /* zeroed: value */
    } conditions[NYTP_MOST_CONDITIONS];
    unsigned n;
    struct nytp_strings *strings; /* values as expressions match them */
};

bool nytp_label_where_add(struct nytp_label_where *where, const char *text,
                          struct nytp_error *error);
void nytp_label_where_free(struct nytp_label_where *where);

/* A nytp_label_match_fn, with a struct nytp_label_where as its context. */
uint32_t nytp_label_where_match(void *context, struct nytp_str key, struct nytp_str value,
                                uint32_t *of_key);

#endif
