/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Reasons why a process may not be read, and remedies.
 */
#ifndef NYTP_SPY_REFUSAL_H
#define NYTP_SPY_REFUSAL_H

#include "memory.h"

#include "formats/base/error.h"

/* Tries to read. Returns false with the reason in *error. */
bool nytp_may_read(struct nytp_memory *memory, struct nytp_error *error);

#endif
