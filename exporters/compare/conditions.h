/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Conditions that must be equal on both sides of a comparison, since otherwise counts and
 * times mean something else: the perl, the recorder and its options, the hash seed. A table of
 * counts has them, too.
 */
#ifndef NYTP_CONDITIONS_H
#define NYTP_CONDITIONS_H

#include "formats/model/model.h"

enum {
    NYTP_N_CONDITIONS = 8
};

struct nytp_conditions {
    struct nytp_name value[NYTP_N_CONDITIONS]; /* NULL if unknown */
};

struct nytp_condition {
    const char *key;  /* in a table of counts; NULL: concerns times, so it is not there */
    const char *what; /* in a message */
};

extern const struct nytp_condition nytp_condition_names[NYTP_N_CONDITIONS];

/* Returns the conditions of a profile's first recording, borrowed from it. */
struct nytp_conditions nytp_conditions_of(const struct nytp_profile *profile);

/* Describes in `text` (of `size` bytes) the difference in condition i. Returns false, with
 * `text` untouched, if there is none or one side is unknown. */
bool nytp_conditions_describe(const struct nytp_conditions *base,
                              const struct nytp_conditions *now, uint32_t i, char *text,
                              size_t size);

#endif
