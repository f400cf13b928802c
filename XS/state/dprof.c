/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * perl -d:DProf; see dprof.h.
 */
#include "dprof.h"

#include "state.h"
#include "sub.h"

#include <sys/resource.h>

enum {
    READ_AFTER_TICKS = 50 * (NYTP_TICKS_PER_SEC / 1000000),
    DEFAULT_HZ = 1000000,
    DEFAULT_WORDS = 16384,
    MOST_WORDS = 1 << 24,
    COST_CALLS = 1000,
};

struct nytp_dprof {
    struct nytp_marks *marks;
    struct nytp_marks_times now, cost;
    struct nytp_marks_place kept;
    int64_t cpu_base[2]; /* user and system time at the profile's begin, ns */
    int64_t real_base;   /* the axis at that time, in ticks */
    int64_t read_at;     /* the axis at the last reading of processor time, in ticks */
};

/* Returns the number in an environment variable, from 1 to `most` (larger ones are reduced to
 * it), or `usual` if there is none. */
static uint32_t setting(const char *name, uint32_t usual, uint32_t most)
{
    const char *const text = getenv(name);
    if (text == NULL)
        return usual;
    char *end;
    const long value = strtol(text, &end, 10);
    return end == text || value < 1 ? usual : value > (long)most ? most : (uint32_t)value;
}

void nytp_dprof_choose(struct nytp_recorder *rec)
{
    if (rec->dprof != NULL)
        return;
    const uint32_t hz = setting("PERL_DPROF_TICKS", DEFAULT_HZ, 1000000000);
    const uint32_t words = setting("PERL_DPROF_BUFFER", DEFAULT_WORDS, MOST_WORDS);
    struct nytp_dprof *dprof;
    Newxz(dprof, 1, struct nytp_dprof);
    dprof->marks = nytp_marks_new(hz, words * sizeof(IV), nytp_outfile_write, &rec->file);
    rec->dprof = dprof;
}

void nytp_dprof_thread(struct nytp_recorder *rec, const struct nytp_recorder *from)
{
    if (from->dprof != NULL)
        nytp_dprof_choose(rec);
}

void nytp_dprof_free(struct nytp_recorder *rec)
{
    if (rec->dprof == NULL)
        return;
    nytp_marks_free(rec->dprof->marks);
    Safefree(rec->dprof);
    rec->dprof = NULL;
}

bool nytp_dprof_discard(void *context, const uint8_t *bytes, size_t len)
{
    PERL_UNUSED_VAR(context);
    PERL_UNUSED_VAR(bytes);
    PERL_UNUSED_VAR(len);
    return true;
}

/* ---- clocks ---- */

static int64_t ns_of(const struct timeval *time)
{
    return (int64_t)time->tv_sec * 1000000000 + (int64_t)time->tv_usec * 1000;
}

static void read_cpu(int64_t cpu[2])
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    cpu[NYTP_MARKS_USER] = ns_of(&usage.ru_utime);
    cpu[NYTP_MARKS_SYSTEM] = ns_of(&usage.ru_stime);
}

static void read_clocks(struct nytp_dprof *dprof, int64_t now)
{
    const int64_t real = (now - dprof->real_base) * NYTP_NS_PER_TICK;
    dprof->now.ns[NYTP_MARKS_USER] += real - dprof->now.ns[NYTP_MARKS_REAL];
    dprof->now.ns[NYTP_MARKS_REAL] = real;
    if (now - dprof->read_at < READ_AFTER_TICKS)
        return;
    int64_t cpu[2];
    read_cpu(cpu);
    for (int i = 0; i < 2; i++)
        dprof->now.ns[i] = cpu[i] - dprof->cpu_base[i];
    dprof->read_at = now;
}

/* Measures the cost of a call's two marks, with their clock readings. Call it before the
 * buffer has marks: it is cleared. */
