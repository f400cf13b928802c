/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What must be equal on both sides of a comparison, or counts and times mean something else:
 * the perl, the recorder and its options, the hash seed. A table of counts keeps them, too.
 */
#ifndef NYTP_FACTS_H
#define NYTP_FACTS_H

#include "formats/model/model.h"

enum {
    NYTP_N_FACTS = 8
};

struct nytp_facts {
    struct nytp_name value[NYTP_N_FACTS]; /* NULL where it is not known */
};

struct nytp_fact {
    const char *key;  /* in a table of counts; NULL: not there, since it is of times */
    const char *what; /* in a message */
};

extern const struct nytp_fact nytp_fact_names[NYTP_N_FACTS];

/* Those of a profile's first part; they are borrowed from it. */
struct nytp_facts nytp_facts_of(const struct nytp_profile *profile);

/* Say in `text` (of `size` bytes) how the i-th fact of the base differs from that of the new
 * side. False, and `text` is left alone, if it does not, or is not known of one of them. */
bool nytp_facts_describe(const struct nytp_facts *base, const struct nytp_facts *now,
                         uint32_t i, char *text, size_t size);

#endif
