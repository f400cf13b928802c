/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The files of several profiles that become one stream: unified by name and numbered anew, each
 * defined in the output before anything names it. String evals stay apart, as the same name
 * means another eval in another process.
 *
 * An eval may come before the file that ran it, as in what a forked child repeats. It waits for
 * that file, and is written without it when something names the eval first.
 */
#ifndef NYTP_MERGED_FILES_H
#define NYTP_MERGED_FILES_H

#include "formats/base/error.h"
#include "formats/base/strings.h"
#include "formats/base/table.h"
#include "writer.h"

struct nytp_merged_files {
    struct nytp_writer *writer; /* borrowed, as are the next two */
    struct nytp_strings *strings;
    struct nytp_error *error;

    struct nytp_table
        fid_of_name; /* (string id, which of that name) -> id in the output; no evals */
    uint32_t
        *source_from; /* by id in the output: from which input its source is, 0 = none yet */
    uint32_t n_out, out_capacity; /* id 0 is no file */
    uint32_t *in_fid;             /* by id in the output: which of the input it is, 0 = none */
    uint32_t in_fid_capacity;

    struct nytp_in_file *in; /* by id in the current input */
    uint32_t n_in;
    struct nytp_waiting_eval *waiting;
    uint32_t n_waiting, waiting_capacity;
};

/* Names are interned in `strings`, records go to `writer`, failures to `error`. False when out
 * of memory; nytp_merged_files_free() in either case. */
bool nytp_merged_files_init(struct nytp_merged_files *files, struct nytp_writer *writer,
                            struct nytp_strings *strings, struct nytp_error *error);
void nytp_merged_files_free(struct nytp_merged_files *files);

/* File ids mean other files from here on. */
void nytp_merged_files_next_input(struct nytp_merged_files *files);

/* A file of the current input, as its record defines it. False with the error set. */
bool nytp_merged_file_add(struct nytp_merged_files *files, const struct nytp_new_fid *file);

/* The id in the output; 0 when the current input has not defined the file. False with the error
 * set. */
bool nytp_merged_fid(struct nytp_merged_files *files, uint32_t fid, uint32_t *out);

/* Whether the source of a file (an id in the output) is to be that of this input, counted from
 * 1: the first that asks. */
bool nytp_merged_file_has_source(struct nytp_merged_files *files, uint32_t fid, uint32_t input);

#endif
