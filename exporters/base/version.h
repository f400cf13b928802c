/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The version of this project, and the version of Devel::NYTProf with which its Perl modules,
 * commands and profiles are compatible. Makefile.PL reads the first one; the second one is
 * $VERSION in lib/.
 */
#ifndef NYTP_VERSION_H
#define NYTP_VERSION_H

#define NYTP_VERSION "0.1"
#define NYTP_COMPATIBLE_VERSION "6.14"

#endif
