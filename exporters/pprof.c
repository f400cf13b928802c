/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * pprof: profile.proto in its binary form. The message is in pprof/pprof_message.c.
 *
 * A file is gzip-compressed, like pprof's own. A pipe gets the plain message behind eight
 * bytes that pprof loses: it reads that many to detect another format, and continues behind
 * them if it cannot seek. Other readers see a field that they do not know.
 */
#include "exporters/compare/diff.h"
#include "exporters/base/exporter.h"
#include "exporters/pprof/pprof_message.h"
#include "exporters/base/protobuf.h"

#define MAX_NESTED 4 /* open messages inside one another */

struct binary {
    struct nytp_pprof_encoder encoder;
    struct nytp_out *out;
    struct nytp_pb pb;
    size_t marks[MAX_NESTED]; /* of the open messages, outermost first */
    int nested;
};

/* Called after each field. Flushes the bytes after a field of the profile itself (not of a
 * message inside it), so that the buffer holds one field at a time. */
static void field_done(struct binary *b)
{
    if (b->nested == 0)
        nytp_pb_flush(&b->pb, b->out);
}

static void binary_open(struct nytp_pprof_encoder *encoder, enum nytp_pprof_field field)
{
    struct binary *b = (struct binary *)encoder;
    b->marks[b->nested++] = nytp_pb_begin(&b->pb, nytp_pprof_numbers[field]);
}

static void binary_close(struct nytp_pprof_encoder *encoder)
{
    struct binary *b = (struct binary *)encoder;
    nytp_pb_end(&b->pb, b->marks[--b->nested]);
    field_done(b);
}

static void binary_integer(struct nytp_pprof_encoder *encoder, enum nytp_pprof_field field,
                           int64_t value)
{
    struct binary *b = (struct binary *)encoder;
    nytp_pb_int64(&b->pb, nytp_pprof_numbers[field], value);
    field_done(b);
}

static void binary_flag(struct nytp_pprof_encoder *encoder, enum nytp_pprof_field field)
{
    binary_integer(encoder, field, 1);
}

static void binary_integers(struct nytp_pprof_encoder *encoder, enum nytp_pprof_field field,
                            const int64_t *values, size_t n)
{
    struct binary *b = (struct binary *)encoder;
    const size_t mark = nytp_pb_begin(&b->pb, nytp_pprof_numbers[field]);
    for (size_t i = 0; i < n; i++)
        nytp_pb_varint(&b->pb, (uint64_t)values[i]);
    nytp_pb_end(&b->pb, mark);
    field_done(b);
}

static void binary_text(struct nytp_pprof_encoder *encoder, enum nytp_pprof_field field,
                        struct nytp_name text)
{
    struct binary *b = (struct binary *)encoder;
    nytp_pb_bytes(&b->pb, nytp_pprof_numbers[field], text.ptr, text.len);
    field_done(b);
}

static bool write_message(const struct nytp_profile *profile, const uint8_t *side_of_recording,
                          const struct nytp_export_options *options, struct nytp_out *out)
{
    /* field 2000, a string of 5 NUL bytes */
    static const uint8_t to_lose[8] = {0x82, 0x7d, 0x05};
    struct binary b = {
        .encoder = {.open = binary_open,
                    .close = binary_close,
                    .integer = binary_integer,
                    .flag = binary_flag,
                    .integers = binary_integers,
                    .text = binary_text},
        .out = out,
    };
    if (out->is_pipe)
        nytp_put(out, to_lose, sizeof to_lose);
    else
        nytp_out_gzip(out);
    const bool ok = nytp_pprof_message(profile, side_of_recording, options, out, &b.encoder);
    nytp_pb_free(&b.pb);
    return ok && out->error.status == NYTP_OK;
}

static bool write_pprof(const struct nytp_profile *profile,
                        const struct nytp_export_options *options, struct nytp_out *out)
{
    return write_message(profile, NULL, options, out);
}

static bool write_pprof_diff(const struct nytp_diff *diff,
                             const struct nytp_export_options *options, struct nytp_out *out)
{
    return write_message(diff->profile, diff->side_of_recording, options, out);
}

const struct nytp_exporter nytp_exporter_pprof = {
    .name = "pprof",
    .title = "pprof (profile.proto), for go tool pprof, Pyroscope, Parca",
    .suffixes = ".pb.gz .pprof .pb",
    .shows_counts = true,
    .needs = NYTP_HAS_STATEMENTS | NYTP_HAS_ARCS | NYTP_HAS_CALLS | NYTP_HAS_ENTRIES,
    .binary = true,
    /* hides a box of pid and script under every node of the graph */
    .viewer = "pprof -http=localhost: -taghide=.|go tool pprof -http=localhost: -taghide=.",
    .write = write_pprof,
    .write_diff = write_pprof_diff,
    .shows_stacks = true,
    .sums_runs = true,
    .takes = "label labels open unit wait",
    .takes_diff = "label labels open unit wait",
};
