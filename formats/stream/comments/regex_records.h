/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What regular expressions took, as comments in the stream, which other readers of the format
 * pass over (nytprof-v5.md, "Records"). One stands before the end of a process, and now and
 * then while it runs, for each operation at a place with a pattern; what they tell adds up:
 *
 *     #nytp-regex KIND FID LINE CALLS MATCHES COMPILED NS MAX_NS MAX_LEN SIZES PATTERN
 *
 * KIND is match, subst, split, tr or compile. MATCHES are the calls that found something,
 * COMPILED those of `compile` that were not spared because the pattern was the same as before.
 * NS are the nanoseconds of all calls; the longest took MAX_NS, and its subject had MAX_LEN
 * bytes. SIZES tells the same by how long subjects were: "-", or parts CALLS:NS:MAX_NS:BYTES
 * with commas between, each for lengths of another power of two, whose BYTES are the sum.
 * PATTERN is the rest of the line: UTF-8, control characters as \xHH, cut.
 */
#ifndef NYTP_REGEX_RECORDS_H
#define NYTP_REGEX_RECORDS_H

#include "formats/stream/event.h"

#include <stdbool.h>

#define NYTP_REGEX_HEAD         "nytp-regex"
#define NYTP_REGEX_MOST_PATTERN 200 /* bytes of a pattern before it is cut */
#define NYTP_REGEX_SIZES        24  /* parts of SIZES: the last is for all that is longer */
/* Such a comment is shorter: a byte of the pattern is four at most. */
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
    struct nytp_regex_size sizes[NYTP_REGEX_SIZES]; /* by nytp_regex_size_of(); calls 0: none */
    struct nytp_str pattern;
};

/* Which of the sizes a subject of this many bytes belongs to. */
static inline uint32_t nytp_regex_size_of(uint64_t bytes)
{
    const uint32_t bits = bytes == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(bytes);
    return bits < NYTP_REGEX_SIZES ? bits : NYTP_REGEX_SIZES - 1;
}

/* False when the comment is another. The pattern lies in the comment. */
bool nytp_regex_record_read(const struct nytp_str *comment, struct nytp_regex_record *record);

/* The comment's text, without its "#". */
void nytp_regex_record_format(const struct nytp_regex_record *record,
                              char text[NYTP_REGEX_LONGEST]);

#endif
