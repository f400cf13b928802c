/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Why a process may not be looked at, and the way out.
 */
#ifndef NYTP_SPY_REFUSAL_H
#define NYTP_SPY_REFUSAL_H

#include "memory.h"

#include "formats/base/error.h"

/* Try it. False with *error set to the reason. */
bool nytp_may_read(struct nytp_memory *memory, struct nytp_error *error);

#endif
