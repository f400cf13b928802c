/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The recorder's state; see state.h.
 */
#include "state.h"

#include "ops.h"

struct nytp_recorder nytp_the_recorder;

void nytp_state_set(struct nytp_recorder *rec, enum nytp_state state)
{
    const bool on = state == NYTP_RECORDING;
    rec->state = state;
    rec->stmts_on = on && rec->options.stmts;
    rec->subs_on = on && rec->options.subs;
    rec->counting = nytp_file_is_open(rec) && rec->options.subs;
    rec->entries_on = rec->options.calls > 1;
    rec->returns_on = rec->options.calls > 0;
    rec->marks_on = rec->dprof != NULL;
    rec->blocks_on = rec->options.blocks;
    rec->finds_caller = rec->options.findcaller;
    rec->leave_on = rec->options.leave && !rec->options.use_db_sub;
    if (!on)
        rec->wake_raw = UINT64_MAX;
    if (state == NYTP_OFF)
        nytp_ops_restore();
}
