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
    NYTP_REC_SUB_PSEUDO, /* main::RUNTIME, main::NULL */
};

/* A sub by its full name. release.c frees unique ones; the others stay. */
struct nytp_rec_sub {
    /* Fields that every call reads. */
    struct nytp_rec_arc *last_arc; /* arc of its last call, or NULL */
    uint8_t *encoded;              /* the name as a string of the stream */
    uint32_t encoded_len;
    uint32_t depth; /* calls in progress */
    enum nytp_sub_special special;
    bool returned_normally; /* at least once */
    bool called;
    bool waits;     /* a builtin that may wait indefinitely (slowops.def) */
    bool may_block; /* the next call may block: write to disk before it */

    uint32_t id;
    enum nytp_rec_sub_kind kind;
    uint32_t name_len;
    char *name;                 /* UTF-8, inside `encoded` */
    uint32_t package_len;       /* of `name`, before the last "::" */
    uint32_t package_hash;      /* of that part */
    struct nytp_rec_file *file; /* where it was compiled, or NULL */
    uint32_t first_line, last_line;
    uint32_t mark_id;                     /* in the tmon.out being written; 0: none yet */
    uint32_t info_generation[NYTP_KINDS]; /* file of each kind that has its SUB_INFO; 0: none */
    bool is_queued;                       /* in the info queue */
    bool is_unique;                       /* no other body gets this name */
    bool is_begin; /* a package's entry for BEGIN blocks (begin_blocks.h) */
    bool in_use;   /* release.c: it can still be called */
};

/* Returns whether readers are to show it as no Perl sub: a builtin, or an xsub that has
 * returned at least once (only then it certainly ran). */
static inline bool nytp_sub_is_foreign(const struct nytp_rec_sub *sub)
{
    return sub->kind == NYTP_REC_SUB_OPCODE ||
           (sub->kind != NYTP_REC_SUB_PERL && sub->returned_normally);
}

/* A compiled body, by the address of its root op. A reused address gets a new row when the new
 * body is compiled. */
struct nytp_body {
    const void *key;            /* CvROOT; for xsubs the CV itself */
    struct nytp_rec_file *file; /* NULL: compiled before us, or freed */
    uint32_t first_line, last_line;
    struct nytp_rec_sub *sub; /* NULL: not resolved */
    const void *gv;           /* `sub` was resolved from the CV's GV or its name, */
    const void *stash;        /* the stash */
    U32 name_hash;            /* and the hash of the name */
};

/* A recently called body and its name: closures of one body may have many. */
struct nytp_called {
    const OP *root; /* NULL: none */
    const void *gv, *stash;
    U32 name_hash;
    struct nytp_rec_sub *sub;
};

/* A row by the hash of the root's address, in it a column by that of the name's GV. */
#define NYTP_CALLED_ROWS  64
#define NYTP_CALLED_NAMES 64
#define NYTP_CALLED       (NYTP_CALLED_ROWS * NYTP_CALLED_NAMES)

/* The body compiled last, until it has its name; root NULL: none. */
struct nytp_compiled {
    const OP *root;
    CV *cv;                     /* that was being compiled; borrowed, may be freed */
    SV *name;                   /* as the tokenizer saw it, or NULL; owned */
    struct nytp_rec_sub *begin; /* its package's entry if it may be a BEGIN block, or NULL */
};

struct nytp_rec_subs {
    struct nytp_index by_name, bodies;
    struct nytp_called *called; /* NYTP_CALLED entries; those of a body are in one row */
    struct nytp_rec_sub **all;  /* from 1; by id until release.c frees some */
    uint32_t n, size, last_id;
    struct nytp_rec_sub *runtime,
        *null_caller; /* main::RUNTIME, main::NULL: code outside subs */
    struct nytp_compiled compiled;
    uint32_t begin_seq; /* last N of BEGIN@LINE.N */
    HV *debugger;       /* %DB::sub, taken from the program, or NULL */
};

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

/* Marks a nameless xsub that starts or finishes the recorder: its calls are not recorded. */
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
