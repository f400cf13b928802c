/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Labels that a program gives to stretches of its run (DB::label) and to a whole profile
 * (DB::label_profile), as comments in the stream, which other readers of the format pass over
 * (nytprof-v5.md, "Records"):
 *
 *     #nytp-label TICKS KEY=VALUE     from here on; without "=VALUE": no more
 *     #nytp-label-profile KEY=VALUE   all of the process in which it stands
 *     #nytp-own DEPTH TICKS NAME      before a label changes: the call that is open at this
 *                                     depth, one of NAME, has had TICKS more of its exclusive
 *                                     time since the last such comment about it
 */
#ifndef NYTP_LABEL_RECORDS_H
#define NYTP_LABEL_RECORDS_H

#include "formats/stream/event.h"

#include <stdbool.h>

#define NYTP_LABEL_HEAD         "nytp-label"
#define NYTP_LABEL_PROFILE_HEAD "nytp-label-profile"
#define NYTP_OWN_HEAD           "nytp-own"

/* In bytes, before control characters and backslashes are written as \xHH; longer ones are cut
 * by the recorder. */
#define NYTP_LABEL_MOST_KEY   100
#define NYTP_LABEL_MOST_VALUE 4000

/* A recorder takes any number of keys; readers look at all that have a value, at each change,
 * and so at no more than this. */
#define NYTP_MOST_IN_FORCE 200u

/* Such a comment is shorter. */
#define NYTP_LABEL_LONGEST (4 * (NYTP_LABEL_MOST_KEY + NYTP_LABEL_MOST_VALUE) + 100)

enum nytp_label_kind {
    NYTP_LABEL_NONE, /* some other comment */
    NYTP_LABEL_SET,
    NYTP_LABEL_END, /* the key has no value from here on */
    NYTP_LABEL_PROFILE,
    NYTP_LABEL_OWN,
};

struct nytp_label_record {
    enum nytp_label_kind kind;
    int64_t ticks;  /* SET, END: when, on an axis of the process's own; OWN: how many */
    uint32_t depth; /* OWN */
    struct nytp_str key, value; /* inside the comment's text, as written there; OWN: value is
                                   the name */
};

/* Labels of a process are a text of lines "KEY=VALUE", each key once, no longer than this. */
#define NYTP_LABELS_LONGEST 65536u

/* The next line of such a text, which is passed: false at its end. Key and value point into it.
 */
bool nytp_labels_next(struct nytp_str *rest, struct nytp_str *key, struct nytp_str *value);

/* What a comment tells. Its kind is NYTP_LABEL_NONE when it is no such comment; texts of the
 * record lie in the comment. */
struct nytp_label_record nytp_label_record_read(const struct nytp_str *comment);

#endif
