/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Labels that a program gives to stretches of its run (DB::label) and to a whole profile
 * (DB::label_profile), as comments in the stream, which other readers skip (nytprof-v5.md,
 * "Records"):
 *
 *     #nytp-label TICKS KEY=VALUE     from here on; without "=VALUE": ends
 *     #nytp-label-profile KEY=VALUE   for the whole process
 *     #nytp-own DEPTH TICKS NAME      before a label changes: the open call of NAME at this
 *                                     depth has gained TICKS of exclusive time since the
 *                                     last such comment about it
 */
#ifndef NYTP_LABEL_RECORDS_H
#define NYTP_LABEL_RECORDS_H

#include "formats/stream/event.h"

#include <stdbool.h>

#define NYTP_LABEL_HEAD         "nytp-label"
#define NYTP_LABEL_PROFILE_HEAD "nytp-label-profile"
#define NYTP_OWN_HEAD           "nytp-own"

/* In bytes, before control characters and backslashes become \xHH. Longer ones are cut. */
#define NYTP_LABEL_MOST_KEY   100
#define NYTP_LABEL_MOST_VALUE 4000

/* A recorder takes any number of keys. Readers look at all keys in force at each change, so
 * they accept only this many. */
#define NYTP_MOST_IN_FORCE 200u

/* Longer than any such comment. */
#define NYTP_LABEL_LONGEST (4 * (NYTP_LABEL_MOST_KEY + NYTP_LABEL_MOST_VALUE) + 100)

enum nytp_label_kind {
    NYTP_LABEL_NONE, /* some other comment */
    NYTP_LABEL_SET,
    NYTP_LABEL_END, /* the key has no value any more */
    NYTP_LABEL_PROFILE,
    NYTP_LABEL_OWN,
};

struct nytp_label_record {
    enum nytp_label_kind kind;
    int64_t ticks;  /* SET, END: a time on the process's own axis; OWN: a duration */
    uint32_t depth; /* OWN */
    struct nytp_str key, value; /* point into the comment; OWN: value is the name */
};

/* The labels of a process as text: lines "KEY=VALUE", each key once, no longer than this. */
#define NYTP_LABELS_LONGEST 65536u

/* Cuts the next line off such a text. Key and value point into it. Returns false at its end. */
bool nytp_labels_next(struct nytp_str *rest, struct nytp_str *key, struct nytp_str *value);

/* Reads a comment; NYTP_LABEL_NONE for any other. The record's texts point into it. */
struct nytp_label_record nytp_label_record_read(const struct nytp_str *comment);

#endif
