/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Takes what recording cost off a summary; see corrected_summary.h.
 *
 * The time of a line in the summary is not the exclusive time that the model gives to that
 * line: it also holds the xsubs and builtins that were called there, and what entering a Perl
 * sub takes. So lines are not set to the model's times. They lose what the events on them
 * cost, and which events those were the model can tell.
 */
#include "corrected_summary.h"

#include "formats/build/correction.h"

#include <math.h>
#include <stdlib.h>

#define NONE NYTP_SUMMARY_NONE

/* Ticks taken off the line of each slot: slots are the lines of all files, file after file. */
struct lines {
    const struct nytp_profile *profile;
    const struct nytp_summary *summary;
    uint64_t *first_slot; /* by file of the summary */
    double *taken;
    uint64_t n_slots;
};

/* ---- calls ---- */

/* What calls of one sub from one place lost, in ticks. */
struct loss {
    double excl, incl, reci;
};

struct calls {
    struct nytp_summary *summary;
    struct nytp_strings *names;
    struct nytp_table sub_of_name; /* id in names -> sub of the summary */
    struct loss *losses;           /* by call of the summary */
};

static bool index_names(struct calls *calls)
{
    const struct nytp_summary *summary = calls->summary;
    for (uint32_t s = 0; s < summary->n_subs; s++) {
        const struct nytp_str name = nytp_summary_str(summary, summary->subs[s].name);
        const uint32_t id = nytp_strings_intern_mixed(calls->names, name.ptr, name.len);
        if (id == UINT32_MAX ||
            !nytp_table_put(&calls->sub_of_name, (struct nytp_key){.a = id}, s))
            return false;
    }
    return true;
}

/* Add `sign` times the model's calls to the losses of the summary's calls. */
static bool add_arcs(struct calls *calls, const struct nytp_profile *p, double sign)
{
    for (uint32_t i = 0; i < p->n_arcs; i++) {
        const struct nytp_arc *a = &p->arcs[i];
        const struct nytp_name name = p->subs[a->callee].name;
        const uint32_t id = nytp_strings_intern(calls->names, name.ptr, name.len);
        if (id == UINT32_MAX)
            return false;
        const uint32_t sub = nytp_table_get(&calls->sub_of_name, (struct nytp_key){.a = id});
        const struct nytp_key key = {.a = sub, .b = p->files[a->file].fid, .c = a->line};
        const uint32_t at = sub != NYTP_TABLE_NONE
                                ? nytp_table_get(&calls->summary->call_of_place, key)
                                : NYTP_TABLE_NONE;
        if (at == NYTP_TABLE_NONE) /* calls that never returned are no calls of a summary */
            continue;
        calls->losses[at].excl += sign * (double)a->excl_ticks;
        calls->losses[at].incl += sign * (double)a->incl_ticks;
        calls->losses[at].reci += sign * (double)a->reci_ticks;
    }
    return true;
}

/* `seconds` without `ticks`; what is positive does not go below zero. */
static double less(double seconds, double ticks, double ticks_per_sec)
{
    const double rest = seconds - ticks / ticks_per_sec;
    /* what seconds as floating point numbers do not tell apart */
    return rest * ticks_per_sec < 1e-3 && seconds >= 0 ? 0 : rest;
}

static void correct_calls(const struct calls *calls, double ticks_per_sec)
{
    for (uint32_t c = 0; c < calls->summary->n_calls; c++) {
        struct nytp_summary_call *call = &calls->summary->calls[c];
        call->excl_s = less(call->excl_s, calls->losses[c].excl, ticks_per_sec);
        call->incl_s = less(call->incl_s, calls->losses[c].incl, ticks_per_sec);
        call->reci_s = less(call->reci_s, calls->losses[c].reci, ticks_per_sec);
    }
}

/* ---- lines ---- */

static bool lines_init(struct lines *lines)
{
    const struct nytp_summary *summary = lines->summary;
    lines->first_slot = malloc(((size_t)summary->n_files + 1) * sizeof *lines->first_slot);
    for (uint32_t f = 0; lines->first_slot != NULL && f < summary->n_files; f++) {
        lines->first_slot[f] = lines->n_slots;
        lines->n_slots += summary->files[f].times[NYTP_LEVEL_LINE].n;
    }
    lines->taken = calloc(lines->n_slots + 1, sizeof *lines->taken);
    return lines->first_slot != NULL && lines->taken != NULL;
}

static void take_from_line(void *context, uint32_t file, uint32_t line, double ticks)
{
    const struct lines *lines = context;
    const uint32_t f = nytp_summary_file_of(lines->summary, lines->profile->files[file].fid);
    if (f != NONE && line < lines->summary->files[f].times[NYTP_LEVEL_LINE].n)
        lines->taken[lines->first_slot[f] + line] += ticks;
}

/* What is left of a line whose time is positive. */
static double rest_of(const struct lines *lines, uint32_t f, uint32_t line)
{
    const int64_t ticks = lines->summary->files[f].times[NYTP_LEVEL_LINE].at[line].ticks;
    const double rest = (double)ticks - lines->taken[lines->first_slot[f] + line];
    return ticks > 0 && rest > 0 ? rest : 0;
}

/* Lines that cannot give what their events cost leave too much in all; what is left of the
 * others then shrinks in proportion, so that the sum is `total`. Whole ticks: each is rounded
 * down, and the ticks over go to the first lines that lost a fraction. */
