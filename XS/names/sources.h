/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Source text and its SRC_LINE records (savesrc=1). files.c uses it when it records a file,
 * compile.c for lines that perl has kept.
 *
 * A file that perl has read is read from disk again. A string eval's text was copied at
 * compilation (evals.h). perl keeps -e. For texts that can be read only once (standard input,
 * code from a hook in @INC) perl is asked to keep the lines. A name given by #line is never
 * read from disk: its source is the text with the directive. No state of its own.
 */
#ifndef NYTP_SOURCES_H
#define NYTP_SOURCES_H

#include "tables.h"
#include "XS/state/state.h"

bool nytp_is_program_text(const char *name); /* -e or standard input, not a file */

/* Returns whether options want the file's source in the stream; false for invented files. */
bool nytp_source_is_wanted(const struct nytp_recorder *rec, const struct nytp_rec_file *file);

/* Returns whether the current profile has the file's NEW_FID record. */
static inline bool nytp_file_is_written(const struct nytp_recorder *rec,
                                        const struct nytp_rec_file *file)
{
    return file->fid != 0 && file->generation[rec->kind] == rec->run.generation;
}

/* Returns the content of a whole file, `len` bytes for free(), or NULL if it cannot be read or
 * memory is out. */
char *nytp_source_read(const char *path, size_t *len);
/* Returns the length that perl compiles: up to __END__ or __DATA__. */
size_t nytp_source_code_length(const char *text, size_t len);
/* Writes a SRC_LINE record for each line. */
void nytp_source_write_lines(struct nytp_recorder *rec, uint32_t fid, uint32_t first_line,
                             const char *text, size_t len);

/* Lines compiled under another name, given by a line `# line 7 "NAME"` in their text. */
struct nytp_piece {
    struct nytp_piece *next;
    uint32_t line; /* of the first line */
    size_t len;
    char text[];
};

/* Iterates over the lines of a text that have another name. Start with `text` and `end` set,
 * the rest 0. */
struct nytp_named_lines {
    const char *text, *end; /* the found lines: `len` bytes from `text` */
    size_t len;
    const char *name;
    size_t name_len;
    uint32_t first; /* number of the first line */
};
bool nytp_next_named_lines(struct nytp_named_lines *lines);

void nytp_source_write_pieces(struct nytp_recorder *rec, const struct nytp_rec_file *file);
size_t nytp_source_free_pieces(struct nytp_rec_file *file); /* returns their size in bytes */

/* Returns the text of a string eval or of -e, borrowed, or NULL if unknown. */
const struct nytp_shared_text *nytp_source_text(const struct nytp_recorder *rec,
                                                const struct nytp_rec_file *file);
void nytp_source_write_text(struct nytp_recorder *rec, const struct nytp_rec_file *file,
                            const struct nytp_shared_text *text);

/* Returns the kept lines of a source that cannot be read again, or NULL. */
AV *nytp_source_kept_lines(pTHX_ const struct nytp_rec_file *file);
void nytp_source_write_kept(pTHX_ struct nytp_recorder *rec, const struct nytp_rec_file *file);

#endif
