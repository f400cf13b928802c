/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The HTML report: what its pages share. README.md in this folder says what the pages hold,
 * for the style sheet and the script; here is who writes it.
 *
 *   evals.c     string evals of one place that are shown as one
 *   sums.c     what is worked out before the first page: sums, orders
 *   names.c     names of files and subs as the pages show them, links between pages
 *   page.c      the frame around a page; times and other cells
 *   tables.c    tables of subs, files and packages
 *   differences.c, changes.c  what differs from a base: subs; lines
 *   regexes.c   regular expressions by place and pattern
 *   statements.c  what requests ask of databases
 *   reasons.c   what a sampled program waited for
 *   index.c     index.html, index-subs-excl.html
 *   levels.c    lines summed up by block and by sub
 *   source.c, source_text.{h,c}  the pages of source files; the text of their lines
 *   notes.c     who calls a sub, what a line calls, its string evals
 *   flame_tree.c  the tree that flame graphs show
 *   flame.c     the flame graph's data, picture and side files
 *   write.c     all of them, in order
 *
 * Figures are those of the model, as in every other format. Files and subs have its numbers. A
 * page is put out as it is worked out, none is held in memory.
 */
#ifndef NYTP_REPORT_H
#define NYTP_REPORT_H

#include "exporters/base/text.h"
#include "formats/model/model.h"
#include "exporters/compare/diff.h"
#include "exporters/base/asset.h"
#include "exporters/base/exporter.h"
#include "exporters/base/html.h"
#include "exporters/base/output_set.h"
#include "exporters/stacks/calls.h"
#include "flame_picture.h"

#define NYTP_REPORT_NONE UINT32_MAX

/* At most so many string evals have pages of their own, those with the most time; links to the
 * others lead to the line that ran them. */
#define NYTP_REPORT_MAX_EVAL_PAGES 1500

/* The same for files: no program has so many, but a damaged profile may say so. */
#define NYTP_REPORT_MAX_FILE_PAGES 20000

/* What the time of a statement is booked on: its own line, the first line of the innermost
 * block around it, or that of the sub that it is in. The last two are recorded with the option
 * blocks=1 only. */
enum nytp_level {
    NYTP_LEVEL_LINE,
    NYTP_LEVEL_BLOCK,
    NYTP_LEVEL_SUB,
    NYTP_LEVELS
};

struct nytp_report_file { /* by index of the model's files */
    char *stem;           /* of its pages, "Foo-Bar-pm-23"; NULL: it has none of its own */
    uint32_t page;        /* the file whose page shows it, or NONE; and the line there */
    uint32_t page_line;   /* for all of its lines; NONE: the same as in it */
    char *shown;          /* name without the folders of the library */
    uint32_t shown_len;
    uint32_t id;          /* in names and anchors: the file id of the recording */
    uint32_t merged_into; /* the eval that it is shown as a part of, or NONE */
    uint32_t n_merged;    /* evals that are shown as a part of it */
    bool src_varied;      /* their source is not its own */
    bool has_evals;       /* it ran some */
    uint64_t stmts;       /* of its own lines */
    int64_t ticks;
    uint64_t all_stmts; /* with all string evals that it ran, and those that these ran */
    int64_t all_ticks;
    uint32_t n_direct, n_nested;        /* those evals, merged ones counted too */
    uint32_t n_defined;                 /* Perl subs that it and these evals define, … */
    uint64_t defined_calls;             /* … how often they were called … */
    int64_t defined_ticks;              /* … and their exclusive time */
    uint32_t n_lines;                   /* last line that anything is known of, plus 1 */
    bool has_line_0;                    /* there is something that perl knows no line of */
    uint32_t first_line, n_rows;        /* into lines.rows */
    uint32_t first_block, n_blocks;     /* into the model's blocks */
    uint32_t first_sub, n_subs;         /* into subs_by_file */
    uint32_t first_call, n_calls;       /* into calls */
    uint32_t first_eval, n_evals;       /* into evals_by_place: those it ran directly */
    uint32_t place;                     /* in files_by_time, or NONE */
    uint32_t first_sibling, n_siblings; /* evals: those of its place, into siblings … */
    uint32_t sibling;                   /* … and which of them it is, from 0 */
};

/* By index of the model's subs. The sums are the model's; of evals that are shown as one, those
 * of the subs that they all define. */
struct nytp_report_sub {
    uint64_t calls;
    int64_t excl_ticks, incl_ticks, reci_ticks;
    int64_t svs, inuse_bytes; /* exclusive */
    uint32_t rec_depth;
    uint32_t merged_into;        /* the sub that it is shown as, or NONE */
    uint32_t file;               /* index of its file, or NONE */
    uint32_t first_call, places; /* into calls_by_sub: where it is called from, … */
    uint32_t files;              /* … in so many files */
    bool gone;                   /* only the base of a comparison has it */
};

