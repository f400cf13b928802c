/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Looks at the records of a stream themselves, not at what they add up to: --dump prints each
 * one, --stats counts them.
 */
#ifndef NYTP_DUMP_H
#define NYTP_DUMP_H

#include "formats/stream/event.h"
#include "formats/model/model.h"
#include "formats/base/units.h"
#include "exporters/base/out.h"

/* One line per record: its offset, its tag, its fields as key=value, strings quoted as in
 * JSON. */
struct nytp_dump {
    struct nytp_sink sink; /* first: give &dump.sink to nytp_read() */
    struct nytp_out *out;
    uint32_t n_running;   /* processes that have begun and not ended */
    uint64_t last_offset; /* of a record */
    bool inflated;        /* it counts bytes of the inflated stream */
};

void nytp_dump_init(struct nytp_dump *dump, struct nytp_out *out);

/* False with *error set when a process has no end. */
bool nytp_dump_is_whole(const struct nytp_dump *dump, struct nytp_error *error);

/* Counts records and hands them on. */
struct nytp_count {
    struct nytp_sink sink;
    struct nytp_sink *next;
    uint64_t n[NYTP_TAG_COUNT];
    uint32_t major, minor; /* of the stream's format */
};

void nytp_count_init(struct nytp_count *count, struct nytp_sink *next);

/* Prints --stats of one input. */
void nytp_put_stats(struct nytp_out *out, const struct nytp_profile *profile,
                    const struct nytp_count *count);

#endif
