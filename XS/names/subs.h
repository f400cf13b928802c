/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Subs: the sub of a CV, its name in the profile, and its lines.
 *
 * There are two tables. Subs are identified by their full names ("main::f",
 * "main::__ANON__[x.pl:7]"), as in the profile. Bodies, the code that perl has compiled, are
 * identified by the address of their root op and lead to their subs. hooks.c reports what is
 * compiled and freed; calls.c looks up the sub at each call.
 *
 * Out of memory ends the program, as in perl's own allocation (Newx).
 */
#ifndef NYTP_SUBS_H
#define NYTP_SUBS_H

#include "XS/perl/perl_compat.h"
#include "tables.h"

struct nytp_recorder;
struct nytp_rec_file;

void nytp_names_init(struct nytp_recorder *rec);

/* Allocates the table of recently called bodies, needed before recording. Returns false if
 * memory is out. */
bool nytp_called_begin(struct nytp_recorder *rec);

/* ---- looking up subs ---- */

/* Returns the sub of a perl CV or xsub. */
struct nytp_rec_sub *nytp_sub_of_cv(pTHX_ struct nytp_recorder *rec, CV *cv);

/* Returns the sub with this full name (UTF-8), made with that kind if there is none. */
struct nytp_rec_sub *nytp_sub_named(struct nytp_recorder *rec, const char *name, size_t len,
                                    enum nytp_rec_sub_kind kind);

/* Assigns calls of this CV, which has no name and is never freed, to `sub`. */
void nytp_sub_introduce(struct nytp_recorder *rec, const CV *cv, struct nytp_rec_sub *sub);

/* Returns the sub that a string names, seen from the running package. */
struct nytp_rec_sub *nytp_sub_of_symbol(pTHX_ struct nytp_recorder *rec, const SV *sv);
/* Returns the sub that would be in this glob. */
struct nytp_rec_sub *nytp_sub_of_gv(struct nytp_recorder *rec, const GV *gv);

/* Returns the running sub by perl's contexts, without the innermost `n_entered`. For
 * findcaller=1, and outside all recorded calls, where a sub may have been entered
 * unrecorded. */
struct nytp_rec_sub *nytp_running_sub(pTHX_ struct nytp_recorder *rec, I32 n_entered);

/* `cv` is one of the nameless xsubs, all of one C function, that start or finish the recorder:
 * their calls are not recorded. */
void nytp_sub_mark_own(CV *cv);

/* ---- compiled and freed code ---- */

/* Notes a body just compiled; the tokenizer is still on its last line. nytp_name_compiled()
 * finds its name later. */
void nytp_sub_compiled(pTHX_ struct nytp_recorder *rec, const OP *root);
/* The same for a format. */
void nytp_format_compiled(pTHX_ struct nytp_recorder *rec, const OP *root);

/* Names the body compiled last: perl names it after compiling. Call it before the next body is
 * compiled, and whenever the subs must be complete. */
void nytp_name_compiled(pTHX_ struct nytp_recorder *rec);

/* Call it when perl frees the body with this root op. */
void nytp_body_freed(pTHX_ struct nytp_recorder *rec, const OP *root);

/* ---- perl's list for the debugger ---- */

/* name => "file:first-last", or NULL. */
HV *nytp_debugger_subs(pTHX_ const struct nytp_recorder *rec);
/* Takes that list from the program. */
void nytp_debugger_subs_hide(pTHX_ struct nytp_recorder *rec);

/* ---- memory ---- */

/* Drops the rows of freed bodies. */
void nytp_bodies_sweep(struct nytp_recorder *rec);
/* Frees subs not in use, which only the list of all still refers to. Returns false, and frees
 * nothing, if memory is out. */
bool nytp_subs_release(struct nytp_recorder *rec);

#endif
