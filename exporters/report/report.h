/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The HTML report: shared by its pages. README.md describes the pages for the style sheet and
 * the script.
 *
 * The figures are the model's, as in every other format. Files and subs have its numbers. A
 * page is written as it is computed; none is held in memory.
 */
#ifndef NYTP_REPORT_H
#define NYTP_REPORT_H

#include "exporters/base/text.h"
#include "formats/model/model.h"
#include "formats/model/profile.h"
#include "exporters/compare/diff.h"
#include "exporters/base/asset.h"
#include "exporters/base/exporter.h"
#include "exporters/base/html.h"
#include "exporters/base/output_set.h"
#include "exporters/stacks/calls.h"
#include "flame_picture.h"

#define NYTP_REPORT_NONE UINT32_MAX

/* The most string evals with a separate page: those with the most time. Links to the others
 * lead to the line that ran them. */
#define NYTP_REPORT_MAX_EVAL_PAGES 1500

/* The same for files. Only a damaged profile has so many. */
#define NYTP_REPORT_MAX_FILE_PAGES 20000

/* The place to which a statement's time is added: its line, the first line of the innermost
 * block around it, or that of its sub. The last two need the option blocks=1. */
enum nytp_level {
    NYTP_LEVEL_LINE,
    NYTP_LEVEL_BLOCK,
    NYTP_LEVEL_SUB,
    NYTP_LEVELS
};
extern const char *const nytp_report_level_words[NYTP_LEVELS]; /* "line", … */

/* Lists of the report, each by file and line: what its pages show beside a line. */
enum nytp_report_list {
    NYTP_REPORT_TEXTS, /* into the model's sources */
    NYTP_REPORT_ROWS,  /* into lines.rows */
    NYTP_REPORT_CALLS, /* into calls */
    NYTP_REPORT_EVALS, /* into evals_by_place: those that it ran directly */
    NYTP_REPORT_SUBS,  /* into subs_by_file; those without a line come last */
    NYTP_REPORT_LISTS
};

struct nytp_report_file { /* by index of the model's files */
    char *stem;           /* of its pages, "Foo-Bar-pm-23"; NULL: it has no page */
    uint32_t page;        /* the file whose page shows it, or NONE */
    uint32_t page_line;   /* the line there for all its lines; NONE: the same line */
    char *shown;          /* name without library folders */
    uint32_t shown_len;
    uint32_t id;          /* in names and anchors: the recording's file id */
    uint32_t merged_into; /* the eval whose part it is, or NONE */
    uint32_t n_merged;    /* evals that are parts of it */
    bool src_varied;      /* their source may differ from its own */
    bool has_evals;       /* its lines ran string evals */
    uint64_t stmts;       /* of its lines */
    int64_t ticks;
    uint64_t all_stmts; /* with all string evals below it */
    int64_t all_ticks;
    uint32_t n_direct, n_nested; /* string evals in and below it, merged ones included */
    uint32_t n_defined;          /* Perl subs that it and these evals define, … */
    uint64_t defined_calls;      /* … how often they were called … */
    int64_t defined_ticks;       /* … and their exclusive time */
    uint32_t n_lines;            /* last line with any information, plus 1 */
    bool has_line_0;             /* there is information for unknown lines */
    struct nytp_slice of[NYTP_REPORT_LISTS];
    struct nytp_slice blocks;   /* into the model's blocks */
    uint32_t place;             /* in files_by_time, or NONE */
    struct nytp_slice siblings; /* evals: those of its line, into siblings … */
    uint32_t sibling;           /* … and its index there */
};

/* By index of the model's subs. The sums are the model's; merged evals have the sums of the
 * subs that they all define. */
struct nytp_report_sub {
    uint64_t calls;
    int64_t excl_ticks, incl_ticks, reci_ticks;
    int64_t svs, inuse_bytes; /* exclusive */
    uint32_t rec_depth;
    uint32_t merged_into;        /* the sub that shows it, or NONE */
    uint32_t file;               /* index of its file, or NONE */
    uint32_t first_call, places; /* into calls_by_sub: its call sites, … */
    uint32_t files;              /* … in this many files */
    bool gone;                   /* only the base of a comparison has it */
};

