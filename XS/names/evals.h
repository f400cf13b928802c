/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What is known of string evals by their numbers, the N of perl's "(eval N)": where they were
 * run, their texts while they are compiled, and what is left of those whose files were freed.
 *
 * compile.c tells where an eval is run and what its text is, just before perl compiles it;
 * files.c asks when it has to name the eval; release.c tells what is to be remembered of an
 * eval that it lets go of. perl counts evals from 1 without ever using a number again.
 */
#ifndef NYTP_EVALS_H
#define NYTP_EVALS_H

#include "XS/perl/perl_compat.h"
#include "XS/state/states.h"

struct nytp_recorder;
struct nytp_rec_file;
struct nytp_shared_text;

/* A string eval that is being compiled. */
struct nytp_eval {
    UV seq;                        /* its number */
    struct nytp_shared_text *text; /* owned */
};

/* Where string eval number `seq` was run. */
struct nytp_eval_origin {
    UV seq;
    struct nytp_rec_file *file;
    uint32_t line;
};

/* What is left of a string eval's nytp_rec_file when it was freed. */
struct nytp_past_eval {
    uint32_t seq;
    uint32_t fid;
    uint32_t generation[NYTP_KINDS]; /* as in nytp_rec_file */
    uint32_t parent_fid, parent_line;
};

#define NYTP_ORIGINS 1024 /* string evals whose place is remembered */

/* The part of the state that evals.c writes. */
struct nytp_rec_evals {
    struct nytp_eval *open; /* being compiled, innermost last */
    uint32_t n_open, size_open;
    struct nytp_eval last;            /* just compiled */
    struct nytp_eval_origin *origins; /* NYTP_ORIGINS, a ring by seq */
    struct nytp_past_eval *past;      /* by seq, but for those that were just added */
    size_t n_past, size_past;
    size_t n_sorted;
    uint32_t *seqs; /* by fid: the number of the eval that is past; 0: there is none */
    uint32_t size_seqs;
};

/* The number in "(eval N)"; false for other names. */
bool nytp_parse_eval_name(const char *name, UV *seq);

/* Eval number `seq` is about to be run at that place. */
void nytp_eval_note_origin(struct nytp_recorder *rec, UV seq, struct nytp_rec_file *file,
                           uint32_t line);
/* Where it was run; NULL: it is none of the last NYTP_ORIGINS. */
const struct nytp_eval_origin *nytp_eval_origin(const struct nytp_recorder *rec, UV seq);

/* Evals that are being compiled are a stack, for a BEGIN block may run another. The text is
 * copied; it is known while the eval is on the stack and until the next one has been compiled.
 */
void nytp_eval_push(struct nytp_recorder *rec, UV seq, const SV *text);
void nytp_eval_pop_compiled(struct nytp_recorder *rec);
/* Take off those above the outermost `level`: their compilation died. */
void nytp_evals_drop(struct nytp_recorder *rec, uint32_t level);
/* Borrowed; NULL: unknown. */
const struct nytp_shared_text *nytp_eval_text(const struct nytp_recorder *rec, UV seq);

/* Remember what is left of the eval with this name, but for its number, which is taken from
 * that. False for one that cannot be: it calls itself "(eval 4000000000)" by a #line. */
bool nytp_past_eval_add(pTHX_ struct nytp_recorder *rec, const char *name,
                        const struct nytp_past_eval *eval);
/* After some were added: only now they are found. */
void nytp_past_evals_sort(struct nytp_recorder *rec);
/* What is remembered of the eval with this name; NULL: nothing. */
const struct nytp_past_eval *nytp_past_eval(const struct nytp_recorder *rec, const char *name);
/* The number of the remembered eval that had this file id. False: there is none. */
bool nytp_past_eval_find(const struct nytp_recorder *rec, uint32_t fid, UV *seq);

void nytp_evals_free(struct nytp_recorder *rec);

#endif
