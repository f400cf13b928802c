/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The files of a merged stream. They are unified by name and renumbered, and each is defined
 * before it is used. String evals stay separate: the same name means another eval in another
 * process.
 *
 * An eval may come before the file that ran it, as in the repetitions of a forked child. It
 * waits for that file. If something uses the eval first, it is written without the file.
 */
#ifndef NYTP_MERGED_FILES_H
#define NYTP_MERGED_FILES_H

#include "formats/base/error.h"
#include "formats/base/strings.h"
#include "formats/base/table.h"
#include "writer.h"

struct nytp_merged_files {
    struct nytp_writer *writer; /* borrowed, like the next two */
    struct nytp_strings *strings;
    struct nytp_error *error;

    struct nytp_table fid_of_name; /* (string id, which of that name) -> output id; no evals */
    struct nytp_out_file {
        uint32_t source_from; /* the input that provides its source, 0 = none */
        uint32_t in_fid;      /* its id in the current input, 0 = none */
    } * out;                  /* by output id; 0 is no file */
    uint32_t n_out, out_capacity;

    struct nytp_in_file *in; /* by id in the current input, up to n_in */
    uint32_t n_in;
    struct nytp_waiting_eval *waiting;
    uint32_t n_waiting, waiting_capacity;
};

/* Names are interned in `strings`, records go to `writer`, failures to `error`. Returns false
 * if memory is out. Call nytp_merged_files_free() in either case. */
bool nytp_merged_files_init(struct nytp_merged_files *files, struct nytp_writer *writer,
                            struct nytp_strings *strings, struct nytp_error *error);
void nytp_merged_files_free(struct nytp_merged_files *files);

/* Begins the next input, whose file ids have other meanings. */
void nytp_merged_files_next_input(struct nytp_merged_files *files);

/* Adds a file of the current input. Returns false with the error set. */
bool nytp_merged_file_add(struct nytp_merged_files *files, const struct nytp_new_fid *file);

/* Finds the output's id, 0 if not defined by the input. Returns false with the error set. */
bool nytp_merged_fid(struct nytp_merged_files *files, uint32_t fid, uint32_t *out);

/* Returns true if this input (from 1) is the first to provide the source of an output file. */
bool nytp_merged_file_has_source(struct nytp_merged_files *files, uint32_t fid, uint32_t input);

#endif
