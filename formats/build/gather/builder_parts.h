/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The functions by which the files that fill a builder (build.h) call each other, file by file.
 *
 * All that return bool return false with the builder's error set: memory or a limit is out.
 */
#ifndef NYTP_BUILDER_PARTS_H
#define NYTP_BUILDER_PARTS_H

#include "builder_state.h"

#include "formats/stream/comments/bytes_records.h"
#include "formats/stream/comments/hang_records.h"
#include "formats/stream/comments/label_records.h"

/* ---- builder_places.c: the files and the processes of an input ----
 *
 * A file is an index into builder->files, by which arcs, the tree and spans name it; a
 * fid of the stream means the file that it named last. Index 0 is no file, as fid 0 is.
 *
 * Processes follow one another in builder->processes, in the order in which they began; what is
 * booked belongs to the last of them. It is open from its beginning until the next one begins,
 * its end is recorded, or the input ends; then its calls that are still open are closed. */

/* NEW_FID: a file gets its name. A fid that is named anew, differently, is another file from
 * here on. */
bool nytp_builder_new_fid(struct nytp_builder *builder, const struct nytp_event *e);

/* The same as nytp_builder_file(), for any fid, more slowly. */
bool nytp_builder_find_file(struct nytp_builder *builder, uint32_t fid, uint32_t *index);

/* Finds the file of a fid. One that was never defined gets an entry without name. */
static inline bool nytp_builder_file(struct nytp_builder *b, uint32_t fid, uint32_t *index)
{
    if (fid < NYTP_SMALL_FIDS && b->files.by_small_fid[fid] != 0) {
        *index = b->files.by_small_fid[fid];
        return true;
    }
    return nytp_builder_find_file(b, fid, index);
}

/* PID_START: ends the open process, if there is one, and begins another. `start_s` is in
 * seconds since 1970; all are 0 if nothing is known. */
bool nytp_builder_begin_process(struct nytp_builder *builder, uint32_t pid, uint32_t ppid,
                                double start_s);

/* PID_END: completes the latest process of that number that is not complete, if any. */
bool nytp_builder_end_pid(struct nytp_builder *builder, uint32_t pid, double end_s);

/* Closes the calls above this index of the stack's frames: they have ended somehow. */
bool nytp_builder_leave(struct nytp_builder *builder, uint32_t index);

/* Ends the open process, if there is one, and closes its open calls. */
bool nytp_builder_end_process(struct nytp_builder *builder);

/* Events that come before any PID_START belong to a process of which nothing is known. */
static inline bool nytp_builder_need_process(struct nytp_builder *b)
{
    return b->in_process || nytp_builder_begin_process(b, 0, 0, 0);
}

/* Returns the process that began last; there must be one. */
static inline struct nytp_built_process *nytp_builder_process(const struct nytp_builder *b)
{
    return &b->processes.at[b->processes.n - 1];
}

/* ---- builder_statements.c ----
 *
 * If the input has entries of calls, a statement is booked in its context; else on its line
 * alone, at the root of the tree. Sums of recent lines are kept beside it until
 * nytp_builder_settle_lines(). */

/* Book statements that follow one another, with no other event between them; or one, which may
 * have taken less than no time. */
bool nytp_builder_book_statements(struct nytp_builder *builder, const struct nytp_run *run);
bool nytp_builder_book_statement(struct nytp_builder *builder, struct nytp_statement statement);

/* The first entry event of a process: statements before it ran outside any call. */
bool nytp_builder_begin_entries(struct nytp_builder *builder,
                                struct nytp_built_process *process);

/* Adds the sums of recent lines to those of the root. */
bool nytp_builder_settle_lines(struct nytp_builder *builder);

/* ---- builder_facts.c: settings, comments, places of subs, source text ---- */

/* ATTRIBUTE, OPTION: kept as strings, of each key the last value, the first 1000 keys of each
 * kind. Some also say how the following is to be read. */
bool nytp_builder_attribute(struct nytp_builder *builder, const struct nytp_event *e);
bool nytp_builder_option(struct nytp_builder *builder, const struct nytp_event *e);

/* COMMENT: about the open process, ignored if none is open. */
bool nytp_builder_comment(struct nytp_builder *builder, const struct nytp_event *e);

/* SUB_INFO: a range of lines of a sub; a sub may have several. */
bool nytp_builder_sub_info(struct nytp_builder *builder, const struct nytp_event *e);

