/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Preparations before both sides become one profile. Files of the base get the names of the
 * new side, since two checkouts of a program have different folders. The subs of the new side
 * are noted, called or not.
 */
#ifndef NYTP_MATCH_H
#define NYTP_MATCH_H

#include "formats/model/model.h"

/* The subs of the new side, called or not: a sub that did not run was not removed. Also the
 * former names of the base's renamed files. */
struct nytp_defined {
    struct nytp_arena *arena;
    struct nytp_name *names; /* sorted */
    uint32_t n, capacity;
    struct nytp_name *lost; /* names that have no calls because of a selection */
    uint32_t n_lost, lost_capacity;
    struct nytp_adopted_file {
        struct nytp_name name, base;
    } * adopted;
    uint32_t n_adopted, adopted_capacity;
};

/* Adds a profile's subs to the (first zeroed) set. Returns false if memory is out. */
bool nytp_defined_add(struct nytp_defined *defined, const struct nytp_profile *profile);
/* Renames files of the base to the new side's names if only the folders differ. A file is
 * renamed if the new side has no file of its name, and exactly one of its base name. The old
 * name is noted. Returns false with *error set, as nytp_rename() does. */
bool nytp_adopt_file_names(struct nytp_profile *base, const struct nytp_profile *now,
                           struct nytp_defined *defined, struct nytp_error *error);

/* Returns the name that a file had in the base, which may be the same. */
struct nytp_name nytp_base_file(const struct nytp_defined *defined, struct nytp_name file);

/* Returns true if there is a sub of that name; false if `defined` is NULL. */
bool nytp_defined_has(const struct nytp_defined *defined, struct nytp_name name);
void nytp_defined_free(struct nytp_defined *defined);

#endif
