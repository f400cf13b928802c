/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What is known of string evals by their numbers, the N of "(eval N)": where they were run,
 * their texts while they are compiled, and what is left of those whose files were freed.
 */
#ifndef NYTP_EVALS_H
#define NYTP_EVALS_H

#include "state.h"

/* The number in "(eval N)"; false for other names. */
bool nytp_parse_eval_name(const char *name, UV *seq);

/* Eval number `seq` is about to be run at that place. The last NYTP_ORIGINS are remembered;
 * NULL: it is none of them. */
void nytp_eval_note_origin(struct nytp_recorder *rec, UV seq, struct nytp_rec_file *file,
                           uint32_t line);
const struct nytp_eval_origin *nytp_eval_origin(const struct nytp_recorder *rec, UV seq);

/* Evals being compiled are a stack. Its text is copied; it is known while the eval is on the
 * stack and until the next one has been compiled. NULL: unknown. */
void nytp_eval_push(pTHX_ struct nytp_recorder *rec, UV seq, SV *text);
void nytp_eval_pop_compiled(pTHX_ struct nytp_recorder *rec);
void nytp_evals_drop(pTHX_ struct nytp_recorder *rec, uint32_t level); /* all but so many */
SV *nytp_eval_text(const struct nytp_recorder *rec, UV seq);

/* Keep what is left of the eval with this name. False for one that cannot be: it calls itself
 * "(eval 4000000000)" by a #line, or ran before we looked. */
bool nytp_past_eval_keep(pTHX_ struct nytp_recorder *rec, const char *name,
                         const struct nytp_past_eval *eval);
/* What is kept of the eval with this name; NULL: nothing. */
const struct nytp_past_eval *nytp_past_eval(const struct nytp_recorder *rec, const char *name);
/* The number of the eval that had this file id. */
bool nytp_past_eval_find(const struct nytp_recorder *rec, uint32_t fid, UV *seq);

void nytp_evals_free(pTHX_ struct nytp_recorder *rec);

#endif
