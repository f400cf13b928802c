/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * --diff BASE and limits: load both sides, compare, write, apply the limits.
 *
 * Here each input must be readable: a gate that passes because its base is gone is worse than
 * none.
 */
#include "modes.h"
#include "outputs.h"

#include "exporters/compare/counts.h"
#include "exporters/gate/gate.h"
#include "exporters/compare/match.h"
#include "exporters/compare/rank_test.h"
#include "exporters/select/rename.h"

#include "formats/model/merge_profiles.h"
#include "formats/model/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sides {
    struct run *run;
    struct nytp_profile **profiles; /* the new side's, then the base's */
    uint8_t *side_of_part;
    uint32_t n;
    struct nytp_counts *counts;
    char notes[NYTP_DIFF_MAX_NOTES][160];
    uint32_t n_notes;
};

/* ---- what makes sides incomparable ---- */

/* What must be equal on both sides, or counts and times mean something else. */
struct facts {
    struct nytp_name perl, recorder, calls, stmts, slowops, clock, hash_seed, interval;
};

static struct nytp_name option(const struct nytp_profile *profile, const char *key)
{
    const struct nytp_name *value = nytp_profile_option(profile, key);
    return value != NULL ? *value : (struct nytp_name){0};
}

static struct nytp_name attribute(const struct nytp_profile *profile, const char *key)
{
    const struct nytp_name *value = nytp_profile_attribute(profile, key);
    return value != NULL ? *value : (struct nytp_name){0};
}

static struct facts facts_of(const struct nytp_profile *profile)
{
    return (struct facts){
        .perl = profile->parts[0].perl_version,
        .recorder = profile->parts[0].xs_version,
        .calls = option(profile, "calls"),
        .stmts = option(profile, "stmts"),
        .slowops = option(profile, "slowops"),
        .clock = attribute(profile, "clock_id"),
        .hash_seed = attribute(profile, "hash_seed"),
        .interval = attribute(profile, "sample_interval_ns"),
    };
}

static void add_note(struct sides *sides, const char *text)
{
    for (uint32_t i = 0; i < sides->n_notes; i++)
        if (strcmp(sides->notes[i], text) == 0)
            return;
    if (sides->n_notes < NYTP_DIFF_MAX_NOTES)
        snprintf(sides->notes[sides->n_notes++], sizeof sides->notes[0], "%s", text);
}

static void note_difference(struct sides *sides, const char *what, struct nytp_name base,
                            struct nytp_name now)
{
    if (base.len == 0 || now.len == 0 ||
        (base.len == now.len && memcmp(base.ptr, now.ptr, base.len) == 0))
        return;
    char text[160];
    snprintf(text, sizeof text, "%s differs: %.40s in the base, now %.40s", what, base.ptr,
             now.ptr);
    add_note(sides, text);
}

static bool is_random(struct nytp_name seed)
{
    return seed.len == 6 && memcmp(seed.ptr, "random", 6) == 0;
}

static void note_facts(struct sides *sides, const struct facts *first,
                       const struct facts *other)
{
    note_difference(sides, "perl", other->perl, first->perl);
    note_difference(sides, "the recorder", other->recorder, first->recorder);
    note_difference(sides, "option calls", other->calls, first->calls);
    note_difference(sides, "option stmts", other->stmts, first->stmts);
    note_difference(sides, "option slowops", other->slowops, first->slowops);
    note_difference(sides, "the clock", other->clock, first->clock);
    note_difference(sides, "the time from sample to sample (ns)", other->interval,
                    first->interval);
    if (!is_random(other->hash_seed) && !is_random(first->hash_seed))
        note_difference(sides, "the hash seed", other->hash_seed, first->hash_seed);
    else
        add_note(sides, "the hash seed is not fixed (PERL_HASH_SEED=0), so counts of what "
                        "depends on the order of keys vary");
}

