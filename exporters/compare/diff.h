/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A comparison of two sides: counts and times of each sub, in the base and now. A side is one
 * or several runs of a program. Several runs are compared by their medians. Times get a
 * verdict if there are enough runs.
 *
 * Both sides are in one merged profile, so everything that works on a profile (stacks, names,
 * units) works on a comparison. The recording of a process determines its side. A process and
 * its children are one run. The base may instead be a table of counts (counts.h), without
 * stacks and times.
 *
 * Subs are matched by name; if one side has several subs of a name, by name and base name of
 * the file. Names of anonymous subs should be made stable before (select/rename.h).
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
    NYTP_DIFF_GONE,     /* only in the base; the new side has no such sub, or it is unknown */
    NYTP_DIFF_UNCALLED, /* ran only in the base; the new side has it and did not call it */
    NYTP_DIFF_RENAMED,  /* has another name now, on the same line, with equal counts */
    NYTP_DIFF_STATUSES
};

extern const char *const nytp_diff_status_names[NYTP_DIFF_STATUSES];

/* The values of one run, or the medians of several. */
struct nytp_diff_cell {
    int64_t statements, calls;
    int64_t ticks;          /* exclusive */
    int64_t incl_ticks;     /* outermost calls */
    struct nytp_svs memory; /* all 0 if not recorded */
};

struct nytp_diff_row {
    struct nytp_name name, file; /* file: from the new side, else the base; may be "" */
    struct nytp_name was;        /* RENAMED: its name in the base */
    struct nytp_name shown_file; /* file, but that of the base if GONE */
    uint32_t line;               /* first line, 0 = unknown */
    enum nytp_diff_status status;
    bool varies; /* runs of one side differ in a count */
    struct nytp_diff_cell median[NYTP_DIFF_SIDES];
    int64_t noise_ticks;         /* the larger median absolute deviation of both sides */
    double p;                    /* for `ticks`, corrected for the rows; negative: not tested */
    bool significant;            /* p < 0.05, and the difference exceeds the noise */
    struct nytp_diff_cell *runs; /* base, then new: n_runs[0] + n_runs[1] */
};

#define NYTP_DIFF_MAX_NOTES 24

struct nytp_diff {
    const struct nytp_profile *profile; /* borrowed; the new side's recordings come first */
    const uint8_t *side_of_recording;   /* enum nytp_diff_side; borrowed */
    const struct nytp_counts *counts;   /* from struct nytp_diff_sides, like the next */
    const struct nytp_defined *defined;
    uint32_t n_runs[NYTP_DIFF_SIDES];
    bool sampled[NYTP_DIFF_SIDES]; /* some counts are samples */
    bool base_has_times;           /* false: a side has counts only */
    bool has_times;                /* false: the new side has counts only */
    uint32_t has[NYTP_DIFF_SIDES]; /* enum nytp_has of all its recordings in common */
    bool tested;                   /* enough runs for verdicts on times */
    int64_t ticks_per_sec;
    struct nytp_diff_row total; /* its p is not corrected: it is one question */
    double factor[2];           /* 95 % interval of new total / base total; 0 = unknown */
    struct nytp_diff_row *rows; /* sorted by name, then file */
    uint32_t n_rows;
    uint32_t n_tested; /* rows tested, for which p is corrected */
    uint32_t n_of_status[NYTP_DIFF_STATUSES];
    char notes[NYTP_DIFF_MAX_NOTES][160]; /* reasons against comparing the sides */
    uint32_t n_notes;
    struct nytp_diff_cell *cells; /* this and the next are private */
    uint32_t *run_of_recording;   /* index into a row's runs */
};

/* The sides of a comparison. */
struct nytp_diff_sides {
    const uint8_t *side_of_recording;   /* one for each recording of the profile */
    bool merge_runs;                    /* all recordings of a side are one run: their sum */
    const struct nytp_counts *counts;   /* the base, if it is no recording; or NULL */
    const struct nytp_defined *defined; /* subs of the new side, called or not; or NULL */
};

/* Compares. Returns NULL with *error set if memory is out. The profile and everything in
 * `sides` must outlive the result. */
struct nytp_diff *nytp_diff_new(const struct nytp_profile *profile,
                                const struct nytp_diff_sides *sides, struct nytp_error *error);
void nytp_diff_free(struct nytp_diff *diff);

/* Returns true if the row's status is not equal, or its times or memory differ. */
bool nytp_diff_row_differs(const struct nytp_diff *diff, const struct nytp_diff_row *row);

/* Returns the index of the only row of a name, or if there are several, or not `only_one`, of
 * the row with this base name of its file; NYTP_DIFF_NO_ROW if there is none. The first
 * `n_rows` rows are sorted by name. */
#define NYTP_DIFF_NO_ROW UINT32_MAX
uint32_t nytp_diff_row_of(const struct nytp_diff *diff, uint32_t n_rows, struct nytp_name name,
                          struct nytp_name base_name, bool only_one);

/* Returns true if the row has enough of the time, exclusive or (NYTP_WEIGHT_INCL) inclusive,
 * for a test. Each test makes all others weaker. */
bool nytp_diff_is_worth_a_test(const struct nytp_diff *diff, const struct nytp_diff_row *row,
                               enum nytp_weight time);

/* Adds a reason against comparing the sides, unless it is there already. */
void nytp_diff_note(struct nytp_diff *diff, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
