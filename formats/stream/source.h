/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Input: a file, pipe, standard input or memory, read forward through one window, with gzip
 * unwrapped and, on request, the rest inflated. Never seeks, never holds the whole input.
 *
 * The trick: once `need` bytes are in the window, a decoder reads `at`..`end` with plain
 * pointer arithmetic. Only refilling is a call.
 */
#ifndef NYTP_SOURCE_H
#define NYTP_SOURCE_H

#include "formats/base/error.h"
#include "helper.h"

#include <stddef.h>

/* The reader advances `at`. */
struct nytp_source {
    const uint8_t *at;  /* next unread byte */
    const uint8_t *end; /* one past the last byte in the window */
    /* private to source.c */
    struct nytp_source_impl *impl;
};

/* Largest `need` of nytp_source_fill() in bytes. Longer items are read in pieces. */
#define NYTP_SOURCE_MAX_NEED 65536

/* Opens a path; "-" is standard input. All sources unwrap gzip by themselves. Returns NULL
 * with *error set on failure; free with nytp_source_free(). */
struct nytp_source *nytp_source_open(const char *path, struct nytp_error *error);

/* Reads from memory, which must outlive the source. */
struct nytp_source *nytp_source_memory(const void *data, size_t len, struct nytp_error *error);

void nytp_source_free(struct nytp_source *source);

/* Lets `helper` inflate one window ahead of the reader. Input is then taken sooner; nothing
 * else changes. The helper is reserved until the source is freed. */
void nytp_source_read_ahead(struct nytp_source *source, struct nytp_helper *helper);

/* Makes at least `need` bytes available at `at`, keeping unread bytes. Returns how many are
 * available: fewer than `need` only at the end of input or after an error; see
 * nytp_source_error(). */
size_t nytp_source_fill(struct nytp_source *source, size_t need);

/* Offset of `at`: in the file (after gunzip), or in the inflated data once inflating. */
uint64_t nytp_source_offset(const struct nytp_source *source);

/* True after nytp_source_start_inflate(): offsets then count inflated bytes. */
bool nytp_source_inflating(const struct nytp_source *source);

/* From `at` on the input is one zlib stream. Returns false, error set, if inflating already. */
bool nytp_source_start_inflate(struct nytp_source *source);

/* At the end of a zlib stream or of gzip's members: continues with the bytes behind it, which
 * may be gzip again. Before such an end, or after an error, does nothing. */
void nytp_source_leave_inflate(struct nytp_source *source);

/* The sticky error; NYTP_OK at a plain end of input. */
const struct nytp_error *nytp_source_error(const struct nytp_source *source);

/* Raw bytes taken so far (for progress), and their total or 0 if unknown. */
uint64_t nytp_source_raw_bytes(const struct nytp_source *source);
uint64_t nytp_source_raw_size(const struct nytp_source *source);

/* Bytes read so far, after gunzip, before inflating; at the end of input the file's size. */
uint64_t nytp_source_file_bytes(const struct nytp_source *source);

#endif
