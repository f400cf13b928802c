/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Stands before nytp_find_stack() and writes each moment to the file that NYTP_MOMENTS names,
 * as many as NYTP_MOMENTS_N says (replay_test.c). Linked with -Wl,--wrap=nytp_find_stack and
 * -Wl,--wrap=nytp_remember_call into the sampler of t/spy/samples.c or into NYTProf.so.
 */
#include "sampling/find.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MOST_ADDRESSES = 4096,
};

bool __real_nytp_find_stack(const struct nytp_reading *reading, struct nytp_call_memory *memory,
                            struct nytp_found *found);
bool __wrap_nytp_find_stack(const struct nytp_reading *reading, struct nytp_call_memory *memory,
                            struct nytp_found *found);

void __real_nytp_remember_call(struct nytp_call_memory *memory,
                               const struct nytp_seen_call *seen);
void __wrap_nytp_remember_call(struct nytp_call_memory *memory,
                               const struct nytp_seen_call *seen);

static FILE *out;
static long left = -1; /* moments to be written; -1: not known yet */
static bool is_finding;
static uint64_t addresses[MOST_ADDRESSES];
static const struct nytp_perl_facts *real;

static uint64_t id(uint64_t address)
{
    uint64_t i = 0;
    if (address <= NYTP_CALLER_MAIN)
        return address;
    while (i < MOST_ADDRESSES - 1 && addresses[i] != 0 && addresses[i] != (address & ~1ull))
        i++;
    addresses[i] = address & ~1ull;
    return (i + 1) * 8 + (address & 1);
}

static bool has_pad(const struct nytp_reading *reading, const struct nytp_call *call)
{
    const bool answer = real->has_pad(reading, call);
    fprintf(out, "p %" PRIu64 " %" PRIu64 " %d %d;", id(call->code), id(call->pad), call->depth,
            answer);
    return answer;
}

static bool is_in(const struct nytp_reading *reading, uint64_t statement,
                  const struct nytp_call *call, bool otherwise)
{
    const bool answer = real->is_in(reading, statement, call, otherwise);
    fprintf(out, "i %" PRIu64 " %" PRIu64 " %d %d;", id(statement),
            id(call == NULL ? 0 : call->code), otherwise, answer);
    return answer;
}

static uint64_t site_at(const struct nytp_reading *reading, int32_t place)
{
    const uint64_t answer = real->site_at(reading, place);
    fprintf(out, "s %d %" PRIu64 ";", place, id(answer));
    return answer;
}

static uint32_t line_of(const struct nytp_reading *reading, uint64_t statement)
{
    const uint32_t answer = real->line_of(reading, statement);
    fprintf(out, "l %" PRIu64 " %" PRIu32 ";", id(statement), answer);
    return answer;
}

static void write_call(const struct nytp_call *call)
{
    const uint64_t of[] = {call->code,   call->site,  call->pad, call->list,
                           call->caller, call->stack, call->root};
    fputs("c", out);
    for (size_t k = 0; k < sizeof of / sizeof *of; k++)
        fprintf(out, " %" PRIu64, id(of[k]));
    fprintf(out, " %d %d %u %d;", call->place, call->depth, call->kind, call->is_hidden);
}

static void write_reading(const struct nytp_reading *reading)
{
    fprintf(out, "m %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u %u %u %d %d;",
            id(reading->pad), id(reading->stack), id(reading->main_pad), id(reading->main_list),
            reading->n_lasting, reading->n_there, reading->n_far, reading->n_learned,
            reading->top, reading->is_interruption);
    for (uint32_t i = 0; i < nytp_calls_n(&reading->calls); i++)
        write_call(nytp_calls_at(&reading->calls, i));
}

static bool is_recording(void)
{
    if (left < 0) {
        const char *const name = getenv("NYTP_MOMENTS"), *const n = getenv("NYTP_MOMENTS_N");
        out = name == NULL ? NULL : fopen(name, "w");
        left = out == NULL || n == NULL ? 0 : atol(n);
    }
    return left > 0;
}

/* The search learns by itself when it is replayed. */
void __wrap_nytp_remember_call(struct nytp_call_memory *memory,
                               const struct nytp_seen_call *seen)
{
    if (is_recording() && !is_finding) {
        write_call(&seen->call);
        fprintf(out, "r %" PRIu64 " %" PRIu64 " %d %" PRIu32 ";", id(seen->caller),
                id(seen->caller_stack), seen->caller_place, seen->line);
    }
    __real_nytp_remember_call(memory, seen);
}

bool __wrap_nytp_find_stack(const struct nytp_reading *reading, struct nytp_call_memory *memory,
                            struct nytp_found *found)
{
    if (!is_recording())
        return __real_nytp_find_stack(reading, memory, found);
    struct nytp_reading *const asked = (struct nytp_reading *)reading;
    real = reading->facts;
    const struct nytp_perl_facts facts = {has_pad, real->is_in != NULL ? is_in : NULL,
                                          real->site_at != NULL ? site_at : NULL,
                                          real->line_of != NULL ? line_of : NULL};
    write_reading(reading);
    asked->facts = &facts;
    is_finding = true;
    const bool answer = __real_nytp_find_stack(reading, memory, found);
    is_finding = false;
    asked->facts = real;
    fprintf(out, "f %d", answer);
    for (uint32_t i = 0; i < nytp_found_n(found); i++) {
        const struct nytp_call *const call = nytp_found_at(reading, found, i);
        fprintf(out, " %" PRIu64 " %" PRIu64, id(call->code), id(call->site));
    }
    fputs("\n", out);
    fflush(out);
    left--;
    return answer;
}
