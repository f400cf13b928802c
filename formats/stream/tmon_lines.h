/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The lines of Devel::DProf's tmon.out and the numbers in them, for its reader
 * (formats/dprof.c). What the lines say is described in formats/dprof.md.
 */
#ifndef NYTP_TMON_LINES_H
#define NYTP_TMON_LINES_H

#include "formats/base/error.h"
#include "source.h"

/* Larger numbers are taken for damage: sums of a few of this size still fit into 64 bits. */
#define NYTP_TMON_MAX_NUMBER INT64_C(1000000000000000)

struct nytp_tmon_line {
    const char *at, *end; /* the text, without newline and blanks at its end; not terminated */
    uint64_t offset;      /* of its first byte in the input */
};

enum nytp_tmon_result {
    NYTP_TMON_LINE,
    NYTP_TMON_END, /* no line is left */
    NYTP_TMON_FAILED
};

/* Read the next line that is not blank. Its text lies in the source's window and is good until
 * the next call. On failure *error is set: the source failed, the input ends inside the line,
 * or the line is longer than the window. */
enum nytp_tmon_result nytp_tmon_next(struct nytp_source *source, struct nytp_error *error,
                                     struct nytp_tmon_line *line);

const char *nytp_tmon_skip_blanks(const char *at, const char *end);

/* Each reads a number behind any blanks and returns what follows it; NULL when there is none or
 * it is too large, *value untouched. A number is decimal, with a sign or without, and at most
 * NYTP_TMON_MAX_NUMBER. The id of a sub is hexadecimal in small letters, ends at a blank or at
 * the line's end, and has up to 32 bits. */
const char *nytp_tmon_number(const char *at, const char *end, int64_t *value);
const char *nytp_tmon_id(const char *at, const char *end, uint32_t *id);

#endif
