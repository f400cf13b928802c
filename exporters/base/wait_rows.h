/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Sums of waits over all sampled processes. Each reason, peer of a socket, and line has a row.
 */
#ifndef NYTP_WAIT_ROWS_H
#define NYTP_WAIT_ROWS_H

#include "formats/model/model.h"

struct nytp_wait_rows {
    struct nytp_waited *rows; /* the longest first; `process` means nothing */
    uint32_t n;
    int64_t total_ns; /* of all rows */
    int64_t known_ns; /* sum of rows with a known reason */
};

/* `only`: by recording, whether it counts; NULL = all. To be freed also where it fails, because
 * memory is out. */
bool nytp_wait_rows_init(struct nytp_wait_rows *rows, const struct nytp_profile *profile,
                         const bool *only);
void nytp_wait_rows_free(struct nytp_wait_rows *rows);

/* A peer that is no UTF-8 is taken for Latin-1, whose bytes become two. */
#define NYTP_MAX_WAIT_TEXT (2 * NYTP_MAX_PEER + 20)

/* "socket 127.0.0.1:5432": the reason, and the other side where it is known. */
struct nytp_name nytp_wait_text(const struct nytp_waited *row, char text[NYTP_MAX_WAIT_TEXT]);

#endif
