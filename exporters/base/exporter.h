/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The output plug. An exporter is one file in exporters/ that ends in one
 * `const struct nytp_exporter nytp_exporter_NAME`; the build finds it, nobody lists it. NAME
 * (with - for _) is the command line flag, the test's name and the man page's section.
 *
 * An exporter knows the model and `out`, nothing else.
 */
#ifndef NYTP_EXPORTER_H
#define NYTP_EXPORTER_H

#include "formats/model/measures.h"
#include "formats/base/units.h"
#include "out.h"
#include "output_set.h"
#include "patterns.h"

#include <stddef.h>

/* Texts of an option that may be given several times. They belong to the command line. */
struct nytp_texts {
    const char **at;
    uint32_t n;
};

/* The form of a list (--as). */
enum nytp_form {
    NYTP_FORM_TEXT,
    NYTP_FORM_CSV,
    NYTP_FORM_JSON,
    NYTP_FORM_MARKDOWN,
    NYTP_FORM_HTML,
    NYTP_N_FORMS
};

struct nytp_diff;
struct nytp_label_row;

/* label_parts has at most so many labels, those that took longest, so many texts of SQL within
 * them, and inputs of at most so many bytes: each part is another two readings of the inputs.
 */
#define NYTP_LABEL_PARTS       12
#define NYTP_STATEMENT_PARTS   6
#define NYTP_LABEL_PARTS_BYTES (4 << 20)

/* Only the report (--html) reads these. */
struct nytp_report_options {
    const struct nytp_name *source_paths; /* where sources were unpacked, by file; or NULL */
    struct nytp_texts libs;               /* folders that file names are shown without */
    bool minimal, no_flame;               /* no pages by block and by sub; no flame graph */
    bool replace;                         /* remove what an earlier report left in the folder */
    const struct nytp_diff *diff;         /* the difference from a base, or NULL */
    uint32_t name_trim;      /* longer names of files are cut in names of pages; 0 = 50 */
    const char *time_format; /* of seconds, for printf; NULL = three digits and a unit */
    bool no_merge_evals;     /* a page for each string eval */
    bool partial;            /* something of the input is missing */
    const struct nytp_label_row *label_rows; /* n_label_rows times of labels, or NULL */
    uint32_t n_label_rows;
    struct nytp_profile *const *label_parts; /* by row, of that label, or NULL; or NULL */
};

#define NYTP_DEFAULT_ROWS 20

/* The user's options; zeroed = defaults. One struct serves all exporters, so that an option
 * means the same everywhere. */
struct nytp_export_options {
    const struct nytp_unit *unit; /* NULL = the format's own */
    enum nytp_weight weight;
    bool weight_given;        /* the user chose it */
    struct nytp_texts labels; /* pprof, rows: "KEY=VALUE" of everything in the output */
    const char *auto_labels;  /* pprof: of "pid,script", or "none"; NULL = both */
    bool merge_runs;          /* several inputs are one run, not as many runs */
    bool normalize;           /* --diff as stacks: the base's sum is made the new side's */
    uint32_t max_depth;       /* frames per stack; 0 = the format's default bound */
    bool collapse_recursion;  /* a run of the same sub calling itself is one frame */
    bool plain_names;         /* callgrind: no name compression */
    bool aggregate;           /* speedscope: no timeline */
    bool spread;              /* top, json: how the calls of a sub differ; build a timeline */
    bool lines; /* collapsed, flamegraph: frames carry call lines; top: lines, not subs */
    struct nytp_name request_key; /* sql: each statement of each request, that this label tells,
                                   * "" = the usual; ptr NULL = statements are summed up */
    uint32_t top;                 /* top: how many rows; 0 = NYTP_DEFAULT_ROWS */
    enum nytp_form as;            /* lists: their form */
    const char *sort;             /* top, tree: order, NULL = default */
    double min_percent;           /* tree, list: no rows below it; negative = default */
    uint32_t columns;             /* width of the terminal that is written to, 0 = none */
    bool color;                   /* that terminal takes colours */
    int64_t child_wait_ticks; /* of processes for others of the profile; not in it any more if
                               * the exporter says adds_processes */
    const char *title;        /* html, flamegraph: what was profiled, or NULL */
    bool source_files, no_source_files; /* files of this machine are read for source that
                                           was not kept; neither: as far as it is proved */
    uint32_t flame_width; /* html: of the still picture; flamegraph; in pixels; 0 = default */
    const char *selected; /* the selection options as given, or NULL */
    int64_t unselected_ticks;          /* if so: the total that this is a selection of */
    const struct nytp_patterns *waits; /* subs that wait besides those of waits.def, or NULL */
    struct nytp_patterns names;        /* list, peek: which subs; list: none = the hottest */
    struct nytp_report_options report;
};

/* Returns how many rows a list has. */
static inline uint32_t nytp_wanted_rows(const struct nytp_export_options *options)
{
    return options->top > 0 ? options->top : NYTP_DEFAULT_ROWS;
}

