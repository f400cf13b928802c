/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Two sides compared: what each sub counted and took in the base and now. A side is one or
 * several runs of a program; values of several runs are compared by their medians, and times
 * get a verdict where there are enough runs for one.
 *
 * Both sides are one merged profile, so that everything that takes a profile apart (stacks,
 * names, units) works on a difference, too; which side a process belongs to is known by its
 * recording; a process and its children are one run. The base may instead be a table of counts
 * (counts.h), which has no stacks and no times.
 *
 * What is matched: subs by name. Where one side has several subs of a name, by name and the
 * file's name without folders. Names of anonymous subs should be made stable beforehand
 * (select/rename.h).
 */
#ifndef NYTP_DIFF_H
#define NYTP_DIFF_H

#include "exporters/base/exporter.h"
#include "exporters/base/sides.h"
#include "formats/model/model.h"

struct nytp_counts;
struct nytp_defined;

enum nytp_diff_status {
    NYTP_DIFF_EQUAL = 0, /* in every count; times may differ */
    NYTP_DIFF_CHANGED,
    NYTP_DIFF_ADDED,    /* only in the new side */
    NYTP_DIFF_GONE,     /* only in the base; the new side has no such sub, or it is not known */
    NYTP_DIFF_UNCALLED, /* ran only in the base; the new side has it and did not call it */
    NYTP_DIFF_RENAMED, /* has another name now, on the same line, and is equal in every count */
    NYTP_DIFF_STATUSES
};

extern const char *const nytp_diff_status_names[NYTP_DIFF_STATUSES];

/* One run, or the median of several. */
struct nytp_diff_cell {
    int64_t statements, calls;
    int64_t ticks;          /* the sub's own */
    int64_t incl_ticks;     /* outermost calls */
    struct nytp_svs memory; /* all 0 where it was not recorded */
};

struct nytp_diff_row {
    struct nytp_name name, file; /* file: as the new side has it, else the base; may be "" */
    struct nytp_name was;        /* RENAMED: its name in the base */
    struct nytp_name shown_file; /* file, but of what is GONE as the base has it */
    uint32_t line;               /* its first one, 0 = unknown */
    enum nytp_diff_status status;
    bool varies; /* runs of one side disagree in a count */
    struct nytp_diff_cell median[NYTP_DIFF_SIDES];
    int64_t noise_ticks; /* the larger of both sides' median absolute deviations */
    double p;            /* of `ticks`, corrected for the number of rows; below 0: not tested */
    bool significant;    /* p < 0.05 and the difference exceeds the noise */
    struct nytp_diff_cell *runs; /* of base, then new: n_runs[0] + n_runs[1] */
};

#define NYTP_DIFF_MAX_NOTES 24

struct nytp_diff {
    const struct nytp_profile *profile; /* borrowed; the new side's recordings come first */
    const uint8_t *side_of_recording;   /* enum nytp_diff_side; borrowed */
    const struct nytp_counts *counts;   /* of struct nytp_diff_sides, as the next */
    const struct nytp_defined *defined;
    uint32_t n_runs[NYTP_DIFF_SIDES];
    bool sampled[NYTP_DIFF_SIDES]; /* its counts are samples, at least in part */
    bool base_has_times;           /* false: the base is a table of counts */
    uint32_t has[NYTP_DIFF_SIDES]; /* enum nytp_has: what all its recordings have */
    bool tested;                   /* enough runs for verdicts on times */
    int64_t ticks_per_sec;
    struct nytp_diff_row total; /* its p is not corrected: it is one question */
    double factor[2];           /* the total's time is that of the base by a factor between
                                   these, in 95 of 100 cases; 0 = not known */
    struct nytp_diff_row *rows; /* by name, then file */
    uint32_t n_rows;
    uint32_t n_tested; /* rows; what their p is corrected for */
    uint32_t n_of_status[NYTP_DIFF_STATUSES];
    char notes[NYTP_DIFF_MAX_NOTES][160]; /* why the sides are not well comparable */
    uint32_t n_notes;
    struct nytp_diff_cell *cells; /* private, as this: */
    uint32_t *run_of_recording;   /* index into a row's runs */
};

/* How the recordings of a profile are distributed. */
struct nytp_diff_sides {
    const uint8_t *side_of_recording;   /* one for each recording of the profile */
    bool merge_runs;                    /* the recordings of a side are one run: their sums */
    const struct nytp_counts *counts;   /* the base, when it is no recording; or NULL */
    const struct nytp_defined *defined; /* subs of the new side, called or not; or NULL */
};

/* Compare. NULL with *error set (memory). What `sides` points to and the profile must outlive
 * the result. */
struct nytp_diff *nytp_diff_new(const struct nytp_profile *profile,
                                const struct nytp_diff_sides *sides, struct nytp_error *error);
void nytp_diff_free(struct nytp_diff *diff);

/* Whether there is anything to tell of a row: another verdict than equal, or other times
 * or memory. */
bool nytp_diff_row_differs(const struct nytp_diff *diff, const struct nytp_diff_row *row);

/* Whether the row takes enough of the time, its own or (NYTP_WEIGHT_INCL) with what it calls,
 * for a question about it: each that is asked makes all answers weaker. */
bool nytp_diff_is_worth_a_test(const struct nytp_diff *diff, const struct nytp_diff_row *row,
                               enum nytp_weight time);

/* Whether no program of the base is one of the new side. */
bool nytp_diff_other_program(const struct nytp_diff *diff);

/* Remark that the sides are not well comparable; the same text but once. */
void nytp_diff_note(struct nytp_diff *diff, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
