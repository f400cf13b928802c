/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The options as the user writes them, in the environment and behind -d:NYTProf, taken apart.
 * Each goes to whatever DB::set_option is: a program that puts its own function in its place
 * sees the options.
 */
#ifndef NYTP_SETTINGS_H
#define NYTP_SETTINGS_H

#include "XS/perl/perl_compat.h"

/* Devel::NYTProf::Core::set_text("a=b:c=d"): a backslash makes the next character part of a
 * name or value. It leaves the object under this name, so that it can be had without loading
 * the rest, which would take the place of the program's function. */
XS_EXTERNAL(nytp_set_text) __attribute__((visibility("default")));

/* Devel::NYTProf::Core::set_list("a=b", "c=d"): a backslash is one there. */
XS_EXTERNAL(nytp_set_list);

#endif