static void note_samples(struct sides *sides)
{
    uint32_t n_sampled = 0;
    for (uint32_t i = 0; i < sides->n; i++)
        n_sampled += sides->profiles[i]->sampled;
    if (n_sampled == sides->n)
        add_note(sides, "samples, and calls that they saw, differ by chance and by their rate: "
                        "only times can be compared");
    else if (n_sampled > 0)
        add_note(sides, "some of it was sampled, and the rest counts each statement and call: "
                        "only times can be compared");
}

static void note_sides(struct sides *sides)
{
    note_samples(sides);
    const struct facts first = facts_of(sides->profiles[0]);
    for (uint32_t i = 0; i < sides->n; i++) {
        const struct facts facts = facts_of(sides->profiles[i]);
        note_facts(sides, &first, &facts);
        if (!sides->profiles[i]->partial)
            continue;
        char text[160];
        const struct nytp_name path = sides->profiles[i]->parts[0].path;
        const uint32_t skip = path.len > 80 ? path.len - 80 : 0;
        snprintf(text, sizeof text, "%s ends early or is damaged", path.ptr + skip);
        add_note(sides, text);
    }
}

/* ---- loading ---- */

/* Selections come first: their expressions are about the names that the recording has. */
static bool add_profile(struct sides *sides, const char *path, enum nytp_diff_side side)
{
    const struct run *run = sides->run;
    struct nytp_error error = {0};
    struct nytp_profile *profile = load(sides->run, path, NULL);
    if (profile == NULL)
        return false;
    sides->side_of_part[sides->n] = (uint8_t)side;
    sides->profiles[sides->n++] = profile;
    if (run->failed) /* --strict */
        return false;
    if (nytp_select(profile, &run->cli.selection, &error) &&
        (run->cli.bases.n == 0 || nytp_rename_stably(profile, &error)) &&
        (side == NYTP_DIFF_NEW || nytp_adopt_file_names(profile, sides->profiles[0], &error)))
        return true;
    say("%s: selection: %s", input_name(path), error.message);
    return false;
}

static bool add_base(struct sides *sides, const char *path)
{
    if (!nytp_counts_is_one(path))
        return add_profile(sides, path, NYTP_DIFF_BASE);
    struct nytp_error error = {0};
    if (sides->run->cli.bases.n > 1) {
        say("%s: a table of counts must be the only base", path);
        return false;
    }
    sides->counts = nytp_counts_read(path, &error);
    if (sides->counts == NULL)
        say_error(path, &error, "");
    return sides->counts != NULL;
}

static bool load_sides(struct sides *sides)
{
    const struct nytp_cli *cli = &sides->run->cli;
    const size_t n = (size_t)cli->n_files + cli->bases.n;
    sides->profiles = calloc(n, sizeof(struct nytp_profile *));
    sides->side_of_part = calloc(n, sizeof *sides->side_of_part);
    if (sides->profiles == NULL || sides->side_of_part == NULL) {
        say("out of memory");
        return false;
    }
    for (int i = 0; i < cli->n_files; i++)
        if (!add_profile(sides, cli->files[i], NYTP_DIFF_NEW))
            return false;
    for (uint32_t i = 0; i < cli->bases.n; i++)
        if (!add_base(sides, cli->bases.at[i]))
            return false;
    return true;
}

static void free_sides(struct sides *sides)
{
    for (uint32_t i = 0; i < sides->n; i++)
        nytp_profile_free(sides->profiles[i]);
    nytp_counts_free(sides->counts);
    free(sides->profiles);
    free(sides->side_of_part);
}

/* Both sides as one profile, string evals of all inputs merged. NULL after a message. */
static struct nytp_profile *merge_sides(struct sides *sides)
{
    struct nytp_error error = {0};
    struct nytp_profile *profile = sides->profiles[0];
    if (sides->n > 1)
        profile = nytp_profiles_merge(sides->profiles, sides->n, &error);
    const bool again = sides->n > 1 && sides->run->cli.selection.merge_evals;
    sides->n = 0; /* the inputs are consumed */
    const struct nytp_selection evals = {.merge_evals = true};
    if (profile != NULL && again && !nytp_select(profile, &evals, &error)) {
        nytp_profile_free(profile);
        profile = NULL;
    }
    if (profile == NULL)
        say("merging the inputs: %s", error.message);
    return profile;
}

