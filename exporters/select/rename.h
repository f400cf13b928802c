/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * New names for the subs and files of a profile, so that what is the same on two machines or in
 * two versions of a program has the same name.
 */
#ifndef NYTP_RENAME_H
#define NYTP_RENAME_H

#include "formats/model/model.h"

/* Subs of the same name and file, and files of the same name, become one; string evals stay
 * apart. `subs` and `files` have a name for each, interned in profile->strings; NULL leaves all
 * as they are. False with *error set (memory); the profile is then only good for
 * nytp_profile_free(). */
bool nytp_rename(struct nytp_profile *profile, const struct nytp_name *subs,
                 const struct nytp_name *files, struct nytp_error *error);

/* Give subs names by which they are known again after the code around them has moved: the line
 * in "main::__ANON__[/x/a.pl:12]" and "Foo::BEGIN@7" becomes a number in order of appearance
 * within the package and file, "main::__ANON__#1", or within a string eval of the file,
 * "main::__ANON__(eval#1)#1". BEGIN blocks keep their lines without `number_begins`: where samples
 * are compared, each side has seen a few of them. False with *error set, as nytp_rename(). */
bool nytp_rename_stably(struct nytp_profile *profile, bool number_begins,
                        struct nytp_error *error);

#endif
