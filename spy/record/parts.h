/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The streams of threads, until they become one profile. Each has a file without a name. A short
 * one goes into a common file at its end, so that threads that are over hold no descriptor.
 */
#ifndef NYTP_SPY_PARTS_H
#define NYTP_SPY_PARTS_H

#include "formats/stream/write/writer.h"

#include "exporters/base/out.h"

#include <sys/types.h>

/* The stream of a thread that is sampled. */
struct nytp_part {
    int fd;
    struct nytp_error error; /* why it was cut; the file has all that came before */
};

struct nytp_ended_part {
    int fd; /* its own file; -1: it is in the common one */
    off_t at, len;
    bool is_cut;
};

struct nytp_parts {
    int common_fd; /* -1: none yet */
    off_t common_len;
    struct nytp_ended_part *ended;
    uint32_t n_ended, capacity;
    uint32_t n_open, n_cut;
};

#define NYTP_NO_PARTS ((struct nytp_parts){.common_fd = -1})

/* NULL with *error set: no file, no memory, or too many that have not ended. */
struct nytp_part *nytp_part_new(struct nytp_parts *parts, struct nytp_error *error);

/* For a writer: `context` is the part. False: part->error says why, or said it before. */
nytp_bytes_fn nytp_part_put;

/* The stream is at its end; `is_whole` says whether it has one. Frees the part. */
void nytp_part_end(struct nytp_parts *parts, struct nytp_part *part, bool is_whole);

/* Write all that have ended as one profile. False with *error set. */
bool nytp_parts_write(const struct nytp_parts *parts, struct nytp_out *out,
                      struct nytp_error *error);

/* The descriptor of a file without a name, which is closed by exec; -1 with errno. */
int nytp_parts_temporary_file(const char *name);

void nytp_parts_free(struct nytp_parts *parts);

#endif
