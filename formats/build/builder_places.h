/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Where events happen: the files and the processes of an input. Private to the files that fill
 * a builder (builder.h).
 *
 * A file is an index into builder->files, by which pages, arcs, the tree and spans name it; a
 * fid of the stream means the file that it named last. Index 0 is no file, as fid 0 is.
 *
 * Processes follow one another in builder->processes, in the order in which they began; what is
 * booked belongs to the last of them. It is open from its beginning until the next one begins,
 * its end is told, or the input ends; then its calls that are still open are closed.
 *
 * All that return bool return false with the builder's error set: memory or a limit is out.
 */
#ifndef NYTP_BUILDER_PLACES_H
#define NYTP_BUILDER_PLACES_H

#include "builder_state.h"

/* NEW_FID: a file gets its name. A fid that is named anew, differently, is another file from
 * here on. */
bool nytp_builder_new_fid(struct nytp_builder *builder, const struct nytp_event *e);

/* The same as nytp_builder_file(), for any fid, more slowly. */
bool nytp_builder_find_file(struct nytp_builder *builder, uint32_t fid, uint32_t *index);

/* The file of a fid; one that was never defined gets an entry without name. */
static inline bool nytp_builder_file(struct nytp_builder *b, uint32_t fid, uint32_t *index)
{
    if (fid < NYTP_SMALL_FIDS && b->small_fids[fid] != 0) {
        *index = b->small_fids[fid];
        return true;
    }
    return nytp_builder_find_file(b, fid, index);
}

/* PID_START: end the process that is open, if one is, and begin another. `start_s` is in
 * seconds since 1970; all are 0 where nothing is known. */
bool nytp_builder_begin_process(struct nytp_builder *builder, uint32_t pid, uint32_t ppid,
                                double start_s);

/* PID_END: the latest process of that number that is not complete yet is complete. Nothing
 * happens where there is none. */
bool nytp_builder_end_pid(struct nytp_builder *builder, uint32_t pid, double end_s);

/* Calls that are open above this index of the stack's frames have been left, how is not told.
 */
bool nytp_builder_leave(struct nytp_builder *builder, uint32_t index);

/* End the process that is open, closing its open frames. Nothing happens where none is. */
bool nytp_builder_end_process(struct nytp_builder *builder);

/* Events that come before any PID_START belong to a process of which nothing is known. */
static inline bool nytp_builder_need_process(struct nytp_builder *b)
{
    return b->in_process || nytp_builder_begin_process(b, 0, 0, 0);
}

/* The process that began last; there must be one. */
static inline struct nytp_built_process *nytp_builder_process(const struct nytp_builder *b)
{
    return &b->processes[b->n_processes - 1];
}

#endif
