/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Export of a recording by the name of its file. nytp-export, beside nytp-spy or in PATH,
 * writes all formats but the stream itself.
 */
#ifndef NYTP_SPY_EXPORTED_H
#define NYTP_SPY_EXPORTED_H

#include "cli.h"

enum nytp_written_as {
    NYTP_AS_STREAM,
    NYTP_AS_FORMAT, /* by nytp-export */
    NYTP_AS_NOTHING /* it cannot be written, which was reported */
};

/* Chooses by --format, or by the name: ".svg", ".folded", "callgrind.out.1". */
enum nytp_written_as nytp_spy_written_as(const struct nytp_spy *spy, const char *path);

/* Exports the stream in this descriptor's file. Returns false, and reports it, on failure. */
bool nytp_spy_export(const struct nytp_spy *spy, const char *path, int stream_fd);

#endif
