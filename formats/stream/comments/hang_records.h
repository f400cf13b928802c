/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The place where a sampled program hangs. Samples are taken at safe points, and a program
 * that executes nothing reaches none. So the head of its file has room for one comment of
 * NYTP_HANG_ROOM bytes, padded with blanks. The sampling thread writes it while the program
 * hangs:
 *
 *     #nytp-hang-note SUM LEN BODY
 *
 * SUM is the checksum of the LEN bytes of BODY; it exposes a half-written note. BODY is
 *
 *     AT TICKS CPU DEPTH [REASON [PEER]]<tab>LEAF<tab>NAME<tab>FILE:LINE<tab>NAME<tab>FILE:LINE
 *     ...
 *
 * AT is the size of the file at that time; the note is valid while the file does not grow. The
 * program has been at the same place for TICKS, of which CPU were processor time, at a depth
 * of DEPTH calls. The calls with their current places follow, innermost first, as many as fit.
 * An empty NAME is the program itself. An empty FILE is the same as the one before. REASON and
 * PEER say what it waits for, if known; see wait_records.h. LEAF is `-`, or `xsub NAME` or
 * `builtin NAME` if one is running.
 *
 * The reader of the format delivers the note behind the last record, as
 *
 *     #nytp-hangs BODY
 */
#ifndef NYTP_HANG_RECORDS_H
#define NYTP_HANG_RECORDS_H

#include "wait_records.h"

#include "formats/stream/event.h"

#include <stdbool.h>

#define NYTP_HANG_NOTE "nytp-hang-note"
#define NYTP_HANG_HEAD "nytp-hangs"
#define NYTP_HANG_ROOM 4096 /* including "#" and newline */

/* The checksum: start with NYTP_HANG_SUM, apply this for each byte. */
#define NYTP_HANG_SUM                 UINT64_C(0xcbf29ce484222325)
#define NYTP_HANG_SUM_STEP(sum, byte) (((sum) ^ (uint8_t)(byte)) * UINT64_C(0x100000001b3))

struct nytp_hang {
    uint64_t at;
    int64_t ticks, cpu_ticks;
    uint32_t depth;
    enum nytp_wait_reason reason; /* NYTP_WAIT_UNKNOWN: not recorded */
    struct nytp_str peer;
    bool has_leaf, leaf_is_xsub;
    struct nytp_str leaf;
    struct nytp_str calls; /* for nytp_hang_next() */
    struct nytp_str file;  /* of the previous call */
};

struct nytp_hang_call {
    struct nytp_str name, file; /* an empty name: the program itself */
    uint32_t line;
};

/* Finds the BODY of a note. Returns false if the comment is another or incomplete. */
bool nytp_last_stack_body(const struct nytp_str *comment, struct nytp_str *body);

/* Reads a delivered comment. Returns false, with `hang` untouched, for any other. */
bool nytp_hang_read(const struct nytp_str *comment, struct nytp_hang *hang);

/* Reads the next call. Returns false if there is none. */
bool nytp_hang_next(struct nytp_hang *hang, struct nytp_hang_call *call);

#endif
