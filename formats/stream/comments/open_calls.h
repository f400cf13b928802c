/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Names of open calls. A call's name is recorded with its return, so a call that never returns
 * would have none. Before a call that may block, the recorder therefore writes a comment for
 * each open call, which other readers skip (nytprof-v5.md, "Records"):
 *
 *     #nytp-open DEPTH KIND NAME
 *
 * A call can be suspended and resumed (`async sub`). Each part has a separate SUB_RETURN. This
 * comment precedes the SUB_RETURN of a part that does not begin the call:
 *
 *     #nytp-resumed
 */
#ifndef NYTP_OPEN_CALLS_H
#define NYTP_OPEN_CALLS_H

#include "formats/stream/event.h"

#include <stdbool.h>

struct nytp_open_call {
    uint32_t depth; /* as in its SUB_RETURN: 1 is outermost */
    bool is_xsub;
    struct nytp_str name; /* points into the comment */
};

/* Values of KIND. Readers need to know only xsubs. */
#define NYTP_OPEN_CALL_PERL    "perl"
#define NYTP_OPEN_CALL_XSUB    "xsub"
#define NYTP_OPEN_CALL_BUILTIN "builtin"
#define NYTP_OPEN_CALL_HEAD    "nytp-open"

/* Longer than any such comment. Calls with longer names, or a newline in it, are left out. */
#define NYTP_OPEN_CALL_MOST 1024

/* Reads a comment. Returns false, with `call` untouched, for any other. */
bool nytp_open_call_read(const struct nytp_str *comment, struct nytp_open_call *call);

#define NYTP_RESUMED_CALL "nytp-resumed"

/* Returns true for this comment: the next SUB_RETURN ends a later part of a call. */
bool nytp_is_resumed_call(const struct nytp_str *comment);

#endif
