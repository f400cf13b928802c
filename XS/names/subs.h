/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Subs: which sub a CV is, by which name it goes into the profile, and which lines it has.
 *
 * There are two tables. Subs are known by their full name ("main::f",
 * "main::__ANON__[x.pl:7]"); a profile knows a sub by nothing else. Bodies are what perl has
 * compiled, known by the address of their root op; a body leads to its sub. hooks.c tells what
 * is compiled and freed, calls.c asks which sub a CV is, at each call.
 *
 * Memory that is out ends the program, as perl's own allocation does (Newx).
 */
#ifndef NYTP_SUBS_H
#define NYTP_SUBS_H

#include "XS/perl/index.h"
#include "XS/perl/perl_compat.h"
#include "XS/options/specials.h"
#include "XS/state/states.h"

struct nytp_recorder;
struct nytp_rec_arc;
struct nytp_rec_file;

enum nytp_rec_sub_kind {
    NYTP_REC_SUB_PERL,
    NYTP_REC_SUB_XSUB,
    NYTP_REC_SUB_OPCODE, /* a builtin (builtins.h) */
    NYTP_REC_SUB_PSEUDO, /* main::RUNTIME and its like */
};

/* A sub by its full name. Only release.c lets any be freed, of those that are unique. */
struct nytp_rec_sub {
    /* What every call looks at. */
    struct nytp_rec_arc *last_arc; /* the one that its last call took, or NULL */
    uint8_t *encoded;              /* the name as a string of the stream */
    uint32_t encoded_len;
    uint32_t depth; /* calls of it in progress */
    enum nytp_sub_special special;
    bool returned_normally; /* at least once */
    bool called;
    bool waits;     /* a builtin that may wait for any time (slowops.def) */
    bool may_block; /* the next call, as far as is known: it is on disk before it begins */

    uint32_t id;
    enum nytp_rec_sub_kind kind;
    uint32_t name_len;
    char *name;                 /* UTF-8, inside `encoded` */
    uint32_t package_len;       /* of `name`, before the last "::" */
    uint32_t package_hash;      /* of that part */
    struct nytp_rec_file *file; /* where it was compiled, or NULL */
    uint32_t first_line, last_line;
    uint32_t mark_id;                     /* in the tmon.out being written; 0: not there yet */
    uint32_t info_generation[NYTP_KINDS]; /* of the file of each kind that has its SUB_INFO;
                                             0: none */
    bool is_queued;                       /* in the info queue */
    bool is_unique;                       /* no other body will get the same name */
    bool is_begin; /* a package's entry for its BEGIN blocks; see begin_blocks.h */
    bool in_use;   /* it can still be called; of release.c */
};

/* Whether readers are to be told that it is no Perl sub. A builtin is one however it ends; that
 * an xsub was run is certain once it has returned. */
static inline bool nytp_sub_is_foreign(const struct nytp_rec_sub *sub)
{
    return sub->kind == NYTP_REC_SUB_OPCODE ||
           (sub->kind != NYTP_REC_SUB_PERL && sub->returned_normally);
}

/* What is known about a compiled body, by the address of its root op. An address that is
 * used again gets a new row when the new body is compiled. */
struct nytp_body {
    const void *key;            /* CvROOT; for xsubs the CV itself */
    struct nytp_rec_file *file; /* NULL: compiled before we looked, or freed since */
    uint32_t first_line, last_line;
    struct nytp_rec_sub *sub; /* NULL: not resolved */
    const void *gv;           /* what `sub` was resolved from: the CV's GV or its name, */
    const void *stash;        /* the stash of that, */
    U32 name_hash;            /* and the hash of the name */
};

/* A body that was called lately, and under which name: closures of one body may have many. */
struct nytp_called {
    const OP *root; /* NULL: none */
    const void *gv, *stash;
    U32 name_hash;
    struct nytp_rec_sub *sub;
};

/* Rows by the hash of the root's address, in each a place by that of the name's GV. */
#define NYTP_CALLED_ROWS  64
#define NYTP_CALLED_NAMES 64
#define NYTP_CALLED       (NYTP_CALLED_ROWS * NYTP_CALLED_NAMES)

