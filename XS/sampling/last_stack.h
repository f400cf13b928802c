/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Where the program hangs, noted in the profile while it does (hang_records.h). Samples come to
 * the disk at safe points, and a program that executes nothing comes to none; who kills it, or
 * looks at its profile, is to see what it waits in. So the thread that ticks looks, as from
 * beside (open_stack.h), when no tick was taken for a while, and writes over the room that the
 * file's head has for that. It touches nothing else of the file, and nothing at all where no
 * room was made.
 */
#ifndef NYTP_LAST_STACK_H
#define NYTP_LAST_STACK_H

#include "XS/platform/own_fd.h"
#include "XS/platform/ticks.h"
#include "XS/perl/perl_compat.h"

struct nytp_recorder;

struct nytp_rec_last_stack {
    /* Changed by the program, while the thread does not look. */
    uint64_t room_at; /* where the room is in the file; 0: there is none */
    struct nytp_own_fd file;
    bool by_cpu; /* processor time is what counts */

    /* The thread's own. */
    bool has_ticked;
    uint32_t tail;                   /* the ring's tail at the last look */
    uint64_t tick_ns, tick_cpu_ns;   /* CLOCK_MONOTONIC and processor time at the last tick */
    uint64_t since_ns, since_cpu_ns; /* and at the last one that was taken */
    uint64_t due_ns;                 /* when to write next */
    _Atomic bool is_written;
};

/* Make room in the head of a file that is begun, if it is a sampled one and can be written
 * over. */
void nytp_last_stack_reserve(struct nytp_recorder *rec);

/* Ticks begin to come. */
void nytp_last_stack_begin(struct nytp_recorder *rec, struct nytp_ring *ring);

/* The program does not hang any more. At each safe point: it is a look at two words mostly. */
void nytp_last_stack_end(struct nytp_recorder *rec);

/* There is no room any more: the file is closed, or, in the handler of a fork, the parent's. */
void nytp_last_stack_forget(struct nytp_recorder *rec);

#endif
