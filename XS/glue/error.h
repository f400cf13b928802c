/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Perl text for a status of the C core, for this folder. Include perl.h before it.
 */
#ifndef NYTP_GLUE_ERROR_H
#define NYTP_GLUE_ERROR_H

#include "formats/base/error.h"

/* Returns a new mortal string "PATH: [byte N [(inflated)]: ]REASON". The reason begins with
 * phrases that programs look for: "Profile data incomplete" if the input ends early, "Profile
 * format error" if it is damaged. */
SV *nytp_glue_error_text(pTHX_ const char *path, const struct nytp_error *error);

#endif