/* The body compiled last, until it has its name; root NULL: none. */
struct nytp_compiled {
    const OP *root;
    CV *cv;                     /* that was being compiled; borrowed, may be gone */
    SV *name;                   /* as the tokenizer saw it, or NULL; owned */
    struct nytp_rec_sub *begin; /* its package's entry, if it may be a BEGIN block; or NULL */
};

/* The part of the state that subs.c writes. */
struct nytp_rec_subs {
    struct nytp_index by_name, bodies;
    struct nytp_called *called; /* NYTP_CALLED, of which a body's are in one row */
    struct nytp_rec_sub *
        *all; /* from 1; in the order of their ids until release.c frees some */
    uint32_t n, size, last_id;
    struct nytp_rec_sub *runtime,
        *null_caller; /* main::RUNTIME, main::NULL: code outside subs */
    struct nytp_compiled compiled;
    uint32_t begin_seq; /* last N of BEGIN@LINE.N */
    HV *debugger;       /* %DB::sub, taken from the program; or NULL */
};

/* Once for a recorder: the subs that stand for code outside all subs. */
void nytp_names_init(pTHX_ struct nytp_recorder *rec);

/* The table of bodies called lately, which is needed before anything is recorded. False when
 * out of memory. */
bool nytp_called_begin(struct nytp_recorder *rec);

/* ---- which sub it is ---- */

/* The sub of a CV, perl's or an xsub. */
struct nytp_rec_sub *nytp_sub_of_cv(pTHX_ struct nytp_recorder *rec, CV *cv);

/* The sub with this full name (UTF-8), made with that kind if there is none. */
struct nytp_rec_sub *nytp_sub_named(struct nytp_recorder *rec, const char *name, size_t len,
                                    enum nytp_rec_sub_kind kind);

/* Calls of this CV, which has no name and is never freed, are this sub's. */
void nytp_sub_introduce(struct nytp_recorder *rec, const CV *cv, struct nytp_rec_sub *sub);

/* The sub that a string names, from the running package. */
struct nytp_rec_sub *nytp_sub_of_symbol(pTHX_ struct nytp_recorder *rec, const SV *sv);
/* The sub that would be in this glob. */
struct nytp_rec_sub *nytp_sub_of_gv(struct nytp_recorder *rec, const GV *gv);

/* perl's own idea of the running sub, but for the `n_entered` innermost contexts: for
 * findcaller=1, and outside all recorded calls, where it may be a sub that was entered
 * unrecorded. */
struct nytp_rec_sub *nytp_running_sub(pTHX_ struct nytp_recorder *rec, I32 n_entered);

/* An xsub that starts or finishes the recorder, without a name: calls of it are not recorded.
 */
void nytp_sub_mark_own(CV *cv);

/* ---- what perl compiles and frees ---- */

/* The body with this root op has just been compiled; the tokenizer still stands on its last
 * line. Its name comes later, see nytp_name_compiled(). */
void nytp_sub_compiled(pTHX_ struct nytp_recorder *rec, const OP *root);
/* The same for a format. */
void nytp_format_compiled(pTHX_ struct nytp_recorder *rec, const OP *root);

/* Find the name of the body that was compiled last, which perl gives it after compiling. Called
 * before the next body is compiled, and whenever the subs are to be complete. */
void nytp_name_compiled(pTHX_ struct nytp_recorder *rec);

/* perl frees the body with this root op. */
void nytp_body_freed(pTHX_ struct nytp_recorder *rec, const OP *root);

/* The interpreter is a clone of the one that `from` records: both share their ops, so the lines
 * of what is compiled are known. */
void nytp_bodies_inherit(struct nytp_recorder *rec, const struct nytp_recorder *from);

/* ---- perl's list for the debugger ---- */

/* name => "file:first-last"; NULL: there is none. */
HV *nytp_debugger_subs(pTHX_ const struct nytp_recorder *rec);
/* The program is not to see that list any more: it becomes ours. */
void nytp_debugger_subs_hide(pTHX_ struct nytp_recorder *rec);

/* ---- memory ---- */

/* Rows of bodies that perl has freed go. */
void nytp_bodies_sweep(struct nytp_recorder *rec);
/* Free the subs that are not in use, to which nothing leads any more but the list of all. False
 * when out of memory: then nothing was freed. */
bool nytp_subs_release(struct nytp_recorder *rec);
void nytp_subs_free(pTHX_ struct nytp_recorder *rec);

#endif
