/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What is looked at before both sides become one profile. The base is made to look like the new
 * side: two checkouts of a program differ in their folders, and files should be compared
 * nevertheless. And it is noted which subs the new side has, whether it calls them or not.
 */
#ifndef NYTP_MATCH_H
#define NYTP_MATCH_H

#include "formats/model/model.h"

/* Names of subs that the new side has, called or not: what did not run was not removed. And
 * what files were called in the base that have the new side's names now. */
struct nytp_defined {
    struct nytp_arena *arena;
    struct nytp_name *names; /* sorted */
    uint32_t n, capacity;
    struct nytp_name *lost; /* those whose calls a selection leaves out, and which have none */
    uint32_t n_lost, lost_capacity;
    struct nytp_adopted_file {
        struct nytp_name name, base;
    } * adopted;
    uint32_t n_adopted, adopted_capacity;
};

/* Add a profile's subs; zeroed before the first. False when memory is out. */
bool nytp_defined_add(struct nytp_defined *defined, const struct nytp_profile *profile);
/* Give a file of the base the new side's name for it when only the folders differ: another
 * checkout of the same program. That is, when the new side has no file of that very name and
 * one file of that base name. What it was called is noted. False with *error set, as
 * nytp_rename(). */
bool nytp_adopt_file_names(struct nytp_profile *base, const struct nytp_profile *now,
                           struct nytp_defined *defined, struct nytp_error *error);

/* The name that a file had in the base; its own if it was not changed. */
struct nytp_name nytp_base_file(const struct nytp_defined *defined, struct nytp_name file);

/* Whether there is a sub of that name; not if `defined` is NULL. */
bool nytp_defined_has(const struct nytp_defined *defined, struct nytp_name name);
void nytp_defined_free(struct nytp_defined *defined);

#endif