/* Calls of one sub from one line: an arc, of all its callers. */
struct nytp_report_call {
    uint32_t sub, file, line;
    uint32_t rec_depth;
    uint32_t first_caller, n_callers; /* into callers */
    uint64_t calls;
    int64_t excl_ticks, incl_ticks, reci_ticks; /* as in struct nytp_arc */
};

/* How a line of a sub, or of all subs on it, differs from the base. */
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
    bool explained; /* column heads of lists tell what they mean: where most people look */
    bool levels;    /* files have pages by block and by sub, too */

    struct nytp_scale ns;  /* of ticks */
    int64_t hottest_ticks; /* time of the hottest line */
    struct nytp_report_file *files;
    struct nytp_report_sub *subs;
    struct nytp_line_rows lines;    /* of all files, by file and line */
    struct nytp_report_call *calls; /* by file, line, inclusive time falling */
    uint32_t *callers;              /* subs */
    uint32_t *calls_by_sub;         /* by sub, inclusive time falling */
    uint32_t *subs_by_time;         /* those with calls or time, exclusive time falling */
    uint32_t n_called;
    uint32_t *files_by_time; /* no evals; time with evals falling, then name */
    uint32_t n_ranked;
    uint32_t *subs_by_file;   /* by file, first line, name */
    uint32_t *evals_by_place; /* by eval_file, eval_line, time falling; not the merged ones */
    uint32_t *siblings;       /* the same evals by eval_file, eval_line, then as they came */
    uint32_t n_subs, n_calls, n_evals;  /* lengths of these; siblings has n_evals */
    struct nytp_report_change *changes; /* changes.c: by file, line; NULL without a base */
    uint32_t n_changes;
    int64_t wait_ticks; /* what of the time was waiting */
    bool *waits;        /* by sub: what it takes is that */
    uint64_t *samples;  /* by sub, of its own; NULL unless only samples were counted */
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

/* A string eval. */
static inline bool nytp_report_is_eval(const struct nytp_report *report, uint32_t file)
{
    return report->profile->files[file].eval_file != 0;
}

/* The file whose lines are shown as this one's: itself, unless it is merged. */
static inline uint32_t nytp_report_merged(const struct nytp_report *report, uint32_t file)
{
    const uint32_t into = report->files[file].merged_into;
    return into != NYTP_REPORT_NONE ? into : file;
}

/* ---- evals.c, levels.c ---- */

/* Which string evals are shown as one (formats/model/sibling_evals.h). Then subs that they all
 * define: those of one name are one. False when memory is out. */
bool nytp_report_merge_evals(struct nytp_report *report);
bool nytp_report_merge_subs(struct nytp_report *report);

/* The lines of a file at a level; at that of lines they are the report's, else new: free them.
 * NULL rows when memory is out. */
struct nytp_line_rows nytp_report_rows(const struct nytp_report *report, uint32_t file,
                                       enum nytp_level level);

/* ---- sums.c ---- */

/* Sums and orders of all but names of pages, which come next; index_files() is for when files
 * have them. False when memory is out; what is there goes with free_sums() in either case. */
bool nytp_report_sum_up(struct nytp_report *report);
bool nytp_report_index_files(struct nytp_report *report);
void nytp_report_free_sums(struct nytp_report *report);

/* Defined by C code or built into perl, as far as is known: it has no line. */
bool nytp_report_is_foreign(const struct nytp_report *report, uint32_t sub);

/* Index of the sub of this name, or NONE. */
uint32_t nytp_report_sub_named(const struct nytp_report *report, struct nytp_name name);

/* Whether it is one of the report's: not merged into another, not of a base alone. */
bool nytp_report_has_sub(const struct nytp_report *report, uint32_t sub);
/* Whether it was called, or took time all the same. */
bool nytp_report_sub_ran(const struct nytp_report *report, uint32_t sub);

/* ---- names.c ---- */

bool nytp_report_name_files(struct nytp_report *report);

/* The file whose page shows a file: itself, the one it was merged into, or for an eval without
 * page the one that ran it; *line then becomes the line that did. NONE if there is none. */
uint32_t nytp_report_page_of(const struct nytp_report *report, uint32_t file, uint32_t *line);

/* "Foo-Bar-pm-23-line.html" into a buffer of at least NYTP_REPORT_NAME bytes. */
#define NYTP_REPORT_NAME 320
void nytp_report_page_name(const struct nytp_report *report, uint32_t file,
                           enum nytp_level level, char *name);

