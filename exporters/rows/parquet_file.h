/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A table as an Apache Parquet file (https://parquet.apache.org/docs/file-format/), the writing
 * half: values are put column by column, row by row.
 *
 *     struct nytp_parquet *file = nytp_parquet_new(columns, n_columns, out);
 *     nytp_parquet_int(file, 0, 42);
 *     nytp_parquet_texts(file, 1, names, n_names);
 *     nytp_parquet_end_row(file);                 // every column has its value
 *     bool ok = nytp_parquet_finish(file);        // and frees it
 *
 * Rows are collected until a row group is full, which bounds memory, whatever the number of
 * rows. Texts are dictionary-encoded, pages compressed with gzip; no value is ever missing. The
 * same values give the same bytes.
 */
#ifndef NYTP_PARQUET_FILE_H
#define NYTP_PARQUET_FILE_H

#include "formats/model/model.h"
#include "exporters/base/out.h"

enum nytp_parquet_kind {
    NYTP_PARQUET_INT32, /* unsigned, below 2^31 */
    NYTP_PARQUET_INT64, /* unsigned, below 2^63 */
    NYTP_PARQUET_TIME,  /* milliseconds since 1970, UTC */
    NYTP_PARQUET_TEXT,  /* UTF-8 */
    NYTP_PARQUET_TEXTS, /* a list of them */
    NYTP_PARQUET_INT32S,
};

struct nytp_parquet_column {
    const char *name;
    enum nytp_parquet_kind kind;
};

struct nytp_parquet;

/* Begin the file. `columns` and `out` are borrowed until nytp_parquet_finish(). NULL when
 * memory is out. Should it run out later, that is remembered, and nytp_parquet_finish() tells.
 */
struct nytp_parquet *nytp_parquet_new(const struct nytp_parquet_column *columns, uint32_t n,
                                      struct nytp_out *out);

/* Put the value of a column, counted from 0, into the row at hand; each column once, by the
 * function for its kind. Texts are copied. */
void nytp_parquet_int(struct nytp_parquet *file, uint32_t column, int64_t value);
void nytp_parquet_text(struct nytp_parquet *file, uint32_t column, struct nytp_name text);
void nytp_parquet_texts(struct nytp_parquet *file, uint32_t column,
                        const struct nytp_name *texts, uint32_t n);
void nytp_parquet_ints(struct nytp_parquet *file, uint32_t column, const uint32_t *values,
                       uint32_t n);

void nytp_parquet_end_row(struct nytp_parquet *file);

/* Write what is left and the footer, and free. False when memory was out; whether writing
 * failed is in out's sticky error. */
bool nytp_parquet_finish(struct nytp_parquet *file);

#endif
