/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What must be equal on both sides of a comparison, or counts and times mean something else:
 * the perl, the recorder and its options, the hash seed. A table of counts keeps them, too.
 */
#ifndef NYTP_CONDITIONS_H
#define NYTP_CONDITIONS_H

#include "formats/model/model.h"

enum {
    NYTP_N_CONDITIONS = 8
};

struct nytp_conditions {
    struct nytp_name value[NYTP_N_CONDITIONS]; /* NULL where it is not known */
};

struct nytp_condition {
    const char *key;  /* in a table of counts; NULL: not there, since it is of times */
    const char *what; /* in a message */
};

extern const struct nytp_condition nytp_condition_names[NYTP_N_CONDITIONS];

/* Those of a profile's first recording; they are borrowed from it. */
struct nytp_conditions nytp_conditions_of(const struct nytp_profile *profile);

/* Say in `text` (of `size` bytes) how the i-th fact of the base differs from that of the new
 * side. False, and `text` is left alone, if it does not, or is not known of one of them. */
bool nytp_conditions_describe(const struct nytp_conditions *base,
                              const struct nytp_conditions *now, uint32_t i, char *text,
                              size_t size);

#endif
