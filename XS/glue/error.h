/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A status of the C core as Perl text, for the other files of this folder. Needs perl.h before
 * it.
 */
#ifndef NYTP_GLUE_ERROR_H
#define NYTP_GLUE_ERROR_H

#include "formats/base/error.h"

/* A new mortal string "PATH: [byte N [(inflated)]: ]REASON", with the words that programs look
 * for in front of the reason: "Profile data incomplete" where the input ends early, "Profile
 * format error" where it is damaged. */
SV *nytp_glue_error_text(pTHX_ const char *path, const struct nytp_error *error);

#endif
