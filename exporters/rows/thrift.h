/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Thrift's compact protocol, the writing half, as far as Parquet needs it, over a buffer that
 * grows (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md).
 *
 *     struct nytp_thrift t = {0};
 *     nytp_thrift_begin(&t);                  // the outermost struct
 *     nytp_thrift_int(&t, 1, 42);             // its field 1; fields come in rising order
 *     nytp_thrift_struct(&t, 2);              // field 2 is a struct
 *     nytp_thrift_end(&t);
 *     nytp_thrift_end(&t);
 */
#ifndef NYTP_THRIFT_H
#define NYTP_THRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes; zeroed = empty. After a failed allocation `failed` is set and appends do nothing. */
struct nytp_bytes {
    uint8_t *at;
    size_t len, size;
    bool failed;
};

void nytp_bytes_add(struct nytp_bytes *bytes, const void *from, size_t len);
void nytp_bytes_varint(struct nytp_bytes *bytes, uint64_t value);
void nytp_bytes_u32(struct nytp_bytes *bytes, uint32_t value); /* 4 bytes, the lowest first */
void nytp_bytes_u64(struct nytp_bytes *bytes, uint64_t value);
void nytp_bytes_free(struct nytp_bytes *bytes);

#define NYTP_THRIFT_DEPTH 8 /* structs that may be open at a time */

struct nytp_thrift {
    struct nytp_bytes bytes;
    int last[NYTP_THRIFT_DEPTH]; /* field written last, of each open struct */
    int depth;
};

enum nytp_thrift_type {
    NYTP_THRIFT_I32 = 5,
    NYTP_THRIFT_I64 = 6,
    NYTP_THRIFT_BINARY = 8,
    NYTP_THRIFT_LIST = 9,
    NYTP_THRIFT_STRUCT = 12,
};

/* A struct that is no field: the outermost one or an element of a list. */
void nytp_thrift_begin(struct nytp_thrift *t);
void nytp_thrift_end(struct nytp_thrift *t);

/* Put a field. A struct is open from here to its nytp_thrift_end(). */
void nytp_thrift_struct(struct nytp_thrift *t, int field);
void nytp_thrift_i32(struct nytp_thrift *t, int field, int32_t value);
void nytp_thrift_i64(struct nytp_thrift *t, int field, int64_t value);
void nytp_thrift_binary(struct nytp_thrift *t, int field, const void *from, size_t len);

/* n elements follow: structs as above, or bare values. */
void nytp_thrift_list(struct nytp_thrift *t, int field, enum nytp_thrift_type type, uint32_t n);
void nytp_thrift_element_i32(struct nytp_thrift *t, int32_t value);
void nytp_thrift_element_binary(struct nytp_thrift *t, const void *from, size_t len);

#endif