/* ---- limits ---- */

/* Read all limits, from the command line and from files. */
static enum exit_status read_gate(const struct nytp_cli *cli, struct nytp_gate *gate)
{
    struct nytp_error error = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < cli->limits.n; i++)
        ok = nytp_gate_add_limit(gate, cli->limits.at[i], &error);
    for (uint32_t i = 0; ok && i < cli->gate_files.n; i++)
        ok = nytp_gate_read_rules(gate, cli->gate_files.at[i], &error);
    for (uint32_t i = 0; ok && i < cli->accept_files.n; i++)
        ok = nytp_gate_read_accepts(gate, cli->accept_files.at[i], &error);
    if (ok && cli->fail_least != NULL)
        ok = nytp_gate_set_least(gate, cli->fail_least, &error);
    if (ok && cli->bases.n == 0 && nytp_gate_needs_base(gate))
        ok = nytp_error_set(&error, NYTP_ERR_FORMAT,
                            "a rule speaks of the base: --diff BASE is needed");
    if (ok)
        return EXIT_DONE;
    say("%s", error.message);
    return error.status == NYTP_ERR_FORMAT || error.status == NYTP_ERR_LIMIT ? EXIT_USAGE
                                                                             : EXIT_INPUT;
}

static bool may_judge_times(const struct nytp_gate *gate, const struct nytp_diff *diff)
{
    if (!nytp_gate_needs_times(gate) || diff->tested)
        return true;
    if (!diff->base_has_times)
        say("a limit on time: the base holds counts only");
    else
        say("a limit on time needs %u runs on each side, here are %lu and %lu",
            NYTP_RANK_TEST_LEAST, (unsigned long)diff->n_runs[NYTP_DIFF_BASE],
            (unsigned long)diff->n_runs[NYTP_DIFF_NEW]);
    return false;
}

struct answers {
    const struct nytp_cli *cli;
    const struct nytp_gate *gate;
    const struct nytp_gate_result *result;
};

static void write_answers(void *context, struct nytp_out *out)
{
    const struct answers *answers = context;
    if (answers->cli->gate_tap)
        nytp_gate_put_tap(answers->gate, answers->result, out);
    else
        nytp_gate_put_github(answers->result, out);
}

static enum exit_status put_answers(const struct nytp_cli *cli, const struct nytp_gate *gate,
                                    const struct nytp_gate_result *result)
{
    if (!cli->gate_tap && cli->annotations == NULL)
        return EXIT_DONE;
    return write_output("-", write_answers, &(struct answers){cli, gate, result});
}

/* Check the limits and tell who broke which. */
static enum exit_status apply_limits(const struct run *run, struct nytp_gate *gate,
                                     const struct nytp_diff *diff)
{
    struct nytp_gate_result result;
    struct nytp_error error = {0};
    if (gate->n_rules == 0)
        return EXIT_DONE;
    if (!nytp_gate_check(gate, diff, &result, &error)) {
        say("limits: %s", error.message);
        nytp_gate_result_free(&result);
        return EXIT_INPUT;
    }
    for (uint32_t i = 0; i < result.n_offenders; i++) {
        /* a message begins with FILE:LINE, which editors and CI make a link of */
        fprintf(stderr, "%s [%s]\n", result.offenders[i].message,
                gate->rules[result.offenders[i].rule].text);
    }
    for (uint32_t i = 0; i < gate->n_accepts && !run->cli.quiet; i++)
        if (!gate->accepts[i].used)
            say("--accept: no sub beyond a limit matches %s", gate->accepts[i].text);
    enum exit_status status = put_answers(&run->cli, gate, &result);
    if (status == EXIT_DONE && result.n_offenders > 0)
        status = EXIT_EXCEEDED;
    nytp_gate_result_free(&result);
    return status;
}

