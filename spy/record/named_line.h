/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The lines that BEGIN blocks and anonymous subs are named by.
 */
#ifndef NYTP_SPY_NAMED_LINE_H
#define NYTP_SPY_NAMED_LINE_H

#include <stdint.h>
#include <stdio.h>

/* Returns the line by which a recorder names a BEGIN block or a `use`: of the brace, or of the
 * text behind the module's name. perl keeps only that of the first statement. */
uint32_t nytp_begin_line(FILE *source, uint32_t first_statement);

/* An anonymous sub is compiled, and named by a recorder, at its closing brace: the one with the
 * indentation of the opening line, or, where code follows there, the one that closes it. */
uint32_t nytp_anonymous_line(FILE *source, uint32_t first_statement);

#endif
