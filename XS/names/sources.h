/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Source text: where it comes from, and how it gets into the stream (SRC_LINE records, with
 * savesrc=1). files.c uses it when it introduces a file, compile.c for what perl has kept.
 *
 * A file that perl has read is read from disk, too; a string eval's text was copied when it was
 * compiled (evals.h); -e is kept by perl; and what can be had only once, standard input and
 * what a hook in @INC hands out, perl is asked to keep line by line. What a program names by
 * #line is never read from disk: its source is the text that the directive stands in. It keeps
 * no state of its own.
 */
#ifndef NYTP_SOURCES_H
#define NYTP_SOURCES_H

#include "XS/state/state.h"

bool nytp_is_program_text(const char *name); /* no file: -e, standard input */

/* Whether the file's source belongs in the stream: by the options, and not for what we
 * invented. */
bool nytp_source_is_wanted(const struct nytp_recorder *rec, const struct nytp_rec_file *file);

/* Whether the profile that is being written has a NEW_FID record of the file. */
static inline bool nytp_file_is_written(const struct nytp_recorder *rec,
                                        const struct nytp_rec_file *file)
{
    return file->fid != 0 && file->generation[rec->kind] == rec->profile.generation;
}

/* The content of a whole file, `len` bytes of it; free() it. NULL when it cannot be read or
 * memory is out. */
char *nytp_source_read(const char *path, size_t *len);
/* How much of a file perl compiles: up to __END__ or its like. */
size_t nytp_source_code_length(const char *text, size_t len);
/* Write a SRC_LINE record for each line of the text. */
void nytp_source_write_lines(struct nytp_recorder *rec, uint32_t fid, uint32_t first_line,
                             const char *text, size_t len);

/* Lines that are compiled under another name, from a line `# line 7 "NAME"` of their text on.
 */
struct nytp_piece {
    struct nytp_piece *next;
    uint32_t line; /* number of the first */
    size_t len;
    char text[];
};

/* The lines of a text that have another name, one piece after the other: begin with `text` and
 * `end` set, and the rest 0. */
struct nytp_named_lines {
    const char *text, *end; /* from `text` on are `len` bytes */
    size_t len;
    const char *name;
    size_t name_len;
    uint32_t first; /* the number of the first */
};
bool nytp_next_named_lines(struct nytp_named_lines *lines);

void nytp_source_write_pieces(struct nytp_recorder *rec, const struct nytp_rec_file *file);
size_t nytp_source_free_pieces(struct nytp_rec_file *file); /* returns their bytes */

/* The text of a string eval or of -e; NULL: not known. Borrowed. */
const struct nytp_shared_text *nytp_source_text(const struct nytp_recorder *rec,
                                                const struct nytp_rec_file *file);
void nytp_source_write_text(struct nytp_recorder *rec, const struct nytp_rec_file *file,
                            const struct nytp_shared_text *text);

/* The lines of a source that cannot be read again, as perl has kept them; NULL: it has not. */
AV *nytp_source_kept_lines(pTHX_ const struct nytp_rec_file *file);
void nytp_source_write_kept(pTHX_ struct nytp_recorder *rec, const struct nytp_rec_file *file);

#endif
