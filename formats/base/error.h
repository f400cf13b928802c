/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Errors as values. A function that can fail takes a `struct nytp_error *` or has one in its
 * object. It returns false or NULL, and the struct says in one line what failed and where in
 * the input. Nothing below exporters/cli/ and XS/ prints, exits or croaks.
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
    NYTP_ERR_STOPPED,   /* the receiver asked to stop */
    NYTP_ERR_ABSENT,    /* the thing asked for does not exist */
};

/* A zeroed struct means "no error". The first error wins: setting another one does nothing. */
struct nytp_error {
    enum nytp_status status;
    bool has_offset;
    bool inflated;     /* offset counts bytes of the inflated stream, not of the file */
    uint64_t offset;   /* byte in the input at which the failing item begins */
    char message[240]; /* what failed, with field=value; no trailing period or newline */
};

/* Sets status and message (printf style). The message is cut to the buffer; characters that
 * could harm a terminal become '?'. Always returns false, for `return nytp_error_set(…)`. */
bool nytp_error_set(struct nytp_error *error, enum nytp_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same, with the place in the input. */
bool nytp_error_at(struct nytp_error *error, enum nytp_status status, uint64_t offset,
                   bool inflated, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Sets NYTP_ERR_MEMORY. Returns false. */
bool nytp_out_of_memory(struct nytp_error *error);

#endif
