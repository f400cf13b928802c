/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Times of regular expressions, as comments in the stream, which other readers skip
 * (nytprof-v5.md, "Records"). Each is for one operation at one place with one pattern. They
 * are written before a process ends, and now and then while it runs; their numbers add up:
 *
 *     #nytp-regex KIND FID LINE CALLS MATCHES COMPILED NS MAX_NS MAX_LEN SIZES PATTERN
 *
 * KIND is match, subst, split, tr or compile. MATCHES counts the calls that found something.
 * COMPILED counts the calls of `compile` whose pattern differed from the one before. NS is the
 * time of all calls in nanoseconds. The longest call took MAX_NS; its subject had MAX_LEN
 * bytes.
 *
 * SIZES groups the same by the length of subjects: "-", or parts CALLS:NS:MAX_NS:BYTES joined
 * by commas. Each part is for lengths of one power of two; BYTES is their sum. PATTERN is the
 * rest of the line: UTF-8, control characters as \xHH, cut.
 */
#ifndef NYTP_REGEX_RECORDS_H
#define NYTP_REGEX_RECORDS_H

#include "formats/stream/event.h"

#include <stdbool.h>

#define NYTP_REGEX_HEAD         "nytp-regex"
#define NYTP_REGEX_MOST_PATTERN 200 /* bytes of a pattern before it is cut */
#define NYTP_REGEX_SIZES        24  /* parts of SIZES; the last includes all longer subjects */
/* Longer than any such comment: a byte of the pattern becomes at most four. */
#define NYTP_REGEX_LONGEST (4 * NYTP_REGEX_MOST_PATTERN + 100 * (NYTP_REGEX_SIZES + 2))

enum nytp_regex_kind {
    NYTP_REGEX_MATCH,
    NYTP_REGEX_SUBST,
    NYTP_REGEX_SPLIT,
    NYTP_REGEX_TR,
    NYTP_REGEX_COMPILE,
    NYTP_REGEX_KINDS
};

extern const char *const nytp_regex_kind_names[NYTP_REGEX_KINDS];

struct nytp_regex_size {
    uint64_t calls, ns, max_ns, bytes;
};

struct nytp_regex_record {
    enum nytp_regex_kind kind;
    uint32_t fid, line;
    uint64_t calls, matches, compiled, ns, max_ns, max_len;
    struct nytp_regex_size sizes[NYTP_REGEX_SIZES]; /* by nytp_regex_size_of() */
    struct nytp_str pattern;
};

/* Returns the index in `sizes` for a subject of this many bytes. */
static inline uint32_t nytp_regex_size_of(uint64_t bytes)
{
    const uint32_t bits = bytes == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(bytes);
    return bits < NYTP_REGEX_SIZES ? bits : NYTP_REGEX_SIZES - 1;
}

/* Returns false for any other comment. The pattern points into the comment. */
bool nytp_regex_record_read(const struct nytp_str *comment, struct nytp_regex_record *record);

/* Stores the comment's text, without its "#". */
void nytp_regex_record_format(const struct nytp_regex_record *record,
                              char text[NYTP_REGEX_LONGEST]);

#endif
