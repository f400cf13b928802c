/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Counts SVs; see svs.h.
 */
#include "svs.h"

#include "bytes.h"
#include "places.h"

#include "formats/stream/comments/svs_records.h"

/* PL_sv_count (intrpvar.h) goes up for each SV taken from the arenas' free list and down for
 * each put back (sv.c, sv_inline.h). */
static IV count(const struct nytp_recorder *rec)
{
#ifdef MULTIPLICITY
    const PerlInterpreter *const my_perl = rec->interpreter;
#else
    PERL_UNUSED_VAR(rec);
#endif
    return (IV)PL_sv_count;
}

void nytp_svs_restart(struct nytp_recorder *rec)
{
    if (rec->on.svs)
        rec->memory.svs = count(rec);
}

/* An excess over one comment's limit waits for the next. Changes while no statement is in
 * progress, as when recording begins, are charged to none. */
static void emit(struct nytp_recorder *rec)
{
    char text[NYTP_SVS_LONGEST];
    const struct nytp_place *const place = rec->stmt.place;
    const IV change = count(rec) - rec->memory.svs;
    if (change == 0)
        return;
    if (place == NULL) {
        rec->memory.svs += change;
        return;
    }
    const struct nytp_svs_record record = {
        .n = (int32_t)(change > NYTP_MOST_SVS    ? NYTP_MOST_SVS
                       : change < -NYTP_MOST_SVS ? -NYTP_MOST_SVS
                                                 : change),
        .fid = place->fid,
        .line = nytp_line_of_stmt(place->line),
    };
    rec->memory.svs += record.n;
    nytp_svs_record_format(&record, text);
    nytp_write_comment(rec->writer, text);
}

void nytp_memory_emit(struct nytp_recorder *rec)
{
    if (UNLIKELY(nytp_bytes_wait(rec)))
        nytp_bytes_emit_waiting(rec);
    if (rec->on.svs)
        emit(rec);
    else
        nytp_state_note_waiting(rec, false);
}