/* The level that links lead to. */
enum nytp_level nytp_report_link_level(const struct nytp_report *report, uint32_t file);

/* URL of a page; of a line of a file; of where a sub is defined ("" puts nothing and returns
 * false). As the value of an attribute, quotes not needed. */
void nytp_report_put_url(struct nytp_report *report, const char *page, const char *fragment);
bool nytp_report_put_line_url(struct nytp_report *report, uint32_t file, uint32_t line);
/* A file and a line, as a link where they have a page. */
void nytp_report_put_place(struct nytp_report *report, uint32_t file, uint32_t line);
bool nytp_report_put_sub_url(struct nytp_report *report, uint32_t sub);

/* <a href=…>: false, and nothing put, when there is nowhere to go. */
bool nytp_report_put_sub_anchor(struct nytp_report *report, uint32_t sub);

/* "Pkg__name", the id of a sub that has no line; `id` takes as many bytes as the name has.
 * False: a name without package has none, it could be that of something else on the page. */
bool nytp_report_foreign_id(struct nytp_name name, char *id);
void nytp_report_put_foreign_id(struct nytp_report *report, uint32_t sub);

/* The name as shown, escaped: library folders gone. */
void nytp_report_put_file(struct nytp_report *report, uint32_t file);
void nytp_report_put_sub(struct nytp_report *report, uint32_t sub);
void nytp_report_put_any_name(struct nytp_report *report, struct nytp_name name);
/* Shown form of a name in malloc'ed memory, or NULL. */
char *nytp_report_shown(const struct nytp_report *report, struct nytp_name name, uint32_t *len);

/* ---- page.c ---- */

struct nytp_report_page {
    const char *kind;  /* index, subs, source */
    const char *name;  /* file name */
    const char *title; /* of the document, before the program's name */
    bool of_program;   /* the program's name belongs into the heading */
    uint32_t file;     /* source: index; else NONE */
    enum nytp_level level;
};
void nytp_report_page_begin(struct nytp_report *report, const struct nytp_report_page *page);
void nytp_report_page_end(struct nytp_report *report);
/* Of the document that holds all pages. */
void nytp_report_single_begin(struct nytp_report *report);
void nytp_report_single_end(struct nytp_report *report);
/* When the program ran; of the report's own making nothing is told: the same profile gives the
 * same bytes. */
void nytp_report_foot(struct nytp_report *report);

/* id=… of something on the page; in one file it carries the page's name. */
void nytp_report_put_id(struct nytp_report *report, const char *id);
void nytp_report_put_line_id(struct nytp_report *report, uint32_t line);

/* Numbers of statements are numbers of samples, and of calls there were as many or more. */
bool nytp_report_is_sampled(const struct nytp_report *report);

/* What of memory tables have a column of: what is in use of bytes, if they are known, else
 * perl's values, or nothing. */
enum nytp_memory_columns nytp_report_memory(const struct nytp_report *report);

/* A cell of bytes; the script sorts by their number. */
void nytp_report_bytes_cell(struct nytp_report *report, int64_t bytes);

/* "1.23ms": three digits and a unit, as Devel::NYTProf::Util::fmt_time; escaped, should the
 * user's own format need it. The second is of each of n. */
void nytp_report_put_time(const struct nytp_report *report, struct nytp_out *out,
                          int64_t ticks);
void nytp_report_put_average(const struct nytp_report *report, int64_t ticks, uint64_t n);
/* The same in seconds, for what is no time of the model. */
void nytp_report_put_seconds(const struct nytp_report *report, struct nytp_out *out,
                             double seconds);
int64_t nytp_report_ns(const struct nytp_report *report, int64_t ticks);
/* " data-n=…" of a cell with a time: nanoseconds, unless its text tells them itself. */
void nytp_report_put_exact(struct nytp_report *report, int64_t ticks);
/* 0 to 7 on the scale of the hottest line. */
int nytp_report_line_heat(const struct nytp_report *report, int64_t ticks);

/* The classes of that shade, from 0 to 7, and of a bar as long as the share, as an attribute.
 */
void nytp_report_put_heat(struct nytp_out *out, int heat, int64_t part, int64_t whole);
/* "<td data-n=…>1.23ms", with heat on the scale of the total when `heat`, and a title of its
 * percentage of `whole` if that is above 0. */
void nytp_report_time_cell(struct nytp_report *report, int64_t ticks, bool heat, int64_t whole);
/* "once", "12 times"; of samples "at least 12 times". */
void nytp_report_put_calls(struct nytp_report *report, uint64_t calls);
void nytp_report_plural(struct nytp_out *out, uint64_t n, const char *one, const char *many);

