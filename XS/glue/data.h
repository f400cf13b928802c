/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A summary as the Perl structures of Devel::NYTProf::Data; NYTProf.xs calls it. Needs perl.h before
 * it. The C core (formats/) reads the profile and sums it up, this only turns sums into Perl data.
 */
#ifndef NYTP_DATA_GLUE_H
#define NYTP_DATA_GLUE_H

/* Load a profile. Returns a new reference to an unblessed hash with the members of a
 * Devel::NYTProf::Data object; files and subs in it are blessed and refer back to it weakly.
 * Sibling evals are merged where a line has at most max_siblings distinct ones, all of them
 * where it has more; UINT32_MAX with merge false leaves them alone.
 *
 * Where the file cannot be read or is damaged the result is a string instead, with path, offset
 * and reason; with `partial` what was read before the damage is returned, and the reason is the
 * member "load_error". */
SV *nytp_glue_load(pTHX_ const char *path, bool merge, U32 max_siblings, bool partial);

#endif
