/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Parquet; see parquet_file.h. Relies on the file format's pages "Metadata", "Data pages",
 * "Encodings" and parquet.thrift, whose numbers of fields stand here.
 *
 * A column chunk is a dictionary page (texts only) and one data page of version 1. Each list is
 * a required group of a repeated group of a required element, so its levels are of one bit:
 * repetition 0 begins a row, definition 0 is an empty list.
 */
#include "parquet_file.h"

#include "thrift.h"
#include "exporters/base/version.h"

#include "formats/base/arena.h"
#include "formats/base/strings.h"
#include "formats/deflate/deflate.h"

#include <stdlib.h>
#include <string.h>

#define GROUP_ROWS   (1u << 17)
#define GROUP_VALUES (1u << 20) /* of one column, lists' elements counted */
#define LEVEL        4          /* of compression; dictionaries did most of it */

enum {
    TYPE_INT32 = 1,
    TYPE_INT64 = 2,
    TYPE_BYTE_ARRAY = 6
};
enum {
    REQUIRED = 0,
    REPEATED = 2
};
enum {
    AS_UTF8 = 0,
    AS_LIST = 3,
    AS_TIME_MS = 9,
    AS_UINT32 = 13,
    AS_UINT64 = 14
};
enum {
    PLAIN = 0,
    RLE = 3,
    RLE_DICTIONARY = 8
};
enum {
    DATA_PAGE = 0,
    DICTIONARY_PAGE = 2
};
enum {
    GZIP = 2
};

static const struct kind {
    int type, converted;
    bool is_list, is_text;
} kinds[] = {
    [NYTP_PARQUET_INT32] = {TYPE_INT32, AS_UINT32, false, false},
    [NYTP_PARQUET_INT64] = {TYPE_INT64, AS_UINT64, false, false},
    [NYTP_PARQUET_TIME] = {TYPE_INT64, AS_TIME_MS, false, false},
    [NYTP_PARQUET_TEXT] = {TYPE_BYTE_ARRAY, AS_UTF8, false, true},
    [NYTP_PARQUET_TEXTS] = {TYPE_BYTE_ARRAY, AS_UTF8, true, true},
    [NYTP_PARQUET_INT32S] = {TYPE_INT32, AS_UINT32, true, false},
};

/* A column of the row group that is collected. */
struct column {
    struct nytp_strings *dictionary; /* of texts; 0 is "" */
    int64_t *values;                 /* numbers, or of texts their numbers in the dictionary */
    uint8_t *levels; /* of lists: enum level bits, one for each element or empty list */
    uint32_t n_values, values_capacity, n_levels, levels_capacity;
};

enum level {
    CONTINUES = 1,
    DEFINED = 2
};

/* A column of a row group that was written. */
struct chunk {
    uint64_t dictionary_offset, data_offset; /* in the file; dictionary 0 = none */
    uint64_t plain_bytes, packed_bytes;      /* with the pages' headers */
    uint32_t n_values;                       /* levels counted */
    bool has_range;
    int64_t min, max;
};

struct nytp_parquet {
    const struct nytp_parquet_column *kinds;
    struct nytp_out *out;
    struct column *columns;
    uint32_t n_columns;
    uint32_t n_rows; /* of the group */
    uint64_t total_rows;
    struct chunk *chunks; /* n_columns of each group */
    uint32_t n_chunks, chunks_capacity;
    uint32_t *group_rows;
    uint32_t n_groups, groups_capacity;
    bool is_full; /* the group, when its row is complete */
    bool failed;  /* memory */
};

/* ---- collecting ---- */

static void add_value(struct nytp_parquet *file, uint32_t column, int64_t value)
{
    struct column *c = &file->columns[column];
    if (!nytp_grow(&c->values, &c->values_capacity, c->n_values, sizeof *c->values)) {
        file->failed = true;
        return;
    }
    c->values[c->n_values++] = value;
    file->is_full |= c->n_values >= GROUP_VALUES;
}

static void add_level(struct nytp_parquet *file, uint32_t column, unsigned level)
{
    struct column *c = &file->columns[column];
    if (!nytp_grow(&c->levels, &c->levels_capacity, c->n_levels, 1))
        file->failed = true;
    else
        c->levels[c->n_levels++] = (uint8_t)level;
}

void nytp_parquet_int(struct nytp_parquet *file, uint32_t column, int64_t value)
{
    add_value(file, column, value);
}