/* How the value of an option is read, and so what the member at `target` is. */
enum nytp_option_kind {
    NYTP_OPTION_FLAG,
    NYTP_OPTION_TEXT,
    NYTP_OPTION_COUNT,
    NYTP_OPTION_PERCENT,
    NYTP_OPTION_WORD, /* one of the words of `value`; so are the next four */
    NYTP_OPTION_SORT,
    NYTP_OPTION_UNIT,
    NYTP_OPTION_WEIGHT,
    NYTP_OPTION_FORM,
    NYTP_OPTION_PATTERN,
    NYTP_OPTION_LIST, /* a text each time it is given */
    NYTP_OPTION_FORMAT,
    NYTP_OPTION_ROWS,       /* chooses the format of the same name; the value is optional */
    NYTP_OPTION_SUBS,       /* as NYTP_OPTION_ROWS; the value is a regular expression */
    NYTP_OPTION_BY,         /* a mode with the key of labels */
    NYTP_OPTION_WHERE,      /* KEY=~REGEX of labels, each time it is given */
    NYTP_OPTION_SUBSTITUTE, /* s/REGEX/TEXT/ */
    NYTP_OPTION_MODE,
};

struct nytp_option {
    const char *name; /* NULL: `help` is a section's title */
    char letter;      /* the short form, 0: none */
    enum nytp_option_kind kind;
    size_t target;     /* offset in struct nytp_cli (of an exporter's own: in struct
                          nytp_export_options); the mode itself for NYTP_OPTION_MODE */
    const char *value; /* what --help calls the value, "[=N]" where it is optional */
    unsigned where;    /* see cli/options.def, also for the next; 0 and "": an exporter says */
    const char *beside;
    const char *help;
    bool is_own; /* of one exporter */
};

/* Options that one exporter has; `target` is a member of struct nytp_export_options. */
#define NYTP_OPTIONS(...)                                                                      \
    (const struct nytp_option[])                                                               \
    {                                                                                          \
        __VA_ARGS__,                                                                           \
        {                                                                                      \
            0                                                                                  \
        }                                                                                      \
    }
#define NYTP_OWN_OPTION(name, kind, target, value, help)                                       \
    {                                                                                          \
        name, 0, NYTP_OPTION_##kind, offsetof(struct nytp_export_options, target), value, 0,   \
            "", help, true                                                                     \
    }

/* A viewer for what any browser shows: the desktop's own way to one, then browsers by name.
 * macOS has open. */
#define NYTP_BROWSERS "xdg-open|sensible-browser|open|firefox|chromium|google-chrome"

struct nytp_exporter {
    const char *name;  /* "callgrind"; '-' for '_' */
    const char *title; /* one line for --list-formats: what opens it */
    const char
        *suffixes;  /* blank-separated, each with its dot or "prefix*": ".folded .collapsed" */
    unsigned needs; /* enum nytp_has: what it is poorer without */
    bool shows_counts;     /* has something to show of a recording without times (counts=1) */
    bool binary;           /* refuse a terminal */
    bool wants_spans;      /* build a timeline */
    bool wants_statements; /* of a timeline only what has to do with databases
                              (stacks/queries.h) */
    bool wants_sources;    /* keep source lines */
    bool wants_blocks;     /* keep which block and sub each line was in */
    bool wants_names;      /* shows nothing unless the user says of which subs */
    bool prunes_itself;    /* min_percent is for the exporter: the profile stays whole */
    bool adds_processes; /* shows sums over processes: their waits for each other count once */
    const char *viewer; /* for --open: commands, with | between them, of which the first that is
                         * installed gets the file appended; or NULL */
    bool viewer_leaves; /* it hands the file on to a program that reads it later, as xdg-open
                           does */
    /* Write the whole profile. False with out's sticky error set when writing failed; every
     * byte goes through `out`. Names must be escaped so that the format's viewers load them. */
    bool (*write)(const struct nytp_profile *profile, const struct nytp_export_options *options,
                  struct nytp_out *out);
    /* Instead of `write`, for formats of several files. Error of writing: see the set. Returns
     * false if memory is out. */
    bool (*write_set)(const struct nytp_profile *profile,
                      const struct nytp_export_options *options, struct nytp_output_set *set);
    /* Write what two sides differ in (--diff; compare/diff.h), or NULL: then no_diff says why
     * not, and may say what to do instead. */
    bool (*write_diff)(const struct nytp_diff *diff, const struct nytp_export_options *options,
                       struct nytp_out *out);
    const char *no_diff;
    const struct nytp_option *options; /* its own; the last has no name */
    const char *takes;      /* options of cli/options.def that write() heeds, with blanks */
    const char *takes_diff; /* and those of write_diff() */
    const char *refuses;    /* and those that all others heed */
    bool shows_limits;      /* Markdown, before which a table of limits may stand */
    bool shows_stacks;      /* write_diff() does, so that the base must be recordings */
    bool sums_runs;         /* the exporter adds up the stacks of all runs of a side */
    bool merges_evals;      /* string evals are merged unless the user says otherwise */
    bool stable_names; /* wants names that do not change when code moves, and evals merged */
};

extern const struct nytp_exporter
    *const nytp_exporters[]; /* NULL-terminated, generated, by name */

#endif
