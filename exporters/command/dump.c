/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Every record as a line of text; see dump.h.
 */
#include "dump.h"

#include "../core/json.h"

#include <inttypes.h>

static void put_number(struct nytp_out *out, const char *key, int64_t value)
{
    nytp_putc(out, ' ');
    nytp_puts(out, key);
    nytp_putc(out, '=');
    nytp_put_i64(out, value);
}

static void put_double(struct nytp_out *out, const char *key, double value)
{
    nytp_putc(out, ' ');
    nytp_puts(out, key);
    nytp_putc(out, '=');
    nytp_json_double(out, value);
}

/* A byte string that claims to be UTF-8 gets a u in front of its quote. */
static void put_string(struct nytp_out *out, const char *key, struct nytp_str text)
{
    nytp_putc(out, ' ');
    nytp_puts(out, key);
    nytp_puts(out, text.utf8 ? "=u" : "=");
    nytp_json_string(out, text.ptr, text.len);
}

static void put_fields(struct nytp_out *out, const struct nytp_event *event)
{
    switch (event->tag) {
    case NYTP_TAG_VERSION:
        put_number(out, "major", event->u.version.major);
        put_number(out, "minor", event->u.version.minor);
        break;
    case NYTP_TAG_ATTRIBUTE:
    case NYTP_TAG_OPTION:
        put_string(out, "key", event->u.pair.key);
        put_string(out, "value", event->u.pair.value);
        break;
    case NYTP_TAG_COMMENT:
        put_string(out, "text", event->u.comment.text);
        break;
    case NYTP_TAG_PID_START:
        put_number(out, "pid", event->u.pid_start.pid);
        put_number(out, "ppid", event->u.pid_start.ppid);
        put_double(out, "time_s", event->u.pid_start.time_s);
        break;
    case NYTP_TAG_PID_END:
        put_number(out, "pid", event->u.pid_end.pid);
        put_double(out, "time_s", event->u.pid_end.time_s);
        break;
    case NYTP_TAG_NEW_FID:
        put_number(out, "fid", event->u.new_fid.fid);
        put_number(out, "eval_fid", event->u.new_fid.eval_fid);
        put_number(out, "eval_line", event->u.new_fid.eval_line);
        put_number(out, "flags", event->u.new_fid.flags);
        put_number(out, "size", event->u.new_fid.size);
        put_number(out, "mtime_s", event->u.new_fid.mtime_s);
        put_string(out, "name", event->u.new_fid.name);
        break;
    case NYTP_TAG_TIME_LINE:
    case NYTP_TAG_TIME_BLOCK:
        put_number(out, "ticks", event->u.time.ticks);
        put_number(out, "fid", event->u.time.fid);
        put_number(out, "line", event->u.time.line);
        if (event->tag == NYTP_TAG_TIME_LINE)
            break;
        put_number(out, "block_line", event->u.time.block_line);
        put_number(out, "sub_line", event->u.time.sub_line);
        break;
    case NYTP_TAG_SUB_ENTRY:
        put_number(out, "caller_fid", event->u.sub_entry.caller_fid);
        put_number(out, "caller_line", event->u.sub_entry.caller_line);
        break;
    case NYTP_TAG_SUB_RETURN:
        put_number(out, "depth", event->u.sub_return.depth);
        put_double(out, "incl_ticks", event->u.sub_return.incl_ticks);
        put_double(out, "excl_ticks", event->u.sub_return.excl_ticks);
        put_string(out, "name", event->u.sub_return.name);
        break;
    case NYTP_TAG_SRC_LINE:
        put_number(out, "fid", event->u.src_line.fid);
        put_number(out, "line", event->u.src_line.line);
        put_string(out, "text", event->u.src_line.text);
        break;
    case NYTP_TAG_SUB_INFO:
        put_number(out, "fid", event->u.sub_info.fid);
        put_number(out, "first_line", event->u.sub_info.first_line);
        put_number(out, "last_line", event->u.sub_info.last_line);
        put_string(out, "name", event->u.sub_info.name);
        break;
    case NYTP_TAG_SUB_CALLERS:
        put_number(out, "fid", event->u.sub_callers.fid);
        put_number(out, "line", event->u.sub_callers.line);
        put_number(out, "count", event->u.sub_callers.count);
        put_number(out, "rec_depth", event->u.sub_callers.rec_depth);
        put_double(out, "incl_s", event->u.sub_callers.incl_s);
        put_double(out, "excl_s", event->u.sub_callers.excl_s);
        put_double(out, "reci_s", event->u.sub_callers.reci_s);
        put_string(out, "caller", event->u.sub_callers.caller);
        put_string(out, "callee", event->u.sub_callers.callee);
        break;
    case NYTP_TAG_START_DEFLATE:
    case NYTP_TAG_DISCOUNT:
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
    *dump = (struct nytp_dump){.sink = {dump_event}, .out = out};
}

bool nytp_dump_is_whole(const struct nytp_dump *dump, struct nytp_error *error)
{
    return dump->n_running == 0 ||
           nytp_error_at(error, NYTP_ERR_TRUNCATED, dump->last_offset, dump->inflated,
                         "no end of %" PRIu32 " process%s after this", dump->n_running,
                         dump->n_running == 1 ? "" : "es");
}
