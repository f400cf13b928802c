/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The queue of subs that the stream does not describe yet. A sub is added when it is found, and
 * again when a new profile file begins. sub_infos.c scans the queue when something came that a
 * scan may write: it writes a SUB_INFO record for each sub whose file the stream knows and
 * leaves the others, whose files it marks. These are scanned again when a marked file came.
 *
 * In a sampled profile a sub is added when a sample first sees it. Programs have thousands of
 * others, and describing them would take longer than all samples.
 */
#ifndef NYTP_INFO_QUEUE_H
#define NYTP_INFO_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

struct nytp_recorder;
struct nytp_rec_sub;

struct nytp_rec_info_queue {
    struct nytp_rec_sub **all;
    size_t n, size;
    size_t n_scanned; /* the first ones, which wait for their files */
};

typedef bool nytp_info_stays_fn(struct nytp_recorder *rec, struct nytp_rec_sub *sub);

/* Returns whether the profile is to describe the sub, as far as is known now. */
bool nytp_info_is_wanted(const struct nytp_recorder *rec, const struct nytp_rec_sub *sub);

/* Adds a sub unless it is queued already. Out of memory ends the program, as in perl's own
 * allocation (Renew). */
void nytp_info_queue_add(struct nytp_recorder *rec, struct nytp_rec_sub *sub);

/* Lets the whole queue be scanned soon: a sub in it has got its file, or the stream knows a
 * marked file. */
void nytp_info_queue_look_again(struct nytp_recorder *rec);

/* Keeps the subs for which `stays` returns true, in order. Allocates nothing: for signals. */
void nytp_info_queue_filter(struct nytp_recorder *rec, nytp_info_stays_fn *stays);

/* The same for the subs that were not scanned before; those that were stay. */
void nytp_info_queue_scan(struct nytp_recorder *rec, nytp_info_stays_fn *stays);

#endif
