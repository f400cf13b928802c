/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Bytes in: a file, pipe, standard input or memory, read forward through one window, with
 * gzip unwrapped and, on request, the rest inflated. Never seeks, never holds the input.
 *
 * The trick: a decoder that has made sure that `need` bytes are in the window may run over
 * `at`..`end` with plain pointer arithmetic; only refilling is a call.
 */
#ifndef NYTP_SOURCE_H
#define NYTP_SOURCE_H

#include "formats/base/error.h"
#include "helper.h"

#include <stddef.h>

/* The reader moves `at` on as it consumes bytes. */
struct nytp_source {
    const uint8_t *at;  /* next unread byte */
    const uint8_t *end; /* one past the last byte in the window */
    /* the rest belongs to source.c */
    struct nytp_source_impl *impl;
};

/* Largest `need` in bytes that nytp_source_fill() accepts; longer items are read in pieces. */
#define NYTP_SOURCE_MAX_NEED 65536

/* Open a path; "-" is standard input. Here and below an input that begins as gzip is unwrapped
 * by itself. NULL on failure with *error set; nytp_source_free() at the end. */
struct nytp_source *nytp_source_open(const char *path, struct nytp_error *error);

/* Read from an open descriptor, which the source does not close. */
struct nytp_source *nytp_source_fd(int fd, struct nytp_error *error);

/* Read from memory, which must outlive the source. */
struct nytp_source *nytp_source_memory(const void *data, size_t len, struct nytp_error *error);

void nytp_source_free(struct nytp_source *source);

/* What is inflated from here on is inflated by `helper`, a window ahead of what is read. For
 * readers nothing changes, but that bytes are taken from the input sooner. The helper is nobody
 * else's until the source is freed. */
void nytp_source_read_ahead(struct nytp_source *source, struct nytp_helper *helper);

/* Make at least `need` bytes available at `at` (need <= NYTP_SOURCE_MAX_NEED), keeping unread
 * bytes. Returns how many are available: fewer than `need` only at the end of input or on an
 * error; nytp_source_error() tells which. */
size_t nytp_source_fill(struct nytp_source *source, size_t need);

/* Offset of `at`: in the file (after gunzip), or in the inflated data once inflating. */
uint64_t nytp_source_offset(const struct nytp_source *source);

/* True after nytp_source_start_inflate(): offsets then count inflated bytes. */
bool nytp_source_inflating(const struct nytp_source *source);

/* From `at` on the input is one zlib stream. False with the source's sticky error set when
 * already inflating. */
bool nytp_source_start_inflate(struct nytp_source *source);

/* At the end of a zlib stream or of gzip's members: go on with what follows it in the file,
 * which may be packed by gzip itself. Nothing happens before such an end, or after an error. */
void nytp_source_leave_inflate(struct nytp_source *source);

/* The sticky error; status NYTP_OK when the source merely reached its end. */
const struct nytp_error *nytp_source_error(const struct nytp_source *source);

/* Raw bytes taken from the input so far (for progress), and its size or 0 if unknown. */
uint64_t nytp_source_raw_bytes(const struct nytp_source *source);
uint64_t nytp_source_raw_size(const struct nytp_source *source);

/* Bytes of the file read so far, after gunzip and before they are inflated: at the end of input
 * its size. */
uint64_t nytp_source_file_bytes(const struct nytp_source *source);

#endif
