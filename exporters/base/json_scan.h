/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Reading JSON text that is in memory, one item after the other: just what a table of counts
 * (counts.h) takes. What is not wanted is skipped, however deep it is nested.
 */
#ifndef NYTP_JSON_SCAN_H
#define NYTP_JSON_SCAN_H

#include "formats/base/error.h"

#include <stddef.h>

struct nytp_json_scan {
    const char *start, *at, *end;
    struct nytp_error error; /* sticky, with the offset of the item */
};

void nytp_json_scan_begin(struct nytp_json_scan *scan, const char *text, size_t len);

/* Take `c`, after white space, if it is next; then true. */
bool nytp_json_scan_take(struct nytp_json_scan *scan, char c);

/* As above, and an error if something else is next. */
bool nytp_json_scan_expect(struct nytp_json_scan *scan, char c);

/* A string, unescaped, with a NUL behind it; the caller frees *text. One that is no UTF-8 is an
 * error. */
bool nytp_json_scan_string(struct nytp_json_scan *scan, char **text, size_t *len);

/* A whole number from 0. */
bool nytp_json_scan_count(struct nytp_json_scan *scan, int64_t *value);

/* Any value. */
bool nytp_json_scan_skip(struct nytp_json_scan *scan);

#endif
