/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The subs that the stream does not describe yet. A sub comes here when it is found, and again
 * when a new profile file begins, which knows none. sub_infos.c looks through the queue now and
 * then, writes a SUB_INFO record for each sub whose file the stream knows by then, and leaves
 * the others in it.
 *
 * A profile of samples describes only the subs that some sample saw: they come here then.
 * Programs have thousands of others, and to describe them takes longer than all samples.
 */
#ifndef NYTP_INFO_QUEUE_H
#define NYTP_INFO_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

struct nytp_recorder;
struct nytp_rec_sub;

/* The part of the state that info_queue.c writes. */
struct nytp_rec_info_queue {
    struct nytp_rec_sub **all;
    size_t n, size;
    size_t n_seen; /* how many of them stayed when it was last looked through */
};

/* Whether the profile is to describe the sub, as far as is known by now. */
bool nytp_info_is_wanted(const struct nytp_recorder *rec, const struct nytp_rec_sub *sub);

/* Add a sub; one that is in the queue already is not added again. Memory that is out ends the
 * program, as perl's own allocation does (Renew). */
void nytp_info_queue_add(struct nytp_recorder *rec, struct nytp_rec_sub *sub);

/* Add every sub: another profile file is written, which may not describe it yet. */
void nytp_info_queue_add_all(struct nytp_recorder *rec);

/* Keep the subs for which `stays` says so, in their order. Allocates nothing, so that it can
 * run inside a signal. */
void nytp_info_queue_filter(struct nytp_recorder *rec,
                            bool (*stays)(struct nytp_recorder *rec, struct nytp_rec_sub *sub));

/* Whether subs were added since the last look through the queue. */
bool nytp_info_queue_has_new(const struct nytp_recorder *rec);

void nytp_info_queue_free(struct nytp_recorder *rec);

#endif
