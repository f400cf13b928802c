/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Perl text for a status of the C core; see glue.h.
 */
#define PERL_NO_GET_CONTEXT
#include <EXTERN.h>
#include <perl.h>

#include "glue.h"

/* Phrases that programs look for. */
static const char *lead_in(enum nytp_status status)
{
    switch (status) {
    case NYTP_ERR_TRUNCATED:
        return "Profile data incomplete, ";
    case NYTP_ERR_FORMAT:
    case NYTP_ERR_LIMIT:
        return "Profile format error: ";
    default:
        return "";
    }
}

SV *nytp_glue_error_text(pTHX_ const char *path, const struct nytp_error *error)
{
    SV *text = sv_2mortal(newSVpvf("%s: ", path));
    if (error->has_offset)
        sv_catpvf(text, "byte %" UVuf "%s: ", (UV)error->offset,
                  error->inflated ? " (inflated)" : "");
    sv_catpv(text, lead_in(error->status));
    sv_catpv(text, error->message);
    return text;
}