void nytp_parquet_text(struct nytp_parquet *file, uint32_t column, struct nytp_name text)
{
    struct column *c = &file->columns[column];
    if (c->dictionary == NULL)
        c->dictionary = nytp_strings_new();
    const uint32_t id = c->dictionary == NULL
                            ? UINT32_MAX
                            : nytp_strings_intern_mixed(c->dictionary, text.ptr, text.len);
    file->failed |= id == UINT32_MAX;
    add_value(file, column, id);
}

void nytp_parquet_texts(struct nytp_parquet *file, uint32_t column,
                        const struct nytp_name *texts, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        nytp_parquet_text(file, column, texts[i]);
        add_level(file, column, i > 0 ? DEFINED | CONTINUES : DEFINED);
    }
    if (n == 0)
        add_level(file, column, 0);
}

void nytp_parquet_ints(struct nytp_parquet *file, uint32_t column, const uint32_t *values,
                       uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        add_value(file, column, values[i]);
        add_level(file, column, i > 0 ? DEFINED | CONTINUES : DEFINED);
    }
    if (n == 0)
        add_level(file, column, 0);
}

/* ---- the hybrid of runs and packed bits ---- */

struct hybrid {
    struct nytp_bytes *to;
    unsigned width;       /* bits of a value */
    uint32_t *literals;   /* values that are no run yet */
    uint32_t n, capacity; /* a whole number of eights, but at the end */
    bool failed;
};

static void put_literals(struct hybrid *h)
{
    const uint32_t n_groups = (h->n + 7) / 8;
    uint64_t bits = 0;
    unsigned n_bits = 0;
    if (h->n == 0)
        return;
    nytp_bytes_varint(h->to, (uint64_t)n_groups << 1 | 1);
    for (uint32_t i = 0; i < n_groups * 8; i++) {
        bits |= (uint64_t)(i < h->n ? h->literals[i] : 0) << n_bits;
        for (n_bits += h->width; n_bits >= 8; n_bits -= 8, bits >>= 8) {
            const uint8_t byte = (uint8_t)bits;
            nytp_bytes_add(h->to, &byte, 1);
        }
    }
    h->n = 0;
}

static void put_run(struct hybrid *h, uint32_t value, uint32_t n)
{
    nytp_bytes_varint(h->to, (uint64_t)n << 1);
    for (unsigned shift = 0; shift < h->width; shift += 8) {
        const uint8_t byte = (uint8_t)(value >> shift);
        nytp_bytes_add(h->to, &byte, 1);
    }
}

static void add_literal(struct hybrid *h, uint32_t value)
{
    if (nytp_grow(&h->literals, &h->capacity, h->n, sizeof *h->literals))
        h->literals[h->n++] = value;
    else
        h->failed = true;
}

static uint32_t value_at(const struct column *column, uint32_t i, unsigned level)
{
    return level != 0 ? (column->levels[i] & level) != 0 : (uint32_t)column->values[i];
}

/* The bits `level` of the levels, or with 0 the values. False when memory is out. */
static bool put_hybrid(struct nytp_bytes *to, const struct column *column, unsigned level,
                       unsigned width)
{
    struct hybrid h = {.to = to, .width = width};
    const uint32_t n = level != 0 ? column->n_levels : column->n_values;
    for (uint32_t i = 0, end; i < n && !h.failed; i = end) {
        const uint32_t value = value_at(column, i, level);
        for (end = i + 1; end < n && value_at(column, end, level) == value;)
            end++;
        uint32_t left = end - i;
        for (; left > 0 && h.n % 8 != 0; left--) /* eights must be whole before a run */
            add_literal(&h, value);
        if (left >= 8) {
            put_literals(&h);
            put_run(&h, value, left);
            left = 0;
        }
        for (; left > 0; left--)
            add_literal(&h, value);
    }
    put_literals(&h);
    free(h.literals);
    return !h.failed;
}

/* ---- pages ---- */

static bool add_packed(void *context, const uint8_t *bytes, size_t len)
{
    nytp_bytes_add(context, bytes, len);
    return true;
}

static bool pack_page(const struct nytp_bytes *page, struct nytp_bytes *packed)
{
    struct nytp_deflate *deflate = nytp_deflate_new(LEVEL, NYTP_GZIP);
    if (deflate == NULL)
        return false;
    size_t done = 0, len;
    do {
        len = page->len - done < NYTP_DEFLATE_ROOM ? page->len - done : NYTP_DEFLATE_ROOM;
        if (len > 0)
            memcpy(nytp_deflate_room(deflate), page->at + done, len);
        done += len;
        nytp_deflate_run(deflate, len, done == page->len ? NYTP_FLUSH_FINISH : NYTP_FLUSH_NONE,
                         add_packed, packed);
    } while (done < page->len);
    nytp_deflate_free(deflate);
    return !packed->failed;
}

