/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A comparison as text: the write_diff() functions of exporters, and their common parts.
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

/* ---- common parts ---- */

/* The rows to show, the largest change first. */
struct nytp_diff_list {
    const struct nytp_diff_row **rows;
    uint32_t n;
};

/* Lists rows with a changed count or a significant change of time, and, if the total changed
 * significantly, rows that are part of that change. They are sorted by the change of the
 * chosen weight (statements by default), then of time. Without verdicts, if the weight is
 * time, all rows with another time are listed. Returns false if memory is out. */
bool nytp_diff_list_init(struct nytp_diff_list *list, const struct nytp_diff *diff,
                         const struct nytp_export_options *options);
/* Returns true if the list has the row. */
bool nytp_diff_is_listed(const struct nytp_diff *diff, const struct nytp_diff_row *row,
                         enum nytp_weight weight);
void nytp_diff_list_free(struct nytp_diff_list *list);

/* Returns the weight by which rows are sorted. */
enum nytp_weight nytp_diff_weight(const struct nytp_export_options *options);
/* Returns the name of a weight other than time: "calls", "SVs", "bytes in use". */
const char *nytp_diff_weight_title(const struct nytp_diff *diff, enum nytp_weight weight);

/* Returns true if all recordings of a side have the memory weight. */
bool nytp_diff_side_has(const struct nytp_diff *diff, enum nytp_diff_side side,
                        enum nytp_weight weight);

/* Chooses the memory column of tables: bytes in use if both sides have them, else SVs. Returns
 * false, with `weight` untouched, if there is none. */
bool nytp_diff_memory(const struct nytp_diff *diff, enum nytp_weight *weight);

/* Chooses the totals besides time: statements, calls, and one more: the weight asked for if it
 * is ops or memory, else that of nytp_diff_memory(), if any. Returns how many. */
#define NYTP_DIFF_MOST_COUNTS 3
uint32_t nytp_diff_counts(const struct nytp_diff *diff, enum nytp_weight asked,
                          enum nytp_weight counts[NYTP_DIFF_MOST_COUNTS]);

/* A total in words. The base's time is "" if it has none. */
struct nytp_diff_total_text {
    const char *label; /* "bytes in use", "time" */
    char base[40], now[40], change[40];
    char remark[100]; /* "estimated from samples"; "p=0.40, noise ±4.1 %", or why there is no
                         verdict */
};
struct nytp_diff_total_text nytp_diff_count_total(const struct nytp_diff *diff,
                                                  enum nytp_weight weight);
struct nytp_diff_total_text nytp_diff_time_total(const struct nytp_diff *diff);

int64_t nytp_diff_value(const struct nytp_diff_cell *cell, enum nytp_weight weight);
/* Returns the new side's value less the base's. */
int64_t nytp_diff_change(const struct nytp_diff_row *row, enum nytp_weight weight);

/* Stores "app.pl: 3 runs against 3". */
void nytp_diff_title(const struct nytp_diff *diff, char *text, size_t size);

/* Stores "+3.3 %", or "new" if the base is 0. */
void nytp_diff_percent(int64_t base, int64_t now, char *text, size_t size);

/* Stores a time with its unit, "12.3 ms", and its sign if `sign`. */
void nytp_diff_time(const struct nytp_diff *diff, int64_t ticks, bool sign, char *text,
                    size_t size);

/* Stores a value by its weight: "12.3 ms", "51.0 kB" or a count. */
void nytp_diff_text(const struct nytp_diff *diff, int64_t value, enum nytp_weight weight,
                    char *text, size_t size);

/* Stores the change of a row's time: "+9.1 ms ±0.6 ms" if significant, "~" if not. "+9.1 ms
 * p=0.3" is not significant, but part of a significant change of the total. "+9.1 ms" has no
 * verdict. */
void nytp_diff_time_change(const struct nytp_diff *diff, const struct nytp_diff_row *row,
                           char *text, size_t size);

/* Stores the answer: "faster: 50.3 ms -> 33.3 ms, -33.8 % (95 %: -36.0 to -32.1), 5 runs
 * against 5", "no difference that 5 runs against 5 could show (95 %: -1.0 to +1.2)", or why
 * there is none. */
void nytp_diff_answer(const struct nytp_diff *diff, char *text, size_t size);

/* Stores "3 subs changed, 1 new, 0 gone; 371 subs equal in every count". */
void nytp_diff_summary(const struct nytp_diff *diff, char *text, size_t size);

/* Stores "lib/Foo.pm:40", or its end if it is longer than `size`. */
void nytp_diff_place(const struct nytp_diff_row *row, char *text, size_t size);

#endif
