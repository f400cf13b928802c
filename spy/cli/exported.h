/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What a recording becomes by the name of its file: nytp-export, which lies beside nytp-spy or
 * in PATH, writes what is not the stream itself.
 */
#ifndef NYTP_SPY_EXPORTED_H
#define NYTP_SPY_EXPORTED_H

#include "cli.h"

enum nytp_written_as {
    NYTP_AS_STREAM,
    NYTP_AS_FORMAT, /* by nytp-export */
    NYTP_AS_NOTHING /* it cannot be written, which was said */
};

/* By --format, or the name: ".svg", ".folded", "callgrind.out.1". */
enum nytp_written_as nytp_spy_written_as(const struct nytp_spy *spy, const char *path);

/* Have a stream, which is in the file of this descriptor, written so. False, and said why. */
bool nytp_spy_export(const struct nytp_spy *spy, const char *path, int stream_fd);

#endif
