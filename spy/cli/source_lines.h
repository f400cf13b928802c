/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Source lines of a process: first register the wanted lines, then read each file once, then
 * look them up.
 */
#ifndef NYTP_SPY_SOURCE_LINES_H
#define NYTP_SPY_SOURCE_LINES_H

#include "formats/base/strings.h"
#include "formats/base/table.h"

#include <sys/types.h>

enum nytp_line_state {
    NYTP_LINE_NONE, /* missing or unreadable */
    NYTP_LINE_READ,
    NYTP_LINE_CHANGED,  /* the file is not the one perl read */
    NYTP_LINE_TOO_MUCH, /* reading was given up before */
};

struct nytp_wanted_line {
    uint32_t file, line; /* `file` is a string id */
    enum nytp_line_state state;
    char *text; /* its first 4096 bytes */
};

struct nytp_source_lines { /* starts zeroed */
    struct nytp_wanted_line *lines;
    uint32_t n, capacity;
    struct nytp_table by_place;
    uint64_t bytes;
};

void nytp_source_lines_want(struct nytp_source_lines *lines, uint32_t file, uint32_t line);

/* Reads the wanted lines of a process. */
void nytp_source_lines_read(struct nytp_source_lines *lines, const struct nytp_strings *strings,
                            pid_t pid);

/* Returns NULL if the line was not registered. */
const struct nytp_wanted_line *nytp_source_line(const struct nytp_source_lines *lines,
                                                uint32_t file, uint32_t line);
void nytp_source_lines_free(struct nytp_source_lines *lines);

#endif