static void describe_page(struct nytp_thrift *t, int type, uint32_t n_values, int encoding)
{
    if (type == DICTIONARY_PAGE) {
        nytp_thrift_struct(t, 7);
        nytp_thrift_i32(t, 1, (int32_t)n_values);
        nytp_thrift_i32(t, 2, PLAIN);
    } else {
        nytp_thrift_struct(t, 5);
        nytp_thrift_i32(t, 1, (int32_t)n_values);
        nytp_thrift_i32(t, 2, encoding);
        nytp_thrift_i32(t, 3, RLE); /* of levels */
        nytp_thrift_i32(t, 4, RLE);
    }
    nytp_thrift_end(t);
}

/* Header and compressed bytes; the chunk's sizes grow by them. */
static void put_page(struct nytp_parquet *file, struct chunk *chunk, int type,
                     const struct nytp_bytes *page, uint32_t n_values, int encoding)
{
    struct nytp_bytes packed = {0};
    struct nytp_thrift header = {0};
    if (page->failed || page->len > INT32_MAX || !pack_page(page, &packed)) {
        file->failed = true;
        nytp_bytes_free(&packed);
        return;
    }
    nytp_thrift_begin(&header);
    nytp_thrift_i32(&header, 1, type);
    nytp_thrift_i32(&header, 2, (int32_t)page->len);
    nytp_thrift_i32(&header, 3, (int32_t)packed.len);
    describe_page(&header, type, n_values, encoding);
    nytp_thrift_end(&header);
    nytp_put(file->out, header.bytes.at, header.bytes.len);
    nytp_put(file->out, packed.at, packed.len);
    chunk->plain_bytes += header.bytes.len + page->len;
    chunk->packed_bytes += header.bytes.len + packed.len;
    file->failed |= header.bytes.failed;
    nytp_bytes_free(&header.bytes);
    nytp_bytes_free(&packed);
}

static void put_dictionary(struct nytp_parquet *file, struct chunk *chunk,
                           const struct nytp_strings *dictionary)
{
    struct nytp_bytes page = {0};
    const uint32_t n = nytp_strings_count(dictionary);
    for (uint32_t i = 0; i < n; i++) {
        const struct nytp_name text = nytp_strings_get(dictionary, i);
        nytp_bytes_u32(&page, text.len);
        nytp_bytes_add(&page, text.ptr, text.len);
    }
    put_page(file, chunk, DICTIONARY_PAGE, &page, n, PLAIN);
    nytp_bytes_free(&page);
}

static bool add_levels(struct nytp_bytes *page, const struct column *column, enum level level)
{
    struct nytp_bytes levels = {0};
    const bool ok = put_hybrid(&levels, column, level, 1) && !levels.failed;
    if (ok) {
        nytp_bytes_u32(page, (uint32_t)levels.len);
        nytp_bytes_add(page, levels.at, levels.len);
    }
    nytp_bytes_free(&levels);
    return ok;
}

static bool add_text_values(struct nytp_bytes *page, const struct column *column)
{
    uint8_t width = 1;
    while (column->dictionary != NULL && width < 32 &&
           (nytp_strings_count(column->dictionary) - 1) >> width != 0)
        width++;
    nytp_bytes_add(page, &width, 1);
    return put_hybrid(page, column, 0, width);
}

static void add_numbers(struct nytp_bytes *page, const struct column *column, bool is_long)
{
    for (uint32_t i = 0; i < column->n_values; i++)
        if (is_long)
            nytp_bytes_u64(page, (uint64_t)column->values[i]);
        else
            nytp_bytes_u32(page, (uint32_t)column->values[i]);
}

static void find_range(struct chunk *chunk, const struct column *column)
{
    chunk->has_range = column->n_values > 0;
    for (uint32_t i = 0; i < column->n_values; i++) {
        const int64_t value = column->values[i];
        chunk->min = i == 0 || value < chunk->min ? value : chunk->min;
        chunk->max = i == 0 || value > chunk->max ? value : chunk->max;
    }
}

