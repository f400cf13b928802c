/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Parses options as the user writes them, in the environment and after -d:NYTProf. Each is
 * passed to DB::set_option: a program that replaces that function sees the options.
 */
#ifndef NYTP_SETTINGS_H
#define NYTP_SETTINGS_H

#include "XS/perl/perl_compat.h"

/* Devel::NYTProf::Core::set_text("a=b:c=d"). A backslash makes the next character part of a
 * name or value. Exported under this name so that it can be used without loading the rest,
 * which would replace the program's function. */
XS_EXTERNAL(nytp_set_text) __attribute__((visibility("default")));

/* Devel::NYTProf::Core::set_list("a=b", "c=d"). A backslash stands for itself. */
XS_EXTERNAL(nytp_set_list);

#endif
