/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The text of a source page's lines: recorded, or from this machine (disk_source.h).
 */
#ifndef NYTP_REPORT_SOURCE_TEXT_H
#define NYTP_REPORT_SOURCE_TEXT_H

#include "report.h"

#include <stdio.h>

/* That file, line by line. */
struct nytp_report_disk {
    FILE *stream;       /* NULL: no file, or no line left */
    const char *remark; /* where the source is from, or why there is none, as HTML; or NULL */
    char *line;
    size_t size;
    ssize_t len;
};
void nytp_report_disk_open(const struct nytp_report *report, uint32_t f,
                           struct nytp_report_disk *disk);
void nytp_report_disk_close(struct nytp_report_disk *disk);
/* Reads the next line, from 1 on. Returns false at the end. */
bool nytp_report_disk_next(struct nytp_report_disk *disk);

/* Returns the current line without newline; ptr is NULL if there is none. */
struct nytp_name nytp_report_disk_line(const struct nytp_report_disk *disk);
struct nytp_name nytp_report_without_newline(const char *text, uint32_t len);

/* Returns true for POD and comment lines. Call it line by line; *in_pod is first false. */
bool nytp_report_is_comment(struct nytp_name text, bool *in_pod);

#endif
