/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Reads another process's memory; see memory.h. One system call reads many pieces. Without it,
 * in a sandbox or on an old kernel, /proc/PID/mem is read one piece at a time.
 */
#define _GNU_SOURCE
#include "memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE 4096

/* Limit for reading a whole program. A large one needs a sixth of it; but in damaged memory
 * many hashes may share the same million buckets. */
#define LEAST_WORK   UINT64_C(1000000000)
#define WORK_OF_BYTE 300
#define MOST_BYTES   (UINT64_MAX / WORK_OF_BYTE / 2)

/* A system call takes about a microsecond, a piece of it a tenth. */
#define WORK_OF_CALL  1000
#define WORK_OF_PIECE 100

static bool spend_call(struct nytp_memory *memory, const struct nytp_piece *pieces, size_t n)
{
    uint64_t work = WORK_OF_CALL + n * WORK_OF_PIECE;
    if (memory->work_left == NULL)
        return true;
    for (size_t i = 0; i < n; i++)
        work += pieces[i].len / 8;
    return nytp_memory_spend(memory, work);
}

static size_t read_through_file(struct nytp_memory *memory, const struct nytp_piece *pieces,
                                size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!spend_call(memory, &pieces[i], 1))
            return i;
        memory->n_calls++;
        if (pread(memory->fd, pieces[i].to, pieces[i].len, (off_t)pieces[i].from) !=
            (ssize_t)pieces[i].len)
            return i;
    }
    return n;
}

bool nytp_memory_by_file(struct nytp_memory *memory)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/mem", (int)memory->pid);
    memory->fd = open(path, O_RDONLY | O_CLOEXEC);
    memory->read = read_through_file;
    return memory->fd >= 0;
}

static size_t read_directly(struct nytp_memory *memory, const struct nytp_piece *pieces,
                            size_t n)
{
    struct iovec from[NYTP_MAX_PIECES], to[NYTP_MAX_PIECES];
    size_t done = 0;
    while (done < n) {
        const size_t part = n - done < NYTP_MAX_PIECES ? n - done : NYTP_MAX_PIECES;
        for (size_t i = 0; i < part; i++) {
            const struct nytp_piece *const piece = &pieces[done + i];
            from[i] = (struct iovec){(void *)(uintptr_t)piece->from, piece->len};
            to[i] = (struct iovec){piece->to, piece->len};
        }
        if (!spend_call(memory, pieces + done, part))
            return done;
        memory->n_calls++;
        memory->n_pieces += part;
        ssize_t got = process_vm_readv(memory->pid, to, part, from, part, 0);
        if (got < 0)
            return done;
        size_t whole = 0;
        while (whole < part && (size_t)got >= to[whole].iov_len)
            got -= (ssize_t)to[whole++].iov_len;
        done += whole;
        if (whole < part)
            return done;
    }
    return done;
}

void nytp_memory_of_process(struct nytp_memory *memory, pid_t pid)
{
    *memory = (struct nytp_memory){.read = read_directly, .pid = pid, .fd = -1};
}

void nytp_memory_bound(struct nytp_memory *memory, uint64_t *work)
{
    if (memory->work_left == NULL)
        memory->work_left = work;
}

void nytp_memory_unbound(struct nytp_memory *memory, const uint64_t *work)
{
    if (memory->work_left == work)
        memory->work_left = NULL;
}

bool nytp_memory_spend(struct nytp_memory *memory, uint64_t work)
{
    if (memory->work_left == NULL)
        return true;
    *memory->work_left = *memory->work_left > work ? *memory->work_left - work : 0;
    return *memory->work_left > 0;
}

uint64_t nytp_memory_work_of(uint64_t bytes)
{
    return LEAST_WORK + (bytes < MOST_BYTES ? bytes : MOST_BYTES) * WORK_OF_BYTE;
}

bool nytp_memory_is_spent(const struct nytp_memory *memory)
{
    return memory->work_left != NULL && *memory->work_left == 0;
}

void nytp_memory_close(struct nytp_memory *memory)
{
    if (memory->fd >= 0)
        close(memory->fd);
    memory->fd = -1;
}

/* ---- scattered pieces ---- */

enum {
    BLOCK = 1024, /* bytes; requests within a block are read as one span */
    MOST_SCATTERED = 4096,
    SPAN_SLOTS = 2048,
    SPAN_BYTES = 1 << 18,
};

/* The requested span of each block. */
struct spans {
    struct nytp_piece all[NYTP_MAX_PIECES];
    uint16_t of_piece[MOST_SCATTERED];
    struct {
        uint64_t block;
        uint32_t read, span; /* valid for that read only */
    } slots[SPAN_SLOTS];
    uint32_t read, n;
    uint8_t bytes[SPAN_BYTES];
};

static uint32_t slot_of_block(const struct spans *spans, uint64_t block)
{
    uint32_t slot = (uint32_t)(block * UINT64_C(0x9e3779b97f4a7c15) >> 40) % SPAN_SLOTS;
    while (spans->slots[slot].read == spans->read && spans->slots[slot].block != block)
        slot = (slot + 1) % SPAN_SLOTS;
    return slot;
}

static bool add_to_span(struct spans *spans, const struct nytp_piece *piece, uint16_t *span)
{
    const uint64_t block = piece->from / BLOCK;
    const uint32_t slot = slot_of_block(spans, block);
    if (piece->len > UINT64_MAX - piece->from)
        return false;
    if (spans->slots[slot].read != spans->read) {
        if (spans->n == NYTP_MAX_PIECES)
            return false;
        spans->slots[slot].block = block;
        spans->slots[slot].read = spans->read;
        spans->slots[slot].span = spans->n;
        spans->all[spans->n++] = (struct nytp_piece){piece->from, NULL, piece->len};
    }
    *span = (uint16_t)spans->slots[slot].span;
    struct nytp_piece *const of = &spans->all[*span];
    const uint64_t from = piece->from < of->from ? piece->from : of->from;
    const uint64_t end = piece->from + piece->len, end_of = of->from + of->len;
    of->from = from;
    of->len = (size_t)((end > end_of ? end : end_of) - from);
    return true;
}