/* ---- all of it ---- */

struct document {
    const struct nytp_cli *cli;
    const struct nytp_diff *diff;
};

static void write_diff(void *context, struct nytp_out *out)
{
    const struct nytp_cli *cli = ((const struct document *)context)->cli;
    const struct nytp_diff *diff = ((const struct document *)context)->diff;
    if (cli->bases.n > 0)
        cli->exporter->write_diff(diff, &cli->export, out);
    else
        cli->exporter->write(diff->profile, &cli->export, out);
}

static enum exit_status write_document(struct run *run, const struct nytp_diff *diff)
{
    const struct nytp_cli *cli = &run->cli;
    if (cli->exporter->write_set != NULL)
        return run_report(run, diff);
    const bool answers = cli->gate_tap || cli->annotations != NULL;
    if (answers && cli->output == NULL)
        return EXIT_DONE;
    return write_output(cli->output != NULL ? cli->output : "-", write_diff,
                        &(struct document){cli, diff});
}

/* Stacks of all runs of a side are added up. */
static void note_uneven_runs(const struct run *run, const struct nytp_diff *diff)
{
    const uint32_t *n = diff->n_runs;
    if (run->cli.bases.n > 0 && run->cli.exporter->sums_runs && !run->cli.quiet &&
        !run->cli.export.normalize && n[NYTP_DIFF_BASE] != n[NYTP_DIFF_NEW])
        say("%s holds the sums of %lu runs of the base and %lu now", run->cli.exporter->name,
            (unsigned long)n[NYTP_DIFF_BASE], (unsigned long)n[NYTP_DIFF_NEW]);
}

/* Both sides have been read: compare them, write the comparison, apply the limits. */
static enum exit_status compare_sides(struct sides *sides, struct nytp_gate *gate)
{
    const struct nytp_cli *cli = &sides->run->cli;
    struct nytp_error error = {0};
    if (cli->bases.n > 0)
        note_sides(sides);
    struct nytp_profile *profile = merge_sides(sides);
    if (profile == NULL)
        return EXIT_INPUT;
    const struct nytp_diff_sides how = {
        .side_of_part = sides->side_of_part,
        .merge_runs = cli->export.merge_runs || cli->bases.n == 0,
        .counts = sides->counts,
    };
    struct nytp_diff *diff = nytp_diff_new(profile, &how, &error);
    enum exit_status status = EXIT_INPUT;
    if (diff == NULL) {
        say("comparing: %s", error.message);
    } else if (!diff->base_has_times && cli->exporter->sums_runs) {
        say("--diff: %s needs recordings, and the base is a table of counts",
            cli->exporter->name);
        status = EXIT_USAGE;
    } else if (!weight_is_known(sides->run, profile) || !may_judge_times(gate, diff)) {
        status = EXIT_USAGE;
    } else {
        for (uint32_t i = 0; i < sides->n_notes; i++)
            nytp_diff_note(diff, "%s", sides->notes[i]);
        note_uneven_runs(sides->run, diff);
        status = write_document(sides->run, diff);
        const enum exit_status verdict =
            status == EXIT_DONE ? apply_limits(sides->run, gate, diff) : status;
        status = verdict != EXIT_DONE ? verdict : done(sides->run);
    }
    nytp_diff_free(diff);
    nytp_profile_free(profile);
    return status;
}

enum exit_status run_comparison(struct run *run)
{
    struct sides sides = {.run = run};
    struct nytp_gate gate = {0};
    enum exit_status status = read_gate(&run->cli, &gate);
    if (status == EXIT_DONE && !run->cli.quiet)
        run->cli.selection.on_miss = say_miss;
    if (status == EXIT_DONE)
        status = load_sides(&sides) ? compare_sides(&sides, &gate) : EXIT_INPUT;
    free_sides(&sides);
    nytp_gate_free(&gate);
    return status;
}