/* ---- tables.c ---- */

/* Table of these subs, `id` is top or subs; of those that were never called. */
void nytp_report_sub_table(struct nytp_report *report, const char *id, const char *caption,
                           const uint32_t *subs, uint32_t n);
/* The same of a part of the program, by its own sums of all subs and its own time. */
void nytp_report_part_table(struct nytp_report *report, const char *id, const char *caption,
                            const struct nytp_report_sub *sums, int64_t total,
                            const uint32_t *subs, uint32_t n);
void nytp_report_never_table(struct nytp_report *report);
void nytp_report_file_table(struct nytp_report *report);
void nytp_report_package_table(struct nytp_report *report);
/* Links to all files by name, where they are so many that one has to look for one. */
void nytp_report_jump_list(struct nytp_report *report);

/* Head of a table, and of a row of it. `sum` is the key of the column that the table is sorted
 * by, and summed up when it is filtered; NULL: sorted by name; "": by none. Behind a blank
 * after `id` stands that of a table whose columns it shares the widths of. */
struct nytp_report_column {
    const char *key, *title, *text;
    bool is_text;
};
void nytp_report_table_begin(struct nytp_report *report, const char *id, const char *caption,
                             const char *sum, const struct nytp_report_column *columns,
                             size_t n);
void nytp_report_row_begin(struct nytp_out *out, uint32_t row);

/* ---- parts.c ---- */

/* Of each part that the flame graph can be of alone the table of its hottest subs, of `most` at
 * most. Hidden, until the script shows one in place of what stands before them. */
void nytp_report_part_tables(struct nytp_report *report, uint32_t most);
/* Make the row that was begun one of a part, if there is one of this label. */
bool nytp_report_put_label_part(struct nytp_report *report, struct nytp_name key,
                                struct nytp_name value);
/* Behind a table of rows that are not all parts: why. */
void nytp_report_put_part_bounds(struct nytp_report *report);

/* ---- regexes.c, statements.c, reasons.c: nothing where the recording holds none ---- */
void nytp_report_regex_table(struct nytp_report *report);

/* The curve of the largest process's memory; nothing where too little of it is known. */
void nytp_report_memory_curve(struct nytp_report *report);
void nytp_report_statement_tables(struct nytp_report *report);
void nytp_report_reason_table(struct nytp_report *report);

/* ---- differences.c: only with options->diff ---- */
void nytp_report_compared(struct nytp_report *report);
/* At most so many rows, and none that may be noise; UINT32_MAX: all. */
void nytp_report_difference_table(struct nytp_report *report, uint32_t most);

/* ---- changes.c: lines and --diff ---- */

/* Fill report->changes, where the base is a recording. False when memory is out. */
bool nytp_report_index_changes(struct nytp_report *report);
/* A line of a file, of all subs on it: zeros where nothing is known. */
struct nytp_report_change nytp_report_change_at(const struct nytp_report *report, uint32_t file,
                                                uint32_t line);
int64_t nytp_report_more_statements(const struct nytp_report_change *change);
/* Its cell, which is empty where it ran as often as in the base. */
void nytp_report_put_change(struct nytp_report *report,
                            const struct nytp_report_change *change);

/* ---- index.c ---- */
void nytp_report_index(struct nytp_report *report);
void nytp_report_all_subs(struct nytp_report *report);

/* ---- source.c, notes.c ---- */
void nytp_report_source(struct nytp_report *report, uint32_t file, enum nytp_level level);
/* Notes on a line; false, and nothing put, when there is nothing to tell. */
bool nytp_report_put_callers(struct nytp_report *report, uint32_t sub, uint32_t file);
bool nytp_report_put_callees(struct nytp_report *report, uint32_t first, uint32_t end);
bool nytp_report_put_evals(struct nytp_report *report, uint32_t first, uint32_t end);

/* ---- flame.c ---- */
void nytp_report_flame_section(struct nytp_report *report, uint32_t file);
bool nytp_report_flame_files(struct nytp_report *report);
void nytp_report_flame_inline(struct nytp_report *report);

/* Whether the flame graph can be seen of one process alone: there are several, not too many. */
bool nytp_report_process_is_part(const struct nytp_report *report, uint32_t process);

/* ---- write.c ---- */

/* Write all members of the report to the set. False when memory is out; what became of
 * writing, the set knows. */
bool nytp_report_write(const struct nytp_profile *profile,
                       const struct nytp_export_options *options, struct nytp_output_set *set);

#endif
