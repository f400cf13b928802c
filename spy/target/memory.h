/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The memory of another process, live or from a core file. Addresses are those of the process.
 * Addresses and data may be wrong, since the process runs on or is damaged; reading missing
 * memory fails without harm.
 */
#ifndef NYTP_SPY_MEMORY_H
#define NYTP_SPY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct nytp_core;

/* In nanoseconds, from some moment on. */
static inline int64_t nytp_spy_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

struct nytp_piece {
    uint64_t from;
    void *to;
    size_t len;
};

/* Most pieces of one call: the system call's limit. */
#define NYTP_MAX_PIECES 1024

struct nytp_memory {
    /* Reads pieces in order until one cannot be read whole; returns how many were read. */
    size_t (*read)(struct nytp_memory *memory, const struct nytp_piece *pieces, size_t n);
    pid_t pid;              /* 0: not a process */
    int fd;                 /* /proc/PID/mem if the system call is missing; or -1 */
    struct nytp_core *core; /* of a core file; else NULL */
    uint64_t n_calls;
    uint64_t n_pieces;   /* in all of these */
    uint64_t *work_left; /* until reading fails, about nanoseconds; NULL: no limit */
};

/* The first limits reading to this much work from here on, unless it is limited already. The
 * second removes that limit. */
void nytp_memory_bound(struct nytp_memory *memory, uint64_t *work);
void nytp_memory_unbound(struct nytp_memory *memory, const uint64_t *work);

/* Spends work. Returns false if none is left. */
bool nytp_memory_spend(struct nytp_memory *memory, uint64_t work);
bool nytp_memory_is_spent(const struct nytp_memory *memory);

/* Returns the work that reading all values of a program of this size may take. */
uint64_t nytp_memory_work_of(uint64_t bytes);

/* Opens the memory of a running process, which is not stopped and does not notice. */
void nytp_memory_of_process(struct nytp_memory *memory, pid_t pid);

/* Changes to /proc/PID/mem. Returns false if it cannot be opened. */
bool nytp_memory_by_file(struct nytp_memory *memory);
void nytp_memory_close(struct nytp_memory *memory);

static inline size_t nytp_memory_pieces(struct nytp_memory *memory,
                                        const struct nytp_piece *pieces, size_t n)
{
    return memory->read(memory, pieces, n);
}

/* The same for small scattered pieces in any order. Near ones are read together: the kernel
 * takes as long for a word as for a page. */
size_t nytp_memory_scattered(struct nytp_memory *memory, const struct nytp_piece *pieces,
                             size_t n);

/* Returns the same memory with cached pages, for following many pointers if later changes do
 * not matter, or NULL if memory is out. */
struct nytp_memory *nytp_memory_cached(struct nytp_memory *of);
void nytp_memory_cached_forget(struct nytp_memory *cached); /* drops all pages */
void nytp_memory_cached_free(struct nytp_memory *cached);   /* accepts NULL */

bool nytp_memory_read(struct nytp_memory *memory, uint64_t from, void *to, size_t len);

/* Returns a number at an address, or 0 if it cannot be read. */
uint64_t nytp_memory_u64(struct nytp_memory *memory, uint64_t from);
uint32_t nytp_memory_u32(struct nytp_memory *memory, uint64_t from);

#endif