/* Calls of one sub from one line, by all callers. */
struct nytp_report_call {
    uint32_t sub, file, line;
    uint32_t rec_depth;
    uint32_t first_caller, n_callers; /* into callers */
    uint64_t calls;
    int64_t excl_ticks, incl_ticks, reci_ticks; /* as in struct nytp_arc */
};

/* The difference of a line from the base, for one sub or all. */
struct nytp_report_change {
    uint32_t file, line;
    int64_t statements[NYTP_DIFF_SIDES], ticks[NYTP_DIFF_SIDES]; /* of the base, and now */
};

struct nytp_report {
    const struct nytp_profile *profile;
    const struct nytp_export_options *options;
    struct nytp_output_set *set;
    struct nytp_out *out; /* the page being written */
    const char *page;     /* its file name */
    bool single;          /* all pages are in one file */
    bool flame;           /* there is a flame graph */
    bool explained;       /* column heads have explanations: only in the first tables */
    bool levels;          /* files also have pages by block and by sub */

    struct nytp_scale ns;  /* of ticks */
    int64_t hottest_ticks; /* time of the hottest line */
    struct nytp_report_file *files;
    struct nytp_report_sub *subs;
    struct nytp_line_rows lines;    /* of all files, by file and line */
    struct nytp_report_call *calls; /* by file, line, inclusive time descending */
    uint32_t *callers;              /* subs */
    uint32_t *calls_by_sub;         /* by sub, inclusive time descending */
    uint32_t *subs_by_time;         /* those with calls or time, exclusive time descending */
    uint32_t n_called;
    uint32_t *files_by_time; /* without evals; by time with evals descending, then name */
    uint32_t n_ranked;
    uint32_t *subs_by_file;   /* by file, first line, name */
    uint32_t *evals_by_place; /* by eval_file, eval_line, time descending; not merged ones */
    uint32_t *siblings;       /* the same evals by eval_file, eval_line, index */
    uint32_t n_calls;         /* length of calls, and of calls_by_sub */
    struct nytp_report_change *changes; /* changes.c: by file, line; NULL without a base */
    uint32_t n_changes;
    int64_t wait_ticks; /* time of waiting */
    bool *waits;        /* by sub: its time is waiting */
    uint64_t *samples;  /* by sub, exclusive; NULL unless only samples were counted */
};

static inline struct nytp_name nytp_report_file_name(const struct nytp_report *report,
                                                     uint32_t file)
{
    return file > 0 ? report->profile->files[file].name : (struct nytp_name){"(no file)", 9};
}

static inline struct nytp_name nytp_report_sub_name(const struct nytp_report *report,
                                                    uint32_t sub)
{
    return report->profile->subs[sub].name;
}

/* Is this file a string eval? */
static inline bool nytp_report_is_eval(const struct nytp_report *report, uint32_t file)
{
    return report->profile->files[file].eval_file != 0;
}

/* Returns the file that shows the lines of this one: itself unless it is merged. */
static inline uint32_t nytp_report_merged(const struct nytp_report *report, uint32_t file)
{
    const uint32_t into = report->files[file].merged_into;
    return into != NYTP_REPORT_NONE ? into : file;
}

/* Returns the sub that shows this one: itself unless it is merged. */
static inline uint32_t nytp_report_merged_sub(const struct nytp_report *report, uint32_t sub)
{
    const uint32_t into = report->subs[sub].merged_into;
    return into != NYTP_REPORT_NONE ? into : sub;
}

/* ---- evals.c, levels.c ---- */

/* Merges string evals (formats/model/sibling_evals.h), then the subs that merged evals all
 * define, by name. Returns false if memory is out. */
bool nytp_report_merge_evals(struct nytp_report *report);
bool nytp_report_merge_subs(struct nytp_report *report);

/* Returns the lines of a file at a level. At line level they are the report's, else new: the
 * caller frees them. `rows` is NULL if memory is out. */
struct nytp_line_rows nytp_report_rows(const struct nytp_report *report, uint32_t file,
                                       enum nytp_level level);

/* ---- sums.c ---- */

