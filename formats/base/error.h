/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Errors as values. A function that can fail takes a `struct nytp_error *` or has one in the
 * object that it works on; it returns false or NULL, and the struct tells what failed and
 * where in the input, in one line of text. Nothing below exporters/cli/ and XS/ prints,
 * exits or croaks.
 */
#ifndef NYTP_ERROR_H
#define NYTP_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

enum nytp_status {
    NYTP_OK = 0,
    NYTP_ERR_IO,        /* the operating system refused: open, read, write */
    NYTP_ERR_FORMAT,    /* the bytes are not what the format says */
    NYTP_ERR_TRUNCATED, /* the input ended inside something */
    NYTP_ERR_LIMIT,     /* a named limit was reached */
    NYTP_ERR_MEMORY,    /* allocation failed */
    NYTP_ERR_STOPPED,   /* the receiver of the data asked to stop */
    NYTP_ERR_ABSENT,    /* what was looked for is not there at all */
};

/* The first error wins: nytp_error_set() does nothing on an error that is already set. A
 * zeroed struct is "no error". */
struct nytp_error {
    enum nytp_status status;
    bool has_offset;
    bool inflated;     /* offset counts bytes of the inflated stream, not of the file */
    uint64_t offset;   /* byte in the input at which the failing item begins */
    char message[240]; /* what failed, with field=value; no trailing period or newline */
};

/* Set status and message (printf style, cut at the buffer's end, what could harm a terminal
 * is replaced by '?'). Always returns false, so that a caller can `return nytp_error_set(…)`.
 */
bool nytp_error_set(struct nytp_error *error, enum nytp_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with the place in the input. */
bool nytp_error_at(struct nytp_error *error, enum nytp_status status, uint64_t offset,
                   bool inflated, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* NYTP_ERR_MEMORY, of which there is no more to say. */
bool nytp_out_of_memory(struct nytp_error *error);

#endif