/* Returns false if the spans are too large, wrap around, or cannot be read. */
static bool read_spans(struct nytp_memory *memory, struct spans *spans,
                       const struct nytp_piece *pieces, size_t n)
{
    size_t len = 0;
    spans->n = 0;
    spans->read++;
    for (size_t i = 0; i < n; i++)
        if (!add_to_span(spans, &pieces[i], &spans->of_piece[i]))
            return false;
    for (uint32_t i = 0; i < spans->n; i++) {
        if (spans->all[i].len > SPAN_BYTES - len)
            return false;
        spans->all[i].to = spans->bytes + len;
        len += spans->all[i].len;
    }
    return nytp_memory_pieces(memory, spans->all, spans->n) == spans->n;
}

size_t nytp_memory_scattered(struct nytp_memory *memory, const struct nytp_piece *pieces,
                             size_t n)
{
    static struct spans spans;
    if (n > MOST_SCATTERED || !read_spans(memory, &spans, pieces, n))
        return nytp_memory_pieces(memory, pieces, n);
    for (size_t i = 0; i < n; i++) {
        const struct nytp_piece *const span = &spans.all[spans.of_piece[i]];
        memcpy(pieces[i].to, (const uint8_t *)span->to + (pieces[i].from - span->from),
               pieces[i].len);
    }
    return n;
}

/* ---- kept pages ---- */

#define KEPT_PAGES   32768
#define AHEAD        16 /* pages read at once if all exist */
#define WORK_OF_KEPT 32

struct cached {
    struct nytp_memory memory; /* first: the handle given out */
    struct nytp_memory *of;
    uint64_t addresses[KEPT_PAGES]; /* of the pages, plus 1; 0: none */
    uint8_t pages[KEPT_PAGES][PAGE];
    uint32_t n_kept;
};

static bool is_kept(const struct cached *cached, uint64_t address)
{
    return cached->addresses[address / PAGE % KEPT_PAGES] == address + 1;
}

/* Returns whether to read more pages than requested: not if each would displace another, unless
 * the page before was requested, too. */
static bool reads_ahead(const struct cached *cached, uint64_t from)
{
    return cached->n_kept < KEPT_PAGES || is_kept(cached, from - PAGE);
}

static const uint8_t *page_at(struct cached *cached, uint64_t address)
{
    const uint64_t slot = address / PAGE % KEPT_PAGES;
    const uint64_t first = slot - slot % AHEAD, from = address - slot % AHEAD * PAGE;
    if (is_kept(cached, address))
        return cached->pages[slot];
    cached->addresses[slot] = 0;
    if (reads_ahead(cached, from)) {
        memset(cached->addresses + first, 0, AHEAD * sizeof *cached->addresses);
        if (nytp_memory_read(cached->of, from, cached->pages[first], AHEAD * PAGE)) {
            for (uint64_t i = 0; i < AHEAD; i++)
                cached->addresses[first + i] = from + i * PAGE + 1;
            cached->n_kept += AHEAD;
            return cached->pages[slot];
        }
    }
    if (!nytp_memory_read(cached->of, address, cached->pages[slot], PAGE))
        return NULL;
    cached->addresses[slot] = address + 1;
    cached->n_kept++;
    return cached->pages[slot];
}

static size_t read_cached(struct nytp_memory *memory, const struct nytp_piece *pieces, size_t n)
{
    struct cached *const cached = (struct cached *)memory;
    for (size_t i = 0; i < n; i++) {
        size_t done = 0;
        while (done < pieces[i].len) {
            const uint64_t at = pieces[i].from + done, in_page = at % PAGE;
            const size_t left = pieces[i].len - done;
            const size_t part = PAGE - in_page < left ? PAGE - in_page : left;
            const uint8_t *const page = page_at(cached, at - in_page);
            if (page == NULL || !nytp_memory_spend(memory, WORK_OF_KEPT))
                return i;
            memcpy((uint8_t *)pieces[i].to + done, page + in_page, part);
            done += part;
        }
    }
    return n;
}

struct nytp_memory *nytp_memory_cached(struct nytp_memory *of)
{
    struct cached *const cached = calloc(1, sizeof *cached);
    if (cached == NULL)
        return NULL;
    cached->memory =
        (struct nytp_memory){.read = read_cached, .fd = -1, .work_left = of->work_left};
    cached->of = of;
    return &cached->memory;
}

void nytp_memory_cached_forget(struct nytp_memory *cached)
{
    struct cached *const whole = (struct cached *)cached;
    memset(whole->addresses, 0, sizeof whole->addresses);
    whole->n_kept = 0;
}

void nytp_memory_cached_free(struct nytp_memory *cached)
{
    free(cached);
}

bool nytp_memory_read(struct nytp_memory *memory, uint64_t from, void *to, size_t len)
{
    const struct nytp_piece piece = {from, to, len};
    return from != 0 && memory->read(memory, &piece, 1) == 1;
}

uint64_t nytp_memory_u64(struct nytp_memory *memory, uint64_t from)
{
    uint64_t value = 0;
    return nytp_memory_read(memory, from, &value, sizeof value) ? value : 0;
}

uint32_t nytp_memory_u32(struct nytp_memory *memory, uint64_t from)
{
    uint32_t value = 0;
    return nytp_memory_read(memory, from, &value, sizeof value) ? value : 0;
}