static void correct_lines(const struct lines *lines, int64_t total)
{
    const struct nytp_summary *summary = lines->summary;
    double rests = 0;
    for (uint32_t f = 0; f < summary->n_files; f++)
        for (uint32_t line = 0; line < summary->files[f].times[NYTP_LEVEL_LINE].n; line++) {
            const int64_t ticks = summary->files[f].times[NYTP_LEVEL_LINE].at[line].ticks;
            total -= ticks < 0 ? ticks : 0; /* a clock that ran back: left as it is */
            rests += rest_of(lines, f, line);
        }
    if (total < 0)
        total = 0;
    const double shrinks = rests > (double)total ? (double)total / rests : 1;
    int64_t over = rests > 0 ? total : 0;
    for (uint32_t f = 0; f < summary->n_files; f++)
        for (uint32_t line = 0; line < summary->files[f].times[NYTP_LEVEL_LINE].n; line++)
            over -= (int64_t)floor(rest_of(lines, f, line) * shrinks);
    for (uint32_t f = 0; f < summary->n_files; f++)
        for (uint32_t line = 0; line < summary->files[f].times[NYTP_LEVEL_LINE].n; line++) {
            struct nytp_summary_time *time = &summary->files[f].times[NYTP_LEVEL_LINE].at[line];
            const double rest = rest_of(lines, f, line) * shrinks;
            if (time->ticks <= 0)
                continue;
            const bool gets_one = over > 0 && rest > floor(rest);
            time->ticks = (int64_t)floor(rest) + gets_one;
            over -= gets_one;
        }
}

/* ---- blocks and subs ---- */

static int by_line(const void *left, const void *right)
{
    const struct nytp_summary_roll *a = left, *b = right;
    if (a->fid != b->fid)
        return a->fid < b->fid ? -1 : 1;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    if (a->block_line != b->block_line)
        return a->block_line < b->block_line ? -1 : 1;
    return (a->sub_line > b->sub_line) - (a->sub_line < b->sub_line);
}

static void add_at(const struct nytp_summary *summary, const struct nytp_summary_roll *roll,
                   int64_t ticks)
{
    const uint32_t f = nytp_summary_file_of(summary, roll->fid);
    if (f == NONE)
        return;
    summary->files[f].times[NYTP_LEVEL_BLOCK].at[roll->block_line].ticks += ticks;
    summary->files[f].times[NYTP_LEVEL_SUB].at[roll->sub_line].ticks += ticks;
}

/* The rolls of one line share its new time as they shared the old one. */
static void correct_rolls(const struct nytp_summary *summary,
                          const struct nytp_summary_roll *rolls, uint32_t n)
{
    const uint32_t f = nytp_summary_file_of(summary, rolls->fid);
    double sum = 0, seen = 0;
    int64_t recorded = 0, given = 0;
    for (uint32_t i = 0; i < n; i++) {
        recorded += rolls[i].ticks;
        sum += rolls[i].ticks > 0 ? (double)rolls[i].ticks : 0;
    }
    if (f == NONE || recorded <= 0)
        return;
    const int64_t ticks = summary->files[f].times[NYTP_LEVEL_LINE].at[rolls->line].ticks;
    for (uint32_t i = 0; i < n; i++) {
        seen += rolls[i].ticks > 0 ? (double)rolls[i].ticks : 0;
        const int64_t upto = seen >= sum ? ticks : (int64_t)floor((double)ticks * (seen / sum));
        add_at(summary, &rolls[i], upto - given - rolls[i].ticks);
        given = upto;
    }
}

static void correct_levels(struct nytp_summary *summary)
{
    struct nytp_summary_roll *rolls = summary->rolls;
    if (summary->n_rolls > 0)
        qsort(rolls, summary->n_rolls, sizeof *rolls, by_line);
    for (uint32_t first = 0, end; first < summary->n_rolls; first = end) {
        for (end = first + 1; end < summary->n_rolls && rolls[end].fid == rolls[first].fid &&
                              rolls[end].line == rolls[first].line;)
            end++;
        correct_rolls(summary, rolls + first, end - first);
    }
}

/* ---- all of it ---- */

static int64_t taken_off(const struct nytp_profile *profile)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < profile->n_processes; i++)
        sum += profile->processes[i].recording_ticks;
    return sum;
}

static bool correct_both(struct nytp_profile *profile, struct lines *lines, struct calls *calls)
{
    struct nytp_summary *summary = calls->summary;
    if (!lines_init(lines) || !index_names(calls) || !add_arcs(calls, profile, 1) ||
        !nytp_recording_by_place(profile, take_from_line, lines) ||
        !nytp_take_off_recording(profile) || !add_arcs(calls, profile, -1))
        return false;
    summary->recording_ticks = taken_off(profile);
    if (summary->recording_ticks == 0)
        return true;
    correct_calls(calls, (double)profile->ticks_per_sec);
    correct_lines(lines, summary->total_ticks - summary->recording_ticks);
    correct_levels(summary);
    summary->total_ticks -= summary->recording_ticks;
    nytp_summary_sum_subs(summary);
    return true;
}

bool nytp_take_off_both(struct nytp_profile *profile, struct nytp_summary *summary)
{
    struct lines lines = {.profile = profile, .summary = summary};
    struct calls calls = {
        .summary = summary,
        .names = nytp_strings_new(),
        .losses = calloc((size_t)summary->n_calls + 1, sizeof *calls.losses),
    };
    const bool ok =
        calls.names != NULL && calls.losses != NULL && correct_both(profile, &lines, &calls);
    free(lines.first_slot);
    free(lines.taken);
    nytp_table_free(&calls.sub_of_name);
    nytp_strings_free(calls.names);
    free(calls.losses);
    return ok;
}
