/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Shows how far the reading of an input has come, when standard error is a terminal. After a
 * second there is one line, which is written over again and again and cleared at the end.
 */
#ifndef NYTP_PROGRESS_H
#define NYTP_PROGRESS_H

#include "formats/stream/event.h"
#include "formats/stream/source.h"

/* Stands in front of the real sink. */
struct progress {
    struct nytp_sink sink;
    struct nytp_sink *next;
    const struct nytp_source *source;
    const char *path;
    uint32_t countdown;
    int64_t start_ms, shown_ms; /* shown_ms 0 = nothing written yet */
};

/* The sink to read `source` into: it hands all events on to `next`. */
struct nytp_sink *nytp_cli_begin_progress(struct progress *progress, const char *path,
                                          const struct nytp_source *source,
                                          struct nytp_sink *next);

/* Clears the line, if one was written. */
void nytp_cli_end_progress(const struct progress *progress);

#endif