/* Write a column of the row group: its dictionary, if it has one, and its data. */
static void put_chunk(struct nytp_parquet *file, uint32_t column)
{
    const struct kind *kind = &kinds[file->kinds[column].kind];
    struct column *c = &file->columns[column];
    struct chunk chunk = {.n_values = kind->is_list ? c->n_levels : c->n_values};
    struct nytp_bytes page = {0};
    if (kind->is_text && c->dictionary == NULL) /* lists without an element */
        c->dictionary = nytp_strings_new();
    if (kind->is_text && c->dictionary != NULL) {
        chunk.dictionary_offset = file->out->n_bytes;
        put_dictionary(file, &chunk, c->dictionary);
    }
    if (kind->is_list && (!add_levels(&page, c, CONTINUES) || !add_levels(&page, c, DEFINED)))
        file->failed = true;
    if (!kind->is_text) {
        add_numbers(&page, c, kind->type == TYPE_INT64);
        find_range(&chunk, c);
    } else if (c->dictionary == NULL || !add_text_values(&page, c)) {
        file->failed = true;
    }
    chunk.data_offset = file->out->n_bytes;
    put_page(file, &chunk, DATA_PAGE, &page, chunk.n_values,
             kind->is_text ? RLE_DICTIONARY : PLAIN);
    nytp_bytes_free(&page);
    if (nytp_grow(&file->chunks, &file->chunks_capacity, file->n_chunks, sizeof chunk))
        file->chunks[file->n_chunks++] = chunk;
    else
        file->failed = true;
}

static void put_group(struct nytp_parquet *file)
{
    for (uint32_t i = 0; i < file->n_columns && !file->failed; i++) {
        put_chunk(file, i);
        struct column *column = &file->columns[i];
        nytp_strings_free(column->dictionary);
        column->dictionary = NULL;
        column->n_values = column->n_levels = 0;
    }
    if (!nytp_grow(&file->group_rows, &file->groups_capacity, file->n_groups,
                   sizeof *file->group_rows))
        file->failed = true;
    else
        file->group_rows[file->n_groups++] = file->n_rows;
    file->total_rows += file->n_rows;
    file->n_rows = 0;
    file->is_full = false;
}

void nytp_parquet_end_row(struct nytp_parquet *file)
{
    file->n_rows++;
    if (!file->failed && (file->is_full || file->n_rows == GROUP_ROWS))
        put_group(file);
}

/* ---- the footer ---- */

static void describe_element(struct nytp_thrift *t, int type, int repetition, const char *name,
                             int n_children, int converted)
{
    nytp_thrift_begin(t);
    if (type >= 0)
        nytp_thrift_i32(t, 1, type);
    if (repetition >= 0)
        nytp_thrift_i32(t, 3, repetition);
    nytp_thrift_binary(t, 4, name, strlen(name));
    if (n_children > 0)
        nytp_thrift_i32(t, 5, n_children);
    if (converted >= 0)
        nytp_thrift_i32(t, 6, converted);
    nytp_thrift_end(t);
}

static void describe_columns(struct nytp_thrift *t, const struct nytp_parquet *file)
{
    uint32_t n = 1;
    for (uint32_t i = 0; i < file->n_columns; i++)
        n += kinds[file->kinds[i].kind].is_list ? 3 : 1;
    nytp_thrift_list(t, 2, NYTP_THRIFT_STRUCT, n);
    describe_element(t, -1, -1, "schema", (int)file->n_columns, -1);
    for (uint32_t i = 0; i < file->n_columns; i++) {
        const struct kind *kind = &kinds[file->kinds[i].kind];
        const char *name = file->kinds[i].name;
        if (kind->is_list) {
            describe_element(t, -1, REQUIRED, name, 1, AS_LIST);
            describe_element(t, -1, REPEATED, "list", 1, -1);
            name = "element";
        }
        describe_element(t, kind->type, REQUIRED, name, 0, kind->converted);
    }
}

static void describe_range(struct nytp_thrift *t, const struct chunk *chunk, bool is_long)
{
    struct nytp_bytes ends = {0};
    const size_t len = is_long ? 8 : 4;
    nytp_bytes_u64(&ends, (uint64_t)chunk->max);
    nytp_bytes_u64(&ends, (uint64_t)chunk->min);
    nytp_thrift_struct(t, 12);
    if (!ends.failed) {
        nytp_thrift_binary(t, 5, ends.at, len);
        nytp_thrift_binary(t, 6, ends.at + 8, len);
    }
    nytp_thrift_end(t);
    nytp_bytes_free(&ends);
}

