/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Makes the base look like the new side before both become one profile: two checkouts of a
 * program differ in their folders, and files should be compared nevertheless.
 */
#ifndef NYTP_MATCH_H
#define NYTP_MATCH_H

#include "formats/model/model.h"

/* Give a file of the base the new side's name for it when only the folders differ: another
 * checkout of the same program. That is, when the new side has no file of that very name and one
 * file of that base name. False with *error set, as nytp_rename(). */
bool nytp_adopt_file_names(struct nytp_profile *base, const struct nytp_profile *now,
                           struct nytp_error *error);

#endif
