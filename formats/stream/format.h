/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The input plug. An input format is one file in formats/ that ends in one
 * `const struct nytp_format nytp_format_NAME`; the build finds it, nobody lists it.
 */
#ifndef NYTP_FORMAT_H
#define NYTP_FORMAT_H

#include "formats/base/error.h"
#include "event.h"
#include "source.h"

struct nytp_read_options {
    /* tmon.out only: which clock becomes the tick: 'u' user, 's' system, 'r' real, 0 = user
     * plus system */
    char clock;
    bool keep_overhead;  /* tmon.out only: do not subtract the measured profiler overhead */
    bool one_of_several; /* the caller reads on if there is another recording */
};

struct nytp_format {
    const char *name;  /* "nytprof" */
    const char *title; /* for --list-formats */
    /* Whether the input looks like this format, from its first bytes (at least 64 unless the
     * input is shorter). Consumes nothing. */
    bool (*detect)(const uint8_t *head, size_t len);
    /* Decode the source from its current position to its end and hand every event to the
     * sink, in order. On failure returns false with *error set; all events before the
     * damage have been delivered. Never reads ahead of what it needs by more than the
     * source's window; allocates nothing on the say-so of the input. */
    bool (*read)(struct nytp_source *source, const struct nytp_read_options *options,
                 struct nytp_sink *sink, struct nytp_error *error);
};

extern const struct nytp_format *const nytp_formats[]; /* NULL-terminated, generated */

/* Detect the format of the source and read a recording. Unknown content is NYTP_ERR_FORMAT. In
 * a file that several were concatenated into the second is NYTP_ERR_TRUNCATED, after the first
 * was delivered, unless the options say that the caller reads on. */
bool nytp_read(struct nytp_source *source, const struct nytp_read_options *options,
               struct nytp_sink *sink, struct nytp_error *error);

/* Whether another recording follows the one that nytp_read() has read, for it to read next. */
bool nytp_read_another(struct nytp_source *source);

#endif
