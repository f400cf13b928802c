/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Books statements. Private to the files that fill a builder (builder.h).
 *
 * If the input has entries of calls, a statement is booked in the calling-context tree; else on
 * its line alone, on a page of lines. Sums of recent lines are kept beside the pages until
 * nytp_builder_settle_lines().
 *
 * All that return bool return false with the builder's error set: memory or a limit is out.
 */
#ifndef NYTP_BUILDER_STATEMENTS_H
#define NYTP_BUILDER_STATEMENTS_H

#include "builder_state.h"

/* Book statements that follow one another, with no other event between them; or one, which may
 * have taken less than no time. */
bool nytp_builder_book_statements(struct nytp_builder *builder, const struct nytp_run *run);
bool nytp_builder_book_statement(struct nytp_builder *builder, struct nytp_statement statement);

/* The first entry event of a process: what ran before it ran outside any call. */
bool nytp_builder_begin_entries(struct nytp_builder *builder,
                                struct nytp_built_process *process);

/* See to it that the pages have all that lines took. */
bool nytp_builder_settle_lines(struct nytp_builder *builder);

#endif
