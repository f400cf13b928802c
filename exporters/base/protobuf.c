/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Protocol buffer encoder; see protobuf.h. A nested message's length stands before it and is
 * known after it: one byte is kept free, and only a message of 128 bytes or more is moved to
 * make room for a longer length.
 */
#include "protobuf.h"

#include "formats/base/arena.h"

#include <stdlib.h>
#include <string.h>

#define MAX_VARINT 10

enum wire_type {
    WIRE_VARINT = 0,
    WIRE_LEN = 2
};

void nytp_pb_free(struct nytp_pb *pb)
{
    free(pb->bytes);
    memset(pb, 0, sizeof *pb);
}

static bool make_room(struct nytp_pb *pb, size_t need)
{
    if (!pb->failed && need > pb->capacity - pb->len)
        pb->failed = !nytp_reserve(&pb->bytes, &pb->capacity, pb->len + need, 1);
    return !pb->failed;
}

static size_t varint_len(uint64_t value)
{
    size_t len = 1;
    for (; value >= 0x80; value >>= 7)
        len++;
    return len;
}

static size_t encode_varint(uint8_t *at, uint64_t value)
{
    size_t len = 0;
    for (; value >= 0x80; value >>= 7)
        at[len++] = (uint8_t)(value | 0x80);
    at[len++] = (uint8_t)value;
    return len;
}

void nytp_pb_varint(struct nytp_pb *pb, uint64_t value)
{
    if (make_room(pb, MAX_VARINT))
        pb->len += encode_varint(pb->bytes + pb->len, value);
}

static void put_key(struct nytp_pb *pb, uint32_t field, enum wire_type type)
{
    nytp_pb_varint(pb, (uint64_t)field << 3 | type);
}

void nytp_pb_int64(struct nytp_pb *pb, uint32_t field, int64_t value)
{
    if (value == 0)
        return;
    put_key(pb, field, WIRE_VARINT);
    nytp_pb_varint(pb, (uint64_t)value);
}

void nytp_pb_bytes(struct nytp_pb *pb, uint32_t field, const void *bytes, size_t len)
{
    put_key(pb, field, WIRE_LEN);
    nytp_pb_varint(pb, len);
    if (len == 0 || !make_room(pb, len))
        return;
    memcpy(pb->bytes + pb->len, bytes, len);
    pb->len += len;
}

size_t nytp_pb_begin(struct nytp_pb *pb, uint32_t field)
{
    put_key(pb, field, WIRE_LEN);
    if (make_room(pb, 1))
        pb->len++;
    return pb->len;
}

void nytp_pb_end(struct nytp_pb *pb, size_t mark)
{
    if (pb->failed)
        return;
    const size_t body = pb->len - mark;
    const size_t extra = varint_len(body) - 1;
    if (extra > 0) {
        if (!make_room(pb, extra))
            return;
        memmove(pb->bytes + mark + extra, pb->bytes + mark, body);
        pb->len += extra;
    }
    encode_varint(pb->bytes + mark - 1, body);
}

void nytp_pb_flush(struct nytp_pb *pb, struct nytp_out *out)
{
    if (pb->failed)
        nytp_error_set(&out->error, NYTP_ERR_MEMORY, "out of memory: message of %zu bytes",
                       pb->len);
    else if (pb->len > 0)
        nytp_put(out, pb->bytes, pb->len);
    pb->len = 0;
}
