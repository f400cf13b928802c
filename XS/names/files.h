/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Source files and string evals, and their ids in the stream.
 *
 * perl's statements name their file ("lib/Foo.pm", "(eval 7)", "-e"). Each name has a struct
 * nytp_rec_file, made when it is first seen. It gets an id ("fid") and a NEW_FID record when
 * its first statement or sub goes into the stream. In a new profile file it keeps its id and is
 * recorded again.
 *
 * Any writer of a record with a place calls nytp_file_fid(). Out of memory ends the program, as
 * in perl's own allocation (Newx).
 */
#ifndef NYTP_FILES_H
#define NYTP_FILES_H

#include "XS/perl/index.h"
#include "XS/perl/perl_compat.h"
#include "formats/base/blake2b.h"
#include "XS/state/states.h"

struct nytp_recorder;

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

/* Returns the file of this name, made if there is none; NULL counts as "". */
struct nytp_rec_file *nytp_file_named(pTHX_ struct nytp_recorder *rec, const char *perl_name);

/* Call it once, before all others: notes when the program began, and the script, which is being
 * compiled. */
void nytp_files_begin(pTHX_ struct nytp_recorder *rec);

/* Returns the file of a statement, in the text it was compiled from. */
struct nytp_rec_file *nytp_file_of(pTHX_ struct nytp_recorder *rec, const COP *cop);

/* perl is about to compile the text of PL_parser under this name. Returns true, and notes the
 * file, if perl reads the file of that name; if the text is new, the name gets a new struct.
 * Returns false for other texts, as from a hook in @INC. */
bool nytp_file_note_loaded(pTHX_ struct nytp_recorder *rec, const char *perl_name);

/* Keeps the lines of a text that `#line` gives to files not recorded yet. */
void nytp_file_take_pieces(pTHX_ struct nytp_recorder *rec, const char *text, size_t len);

/* Returns the file's id in the open profile. Records the file first if the profile does not
 * know it, with an eval's parents, and with the source if wanted. `via` is NYTP_FID_VIA_STMT or
 * NYTP_FID_VIA_SUB. Reading the source is cut out of the time axis. */
uint32_t nytp_file_fid(pTHX_ struct nytp_recorder *rec, struct nytp_rec_file *file,
                       uint32_t via);

/* Returns the id that the profile knows the file by, or 0. */
uint32_t nytp_file_known_fid(const struct nytp_recorder *rec, struct nytp_rec_file *file);

/* Returns the file with this id, made again if it was freed, or NULL if there is none. */
struct nytp_rec_file *nytp_file_numbered(pTHX_ struct nytp_recorder *rec, uint32_t fid);

/* For a thread: returns the file of that name, copied with its parents from the creator's
 * recorder, without an id. */
struct nytp_rec_file *nytp_file_inherit(struct nytp_recorder *rec,
                                        const struct nytp_rec_file *from);

/* Frees files that are not `in_use`; their ids are not reused. */
void nytp_files_release(struct nytp_recorder *rec);

#endif
