/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A comparison as text: the functions that exporters name as their write_diff(), and what
 * these functions share.
 */
#ifndef NYTP_DIFF_FORMATS_H
#define NYTP_DIFF_FORMATS_H

#include "exporters/base/exporter.h"
#include "diff.h"

bool nytp_diff_write_table(const struct nytp_diff *diff,
                           const struct nytp_export_options *options, struct nytp_out *out);
bool nytp_diff_write_markdown(const struct nytp_diff *diff,
                              const struct nytp_export_options *options, struct nytp_out *out);
bool nytp_diff_write_json(const struct nytp_diff *diff,
                          const struct nytp_export_options *options, struct nytp_out *out);

/* ---- what they share ---- */

/* The rows worth showing, the largest change first. */
struct nytp_diff_list {
    const struct nytp_diff_row **rows;
    uint32_t n;
};

/* Rows of which a count changed or whose time changed significantly, and where the total did so
 * those that are a part of that; by the size of the change of the chosen value, statements if
 * the user chose none, then of the time. Where times get no verdict and the user wants to see
 * time, all whose time differs. False when memory is out. */
bool nytp_diff_list_init(struct nytp_diff_list *list, const struct nytp_diff *diff,
                         const struct nytp_export_options *options);
/* Whether the list has it. */
bool nytp_diff_is_listed(const struct nytp_diff *diff, const struct nytp_diff_row *row,
                         enum nytp_weight weight);
void nytp_diff_list_free(struct nytp_diff_list *list);

/* The value that rows are sorted by. */
enum nytp_weight nytp_diff_weight(const struct nytp_export_options *options);
/* What a weight other than time counts: "calls", "SVs", "bytes in use". */
const char *nytp_diff_weight_title(const struct nytp_diff *diff, enum nytp_weight weight);

/* By which the fields of a weight of memory are known: "svs", "inuse_space". */
const char *nytp_diff_memory_name(enum nytp_weight weight);

/* Whether all recordings of a side tell the weight of memory. */
bool nytp_diff_side_has(const struct nytp_diff *diff, enum nytp_diff_side side,
                        enum nytp_weight weight);

/* What of memory a table has a column of: bytes in use, if both sides tell them, else perl's
 * values. False, with `weight` untouched, where there is neither. */
bool nytp_diff_memory(const struct nytp_diff *diff, enum nytp_weight *weight);

/* What a comparison has totals of besides time: statements, calls and one more, which is the
 * weight that was asked for, if it is ops or memory, else nytp_diff_memory(), if there is any.
 * Returns how many. */
#define NYTP_DIFF_MOST_COUNTS 3
uint32_t nytp_diff_counts(const struct nytp_diff *diff, enum nytp_weight asked,
                          enum nytp_weight counts[NYTP_DIFF_MOST_COUNTS]);

/* The total of one of them, in words. */
struct nytp_diff_count_text {
    const char *label, *remark; /* "bytes in use", "estimated from samples" */
    char base[40], now[40], change[24];
};
struct nytp_diff_count_text nytp_diff_count_text(const struct nytp_diff *diff,
                                                 enum nytp_weight weight);

int64_t nytp_diff_value(const struct nytp_diff_cell *cell, enum nytp_weight weight);

/* "app.pl: 3 runs against 3" */
void nytp_diff_title(const struct nytp_diff *diff, char *text, size_t size);

/* "+3.3 %"; "new" where the base is 0 */
void nytp_diff_percent(int64_t base, int64_t now, char *text, size_t size);

/* A time with its unit, "12.3 ms", with its sign if `sign`. */
void nytp_diff_time(const struct nytp_diff *diff, int64_t ticks, bool sign, char *text,
                    size_t size);

/* A value by its weight: "12.3 ms", "51.0 kB" or a count. */
void nytp_diff_text(const struct nytp_diff *diff, int64_t value, enum nytp_weight weight,
                    char *text, size_t size);

/* The change of a row's time as far as anything can be said of it: "+9.1 ms ±0.6 ms", "~" when
 * that is noise, "+9.1 ms p=0.3" when it explains what the total surely changed by, and plainly
 * "+9.1 ms" where there is no verdict. */
void nytp_diff_time_change(const struct nytp_diff *diff, const struct nytp_diff_row *row,
                           char *text, size_t size);

/* The answer in a sentence: "faster: 50.3 ms -> 33.3 ms, -33.8 % (95 %: -36.0 to -32.1), 5 runs
 * against 5", "no difference that 5 runs against 5 could show (95 %: -1.0 to +1.2)" or why
 * there is none. */
void nytp_diff_answer(const struct nytp_diff *diff, char *text, size_t size);

/* What can be said of all times: "p=0.40, noise ±4.1 %" or why nothing can. */
void nytp_diff_time_remark(const struct nytp_diff *diff, char *text, size_t size);

/* "3 subs changed, 1 new, 0 gone; 371 subs equal in every count" */
void nytp_diff_summary(const struct nytp_diff *diff, char *text, size_t size);

/* "lib/Foo.pm:40", the end of it when it is longer than `size`. */
void nytp_diff_place(const struct nytp_diff_row *row, char *text, size_t size);

#endif
