/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Thrift's compact protocol, the writing half; see thrift.h.
 */
#include "thrift.h"

#include <stdlib.h>
#include <string.h>

void nytp_bytes_add(struct nytp_bytes *bytes, const void *from, size_t len)
{
    if (bytes->failed || len == 0)
        return;
    if (len > bytes->size - bytes->len) {
        size_t size = bytes->size > 0 ? bytes->size : 256;
        while (size - bytes->len < len && size < SIZE_MAX / 2)
            size *= 2;
        uint8_t *at = size - bytes->len < len ? NULL : realloc(bytes->at, size);
        if (at == NULL) {
            bytes->failed = true;
            return;
        }
        bytes->at = at;
        bytes->size = size;
    }
    memcpy(bytes->at + bytes->len, from, len);
    bytes->len += len;
}

static void add_byte(struct nytp_bytes *bytes, unsigned value)
{
    const uint8_t byte = (uint8_t)value;
    nytp_bytes_add(bytes, &byte, 1);
}

void nytp_bytes_varint(struct nytp_bytes *bytes, uint64_t value)
{
    while (value >= 0x80) {
        add_byte(bytes, (unsigned)(value & 0x7f) | 0x80);
        value >>= 7;
    }
    add_byte(bytes, (unsigned)value);
}

void nytp_bytes_u32(struct nytp_bytes *bytes, uint32_t value)
{
    const uint8_t four[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
                             (uint8_t)(value >> 24)};
    nytp_bytes_add(bytes, four, sizeof four);
}

void nytp_bytes_u64(struct nytp_bytes *bytes, uint64_t value)
{
    nytp_bytes_u32(bytes, (uint32_t)value);
    nytp_bytes_u32(bytes, (uint32_t)(value >> 32));
}

void nytp_bytes_free(struct nytp_bytes *bytes)
{
    free(bytes->at);
    *bytes = (struct nytp_bytes){0};
}

/* Numbers near 0 of either sign become small ones. */
static void add_zigzag(struct nytp_bytes *bytes, int64_t value)
{
    nytp_bytes_varint(bytes, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

static void begin_field(struct nytp_thrift *t, int field, enum nytp_thrift_type type)
{
    int *last = &t->last[t->depth - 1];
    if (field > *last && field - *last <= 15) {
        add_byte(&t->bytes, (unsigned)(field - *last) << 4 | type);
    } else {
        add_byte(&t->bytes, type);
        add_zigzag(&t->bytes, field);
    }
    *last = field;
}

void nytp_thrift_begin(struct nytp_thrift *t)
{
    t->last[t->depth++] = 0;
}

void nytp_thrift_end(struct nytp_thrift *t)
{
    add_byte(&t->bytes, 0);
    t->depth--;
}

void nytp_thrift_struct(struct nytp_thrift *t, int field)
{
    begin_field(t, field, NYTP_THRIFT_STRUCT);
    nytp_thrift_begin(t);
}

void nytp_thrift_i32(struct nytp_thrift *t, int field, int32_t value)
{
    begin_field(t, field, NYTP_THRIFT_I32);
    add_zigzag(&t->bytes, value);
}

void nytp_thrift_i64(struct nytp_thrift *t, int field, int64_t value)
{
    begin_field(t, field, NYTP_THRIFT_I64);
    add_zigzag(&t->bytes, value);
}

void nytp_thrift_binary(struct nytp_thrift *t, int field, const void *from, size_t len)
{
    begin_field(t, field, NYTP_THRIFT_BINARY);
    nytp_thrift_element_binary(t, from, len);
}

void nytp_thrift_list(struct nytp_thrift *t, int field, enum nytp_thrift_type type, uint32_t n)
{
    begin_field(t, field, NYTP_THRIFT_LIST);
    add_byte(&t->bytes, (n < 15 ? n : 15) << 4 | type);
    if (n >= 15)
        nytp_bytes_varint(&t->bytes, n);
}

void nytp_thrift_element_i32(struct nytp_thrift *t, int32_t value)
{
    add_zigzag(&t->bytes, value);
}

void nytp_thrift_element_binary(struct nytp_thrift *t, const void *from, size_t len)
{
    nytp_bytes_varint(&t->bytes, len);
    nytp_bytes_add(&t->bytes, from, len);
}
