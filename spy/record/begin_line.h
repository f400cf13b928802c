/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The line that a BEGIN block is named by.
 */
#ifndef NYTP_SPY_BEGIN_LINE_H
#define NYTP_SPY_BEGIN_LINE_H

#include <stdint.h>
#include <stdio.h>

/* A recorder sees where perl compiles it: the line of its brace, or of what follows the module
 * in `use`. perl keeps only that of the first statement, often the next line: so it is looked
 * for in the source above that. What is not found there is named by the first statement. */
uint32_t nytp_begin_line(FILE *source, uint32_t first_statement);

#endif
