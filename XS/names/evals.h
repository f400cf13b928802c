/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Data of string evals by their numbers, the N of perl's "(eval N)": their origins, their texts
 * during compilation, and the rest of those whose files were freed.
 *
 * compile.c gives origin and text just before perl compiles an eval; files.c needs them to name
 * it; release.c stores the rest of an eval that it frees. perl counts evals from 1 and never
 * reuses a number.
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
    UV seq;
    struct nytp_shared_text *text;
};

/* The statement that ran string eval number `seq`. */
struct nytp_eval_origin {
    UV seq;
    struct nytp_rec_file *file;
    uint32_t line;
};

/* The rest of a string eval whose nytp_rec_file was freed. */
struct nytp_past_eval {
    uint32_t seq;
    uint32_t fid;
    uint32_t generation[NYTP_KINDS]; /* as in nytp_rec_file */
    uint32_t parent_fid, parent_line;
};

#define NYTP_ORIGINS 1024 /* string evals whose origin is kept */

struct nytp_rec_evals {
    struct nytp_eval *open; /* being compiled, innermost last */
    uint32_t n_open, size_open;
    struct nytp_eval last;            /* just compiled */
    struct nytp_eval_origin *origins; /* NYTP_ORIGINS, a ring by seq */
    struct nytp_past_eval *past;      /* sorted by seq, except new ones */
    size_t n_past, size_past;
    size_t n_sorted;
    uint32_t *seqs; /* by fid: number of the past eval, or 0 */
    uint32_t size_seqs;
};

/* Finds the number in "(eval N)"; returns false for other names. */
bool nytp_parse_eval_name(const char *name, UV *seq);

/* Notes the origin of eval number `seq`, which is about to run. */
void nytp_eval_note_origin(struct nytp_recorder *rec, UV seq, struct nytp_rec_file *file,
                           uint32_t line);
/* Returns the origin, or NULL if it is not among the last NYTP_ORIGINS. */
const struct nytp_eval_origin *nytp_eval_origin(const struct nytp_recorder *rec, UV seq);

/* Evals being compiled form a stack, since a BEGIN block may run another. The text is copied
 * and known until the next eval has been compiled. */
void nytp_eval_push(struct nytp_recorder *rec, UV seq, const SV *text);
void nytp_eval_pop_compiled(struct nytp_recorder *rec);
/* Removes those above the outermost `level`: their compilation died. */
void nytp_evals_drop(struct nytp_recorder *rec, uint32_t level);
/* Borrowed; NULL: unknown. */
const struct nytp_shared_text *nytp_eval_text(const struct nytp_recorder *rec, UV seq);

/* Stores the rest of the eval with this name; the name gives `seq`. Returns false if it cannot:
 * a #line calls it "(eval 4000000000)". */
bool nytp_past_eval_add(pTHX_ struct nytp_recorder *rec, const char *name,
                        const struct nytp_past_eval *eval);
/* Makes added entries visible. */
void nytp_past_evals_sort(struct nytp_recorder *rec);
/* Returns the stored rest of the eval with this name, or NULL. */
const struct nytp_past_eval *nytp_past_eval(const struct nytp_recorder *rec, const char *name);
/* Finds the number of the past eval with this file id. Returns false if there is none. */
bool nytp_past_eval_find(const struct nytp_recorder *rec, uint32_t fid, UV *seq);

#endif
