/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Tables for people: names that cannot harm a terminal, times in units that fit.
 */
#ifndef NYTP_TEXT_H
#define NYTP_TEXT_H

#include "columns.h"
#include "exporter.h"

/* Put the text with control characters as '?', cut at the end ("name...") or, for paths, at the
 * start ("...name") to at most `width` columns; 0 = whole. Returns the columns written. */
uint32_t nytp_text_put(struct nytp_out *out, struct nytp_name text, uint32_t width);
uint32_t nytp_text_put_tail(struct nytp_out *out, struct nytp_name text, uint32_t width);

/* Put a line of source, without its newline, tabs as blanks, bytes that are no UTF-8 as
 * Latin-1; `trim`: without the blanks that it begins with. Cut to `width` columns, 0 = whole
 * (but not more than some thousand bytes). Returns the columns written. */
uint32_t nytp_text_put_source(struct nytp_out *out, const struct nytp_source_line *source,
                              bool trim, uint32_t width);

/* Put so many blanks. */
void nytp_text_pad(struct nytp_out *out, uint32_t columns);

/* Put a time, right-aligned in `width` columns: three digits and a unit ("12.3 ms") or, when
 * `unit` is given, a plain number of it. */
void nytp_text_time(struct nytp_out *out, int64_t ticks, int64_t ticks_per_sec,
                    const struct nytp_unit *unit, int width);

/* The same of nanoseconds; where the unit is ticks, they become those of `ticks_per_sec`. */
void nytp_text_ns(struct nytp_out *out, int64_t ns, int64_t ticks_per_sec,
                  const struct nytp_unit *unit, int width);

/* As nytp_text_time(), with a "~" before it: it is known roughly. */
void nytp_text_about(struct nytp_out *out, int64_t ticks, int64_t ticks_per_sec, int width);

/* Put the time of one of `calls` calls that took `ticks` together, which may be a part of a
 * tick;
 * "-" without calls. Otherwise as nytp_text_time(), but with at least one decimal in a given
 * unit. */
void nytp_text_per_call(struct nytp_out *out, int64_t ticks, uint64_t calls,
                        int64_t ticks_per_sec, const struct nytp_unit *unit, int width);

/* A number of bytes: "999 B", "-22.8 MB"; the same put right-aligned. */
void nytp_bytes_text(int64_t bytes, char *text, size_t size);
void nytp_text_bytes(struct nytp_out *out, int64_t bytes, int width);

/* The columns of memory that a table has by the key to sort by, if any is recorded. */
enum nytp_memory_columns {
    NYTP_MEMORY_NONE,
    NYTP_MEMORY_SVS,
    NYTP_MEMORY_BLOCKS,
    NYTP_MEMORY_SPACE
};
enum nytp_memory_columns nytp_text_memory_columns(const struct nytp_profile *profile,
                                                  const char *sort);

/* Put how much `part` is of `whole` in percent, one decimal, right-aligned: " 12.3%". */
void nytp_text_percent(struct nytp_out *out, int64_t part, int64_t whole);

enum nytp_style {
    NYTP_STYLE_PLAIN,
    NYTP_STYLE_BOLD,
    NYTP_STYLE_HOT,
    NYTP_STYLE_WARM,
    NYTP_STYLE_DIM
};

/* Escape sequence that begins (or, with PLAIN, ends) a style; nothing without `color`. */
void nytp_text_style(struct nytp_out *out, bool color, enum nytp_style style);

/* In place of a time, if none was recorded (counts=1). */
#define NYTP_COUNTS_ONLY "counts only"

/* The meaning of a profile's "statements". If some processes were sampled and others not, the
 * sum has both. */
enum nytp_counted {
    NYTP_COUNTED_STATEMENTS,
    NYTP_COUNTED_SAMPLES,
    NYTP_COUNTED_BOTH
};
enum nytp_counted nytp_text_counted(const struct nytp_profile *profile);

/* Names of counts. The first two head columns: "stmts" or the measure in its place, and
 * "calls", or ">= calls" of samples; the third is the long form of the first. */
const char *nytp_text_stmts(const struct nytp_profile *profile);
const char *nytp_text_calls(const struct nytp_profile *profile);
const char *nytp_text_statements(const struct nytp_profile *profile);

/* Returns the program, or the input's name if the recording does not have it. */
struct nytp_name nytp_text_program(const struct nytp_recording *recording);

/* Returns the cost of recording that was taken off the times of all processes. */
int64_t nytp_recording_ticks(const struct nytp_profile *profile);

/* "/path/file.pl:12" of the place; "" without a file. At most `size` bytes with the NUL; a
 * longer one loses its start. */
struct nytp_name nytp_text_place(const struct nytp_profile *profile, uint32_t file,
                                 uint32_t line, char *buffer, size_t size);

/* Returns whether a terminal is too narrow for a whole table. `columns` 0: no terminal. */
bool nytp_text_is_narrow(uint32_t columns);

/* The same place, without folders on a narrow terminal. */
struct nytp_name nytp_text_place_in(const struct nytp_profile *profile, uint32_t file,
                                    uint32_t line, uint32_t columns, char *buffer, size_t size);

/* The call in the call `node` that never returned, or `node`. Of several, one whose place is
 * known: the others are subs of which only lines were recorded. */
uint32_t nytp_text_open_child(const struct nytp_profile *profile, uint32_t node);

/* Returns whether reading the process's recording ended at damage: open calls may have
 * returned. */
bool nytp_is_partly_read(const struct nytp_profile *profile,
                         const struct nytp_process *process);

/* First line of tables for the terminal: total, counts, whether the recording is partial; in
 * several lines where the terminal is narrow. */
void nytp_text_headline(struct nytp_out *out, const struct nytp_profile *profile,
                        const struct nytp_export_options *options);

#endif
