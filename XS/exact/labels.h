/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Labels that the program gives to its work: in force from DB::label() until the label changes,
 * in this thread and in the processes it forks and the threads it creates. They are kept here,
 * whether or not a profile is written, and recorded again at the start of each profile file.
 * Their form in the stream: formats/stream/comments/label_records.h.
 */
#ifndef NYTP_LABELS_H
#define NYTP_LABELS_H

#include "XS/perl/perl_compat.h"

struct nytp_recorder;
struct nytp_rec_label;
struct nytp_rec_sub;

struct nytp_rec_labels {
    struct nytp_rec_label *all; /* in force */
    uint32_t n;
    uint32_t last_serial; /* of frames, at the last change of a label */
    bool said_many;
    bool in_sql; /* a statement's text is in force */
};

/* Sets label `key` to `value`; undef removes it. May run the program's code (magic,
 * overloading) before anything changes. */
void nytp_label_set(pTHX_ struct nytp_recorder *rec, SV *key, SV *value);

/* Labels the whole profile that is being written; does nothing if none is. */
void nytp_label_profile(pTHX_ struct nytp_recorder *rec, SV *key, SV *value);

/* Call it before a DBI method runs with these arguments, the handle first. If they give the
 * text of an SQL statement, that is the label `sql` until perl leaves the current scope. Nested
 * calls change nothing. */
void nytp_label_sql(pTHX_ struct nytp_recorder *rec, const struct nytp_rec_sub *method,
                    SV *const *arguments, SSize_t n);

/* The profile file is suspended with its open calls; it goes on. */
void nytp_labels_end(struct nytp_recorder *rec);
void nytp_labels_resume(struct nytp_recorder *rec);

#endif
