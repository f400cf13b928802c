/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Work before a call that may block; see write_ahead.h.
 */
#include "write_ahead.h"

#include "places.h"
#include "XS/names/sub_infos.h"
#include "XS/state/state.h"
#include "XS/state/stream.h"
#include "XS/state/sub.h"

#include "formats/stream/comments/open_calls.h"

enum {
    MOST_TOLD = 200, /* names of open calls written at once */
};

static const char *kind_word(const struct nytp_rec_sub *sub)
{
    return sub->kind == NYTP_REC_SUB_OPCODE ? NYTP_OPEN_CALL_BUILTIN
           : sub->kind == NYTP_REC_SUB_XSUB ? NYTP_OPEN_CALL_XSUB
                                            : NYTP_OPEN_CALL_PERL;
}

static void emit_frame(struct nytp_recorder *rec, uint32_t depth)
{
    char text[NYTP_OPEN_CALL_MOST];
    const struct nytp_rec_sub *const sub = rec->calls.frames[depth - 1].sub;
    if (strlen(sub->name) != sub->name_len || strchr(sub->name, '\n') != NULL)
        return;
    const int len = snprintf(text, sizeof text, NYTP_OPEN_CALL_HEAD " %lu %s %s",
                             (unsigned long)depth, kind_word(sub), sub->name);
    if (len < (int)sizeof text)
        nytp_write_comment(rec->writer, text);
}

/* Only returns name calls, so calls whose return may never come are named now, once each. The
 * innermost comes first: its depth shows readers how many calls were open before the file
 * began. */
static void emit_frames(struct nytp_recorder *rec)
{
    if (!rec->on.entries)
        return;
    uint32_t n = 0;
    for (uint32_t i = rec->calls.n; i > 0 && n < MOST_TOLD; i--, n++) {
        if ((int32_t)(rec->calls.frames[i - 1].serial - rec->calls.recorded_serial) <= 0)
            break;
        emit_frame(rec, i);
    }
    rec->calls.recorded_serial = rec->last.serial;
}

void nytp_write_ahead(pTHX_ struct nytp_recorder *rec)
{
    if (rec->options.flush_s <= 0 || rec->run.forked ||
        !nytp_stream_can_pay_flush(rec, nytp_clock_raw(&rec->clock)))
        return;
    dSAVE_ERRNO;
    nytp_guard(rec);
    nytp_clock_pause(&rec->clock);
    const int64_t begun_ns = nytp_clock_processor_ns();
    emit_frames(rec);
    nytp_places_put_counts(rec);
    nytp_sub_infos_write(aTHX_ rec);
    nytp_stream_flush(rec, NYTP_FLUSH_SYNC);
    nytp_stream_pay_flush(rec, nytp_clock_processor_ns() - begun_ns);
    nytp_clock_resume(&rec->clock);
    nytp_unguard(rec);
    RESTORE_ERRNO;
}

void nytp_recorded_serial_set(struct nytp_recorder *rec, uint32_t serial)
{
    rec->calls.recorded_serial = serial;
}
