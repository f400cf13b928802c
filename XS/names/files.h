/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Source files and string evals, and their ids in the stream.
 *
 * perl's statements name the file that they are in ("lib/Foo.pm", "(eval 7)", "-e"). For each
 * such name there is one struct nytp_rec_file, made when the name is first seen. It gets an id
 * ("fid") and a NEW_FID record when the first statement or sub of it goes into the stream. A
 * new profile file knows no ids: a file keeps its number, and is introduced again.
 *
 * Everybody who writes a record with a place calls nytp_file_fid(). Memory that is out ends the
 * program, as perl's own allocation does (Newx).
 */
#ifndef NYTP_FILES_H
#define NYTP_FILES_H

#include "XS/perl/index.h"
#include "XS/perl/perl_compat.h"
#include "formats/base/blake2b.h"
#include "XS/state/states.h"

struct nytp_recorder;

/* One for each name that perl has for a file or string eval; for a file that was loaded again
 * after it was changed one for each text. They live as long as the recorder,
 * but for those of string evals that release.c lets be freed. */
struct nytp_rec_file {
    char *perl_name;     /* CopFILE: relative, "(eval 7)", "-e" */
    char *shown_name;    /* with an eval's place: "(eval 7)[x.pl:3]"; may be perl_name */
    char *absolute_name; /* or NULL */
    uint32_t fid;        /* 0: not in a stream yet */
    uint32_t generation[NYTP_KINDS]; /* of the profile file of each kind that knows the fid */
    uint32_t flags;                  /* NYTP_FID_… */
    struct nytp_rec_file *parent;    /* string evals: the file of the statement that ran it */
    struct nytp_rec_file *module; /* a piece that AutoSplit cut out: what has its id; or NULL */
    uint32_t parent_line;
    struct nytp_loaded_file *loaded;     /* what perl read; NULL: nothing, or it is not known */
    struct nytp_rec_file *older, *newer; /* what the name stood for before and after; or NULL */
    U32 since_seq;                       /* with `older`: cop_seq of its first statement */
    struct nytp_piece *pieces; /* of texts that give it the name by #line; until it is told */
    bool is_eval;
    bool is_piece;                 /* AutoSplit cut it out of a module */
    bool placing;                  /* its parent is being introduced */
    bool in_use;                   /* something points to it; of release.c */
    bool awaits_lines;             /* it is being compiled, and perl keeps its lines */
    struct nytp_shared_text *text; /* string evals: source not written yet, or NULL; owned */
    AV *lines;                     /* from a hook in @INC: its source, or NULL; owned */
};

/* The file on disk that perl opened when it compiled one of that name. A name of `#line` has
 * none: the program may give any. */
struct nytp_loaded_file {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed, written; /* st_ctim, st_mtim */
    bool has_sum;                     /* `sum` is known: that of its text */
    uint8_t sum[NYTP_BLAKE2B_BYTES];
};

/* Flags of a NEW_FID record, as readers know them (formats/nytprof-v5.md). */
enum {
    NYTP_FID_IS_PMC = 0x001,
    NYTP_FID_VIA_STMT = 0x002, /* a statement of it was seen first */
    NYTP_FID_VIA_SUB = 0x004,  /* a sub of it was seen first */
    NYTP_FID_IS_AUTOSPLIT = 0x008,
    NYTP_FID_HAS_SRC = 0x010,  /* its source is in the stream */
    NYTP_FID_SAVE_SRC = 0x020, /* it is to be there */
    NYTP_FID_IS_FAKE = 0x080,  /* invented, as the parent of evals whose place is not known */
    NYTP_FID_IS_EVAL = 0x100,
};

/* The part of the state that files.c writes. */
struct nytp_rec_files {
    struct nytp_index by_name;             /* by hash of perl_name; owns the files */
    struct nytp_rec_file **all;            /* by fid, from 1; NULL: freed */
    uint32_t n, size;                      /* the highest fid so far; room in `all` */
    size_t piece_bytes;                    /* of all pieces */
    time_t program_s;                      /* when the program began */
    struct nytp_rec_file *unknown_invoker; /* the invented parent; NULL: not needed yet */
};

/* The file of this name, made if there is none; NULL is taken for "". */
struct nytp_rec_file *nytp_file_named(pTHX_ struct nytp_recorder *rec, const char *perl_name);

/* Once, before all others: note when the program began, and what is being compiled, as that is
 * the script. */
void nytp_files_begin(pTHX_ struct nytp_recorder *rec);

/* The file of a statement: of the name's texts the one that it was compiled from. */
struct nytp_rec_file *nytp_file_of(pTHX_ struct nytp_recorder *rec, const COP *cop);

/* perl is about to compile what PL_parser reads under this name. If it reads the file that has
 * the name, that is noted, and where another text had the name before, the name stands for a
 * new file from now on. False: it reads something else, as what a hook in @INC returned. */
bool nytp_file_note_loaded(pTHX_ struct nytp_recorder *rec, const char *perl_name);

/* Keep the lines of a text that `#line` gives to files which are not told yet. */
void nytp_file_take_pieces(pTHX_ struct nytp_recorder *rec, const char *text, size_t len);

/* The file's id in the profile that is open. If that does not know it, it is told first, with
 * the parents of an eval and with the source where that is wanted; `via` is NYTP_FID_VIA_STMT
 * or NYTP_FID_VIA_SUB. Reading the source is cut out of the time axis. */
uint32_t nytp_file_fid(pTHX_ struct nytp_recorder *rec, struct nytp_rec_file *file,
                       uint32_t via);

/* The id that the profile knows the file by; 0: none yet. */
uint32_t nytp_file_known_fid(const struct nytp_recorder *rec, struct nytp_rec_file *file);

/* The file with this id, which was given out once; made again if it was freed. NULL: there is
 * none. */
struct nytp_rec_file *nytp_file_numbered(pTHX_ struct nytp_recorder *rec, uint32_t fid);

/* For a thread: the file of that name, with what its maker's recorder knew of it and of the
 * files that it hangs below. It has no id yet. */
struct nytp_rec_file *nytp_file_inherit(struct nytp_recorder *rec,
                                        const struct nytp_rec_file *from);

/* Free those that are not `in_use`; their ids are not given out again. */
void nytp_files_release(struct nytp_recorder *rec);
void nytp_files_free(pTHX_ struct nytp_recorder *rec); /* all, and what is known of evals */

#endif
