/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The memory of another process, as it is now or as a core file keeps it. Addresses are those
 * of the process; they and everything read may be wrong, as the process goes on meanwhile or
 * was damaged: reading what is not there says so and harms nobody.
 */
#ifndef NYTP_SPY_MEMORY_H
#define NYTP_SPY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct nytp_core;

struct nytp_piece {
    uint64_t from;
    void *to;
    size_t len;
};

/* Most pieces of one call: what the system call takes. */
#define NYTP_MAX_PIECES 1024

struct nytp_memory {
    /* Reads pieces in order until one cannot be read whole; how many were. */
    size_t (*read)(struct nytp_memory *memory, const struct nytp_piece *pieces, size_t n);
    pid_t pid; /* 0: not a process */
    int fd;    /* /proc/PID/mem where there is no system call to read with; or -1 */
    struct nytp_core *core; /* of a core file; else NULL */
    uint64_t n_calls;       /* of the system */
    uint64_t n_pieces;      /* in all of these */
    uint64_t *work_left;    /* until reading fails, in nanoseconds or so; NULL: no limit */
};

/* Lets reading take this much work from here on, unless it is limited already; then
 * without that limit again. */
void nytp_memory_bound(struct nytp_memory *memory, uint64_t *work);
void nytp_memory_unbound(struct nytp_memory *memory, const uint64_t *work);

/* Take some of it. False: there is no more. */
bool nytp_memory_spend(struct nytp_memory *memory, uint64_t work);
bool nytp_memory_is_spent(const struct nytp_memory *memory);

/* The work that reading all values of a program of this size may take. */
uint64_t nytp_memory_work_of(uint64_t bytes);

/* The memory of a running process. It is not stopped and does not notice. */
void nytp_memory_of_process(struct nytp_memory *memory, pid_t pid);

/* Go over to /proc/PID/mem. False: it cannot be opened. */
bool nytp_memory_by_file(struct nytp_memory *memory);
void nytp_memory_close(struct nytp_memory *memory);

static inline size_t nytp_memory_pieces(struct nytp_memory *memory,
                                        const struct nytp_piece *pieces, size_t n)
{
    return memory->read(memory, pieces, n);
}

/* The same for small pieces that lie here and there, in whatever order: what is near each other
 * is read as one, as the kernel takes as long for a word as for a page. */
size_t nytp_memory_scattered(struct nytp_memory *memory, const struct nytp_piece *pieces,
                             size_t n);

/* The same memory through pages that are kept, for those who follow many pointers and do not
 * mind what changes meanwhile. NULL when memory is out. */
struct nytp_memory *nytp_memory_cached(struct nytp_memory *of);
void nytp_memory_cached_forget(struct nytp_memory *cached); /* all pages: read them anew */
void nytp_memory_cached_free(struct nytp_memory *cached);   /* accepts NULL */

bool nytp_memory_read(struct nytp_memory *memory, uint64_t from, void *to, size_t len);

/* A number at an address; 0 where nothing can be read. */
uint64_t nytp_memory_u64(struct nytp_memory *memory, uint64_t from);
uint32_t nytp_memory_u32(struct nytp_memory *memory, uint64_t from);

/* Text up to its NUL, cut to size - 1 bytes; it ends with a NUL in any case. How long it is, or
 * -1: there is nothing to read. */
ssize_t nytp_memory_text(struct nytp_memory *memory, uint64_t from, char *to, size_t size);

#endif