/* Tell the footer where the column's chunk is and how it is encoded. */
static void describe_chunk(struct nytp_thrift *t, const struct nytp_parquet_column *column,
                           const struct chunk *chunk)
{
    const struct kind *kind = &kinds[column->kind];
    const bool has_dictionary = chunk->dictionary_offset != 0;
    nytp_thrift_begin(t);
    nytp_thrift_i64(t, 2,
                    (int64_t)(has_dictionary ? chunk->dictionary_offset : chunk->data_offset));
    nytp_thrift_struct(t, 3);
    nytp_thrift_i32(t, 1, kind->type);
    nytp_thrift_list(t, 2, NYTP_THRIFT_I32, 3);
    nytp_thrift_element_i32(t, PLAIN);
    nytp_thrift_element_i32(t, RLE);
    nytp_thrift_element_i32(t, has_dictionary ? RLE_DICTIONARY : PLAIN);
    nytp_thrift_list(t, 3, NYTP_THRIFT_BINARY, kind->is_list ? 3 : 1);
    nytp_thrift_element_binary(t, column->name, strlen(column->name));
    if (kind->is_list) {
        nytp_thrift_element_binary(t, "list", 4);
        nytp_thrift_element_binary(t, "element", 7);
    }
    nytp_thrift_i32(t, 4, GZIP);
    nytp_thrift_i64(t, 5, chunk->n_values);
    nytp_thrift_i64(t, 6, (int64_t)chunk->plain_bytes);
    nytp_thrift_i64(t, 7, (int64_t)chunk->packed_bytes);
    nytp_thrift_i64(t, 9, (int64_t)chunk->data_offset);
    if (has_dictionary)
        nytp_thrift_i64(t, 11, (int64_t)chunk->dictionary_offset);
    if (chunk->has_range)
        describe_range(t, chunk, kind->type == TYPE_INT64);
    nytp_thrift_end(t);
    nytp_thrift_end(t);
}

static void describe_groups(struct nytp_thrift *t, const struct nytp_parquet *file)
{
    nytp_thrift_list(t, 4, NYTP_THRIFT_STRUCT, file->n_groups);
    for (uint32_t g = 0; g < file->n_groups; g++) {
        const struct chunk *chunks = file->chunks + (size_t)g * file->n_columns;
        uint64_t bytes = 0;
        nytp_thrift_begin(t);
        nytp_thrift_list(t, 1, NYTP_THRIFT_STRUCT, file->n_columns);
        for (uint32_t i = 0; i < file->n_columns; i++) {
            describe_chunk(t, &file->kinds[i], &chunks[i]);
            bytes += chunks[i].plain_bytes;
        }
        nytp_thrift_i64(t, 2, (int64_t)bytes);
        nytp_thrift_i64(t, 3, file->group_rows[g]);
        nytp_thrift_end(t);
    }
}

/* Write what the file holds and where, which readers look at first. */
static void put_footer(struct nytp_parquet *file)
{
    static const char created_by[] = "nytp-export version " NYTP_VERSION;
    struct nytp_thrift t = {0};
    nytp_thrift_begin(&t);
    nytp_thrift_i32(&t, 1, 1);
    describe_columns(&t, file);
    nytp_thrift_i64(&t, 3, (int64_t)file->total_rows);
    describe_groups(&t, file);
    nytp_thrift_binary(&t, 6, created_by, sizeof created_by - 1);
    nytp_thrift_list(&t, 7, NYTP_THRIFT_STRUCT, file->n_columns);
    for (uint32_t i = 0; i < file->n_columns; i++) { /* ranges are in the order of the type */
        nytp_thrift_begin(&t);
        nytp_thrift_struct(&t, 1);
        nytp_thrift_end(&t);
        nytp_thrift_end(&t);
    }
    nytp_thrift_end(&t);
    const size_t len = t.bytes.len;
    nytp_bytes_u32(&t.bytes, (uint32_t)len);
    nytp_bytes_add(&t.bytes, "PAR1", 4);
    file->failed |= t.bytes.failed;
    if (!file->failed)
        nytp_put(file->out, t.bytes.at, t.bytes.len);
    nytp_bytes_free(&t.bytes);
}

/* ---- the file ---- */

struct nytp_parquet *nytp_parquet_new(const struct nytp_parquet_column *columns, uint32_t n,
                                      struct nytp_out *out)
{
    struct nytp_parquet *file = calloc(1, sizeof *file);
    if (file == NULL)
        return NULL;
    *file = (struct nytp_parquet){.kinds = columns, .n_columns = n, .out = out};
    file->columns = calloc(n, sizeof *file->columns);
    if (file->columns == NULL) {
        free(file);
        return NULL;
    }
    nytp_puts(out, "PAR1");
    return file;
}

bool nytp_parquet_finish(struct nytp_parquet *file)
{
    if (!file->failed && file->n_rows > 0)
        put_group(file);
    if (!file->failed)
        put_footer(file);
    const bool ok = !file->failed;
    for (uint32_t i = 0; i < file->n_columns; i++) {
        nytp_strings_free(file->columns[i].dictionary);
        free(file->columns[i].values);
        free(file->columns[i].levels);
    }
    free(file->columns);
    free(file->chunks);
    free(file->group_rows);
    free(file);
    return ok;
}
