/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Where a sampled program hangs. Its samples come at safe points, and a program that executes
 * nothing comes to none. So the head of its file has room, which the thread that ticks fills in
 * while there is something to tell: one comment of NYTP_HANG_ROOM bytes, blanks behind the
 * text.
 *
 *     #nytp-hang-note SUM LEN BODY
 *
 * SUM is that of the LEN bytes of BODY, by which a note is known that is half written, and BODY
 *
 *     AT TICKS CPU DEPTH [REASON [PEER]]<tab>LEAF<tab>NAME<tab>FILE:LINE<tab>NAME<tab>FILE:LINE
 * ...
 *
 * AT is how many bytes the file had: it holds while there are no more. For TICKS, of which CPU
 * were processor time, the program has been where it is: in DEPTH calls of subs, told with the
 * places that they have come to, innermost first, as many as there is room for. The last of
 * all, if there is, has an empty NAME: the program itself. An empty FILE is the one before.
 * REASON and PEER are what it waits for, as in wait_records.h, where that was seen.
 * LEAF is `-`, or `xsub NAME` or `builtin NAME`, which runs.
 *
 * The reader of the format hands the note on where it belongs, behind the last record, as
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
#define NYTP_HANG_ROOM 4096 /* with the mark of a comment and its newline */

/* SUM: from NYTP_HANG_SUM on this for each byte. */
#define NYTP_HANG_SUM                 UINT64_C(0xcbf29ce484222325)
#define NYTP_HANG_SUM_STEP(sum, byte) (((sum) ^ (uint8_t)(byte)) * UINT64_C(0x100000001b3))

struct nytp_hang {
    uint64_t at;
    int64_t ticks, cpu_ticks;
    uint32_t depth;
    enum nytp_wait_reason reason; /* NYTP_WAIT_UNKNOWN: not told */
    struct nytp_str peer;
    bool has_leaf, leaf_is_xsub;
    struct nytp_str leaf;
    struct nytp_str calls; /* for nytp_hang_next() */
    struct nytp_str file;  /* of the call before */
};

struct nytp_hang_call {
    struct nytp_str name, file; /* an empty name: the program itself */
    uint32_t line;
};

/* The BODY of a note, inside the comment; false: the comment is another, or not whole. */
bool nytp_hang_note_body(const struct nytp_str *comment, struct nytp_str *body);

/* Read a comment that was handed on. False, and `hang` is as it was, when it does not fit. */
bool nytp_hang_read(const struct nytp_str *comment, struct nytp_hang *hang);

/* The next of the calls; false: there is none. */
bool nytp_hang_next(struct nytp_hang *hang, struct nytp_hang_call *call);

#endif
