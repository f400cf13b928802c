/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * pprof's message in protobuf's text form, for people, diffs and `protoc --encode`. The
 * message is in pprof/pprof_message.c. The text is byte for byte that of `protoc --decode`, so
 * that the two can be compared.
 */
#include "exporters/base/exporter.h"
#include "exporters/pprof/pprof_message.h"

struct text {
    struct nytp_pprof_encoder encoder;
    struct nytp_out *out;
    int nested;
};

static struct nytp_out *begin_line(struct nytp_pprof_encoder *encoder)
{
    struct text *t = (struct text *)encoder;
    for (int i = 0; i < t->nested; i++)
        nytp_put(t->out, "  ", 2);
    return t->out;
}

static void text_open(struct nytp_pprof_encoder *encoder, enum nytp_pprof_field field)
{
    struct nytp_out *out = begin_line(encoder);
    nytp_puts(out, nytp_pprof_names[field]);
    nytp_put(out, " {\n", 3);
    ((struct text *)encoder)->nested++;
}

static void text_close(struct nytp_pprof_encoder *encoder)
{
    ((struct text *)encoder)->nested--;
    nytp_put(begin_line(encoder), "}\n", 2);
}

static struct nytp_out *begin_field(struct nytp_pprof_encoder *encoder,
                                    enum nytp_pprof_field field)
{
    struct nytp_out *out = begin_line(encoder);
    nytp_puts(out, nytp_pprof_names[field]);
    nytp_put(out, ": ", 2);
    return out;
}

static void text_integer(struct nytp_pprof_encoder *encoder, enum nytp_pprof_field field,
                         int64_t value)
{
    struct nytp_out *out = begin_field(encoder, field);
    nytp_put_i64(out, value);
    nytp_putc(out, '\n');
}

static void text_flag(struct nytp_pprof_encoder *encoder, enum nytp_pprof_field field)
{
    nytp_put(begin_field(encoder, field), "true\n", 5);
}

static void text_integers(struct nytp_pprof_encoder *encoder, enum nytp_pprof_field field,
                          const int64_t *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        text_integer(encoder, field, values[i]);
}

/* Printable ASCII stays; all else becomes a C escape, or three octal digits. */
static void put_char(struct nytp_out *out, unsigned char c)
{
    static const char from[] = "\n\r\t\"'\\";
    static const char to[] = "nrt\"'\\";
    for (size_t i = 0; i < sizeof from - 1; i++) {
        if (c != (unsigned char)from[i])
            continue;
        const char escape[2] = {'\\', to[i]};
        nytp_put(out, escape, 2);
        return;
    }
    if (c >= 0x20 && c < 0x7f)
        nytp_putc(out, (char)c);
    else
        nytp_printf(out, "\\%03o", c);
}

static void text_text(struct nytp_pprof_encoder *encoder, enum nytp_pprof_field field,
                      struct nytp_name text)
{
    struct nytp_out *out = begin_field(encoder, field);
    nytp_putc(out, '"');
    for (uint32_t i = 0; i < text.len; i++)
        put_char(out, (unsigned char)text.ptr[i]);
    nytp_put(out, "\"\n", 2);
}

static bool write_pprof_text(const struct nytp_profile *profile,
                             const struct nytp_export_options *options, struct nytp_out *out)
{
    struct text t = {
        .encoder = {.open = text_open,
                    .close = text_close,
                    .integer = text_integer,
                    .flag = text_flag,
                    .integers = text_integers,
                    .text = text_text},
        .out = out,
    };
    return nytp_pprof_message(profile, NULL, options, out, &t.encoder) &&
           out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_pprof_text = {
    .name = "pprof-text",
    .title = "pprof's message as protobuf text, for reading and protoc --encode",
    .suffixes = ".pprof.txt .textproto .pbtxt .txtpb",
    .shows_counts = true,
    .needs = NYTP_HAS_STATEMENTS | NYTP_HAS_ARCS | NYTP_HAS_CALLS | NYTP_HAS_ENTRIES,
    .no_diff = "use --pprof",
    .write = write_pprof_text,
    .takes = "label labels unit wait",
};
