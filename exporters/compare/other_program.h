/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later */
#ifndef NYTP_OTHER_PROGRAM_H
#define NYTP_OTHER_PROGRAM_H

#include "diff.h"

/* Returns true if the sides have no program in common. */
bool nytp_diff_other_program(const struct nytp_diff *diff);

#endif
