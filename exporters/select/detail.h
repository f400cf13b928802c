/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later */
#ifndef NYTP_DETAIL_H
#define NYTP_DETAIL_H

#include "formats/model/model.h"

/* Adds what the recording knows of builtins and xsubs to their names: "main::CORE:match
 * /^\s+/", "main::CORE:sysread (socket 127.0.0.1:5432)". Each such name is a sub of its own, so
 * that any format can show it. */
bool nytp_add_details(struct nytp_profile *profile, struct nytp_error *error);

#endif