static void measure_cost(struct nytp_recorder *rec, int64_t now)
{
    struct nytp_dprof *const dprof = rec->dprof;
    struct nytp_marks *const marks = dprof->marks;
    uint32_t id = 0;
    const uint64_t start = nytp_clock_raw(&rec->clock);
    uint64_t end = start;
    for (int i = 0; i < COST_CALLS; i++) {
        marks->at = marks->block;
        read_clocks(dprof, now);
        nytp_marks_enter(marks, &dprof->now, &id, "main::f", 7);
        end = nytp_clock_raw(&rec->clock);
        read_clocks(dprof, now);
        nytp_marks_leave(marks, &dprof->now, id);
        end = nytp_clock_raw(&rec->clock);
    }
    const int64_t ns =
        (nytp_clock_ticks(&rec->clock, end) - nytp_clock_ticks(&rec->clock, start)) *
        NYTP_NS_PER_TICK;
    dprof->cost.ns[NYTP_MARKS_USER] = dprof->cost.ns[NYTP_MARKS_REAL] = ns;
    marks->cost = &dprof->cost;
    marks->n_cost = COST_CALLS;
}

/* ---- a profile ---- */

bool nytp_dprof_begin(struct nytp_recorder *rec, int64_t now)
{
    struct nytp_dprof *const dprof = rec->dprof;
    if (dprof->marks == NULL)
        return false;
    Zero(&dprof->now, 1, struct nytp_marks_times);
    dprof->real_base = dprof->read_at = now;
    read_cpu(dprof->cpu_base);
    if (dprof->marks->cost == NULL)
        measure_cost(rec, now);
    nytp_marks_begin(dprof->marks);
    return true;
}

/* Returns the length of the name without the part that we append to tell subs apart.
 * Devel::DProf writes "main::BEGIN" for "main::BEGIN@3" and "main::__ANON__" for
 * "main::__ANON__[x.pl:3]". */
static size_t shown_name_len(const struct nytp_rec_sub *sub)
{
    const char *const base = sub->name + (sub->package_len > 0 ? sub->package_len + 2 : 0);
    const size_t before = (size_t)(base - sub->name);
    if (strnEQ(base, "BEGIN@", 6))
        return before + 5;
    return strnEQ(base, "__ANON__[", 9) ? before + 8 : sub->name_len;
}

void nytp_dprof_enter(struct nytp_recorder *rec, struct nytp_rec_sub *sub, int64_t now)
{
    read_clocks(rec->dprof, now);
    nytp_marks_enter(rec->dprof->marks, &rec->dprof->now, &sub->mark_id, sub->name,
                     shown_name_len(sub));
}

void nytp_dprof_leave(struct nytp_recorder *rec, struct nytp_rec_sub *sub, int64_t now)
{
    read_clocks(rec->dprof, now);
    nytp_marks_leave(rec->dprof->marks, &rec->dprof->now, sub->mark_id);
}

void nytp_dprof_correct(struct nytp_recorder *rec, struct nytp_rec_sub *was,
                        struct nytp_rec_sub *sub, int64_t now)
{
    read_clocks(rec->dprof, now);
    nytp_marks_correct(rec->dprof->marks, &rec->dprof->now, &was->mark_id, &sub->mark_id,
                       sub->name, shown_name_len(sub));
}

bool nytp_dprof_flush(struct nytp_recorder *rec)
{
    struct nytp_dprof *const dprof = rec->dprof;
    int64_t before[2], after[2];
    read_cpu(before);
    const bool ok = nytp_marks_flush(dprof->marks);
    read_cpu(after);
    for (int i = 0; i < 2; i++)
        dprof->cpu_base[i] += after[i] - before[i];
    return ok;
}

void nytp_dprof_keep_place(struct nytp_recorder *rec)
{
    rec->dprof->kept = rec->dprof->marks->place;
}

void nytp_dprof_take_back(struct nytp_recorder *rec)
{
    rec->dprof->marks->place = rec->dprof->kept;
}

/* Writes the rest and rewrites the header with the totals. */
void nytp_dprof_end_file(struct nytp_recorder *rec)
{
    struct nytp_dprof *const dprof = rec->dprof;
    const int64_t now = nytp_axis_now(rec);
    char header[NYTP_MARKS_HEADER];
    if (dprof == NULL)
        return;
    dprof->read_at = now - READ_AFTER_TICKS;
    read_clocks(dprof, now);
    nytp_marks_header(dprof->marks, &dprof->now, header);
    if (nytp_dprof_flush(rec))
        nytp_outfile_overwrite(&rec->file, 0, (const uint8_t *)header, sizeof header);
}
