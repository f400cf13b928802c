/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Writes the sources that a profile kept as files, so that viewers can open them: they were
 * recorded on another machine, or have changed since, or never were files.
 */
#ifndef NYTP_UNPACK_H
#define NYTP_UNPACK_H

#include "formats/model/model.h"

/* Write the source of every file that the profile holds some of into the folder `dir`, which
 * is made if it is not there (its parent must be), and let the model's file names be the
 * absolute paths of what was written. Files without source keep their names.
 *
 *     /usr/share/perl5/Foo.pm       DIR/usr/share/perl5/Foo.pm
 *     (eval 5)[/home/me/a.pl:24]    DIR/eval-5-a.pl-24.pl
 *     -e, -                         DIR/dash-e.pl, DIR/stdin.pl
 *
 * A file is never written over: one that has the very same content is used as it is (so a
 * second run changes nothing), beside any other the new one gets "-2", "-3", … before its
 * suffix. Nothing is written outside DIR, whatever the names in the profile are and whatever
 * symbolic links are in DIR. Line N of the file is the program's line N.
 *
 * False with *error set when a file cannot be written; names changed so far stay changed. */
bool nytp_unpack_sources(struct nytp_profile *profile, const char *dir,
                         struct nytp_error *error);

#endif
