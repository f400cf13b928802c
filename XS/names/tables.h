/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The tables of source files, string evals and subs. files.c and subs.c write them; the other files
 * of this folder read them.
 */
#ifndef NYTP_NAMES_TABLES_H
#define NYTP_NAMES_TABLES_H

#include "XS/perl/index.h"
#include "XS/perl/perl_compat.h"
#include "formats/base/blake2b.h"
#include "XS/state/sub.h"

/* One for each name of a file or string eval; if a file was changed and loaded again, one for
 * each text. They live as long as the recorder, except string evals freed by release.c. */
struct nytp_rec_file {
    char *perl_name;  /* CopFILE: relative, "(eval 7)", "-e" */
    char *shown_name; /* with an eval's place: "(eval 7)[x.pl:3]"; may be perl_name */
    char *absolute_name;
    uint32_t fid;                    /* 0: not in a stream yet */
    uint32_t generation[NYTP_KINDS]; /* profile file of each kind that knows the fid */
    uint32_t flags;
    struct nytp_rec_file *parent; /* string evals: the file of the statement that ran it */
    struct nytp_rec_file *module; /* for a piece cut out by AutoSplit: the file whose id it has;
                                   * or NULL */
    uint32_t parent_line;
    struct nytp_loaded_file *loaded;     /* the file perl read; NULL: none or unknown */
    struct nytp_rec_file *older, *newer; /* earlier and later texts of the name, or NULL */
    U32 since_seq;                       /* with `older`: cop_seq of its first statement */
    struct nytp_piece *pieces; /* texts with a #line of this name, until it is recorded */
    bool is_eval;
    bool is_piece;                 /* cut out of a module by AutoSplit */
    bool placing;                  /* its parent is being recorded */
    bool in_use;                   /* release.c: something refers to it */
    bool awaits_lines;             /* being compiled; perl keeps its lines */
    bool is_awaited;               /* a sub in the info queue waits for it */
    struct nytp_shared_text *text; /* string evals: source not written yet, or NULL; owned */
    AV *lines;                     /* source from a hook in @INC, or NULL; owned */
};

/* The file on disk that perl opened to compile that name. Names of `#line` have none: the
 * program may give any. */
struct nytp_loaded_file {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed, written;
    bool has_sum; /* `sum` is known: that of its text */
    uint8_t sum[NYTP_BLAKE2B_BYTES];
};

/* Flags of a NEW_FID record (formats/nytprof-v5.md). */
enum {
    NYTP_FID_IS_PMC = 0x001,
    NYTP_FID_VIA_STMT = 0x002, /* first seen by a statement */
    NYTP_FID_VIA_SUB = 0x004,  /* first seen by a sub */
    NYTP_FID_IS_AUTOSPLIT = 0x008,
    NYTP_FID_HAS_SRC = 0x010,  /* its source is in the stream */
    NYTP_FID_SAVE_SRC = 0x020, /* its source is wanted */
    NYTP_FID_IS_FAKE = 0x080,  /* invented, as the parent of evals without a known place */
    NYTP_FID_IS_EVAL = 0x100,
};

struct nytp_rec_files {
    struct nytp_index by_name;  /* by hash of perl_name; owns the files */
    struct nytp_rec_file **all; /* by fid, from 1; NULL: freed */
    uint32_t n, size;           /* the highest fid so far; room in `all` */
    size_t piece_bytes;
    time_t program_s;
    struct nytp_rec_file *unknown_invoker; /* the invented parent; NULL: not needed yet */
};

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

/* The row is the hash of the root's address, the column the hash of the name's GV. */
#define NYTP_CALLED_ROWS  64
#define NYTP_CALLED_NAMES 64
#define NYTP_CALLED       (NYTP_CALLED_ROWS * NYTP_CALLED_NAMES)

/* The body compiled last, until it has its name; root NULL: none. */
struct nytp_compiled {
    const OP *root;
    CV *cv;                     /* the code being compiled; borrowed, may be freed */
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

#endif
