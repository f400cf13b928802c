/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What calls are named that were open when the recorder put the stream on disk. A call's name
 * comes with its return; of one that never returns it would stay unknown. So before a call that
 * may block the recorder tells the names of the calls that are open, each in a comment, which
 * other readers of the format pass over (nytprof-v5.md, "Records"):
 *
 *     #nytp-open DEPTH KIND NAME
 *
 * A call can be left for a while, and entered again to go on (`async sub`). Every such part has
 * a SUB_RETURN of its own. This comment stands before those that do not begin a call:
 *
 *     #nytp-resumed
 */
#ifndef NYTP_OPEN_CALLS_H
#define NYTP_OPEN_CALLS_H

#include "formats/stream/event.h"

#include <stdbool.h>

struct nytp_open_call {
    uint32_t depth; /* as its SUB_RETURN would have it: 1 is outermost */
    bool is_xsub;
    struct nytp_str name; /* inside the comment's text */
};

/* The words for KIND, of which readers need to know xsubs only. */
#define NYTP_OPEN_CALL_PERL    "perl"
#define NYTP_OPEN_CALL_XSUB    "xsub"
#define NYTP_OPEN_CALL_BUILTIN "builtin"
#define NYTP_OPEN_CALL_HEAD    "nytp-open"

/* Such a comment is shorter; what has a longer name, or one with a newline, is not told. */
#define NYTP_OPEN_CALL_MOST 1024

/* Read a comment. False, and `call` is as it was, when it tells no open call. */
bool nytp_open_call_read(const struct nytp_str *comment, struct nytp_open_call *call);

#define NYTP_RESUMED_CALL "nytp-resumed"

/* Whether the comment is this one: the next SUB_RETURN ends a part of a call that began
 * earlier. */
bool nytp_is_resumed_call(const struct nytp_str *comment);

#endif
