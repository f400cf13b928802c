/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Makes the Perl structures of Devel::NYTProf::Data from a summary, for NYTProf.xs. Include
 * perl.h before it. The C core (formats/) reads and sums the profile.
 */
#ifndef NYTP_DATA_GLUE_H
#define NYTP_DATA_GLUE_H

/* Loads a profile. Returns a new reference to an unblessed hash with the members of a
 * Devel::NYTProf::Data object; its files and subs are blessed and refer back weakly. Sibling
 * evals are merged: if a line has more than max_siblings distinct ones, all; else equal ones.
 * UINT32_MAX with merge false merges none.
 *
 * If the file is unreadable or damaged returns a string with path, offset and reason. With
 * `partial` returns the data before the damage, and the reason is the member "load_error". */
SV *nytp_glue_load(pTHX_ const char *path, bool merge, U32 max_siblings, bool partial);

#endif
