/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Labels that the program gives to what it does: from DB::label() until the label changes, in
 * this thread, and in the processes that it forks and the threads that it makes. What is in
 * force is kept here, whether or not a profile is being written, and said again at the start of
 * each profile file. How the stream holds labels: formats/stream/comments/label_records.h.
 */
#ifndef NYTP_LABELS_H
#define NYTP_LABELS_H

#include "XS/perl/perl_compat.h"

struct nytp_recorder;
struct nytp_rec_label;
struct nytp_rec_sub;

/* The part of the state that labels.c writes. */
struct nytp_rec_labels {
    struct nytp_rec_label *all; /* in force */
    uint32_t n;
    uint32_t last_serial; /* of frames, when a label changed last */
    bool said_many;
    bool in_sql; /* a statement's text is in force */
};

/* From now on `key` is `value`, or nothing where that is undefined. May run the program's code
 * (magic, overloading) before anything is changed. */
void nytp_label_set(pTHX_ struct nytp_recorder *rec, SV *key, SV *value);

/* The profile that is being written is, as a whole, of this `value` of `key`; nothing happens
 * where none is. */
void nytp_label_profile(pTHX_ struct nytp_recorder *rec, SV *key, SV *value);

/* A method of DBI is about to be called with these arguments, the handle first: if they tell
 * the text of an SQL statement, that is the label `sql` until perl leaves the scope that is
 * open now. A call within such a call changes nothing. */
void nytp_label_sql(pTHX_ struct nytp_recorder *rec, const struct nytp_rec_sub *method,
                    SV *const *arguments, SSize_t n);

/* A profile file begins: say what is in force. */
void nytp_labels_begin(struct nytp_recorder *rec);

/* The profile file is suspended, with the calls that are open; it goes on. */
void nytp_labels_end(struct nytp_recorder *rec);
void nytp_labels_resume(struct nytp_recorder *rec);

/* `rec` is of a new thread: it begins with the labels of the thread that made that. */
void nytp_labels_inherit(struct nytp_recorder *rec, const struct nytp_recorder *from);

void nytp_labels_free(struct nytp_recorder *rec);

#endif
