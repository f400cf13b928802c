/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The memory of a perl that is none: values are put into it by hand. What is read may be
 * changed at that moment, as by a program that goes on.
 */
#ifndef NYTP_T_FAKE_MEMORY_H
#define NYTP_T_FAKE_MEMORY_H

#include "spy/perl/census.h"
#include "spy/perl/values.h"

enum {
    BASE = 1 << 24, /* the address of the memory, which is all there is */
    LEN = 1 << 24,
    WORK_OF_READ = 1000,
};

static uint8_t bytes[LEN];
static const struct nytp_layout *layout;
static void (*before_read)(uint64_t from, size_t len); /* or NULL */

static size_t read_bytes(struct nytp_memory *memory, const struct nytp_piece *pieces, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (pieces[i].from < BASE || pieces[i].from - BASE > LEN ||
            pieces[i].len > LEN - (pieces[i].from - BASE) ||
            !nytp_memory_spend(memory, WORK_OF_READ))
            return i;
        if (before_read != NULL)
            before_read(pieces[i].from, pieces[i].len);
        memcpy(pieces[i].to, bytes + (pieces[i].from - BASE), pieces[i].len);
    }
    return n;
}

static void put(uint64_t address, int32_t offset, uint64_t value, size_t size)
{
    memcpy(bytes + (address - BASE) + offset, &value, size);
}

static void put_u64(uint64_t address, int32_t offset, uint64_t value)
{
    put(address, offset, value, sizeof value);
}

/* The body of a value lies 64 bytes behind its head. */
static uint64_t put_value(uint64_t address, int32_t type, uint64_t u)
{
    put_u64(address, layout->sv_any, address + 64);
    put(address, layout->sv_refcnt, 1, 4);
    put(address, layout->sv_flags, (uint64_t)type, 4);
    put_u64(address, layout->sv_u, u);
    return address + 64;
}

static void put_array(uint64_t address, uint64_t elements, uint64_t n)
{
    const uint64_t body = put_value(address, layout->svt_PVAV, elements);
    put_u64(body, layout->av_fill, n - 1);
    put_u64(body, layout->av_max, n - 1);
}

static void put_hash(uint64_t address, uint64_t buckets, uint64_t n)
{
    put_u64(put_value(address, layout->svt_PVHV, buckets), layout->hv_max, n - 1);
}

/* Takes a layout of perl 5.36 with threads. Returns false if there is none. */
static bool take_layout(struct nytp_perl *perl)
{
    for (layout = nytp_layouts; layout->version != 36 || !layout->has_threads; layout++)
        if (layout->version == 0)
            return false;
    perl->layout = layout;
    return true;
}

/* Takes a census of an interpreter whose `variable`, at `at`, has this value. */
static bool take_census(struct nytp_census *to, struct nytp_perl *perl, int variable,
                        uint64_t at, uint64_t value)
{
    struct nytp_error error = {0};
    struct nytp_interpreter of = {.at = {0}};
    of.at[variable] = at;
    put_u64(at, 0, value);
    return nytp_census_take(to, perl, &of, 1, NULL, &error);
}

#endif
