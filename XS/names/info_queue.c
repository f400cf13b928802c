/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The queue of subs that the stream does not describe yet; see info_queue.h.
 */
#include "info_queue.h"

#include "XS/state/state.h"
#include "XS/state/sub.h"

bool nytp_info_is_wanted(const struct nytp_recorder *rec, const struct nytp_rec_sub *sub)
{
    return rec->kind == NYTP_EXACT || sub->kind != NYTP_REC_SUB_PERL || sub->called ||
           sub->depth > 0;
}

void nytp_info_queue_add(struct nytp_recorder *rec, struct nytp_rec_sub *sub)
{
    struct nytp_rec_info_queue *const queue = rec->info_queue;
    if (sub->is_queued)
        return;
    NYTP_MAKE_ROOM(queue->all, queue->n, queue->size, struct nytp_rec_sub *);
    queue->all[queue->n++] = sub;
    sub->is_queued = rec->infos_wait = true;
    sub->is_scanned = false;
}

void nytp_info_queue_look_again(struct nytp_recorder *rec)
{
    rec->info_queue->n_scanned = 0;
    rec->infos_wait = true;
}

void nytp_info_queue_filter(struct nytp_recorder *rec, nytp_info_stays_fn *stays)
{
    rec->info_queue->n_scanned = 0;
    nytp_info_queue_scan(rec, stays);
}

void nytp_info_queue_scan(struct nytp_recorder *rec, nytp_info_stays_fn *stays)
{
    struct nytp_rec_info_queue *const queue = rec->info_queue;
    size_t kept = queue->n_scanned;
    for (size_t i = kept; i < queue->n; i++) {
        struct nytp_rec_sub *const sub = queue->all[i];
        sub->is_queued = stays(rec, sub);
        sub->is_scanned = true;
        if (sub->is_queued)
            queue->all[kept++] = sub;
    }
    queue->n = queue->n_scanned = kept;
    rec->infos_wait = false;
}

void nytp_info_queue_free(struct nytp_recorder *rec)
{
    Safefree(rec->info_queue->all);
}