/* Sorts indices by these keys: file, line, time descending, name, index. Returns them, new, or
 * NULL if memory is out. Frees the keys, which may be NULL. */
struct nytp_report_key {
    uint32_t file, line;
    int64_t time;
    struct nytp_name name;
    uint32_t index;
};
struct nytp_report_key *nytp_report_keys(uint32_t n);
uint32_t *nytp_report_sorted(struct nytp_report_key *keys, uint32_t n);

/* Returns the line of an element of a list; NONE for a sub without one. */
uint32_t nytp_report_line_of(const struct nytp_report *report, enum nytp_report_list list,
                             uint32_t index);

/* Computes sums and orders. index_files() comes after the pages have names. Both return false
 * if memory is out; call free_sums() in either case. */
bool nytp_report_sum_up(struct nytp_report *report);
bool nytp_report_index_files(struct nytp_report *report);
void nytp_report_free_sums(struct nytp_report *report);

/* Returns true if the sub has no line, as if defined by C code or built into perl. */
bool nytp_report_is_foreign(const struct nytp_report *report, uint32_t sub);

/* Returns the index of the sub of this name, or NONE. */
uint32_t nytp_report_sub_named(const struct nytp_report *report, struct nytp_name name);

/* Returns true if the report shows the sub: it is not merged, and not only in the base. */
bool nytp_report_has_sub(const struct nytp_report *report, uint32_t sub);
/* Returns true if the sub was called or took time. */
bool nytp_report_sub_ran(const struct nytp_report *report, uint32_t sub);

/* ---- names.c ---- */

bool nytp_report_name_files(struct nytp_report *report);

/* Stores "Foo-Bar-pm-23-line.html"; `name` has at least NYTP_REPORT_NAME bytes. */
#define NYTP_REPORT_NAME 320
void nytp_report_page_name(const struct nytp_report *report, uint32_t file,
                           enum nytp_level level, char *name);

/* Returns the level to which links lead. */
enum nytp_level nytp_report_link_level(const struct nytp_report *report, uint32_t file);

/* Write the URL of a page, or of the definition of a sub, as an attribute's value without
 * quotes. Without a target they write nothing and return false. */
void nytp_report_put_url(struct nytp_report *report, const char *page, const char *fragment);
void nytp_report_put_page_url(struct nytp_report *report, uint32_t file, enum nytp_level level);
bool nytp_report_put_sub_url(struct nytp_report *report, uint32_t sub);

/* Write <a href=…>. Return false, with nothing written, if there is no target. */
void nytp_report_put_page_anchor(struct nytp_report *report, uint32_t file,
                                 enum nytp_level level);
bool nytp_report_put_line_anchor(struct nytp_report *report, uint32_t file, uint32_t line);
bool nytp_report_put_sub_anchor(struct nytp_report *report, uint32_t sub);

/* Writes a level's word, or the file's name, linked to the page. */
void nytp_report_put_level_link(struct nytp_report *report, uint32_t file,
                                enum nytp_level level);
void nytp_report_put_file_link(struct nytp_report *report, uint32_t file);
/* Writes a file and a line, linked if there is a page. */
void nytp_report_put_place(struct nytp_report *report, uint32_t file, uint32_t line);
/* Writes a sub's name with its package in <i>, linked if there is a page; NONE: not linked. */
void nytp_report_put_linked_name(struct nytp_report *report, uint32_t sub,
                                 struct nytp_name name);

/* Returns "Pkg__name", the id of a sub without line, in malloc'ed memory. NULL if memory is out
 * or the name has no package: its id might be in use for something else. */
char *nytp_report_foreign_id(struct nytp_name name);

/* Write a name as shown, escaped, without library folders. */
void nytp_report_put_file(struct nytp_report *report, uint32_t file);
void nytp_report_put_sub(struct nytp_report *report, uint32_t sub);
void nytp_report_put_any_name(struct nytp_report *report, struct nytp_name name);
/* Returns the shown form of a name in malloc'ed memory, or NULL. */
char *nytp_report_shown(const struct nytp_report *report, struct nytp_name name, uint32_t *len);

/* ---- page.c ---- */

