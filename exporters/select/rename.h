/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * New names for the subs and files of a profile, so that what is the same on two machines or in
 * two versions of a program has the same name.
 */
#ifndef NYTP_RENAME_H
#define NYTP_RENAME_H

#include "formats/model/model.h"

/* ---- new lists of subs ---- */

struct nytp_listed_sub {
    struct nytp_sub sub;
    uint32_t old; /* index in the old list; from n_subs on for new ones */
};

/* Returns the profile's subs with room for `n_more`, or NULL if memory is out. */
struct nytp_listed_sub *nytp_list_subs(const struct nytp_profile *profile, uint32_t n_more);

/* Sorts a list of n subs (but the root, which is first) as the model wants it, merges subs of
 * one name and file, makes the result the profile's subs, and frees the list. sub_of[old]
 * becomes the new index. Returns false if memory is out. */
bool nytp_install_subs(struct nytp_profile *profile, struct nytp_listed_sub *list, uint32_t n,
                       uint32_t *sub_of);

/* ---- new names ---- */

/* Subs of the same name and file, and files of the same name, become one; string evals stay
 * apart. `subs` and `files` have a name for each, interned in profile->strings; NULL leaves all
 * as they are. False with *error set (memory); the profile is then only good for
 * nytp_profile_free(). */
bool nytp_rename(struct nytp_profile *profile, const struct nytp_name *subs,
                 const struct nytp_name *files, struct nytp_error *error);

/* Give subs names by which they are known again after the code around them has moved: the line
 * in "main::__ANON__[/x/a.pl:12]" and "Foo::BEGIN@7" becomes a number in order of appearance
 * within the package and file, "main::__ANON__#1", or within a string eval of the file,
 * "main::__ANON__(eval#1)#1". BEGIN blocks keep their lines without `number_begins`: where
 * samples are compared, each side has seen a few of them. False with *error set, as
 * nytp_rename(). */
bool nytp_rename_stably(struct nytp_profile *profile, bool number_begins,
                        struct nytp_error *error);

/* Merges string evals that one line ran: they become one file "(eval 0)[...]", and their subs
 * of one name become one sub. The numbers of evals differ from run to run and from process to
 * process, and hide that it is the same code. Returns false with *error set, as nytp_rename().
 */
bool nytp_merge_evals(struct nytp_profile *profile, struct nytp_error *error);

#endif
