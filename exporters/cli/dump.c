/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Prints every record as a line of text; see dump.h. Which fields a record has is read from
 * formats/stream/fields.def, so that a new record needs no change here.
 */
#include "dump.h"

#include "exporters/base/json.h"

#include <inttypes.h>

static void put_UINT(struct nytp_out *out, const char *key, int64_t value)
{
    nytp_putc(out, ' ');
    nytp_puts(out, key);
    nytp_putc(out, '=');
    nytp_put_i64(out, value);
}

static void put_NUMBER(struct nytp_out *out, const char *key, double value)
{
    nytp_putc(out, ' ');
    nytp_puts(out, key);
    nytp_putc(out, '=');
    nytp_json_double(out, value);
}

/* A byte string that claims to be UTF-8 gets a u in front of its quote. */
static void put_TEXT(struct nytp_out *out, const char *key, struct nytp_str text)
{
    nytp_putc(out, ' ');
    nytp_puts(out, key);
    nytp_puts(out, text.utf8 ? "=u" : "=");
    nytp_json_string(out, text.ptr, text.len);
}

#define put_INT put_UINT

static void put_fields(struct nytp_out *out, const struct nytp_event *event)
{
    switch (event->tag) {
#define NYTP_RECORD(tag, n) case NYTP_TAG_##tag:
#define NYTP_FIELD(kind, record, field, position)                                              \
    put_##kind(out, #field, event->u.record.field);
#define NYTP_RECORD_END break;
#include "formats/stream/fields.def"
    case NYTP_TAG_COUNT:
        break;
    }
}

static bool dump_event(struct nytp_sink *sink, const struct nytp_event *event)
{
    struct nytp_dump *const dump = (struct nytp_dump *)sink;
    struct nytp_out *const out = dump->out;
    nytp_put_u64(out, event->offset);
    nytp_putc(out, ' ');
    nytp_puts(out, nytp_tag_name(event->tag));
    put_fields(out, event);
    nytp_putc(out, '\n');
    dump->last_offset = event->offset;
    if (event->tag == NYTP_TAG_START_DEFLATE)
        dump->inflated = true;
    else if (event->tag == NYTP_TAG_PID_START)
        dump->n_running++;
    else if (event->tag == NYTP_TAG_PID_END && dump->n_running > 0)
        dump->n_running--;
    return out->error.status == NYTP_OK;
}

void nytp_dump_init(struct nytp_dump *dump, struct nytp_out *out)
{
    *dump = (struct nytp_dump){.sink.event = dump_event, .out = out};
}

bool nytp_dump_is_whole(const struct nytp_dump *dump, struct nytp_error *error)
{
    return dump->n_running == 0 ||
           nytp_error_at(error, NYTP_ERR_TRUNCATED, dump->last_offset, dump->inflated,
                         "no end of %" PRIu32 " process%s after this", dump->n_running,
                         dump->n_running == 1 ? "" : "es");
}