struct nytp_report_page {
    const char *kind;  /* index, subs, source */
    const char *name;  /* file name */
    const char *title; /* of the document, before the program's name */
    bool of_program;   /* the heading contains the program's name */
    uint32_t file;     /* source: index; else NONE */
    enum nytp_level level;
};
void nytp_report_page_begin(struct nytp_report *report, const struct nytp_report_page *page);
void nytp_report_page_end(struct nytp_report *report);
/* For the document that holds all pages. */
void nytp_report_single_begin(struct nytp_report *report);
void nytp_report_single_end(struct nytp_report *report);
/* Writes when the program ran; not the present time: a profile always gives the same bytes. */
void nytp_report_foot(struct nytp_report *report);

/* Writes id=… In a single file it includes the page's name. */
void nytp_report_put_id(struct nytp_report *report, const char *id);

/* Returns the memory column of tables: bytes in use if known, else SVs, or none. */
enum nytp_memory_columns nytp_report_memory(const struct nytp_report *report);

/* Writes a cell of bytes. The script sorts by its number. */
void nytp_report_bytes_cell(struct nytp_report *report, int64_t bytes);

/* Write "1.23ms", three digits and a unit like Devel::NYTProf::Util::fmt_time, or the user's
 * format, escaped. The second writes the average of n. */
void nytp_report_put_time(const struct nytp_report *report, struct nytp_out *out,
                          int64_t ticks);
void nytp_report_put_average(const struct nytp_report *report, int64_t ticks, uint64_t n);
/* The same for seconds from outside the model. */
void nytp_report_put_seconds(const struct nytp_report *report, struct nytp_out *out,
                             double seconds);
int64_t nytp_report_ns(const struct nytp_report *report, int64_t ticks);
/* Writes " data-n=…", the nanoseconds of a cell, unless its text has them in full. */
void nytp_report_put_exact(struct nytp_report *report, int64_t ticks);
/* Returns 0 to 7, relative to the hottest line. */
int nytp_report_line_heat(const struct nytp_report *report, int64_t ticks);

/* Writes the classes of that shade and of a bar for the share, as an attribute. */
void nytp_report_put_heat(struct nytp_out *out, int heat, int64_t part, int64_t whole);
/* Writes "<td data-n=…>1.23ms", with heat relative to the total if `heat`, and with its
 * percentage of `whole` as the title if that is above 0. */
void nytp_report_time_cell(struct nytp_report *report, int64_t ticks, bool heat, int64_t whole);
/* Writes "once" or "12 times", for samples "at least 12 times". */
void nytp_report_put_calls(struct nytp_report *report, uint64_t calls);
void nytp_report_plural(struct nytp_out *out, uint64_t n, const char *one, const char *many);

/* Write a cell of a number, of seconds, and of a share in percent, empty without a whole. */
void nytp_report_count_cell(struct nytp_report *report, uint64_t count);
void nytp_report_seconds_cell(struct nytp_report *report, double seconds);
void nytp_report_share_cell(struct nytp_report *report, int64_t part, int64_t whole);

/* ---- tables.c ---- */

struct nytp_report_column {
    const char *key, *title, *text; /* title: the head's explanation, or NULL */
    bool is_text;
    enum nytp_memory_columns memory; /* the column is only in tables with this memory */
};

struct nytp_report_table {
    const char *id; /* behind a blank: the id of a table with the same column widths */
    const char *caption;
    /* The key of the column by which rows are sorted and whose sum the filter shows. NULL:
     * they are sorted by name; "": not sorted. */
    const char *sum;
    const struct nytp_report_column *columns;
    size_t n_columns;
    /* Writes a row behind "<tr": attributes, ">", cells, a line feed. */
    void (*put_row)(struct nytp_report *report, void *context, uint32_t row);
    void (*put_foot)(struct nytp_report *report, void *context); /* or NULL */
    uint32_t most;    /* rows that are shown; 0: all */
    const char *more; /* the option that shows all; NULL: nothing is said of them */
    enum nytp_memory_columns memory;
    bool calls_are_samples; /* where all that is counted are samples */
};
#define NYTP_REPORT_COLUMNS(list) (list), sizeof(list) / sizeof *(list)
void nytp_report_put_table(struct nytp_report *report, const struct nytp_report_table *table,
                           uint32_t n_rows, void *context);

