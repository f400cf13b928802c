/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The protobuf encoder against the examples of the wire format's documentation, and nested
 * messages around the length at which their length grows by a byte.
 */
#include "exporters/base/protobuf.h"
#include "t/tap.h"

#include <stdlib.h>

static bool holds(struct nytp_pb *pb, const char *want, size_t len)
{
    struct nytp_out *out = nytp_out_memory(true);
    nytp_pb_flush(pb, out);
    size_t got_len;
    const uint8_t *got = nytp_out_bytes(out, &got_len);
    const bool same = got_len == len && memcmp(got, want, len) == 0;
    for (size_t i = 0; !same && i < got_len; i++)
        printf("%s%02x%s", i == 0 ? "# got " : "", got[i], i + 1 == got_len ? "\n" : " ");
    nytp_out_discard(out);
    return same;
}

#define HOLDS(pb, literal) holds(pb, literal, sizeof literal - 1)

/* Reads back what nested_of() wrote: two nested fields 1 and a payload of `len` bytes. */
static bool reads_back(size_t len)
{
    struct nytp_pb pb = {0};
    uint8_t *payload = malloc(len + 1);
    memset(payload, 'x', len + 1);
    const size_t outer = nytp_pb_begin(&pb, 1);
    const size_t inner = nytp_pb_begin(&pb, 1);
    nytp_pb_bytes(&pb, 15, payload, len);
    nytp_pb_end(&pb, inner);
    nytp_pb_end(&pb, outer);
    nytp_pb_uint64(&pb, 2, 1);

    bool same = true;
    size_t at = 0, end = pb.len;
    for (int depth = 0; depth < 3 && same; depth++) {
        same = pb.bytes[at++] == (depth < 2 ? 0x0a : 0x7a);
        size_t value = 0;
        unsigned shift = 0;
        do {
            value |= (size_t)(pb.bytes[at] & 0x7f) << shift;
            shift += 7;
        } while (pb.bytes[at++] & 0x80);
        const size_t behind = depth == 0 ? 2 : 0;
        same = same && at + value + behind == end;
        end = at + value;
    }
    same = same && end - at == len && memcmp(pb.bytes + at, payload, len) == 0;
    free(payload);
    nytp_pb_free(&pb);
    return same;
}

int main(void)
{
    struct nytp_pb pb = {0};
    nytp_pb_uint64(&pb, 1, 150);
    ok(HOLDS(&pb, "\x08\x96\x01"), "a varint field");
    nytp_pb_bytes(&pb, 2, "testing", 7);
    ok(HOLDS(&pb, "\x12\x07testing"), "a string field");
    size_t mark = nytp_pb_begin(&pb, 3);
    nytp_pb_uint64(&pb, 1, 150);
    nytp_pb_end(&pb, mark);
    ok(HOLDS(&pb, "\x1a\x03\x08\x96\x01"), "a nested message");
    mark = nytp_pb_begin(&pb, 6);
    nytp_pb_varint(&pb, 3);
    nytp_pb_varint(&pb, 270);
    nytp_pb_varint(&pb, 86942);
    nytp_pb_end(&pb, mark);
    ok(HOLDS(&pb, "\x32\x06\x03\x8e\x02\x9e\xa7\x05"), "a packed list");
    nytp_pb_int64(&pb, 1, -2);
    ok(HOLDS(&pb, "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "a negative int64");
    nytp_pb_bool(&pb, 4, true);
    nytp_pb_bool(&pb, 5, false);
    nytp_pb_uint64(&pb, 5, 0);
    nytp_pb_bytes(&pb, 6, "", 0);
    ok(HOLDS(&pb, "\x20\x01\x32\x00"), "zero is left out, an empty string is not");
    nytp_pb_free(&pb);

    bool all = true;
    for (size_t len = 0; len < 400; len++)
        all = all && reads_back(len);
    for (size_t len = 16370; len < 16400; len++)
        all = all && reads_back(len);
    ok(all, "nested messages of every length read back");
    return done_testing();
}
