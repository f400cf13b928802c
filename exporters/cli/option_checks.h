/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Checks which options go with which, after all of them were read: so their order on the
 * command line does not matter.
 */
#ifndef NYTP_OPTION_CHECKS_H
#define NYTP_OPTION_CHECKS_H

#include "cli.h"

/* False with a message about what does not go together. */
bool nytp_cli_check(struct nytp_cli *cli, struct nytp_error *error);

#endif