/* Write a table of these subs (`id` is top or subs), or of subs that were never called. */
void nytp_report_sub_table(struct nytp_report *report, const char *id, const char *caption,
                           const uint32_t *subs, uint32_t n);
struct nytp_report_part { /* of the program: the sums of all its subs, and those to show */
    const struct nytp_report_sub *sums;
    int64_t total;
    const uint32_t *subs;
    uint32_t n;
};
/* The same for a part, without a line feed behind it. */
void nytp_report_part_table(struct nytp_report *report, const char *id, const char *caption,
                            struct nytp_report_part part);
void nytp_report_never_table(struct nytp_report *report);
void nytp_report_file_table(struct nytp_report *report);
void nytp_report_package_table(struct nytp_report *report);
/* Writes links to all files by name, if there are many. */
void nytp_report_jump_list(struct nytp_report *report);

/* ---- parts.c ---- */

/* Writes, for each part that the flame graph can show, a table of up to `most` hottest subs.
 * They are hidden until the script shows one instead of the table before them. */
void nytp_report_part_tables(struct nytp_report *report, uint32_t most);
/* Links the current row to the part of this label, if there is one. */
bool nytp_report_put_label_part(struct nytp_report *report, struct nytp_name key,
                                struct nytp_name value);
/* Explains, behind a table, why not all rows are parts. */
void nytp_report_put_part_bounds(struct nytp_report *report);

/* ---- facts.c, memory.c: nothing if the recording has none ---- */
void nytp_report_query_tables(struct nytp_report *report);
void nytp_report_regex_table(struct nytp_report *report);
void nytp_report_reason_table(struct nytp_report *report);
/* Writes the memory curve of the largest process, if enough points are known. */
void nytp_report_memory_curve(struct nytp_report *report);

/* ---- differences.c: only with options->report.diff ---- */
void nytp_report_compared(struct nytp_report *report);
/* Writes at most so many rows, all significant; UINT32_MAX: all rows. */
void nytp_report_difference_table(struct nytp_report *report, uint32_t most);

/* ---- changes.c: lines and --diff ---- */

/* Fills report->changes, if the base is a recording. Returns false if memory is out. */
bool nytp_report_index_changes(struct nytp_report *report);
/* Returns the change of a line, over all its subs; zeros if unknown. */
struct nytp_report_change nytp_report_change_at(const struct nytp_report *report, uint32_t file,
                                                uint32_t line);
int64_t nytp_report_more_statements(const struct nytp_report_change *change);
/* Writes its cell, which is empty if the line ran as often as in the base. */
void nytp_report_put_change(struct nytp_report *report,
                            const struct nytp_report_change *change);

/* ---- index.c ---- */
void nytp_report_index(struct nytp_report *report);
void nytp_report_all_subs(struct nytp_report *report);

/* ---- source.c, notes.c ---- */
void nytp_report_source(struct nytp_report *report, uint32_t file, enum nytp_level level);
/* Write notes on a line. Return false, with nothing written, if there are none. */
bool nytp_report_put_callers(struct nytp_report *report, uint32_t sub, uint32_t file);
bool nytp_report_put_callees(struct nytp_report *report, uint32_t first, uint32_t end);
bool nytp_report_put_evals(struct nytp_report *report, uint32_t first, uint32_t end);

/* ---- flame.c ---- */
void nytp_report_flame_section(struct nytp_report *report, uint32_t file);
bool nytp_report_flame_files(struct nytp_report *report);
void nytp_report_flame_inline(struct nytp_report *report);

/* Returns true if the flame graph can show this process alone: there are a few. */
bool nytp_report_process_is_part(const struct nytp_report *report, uint32_t process);

/* ---- write.c ---- */

/* Writes the report to the set, which keeps write errors. Returns false if memory is out. */
bool nytp_report_write(const struct nytp_profile *profile,
                       const struct nytp_export_options *options, struct nytp_output_set *set);

#endif