/* SRC_LINE: the text of a line, copied if the options ask for sources. There may be as many as
 * statements, so they come here directly. */
bool nytp_builder_source_line(struct nytp_builder *builder, const struct nytp_event *e);

/* ---- hang.c ---- */

/* Books the time in which a sampled process hung at its end. The calls that the comment has are
 * then the open ones, marked as calls in which the program hangs. */
bool nytp_builder_hang(struct nytp_builder *builder, const struct nytp_hang *hang);

/* ---- in_use_before.c ----
 *
 * Memory that a process or its parent allocated before the recording began and still has in
 * use. The recorder of an earlier file reports it (formats/stream/comments/bytes_records.h).
 * It has calls of its own, which lie in none of the open ones. They are a separate tree until
 * the process ends, because open calls may until then turn out to be deeper than they seem
 * (callstack.h). */

/* Takes a call, whose calling place is in this file. Ignores one whose number does not follow
 * the one before. */
bool nytp_in_use_before_call(struct nytp_builder *builder, const struct nytp_in_use_call *call,
                             uint32_t file);

/* Takes a sample that is in the tree and belongs to none of its nodes. */
bool nytp_in_use_before_block(struct nytp_builder *builder,
                              const struct nytp_bytes_record *record, uint32_t file,
                              uint32_t sample);

/* The process in progress ends: merges their tree into its tree. */
bool nytp_in_use_before_end(struct nytp_builder *builder);

/* ---- memory_points.c: the curve of a process's memory, and its peak ---- */

/* Adds a point: so many bytes are in core now. */
bool nytp_memory_points_note(struct nytp_builder *builder, int64_t resident);

/* A sample was added that is in use now: notes if there is more than ever in this process. */
void nytp_memory_peak_note(struct nytp_builder *builder);

/* The process in progress ends: notes its peak in it, and in the samples in use then. */
void nytp_memory_peak_end(struct nytp_builder *builder);

/* When the tree is complete: moves points that lie behind the end of their process there. */
void nytp_memory_points_limit(struct nytp_profile *p);

/* ---- labels.c ----
 *
 * DB::label(): each stretch of the time line under a label has two marks, where it begins and
 * where it ends, which lay_out.c places among the calls. None are kept without the build option
 * max_spans. DB::label_profile(): labels of whole processes. */

/* The first so many stretches of an input are kept, of at most NYTP_MOST_IN_FORCE labels at a
 * time. */
#define NYTP_MOST_STRETCHES 100000u

/* Takes a comment: a label changes, or (NYTP_LABEL_OWN, just before that) how deep the open
 * calls are. */
bool nytp_label_marks_note(struct nytp_builder *builder,
                           const struct nytp_label_record *record);

/* The process ends at `at_ticks`, and all its labels with it. */
bool nytp_label_marks_end_process(struct nytp_builder *builder, int64_t at_ticks);

/* When all marks have their places: leaves out stretches of no length, since nothing happened
 * under such a label. */
void nytp_label_stretches_end(struct nytp_profile *p);

/* A sample was booked that ends at `clock`: labels that changed since the one before changed no
 * later than that. */
static inline void nytp_label_marks_sampled(struct nytp_builder *builder, int64_t clock)
{
    struct nytp_built_labels *const labels = &builder->labels;
    for (; labels->n_timed < labels->marks.n; labels->n_timed++)
        if (labels->marks.at[labels->n_timed].at_ticks > clock)
            labels->marks.at[labels->n_timed].at_ticks = clock;
}

/* Adds a label of the current process; of each key the last value counts. Leaves out a label
 * that would make the process's text longer than NYTP_LABELS_LONGEST. */
bool nytp_profile_labels_add(struct nytp_builder *builder,
                             const struct nytp_label_record *record);

/* The process in progress ends, which gets its `labels`. */
bool nytp_profile_labels_end_process(struct nytp_builder *builder);

/* ---- span_keep.c ---- */

/* Adds a call of the latest process that has ended to the time line. May leave out it or
 * shorter ones to keep to the number that the options allow. */
bool nytp_built_span_keep(struct nytp_builder *builder, const struct nytp_built_span *span);

/* Leaves as many spans as the options allow. */
bool nytp_built_spans_limit(struct nytp_builder *builder);

#endif
