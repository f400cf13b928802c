/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Bytes out: a buffer in front of a descriptor, with a sticky error, so that an exporter can
 * put and put and ask once. A regular file is written beside its final place and renamed.
 */
#ifndef NYTP_OUT_H
#define NYTP_OUT_H

#include "formats/base/error.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

struct nytp_out {
    uint8_t *at, *end; /* free space of the buffer */
    bool is_pipe;      /* not a regular file: its reader sees a pipe, socket or terminal */
    uint64_t n_bytes;  /* put so far, before compression */
    struct nytp_error error; /* sticky; puts after an error do nothing. NYTP_ERR_STOPPED:
                                the reader of a pipe went away */
    uint64_t n_negative;     /* values that a format could not express and were written as 0 */
    struct nytp_out_impl *impl;
};

/* Begin an output. The paths "-", /dev/stdout and /dev/fd/N mean the open descriptor; devices
 * and FIFOs are written in place. At any other path nothing is changed before nytp_out_close()
 * succeeds. It then replaces the file, keeping its mode and, where that is allowed, owner and
 * group; of a symbolic link it replaces the target. Other hard links keep what they had. NULL
 * with *error set (without the path, which the caller knows). */
struct nytp_out *nytp_out_open(const char *path, struct nytp_error *error);

/* Collects in memory, for tests and fuzzing; bytes are dropped when `keep` is false. */
struct nytp_out *nytp_out_memory(bool keep);

/* From here on everything is gzip-compressed (level 2, no time stamp, no name). Call before
 * the first put. */
void nytp_out_gzip(struct nytp_out *out);

/* Put bytes, a NUL-terminated text, one byte, a number, or what printf() would. None of these
 * says whether it worked: nytp_out_close() does, and `error` at any time. nytp_put_slowly() is
 * for nytp_put(): what the buffer has no room for. */
void nytp_put_slowly(struct nytp_out *out, const void *bytes, size_t len);
static inline void nytp_put(struct nytp_out *out, const void *bytes, size_t len)
{
    if (len == 0 || len > (size_t)(out->end - out->at)) {
        nytp_put_slowly(out, bytes, len);
        return;
    }
    memcpy(out->at, bytes, len);
    out->at += len;
    out->n_bytes += len;
}
static inline void nytp_puts(struct nytp_out *out, const char *text)
{
    nytp_put(out, text, strlen(text));
}
static inline void nytp_putc(struct nytp_out *out, char c)
{
    nytp_put(out, &c, 1);
}
void nytp_put_u64(struct nytp_out *out, uint64_t value); /* decimal */
void nytp_put_i64(struct nytp_out *out, int64_t value);
void nytp_put_hex(struct nytp_out *out, uint64_t value); /* lower case, without 0x */
void nytp_printf(struct nytp_out *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same at `at`, to build a text before it is put: one put costs more than a few of these.
 * There must be room, for a number NYTP_MAX_DIGITS bytes; all of them may be written. They
 * return the position behind the text, and write no NUL. */
#define NYTP_MAX_DIGITS 20
static inline char *nytp_append(char *at, const char *text)
{
    const size_t len = strlen(text);
    memcpy(at, text, len);
    return at + len;
}
char *nytp_append_u64(char *at, uint64_t value);

/* Write the digits of a number so that the last one stands right before `end`. Returns the
 * first. */
char *nytp_digits_before(char *end, uint64_t value);

/* Returns the value, or 0 for a negative one that the format cannot express, and counts it. */
static inline int64_t nytp_not_negative(struct nytp_out *out, int64_t value)
{
    out->n_negative += value < 0;
    return value < 0 ? 0 : value;
}

/* Flush, finish compression, rename into place, free. Returns false with *error set if anything
 * failed since open; the final path is then untouched and the temporary file is gone. */
bool nytp_out_close(struct nytp_out *out, struct nytp_error *error);

/* Throw everything away and free; accepts NULL. */
void nytp_out_discard(struct nytp_out *out);

/* Memory outputs only: returns the bytes put so far, owned by `out`; never NULL. Ends a
 * compressed stream: put nothing afterwards then. */
const uint8_t *nytp_out_bytes(struct nytp_out *out, size_t *len);

/* For a signal handler: remove the temporary file that is being written, if any (the last one
 * opened). Only async-signal-safe calls. */
void nytp_out_remove_unfinished(void);

/* Signals that end us wait until the old set, in *old, is set again: while what a handler looks
 * at is written. */
void nytp_hold_fatal_signals(sigset_t *old);

#endif
