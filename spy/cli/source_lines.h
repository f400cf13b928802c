/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Lines of source of a process: first tell which are wanted, then have each file read once,
 * then ask.
 */
#ifndef NYTP_SPY_SOURCE_LINES_H
#define NYTP_SPY_SOURCE_LINES_H

#include "formats/base/strings.h"
#include "formats/base/table.h"

#include <sys/types.h>

enum nytp_line_state {
    NYTP_LINE_NONE, /* there is none that could be read */
    NYTP_LINE_READ,
    NYTP_LINE_CHANGED,  /* the file is not what perl read */
    NYTP_LINE_TOO_MUCH, /* reading took too long before it came to that */
};

struct nytp_wanted_line {
    uint32_t file, line; /* the file's name is a string */
    enum nytp_line_state state;
    char *text; /* its first 4096 bytes */
};

struct nytp_source_lines { /* zeroed: none */
    struct nytp_wanted_line *lines;
    uint32_t n, capacity;
    struct nytp_table by_place;
    uint64_t bytes; /* that were read */
};

void nytp_source_lines_want(struct nytp_source_lines *lines, uint32_t file, uint32_t line);

/* Read what is wanted, of a process. */
void nytp_source_lines_read(struct nytp_source_lines *lines, const struct nytp_strings *strings,
                            pid_t pid);

/* NULL: it was not wanted. */
const struct nytp_wanted_line *nytp_source_line(const struct nytp_source_lines *lines,
                                                uint32_t file, uint32_t line);
void nytp_source_lines_free(struct nytp_source_lines *lines);

#endif
