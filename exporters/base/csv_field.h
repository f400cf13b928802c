/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A text as a field of comma-separated values: in quotes where it needs them, and with an
 * apostrophe before what a spreadsheet would take for a formula.
 */
#ifndef NYTP_CSV_FIELD_H
#define NYTP_CSV_FIELD_H

#include "formats/base/strings.h"
#include "out.h"

void nytp_csv_field(struct nytp_out *out, struct nytp_name text);

#endif
