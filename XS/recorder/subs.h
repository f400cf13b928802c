/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Which sub a CV is, and its lines.
 */
#ifndef NYTP_SUBS_H
#define NYTP_SUBS_H

#include "state.h"

void nytp_names_init(pTHX_ struct nytp_recorder *rec);
/* Free the subs that are not in use, to which nothing leads any more. */
void nytp_subs_release(struct nytp_recorder *rec);
void nytp_subs_free(pTHX_ struct nytp_recorder *rec);
struct nytp_rec_sub *nytp_sub_of_cv(pTHX_ struct nytp_recorder *rec, CV *cv);
struct nytp_rec_sub *nytp_sub_of_op(pTHX_ struct nytp_recorder *rec, const COP *cop, int type);
struct nytp_rec_sub *nytp_sub_named(struct nytp_recorder *rec, const char *name, size_t len,
                                    enum nytp_rec_sub_kind kind);
/* The sub that a string names, from the running package. */
struct nytp_rec_sub *nytp_sub_of_symbol(pTHX_ struct nytp_recorder *rec, const SV *sv);
struct nytp_rec_sub *nytp_sub_of_gv(struct nytp_recorder *rec, const GV *gv);
struct nytp_rec_sub *nytp_running_sub(pTHX_ struct nytp_recorder *rec);
void nytp_sub_compiled(pTHX_ struct nytp_recorder *rec, const OP *root);
void nytp_format_compiled(pTHX_ struct nytp_recorder *rec, const OP *root);
void nytp_body_freed(pTHX_ struct nytp_recorder *rec, const OP *root);
void nytp_name_compiled(pTHX_ struct nytp_recorder *rec);
void nytp_sub_needs_info(struct nytp_recorder *rec, struct nytp_rec_sub *sub);

/* An xsub that starts or finishes the recorder, without a name: calls of it are not recorded.
 */
void nytp_sub_mark_own(CV *cv);

/* perl's list for the debugger, name => "file:first-last"; NULL: there is none. */
HV *nytp_debugger_subs(pTHX_ const struct nytp_recorder *rec);

#endif
