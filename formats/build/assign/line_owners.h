/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Finds the sub of a line of code if only file and line are known: by the line ranges of subs,
 * and for code outside any sub by the code that ran its file. Private to assign.c.
 */
#ifndef NYTP_LINE_OWNERS_H
#define NYTP_LINE_OWNERS_H

#include "formats/build/gather/builder_state.h"

struct nytp_line_owners;

/* True where a sub without a call on record did not run: the subroutine profiler was on and
 * every call came to its end. A line in the range of such a sub is then somebody else's (an
 * anonymous sub that was made there but not called; a comparator of sort, whose time is the
 * sort's). */
bool nytp_built_is_finished(const struct nytp_builder *builder);

struct nytp_line_owners *nytp_line_owners_new(const struct nytp_builder *builder);
void nytp_line_owners_free(struct nytp_line_owners *owners);

/* The innermost sub whose range holds the line, as a name id, or NYTP_NO_SUB. */
uint32_t nytp_line_owners_sub(const struct nytp_line_owners *owners, uint32_t file,
                              uint32_t line);

/* The same; for a line outside any sub, the sub that ran it. It is the first known of: the
 * caller named by the calls made from that line; the sub that ran the line's string eval; the
 * caller named by most calls from the file's outer lines; the sub that ran just before the
 * file's first statement; the root. Never NYTP_NO_SUB. */
uint32_t nytp_line_owners_runner(struct nytp_line_owners *owners, uint32_t file, uint32_t line);

/* Index of the program's own file: the one named as the attribute `application` says, else
 * the first that ran; 0 if there is none. */
uint32_t nytp_line_owners_script(const struct nytp_line_owners *owners);

/* Index of the file with this fid, or 0. */
uint32_t nytp_built_file_of_fid(const struct nytp_builder *builder, uint32_t fid);

#endif
