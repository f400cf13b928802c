/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Samples of one interpreter as a native stream, with the same records as NYTPROF=sample=
 * writes (formats/nytprof-v5.md): from there on every exporter, comparison and gate reads them.
 */
#ifndef NYTP_SPY_SAMPLED_STREAM_H
#define NYTP_SPY_SAMPLED_STREAM_H

#include "spy/perl/stack.h"

#include "formats/stream/write/writer.h"

struct nytp_sampled_stream;

/* Facts of the process that the stream states. */
struct nytp_stream_facts {
    const char *application, *host;
    const char *cwd; /* of the process, for relative names of files */
    bool no_source;  /* none is kept */
    pid_t pid, parent;
    double program_s; /* when its program began: what is younger is not its source */
    uint32_t rate;    /* samples a second */
    uint64_t thread;
};

/* Time is counted in these. */
#define NYTP_SPY_TICKS_PER_S 10000000

/* Returns a stream whose bytes go to `put`, or NULL. The names must outlive it. */
struct nytp_sampled_stream *nytp_sampled_stream_new(struct nytp_names *names,
                                                    const struct nytp_stream_facts *facts,
                                                    nytp_bytes_fn *put, void *context);

/* One sample: the time since the last one, and how much of it was processor time, belongs to
 * this stack. False when memory or the output failed. */
bool nytp_sampled_stream_add(struct nytp_sampled_stream *stream, const struct nytp_stack *stack,
                             int64_t ticks, int64_t cpu_ticks);

/* Write the end and free it. `n_looks`: how often was looked, the `n_torn` samples that were
 * not whole included. */
bool nytp_sampled_stream_end(struct nytp_sampled_stream *stream, uint64_t n_looks,
                             uint64_t n_torn);

#endif
