/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Lines and numbers of Devel::DProf's tmon.out (formats/dprof.md), for formats/dprof.c.
 */
#ifndef NYTP_TMON_LINES_H
#define NYTP_TMON_LINES_H

#include "formats/base/error.h"
#include "source.h"

/* Larger numbers count as damage. Sums of a few such numbers fit into 64 bits. */
#define NYTP_TMON_MAX_NUMBER INT64_C(1000000000000000)

struct nytp_tmon_line {
    const char *at, *end; /* without newline and trailing blanks; not terminated */
    uint64_t offset;      /* of the first byte in the input */
};

/* Reads the next line that is not blank. Its text is in the source's window, valid until the
 * next call. Returns false at the end, or, with the error set, if the source failed, the input
 * ends inside the line, or the line is longer than the window. */
bool nytp_tmon_next(struct nytp_source *source, struct nytp_error *error,
                    struct nytp_tmon_line *line);

const char *nytp_tmon_skip_blanks(const char *at, const char *end);

/* Each skips blanks, reads a number and returns what follows it. Returns NULL, with *value
 * untouched, if there is none or it is too large. A number is decimal with an optional
 * sign. A sub's id is in lower-case hexadecimal, up to 32 bits, and ends at a blank or the
 * line's end. */
const char *nytp_tmon_number(const char *at, const char *end, int64_t *value);
const char *nytp_tmon_id(const char *at, const char *end, uint32_t *id);

#endif
