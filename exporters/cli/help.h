/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Prints --help and --list-formats.
 */
#ifndef NYTP_HELP_H
#define NYTP_HELP_H

#include "exporters/base/out.h"

void nytp_cli_put_help(struct nytp_out *out);
void nytp_cli_put_formats(struct nytp_out *out);

#endif
