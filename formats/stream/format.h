/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The interface of an input format: one file in formats/ that ends in one `const struct
 * nytp_format nytp_format_NAME`. The build finds it by itself.
 */
#ifndef NYTP_FORMAT_H
#define NYTP_FORMAT_H

#include "formats/base/error.h"
#include "event.h"
#include "source.h"

struct nytp_read_options {
    /* tmon.out only: the clock of the ticks. 'u' user, 's' system, 'r' real, 0 = 'u' + 's'. */
    char clock;
    bool keep_overhead;  /* tmon.out only: do not subtract the profiler's overhead */
    bool one_of_several; /* the caller reads on after this recording */
};

struct nytp_format {
    const char *name;  /* "nytprof" */
    const char *title; /* for --list-formats */
    /* Returns true if the input begins like this format. `head` has at least 64 bytes unless
     * the input is shorter. Consumes nothing. */
    bool (*detect)(const uint8_t *head, size_t len);
    /* Decodes the source to its end and passes every event to the sink, in order. On
     * failure returns false with *error set; all events before the damage have been
     * delivered. Reads ahead by at most the source's window. Never allocates a size that
     * only the input claims. */
    bool (*read)(struct nytp_source *source, const struct nytp_read_options *options,
                 struct nytp_sink *sink, struct nytp_error *error);
};

extern const struct nytp_format *const nytp_formats[]; /* NULL-terminated, generated */

/* Detects the format of the source and reads one recording. Unknown content is
 * NYTP_ERR_FORMAT. If a second recording follows in the file, the first is delivered and the
 * result is NYTP_ERR_TRUNCATED, unless `one_of_several` is set. */
bool nytp_read(struct nytp_source *source, const struct nytp_read_options *options,
               struct nytp_sink *sink, struct nytp_error *error);

/* Returns true if another recording follows, ready for nytp_read(). */
bool nytp_read_another(struct nytp_source *source);

#endif
