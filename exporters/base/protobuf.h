/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Protocol buffers, the writing half: fields are appended to a buffer that grows, nested
 * messages in place.
 *
 *     struct nytp_pb pb = {0};
 *     const size_t mark = nytp_pb_begin(&pb, 2);       // message field 2
 *     nytp_pb_int64(&pb, 1, value);
 *     nytp_pb_end(&pb, mark);
 *     nytp_pb_flush(&pb, out);                         // between top-level fields
 *     nytp_pb_free(&pb);
 *
 * Wire format: https://protobuf.dev/programming-guides/encoding/. Scalar fields equal to 0
 * (false, empty) are left out, as proto3 writers do.
 */
#ifndef NYTP_PROTOBUF_H
#define NYTP_PROTOBUF_H

#include "out.h"

/* Zeroed = empty. After a failed allocation `failed` is set and appends do nothing;
 * nytp_pb_flush() then passes the failure on to the output. */
struct nytp_pb {
    uint8_t *bytes;
    size_t len;
    uint32_t capacity;
    bool failed;
};

void nytp_pb_free(struct nytp_pb *pb);

/* A scalar field, also a bool; negative int64 take ten bytes, as the wire format has it. */
void nytp_pb_int64(struct nytp_pb *pb, uint32_t field, int64_t value);

/* A string or bytes field; written even when empty (repeated strings need it). */
void nytp_pb_bytes(struct nytp_pb *pb, uint32_t field, const void *bytes, size_t len);

/* Open a length-delimited field: a nested message, or a packed list whose values follow by
 * nytp_pb_varint(). Give what it returns to nytp_pb_end(). Nests. */
size_t nytp_pb_begin(struct nytp_pb *pb, uint32_t field);
void nytp_pb_end(struct nytp_pb *pb, size_t mark);

/* A bare varint, for packed lists; int64 by a cast to uint64_t. */
void nytp_pb_varint(struct nytp_pb *pb, uint64_t value);

/* Writes the collected bytes to the output and begins anew; never inside begin/end. */
void nytp_pb_flush(struct nytp_pb *pb, struct nytp_out *out);

#endif
