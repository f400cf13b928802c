/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * --diff BASE and limits: both sides as one profile, their comparison, the limits applied; see
 * comparison.h.
 */
#include "comparison.h"
#include "load.h"
#include "outputs.h"

#include "exporters/compare/counts.h"
#include "exporters/compare/other_program.h"
#include "exporters/compare/conditions.h"
#include "exporters/compare/match.h"
#include "exporters/gate/gate_answers.h"
#include "exporters/select/one_process.h"
#include "exporters/select/rename.h"

#include "formats/model/merge_profiles.h"
#include "formats/model/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The inputs of both sides before they are merged. */
struct sides {
    struct run *run;
    struct comparison *comparison;
    struct nytp_profile **profiles; /* the new side's, then the base's */
    uint32_t n;
    char notes[NYTP_DIFF_MAX_NOTES][160];
    uint32_t n_notes;
};

/* ---- what makes sides incomparable ---- */

static void add_note(struct sides *sides, const char *text)
{
    for (uint32_t i = 0; i < sides->n_notes; i++)
        if (strcmp(sides->notes[i], text) == 0)
            return;
    if (sides->n_notes < NYTP_DIFF_MAX_NOTES)
        snprintf(sides->notes[sides->n_notes++], sizeof sides->notes[0], "%s", text);
}

static void note_conditions(struct sides *sides, const struct nytp_conditions *base,
                            const struct nytp_conditions *now)
{
    char text[160];
    for (uint32_t i = 0; i < NYTP_N_CONDITIONS; i++)
        if (nytp_conditions_describe(base, now, i, text, sizeof text))
            add_note(sides, text);
}

static void note_samples(struct sides *sides)
{
    const struct nytp_counts *counts = sides->comparison->counts;
    const uint32_t n = sides->n + (counts != NULL);
    uint32_t n_sampled = counts != NULL && counts->sampled;
    for (uint32_t i = 0; i < sides->n; i++)
        n_sampled += sides->profiles[i]->sampled;
    if (n_sampled == n)
        add_note(sides, "samples, and calls that they saw, differ by chance and by their rate: "
                        "only times can be compared");
    else if (n_sampled > 0)
        add_note(sides, "some of it was sampled, and the rest counts each statement and call: "
                        "only times can be compared");
}

/* The length of a name up to its last number. */
static size_t numbered_len(const char *name, const char **rest)
{
    size_t end = strlen(name);
    while (end > 0 && (name[end - 1] < '0' || name[end - 1] > '9'))
        end--;
    *rest = name + end;
    while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9')
        end--;
    return end;
}

/* The shell makes one base of `--diff old.*.out new.*.out`, and inputs of both sides. */
static void note_expanded_base(struct sides *sides)
{
    const struct nytp_cli *cli = &sides->run->cli;
    const char *rest, *other;
    char text[160];
    int n = 0;
    if (cli->bases.n != 1 || cli->owns_bases)
        return;
    const char *const base = cli->bases.at[0];
    const size_t len = numbered_len(base, &rest);
    for (int i = 0; i < cli->n_files && *base != '\0' && len < strlen(base); i++)
        n += numbered_len(cli->files[i], &other) == len &&
             strncmp(base, cli->files[i], len) == 0 && strcmp(rest, other) == 0;
    if (n == 0 || n == cli->n_files)
        return;
    snprintf(text, sizeof text,
             "1 base against %d inputs, %d of which are named as the base is: give --diff a "
             "folder, or --diff for each",
             cli->n_files, n);
    add_note(sides, text);
}

static void note_sides(struct sides *sides)
{
    note_expanded_base(sides);
    note_samples(sides);
    const struct nytp_conditions first = nytp_conditions_of(sides->profiles[0]);
    if (sides->comparison->counts != NULL)
        note_conditions(sides, &sides->comparison->counts->conditions, &first);
    for (uint32_t i = 0; i < sides->n; i++) {
        const struct nytp_conditions conditions = nytp_conditions_of(sides->profiles[i]);
        note_conditions(sides, &conditions, &first);
        if (!sides->profiles[i]->partial)
            continue;
        char text[160];
        const struct nytp_name path = sides->profiles[i]->recordings[0].path;
        const uint32_t skip = path.len > 80 ? path.len - 80 : 0;
        snprintf(text, sizeof text, "%s ends early or is damaged", path.ptr + skip);
        add_note(sides, text);
    }
}

/* ---- loading ---- */

/* Counts the profile's recordings, behind those counted before, and its subs as this side's. */
static bool add_recordings(struct comparison *comparison, const struct nytp_profile *profile,
                           enum nytp_diff_side side)
{
    const uint32_t n = comparison->n_recordings + profile->n_recordings;
    uint8_t *grown = realloc(comparison->side_of_recording, n);
    if (grown != NULL)
        comparison->side_of_recording = grown;
    if (grown == NULL ||
        (side == NYTP_DIFF_NEW && !nytp_defined_add(&comparison->defined, profile))) {
        nytp_cli_no_memory();
        return false;
    }
    memset(grown + comparison->n_recordings, side, profile->n_recordings);
    comparison->n_recordings = n;
    return true;
}

static enum exit_status add_profile(struct sides *sides, const char *path)
{
    struct nytp_profile *profile;
    const enum exit_status status = nytp_cli_load_whole(sides->run, &path, 1, &profile);
    if (status == EXIT_DONE)
        sides->profiles[sides->n++] = profile;
    return status;
}

/* Names of subs and files by which both sides can be compared, those of the new one first. */
static enum exit_status name_alike(struct sides *sides)
{
    const uint32_t n_new = (uint32_t)sides->run->cli.n_files;
    struct comparison *const comparison = sides->comparison;
    struct nytp_error error = {0};
    bool has_samples = false;
    for (uint32_t i = 0; i < sides->n; i++)
        has_samples |= sides->profiles[i]->sampled;
    for (uint32_t i = 0; i < sides->n; i++) {
        struct nytp_profile *const profile = sides->profiles[i];
        const enum nytp_diff_side side = i < n_new ? NYTP_DIFF_NEW : NYTP_DIFF_BASE;
        if (nytp_rename_stably(profile, !has_samples, &error) &&
            !add_recordings(comparison, profile, side))
            return EXIT_INPUT;
        if (side == NYTP_DIFF_BASE && error.status == NYTP_OK)
            nytp_adopt_file_names(profile, sides->profiles[0], &comparison->defined, &error);
        if (error.status != NYTP_OK) {
            nytp_cli_say("comparing the inputs: %s", error.message);
            return EXIT_INPUT;
        }
    }
    return EXIT_DONE;
}

static enum exit_status add_base(struct sides *sides, const char *path)
{
    if (!nytp_counts_is_one(path))
        return add_profile(sides, path);
    struct nytp_error error = {0};
    if (sides->run->cli.bases.n > 1) {
        nytp_cli_say("%s: a table of counts must be the only base", path);
        return EXIT_INPUT;
    }
    sides->comparison->counts = nytp_counts_read(path, &error);
    if (sides->comparison->counts == NULL)
        nytp_cli_say_error(path, &error, "");
    return sides->comparison->counts != NULL ? EXIT_DONE : EXIT_INPUT;
}

static enum exit_status load_sides(struct sides *sides)
{
    const struct nytp_cli *cli = &sides->run->cli;
    const size_t n = (size_t)cli->n_files + cli->bases.n;
    sides->profiles = calloc(n, sizeof(struct nytp_profile *));
    if (sides->profiles == NULL)
        return nytp_cli_no_memory();
    enum exit_status status = EXIT_DONE;
    for (int i = 0; status == EXIT_DONE && i < cli->n_files; i++)
        status = add_profile(sides, cli->files[i]);
    const uint32_t n_new = sides->n;
    for (uint32_t i = 0; status == EXIT_DONE && i < cli->bases.n; i++)
        status = add_base(sides, cli->bases.at[i]);
    if (status == EXIT_DONE)
        status = nytp_cli_select_judged(sides->run, sides->profiles, n_new);
    if (status == EXIT_DONE)
        status = nytp_cli_select_judged(sides->run, sides->profiles + n_new, sides->n - n_new);
    return status == EXIT_DONE ? name_alike(sides) : status;
}

/* Both sides as one profile, string evals of all inputs merged. NULL after a message. */
static struct nytp_profile *merge_sides(struct sides *sides)
{
    struct nytp_error error = {0};
    struct nytp_profile *profile = sides->profiles[0];
    const bool several = sides->n > 1;
    if (several)
        profile = nytp_profiles_merge(sides->profiles, sides->n, NYTP_MERGE_TO_COMPARE, &error);
    sides->n = 0; /* the inputs are consumed */
    const struct nytp_selection evals = {.merge_evals = true};
    if (profile != NULL && several && !nytp_select(profile, &evals, &error)) {
        nytp_profile_free(profile);
        profile = NULL;
    }
    if (profile == NULL)
        nytp_cli_say("merging the inputs: %s", error.message);
    return profile;
}

static enum exit_status load_both(struct comparison *comparison, struct sides *sides)
{
    const enum exit_status status = load_sides(sides);
    if (status != EXIT_DONE)
        return status;
    note_sides(sides);
    comparison->profile = merge_sides(sides);
    return comparison->profile != NULL ? EXIT_DONE : EXIT_INPUT;
}

/* Limits judge the same copy beside each format. */
static enum exit_status copy_for_limits(struct run *run, struct comparison *comparison)
{
    struct nytp_error error = {0};
    const struct nytp_profile *const profile = comparison->profile;
    struct nytp_profile *const judged = comparison->judged =
        nytp_select_processes_once(profile, 0, profile->n_processes, &error);
    if (judged != NULL)
        judged->strings = profile->strings;
    enum exit_status status =
        judged != NULL ? nytp_cli_select_judged(run, &judged, 1) : EXIT_INPUT;
    if (status == EXIT_DONE && !(nytp_rename_stably(judged, !judged->sampled, &error) &&
                                 add_recordings(comparison, judged, NYTP_DIFF_NEW)))
        status = EXIT_INPUT;
    if (error.status != NYTP_OK)
        nytp_cli_say("limits: %s", error.message);
    return status;
}

/* The inputs of one side alone, for rules that speak of no base. */
static enum exit_status load_new(struct run *run, struct comparison *comparison)
{
    enum exit_status status = nytp_cli_load_whole(run, (const char *const *)run->cli.files,
                                                  run->cli.n_files, &comparison->profile);
    if (status == EXIT_DONE && comparison->gate.n_rules > 0 &&
        comparison->profile->n_processes > 0)
        status = copy_for_limits(run, comparison);
    else if (status == EXIT_DONE &&
             !add_recordings(comparison, comparison->profile, NYTP_DIFF_NEW))
        status = EXIT_INPUT;
    return status == EXIT_DONE ? nytp_cli_select_shown(run, comparison->profile) : status;
}

/* ---- limits ---- */

/* Read all limits, from the command line and from files. */
static enum exit_status read_gate(const struct nytp_cli *cli, struct nytp_gate *gate)
{
    struct nytp_error error = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < cli->gate.limits.n; i++)
        ok = nytp_gate_add_limit(gate, cli->gate.limits.at[i], &error);
    for (uint32_t i = 0; ok && i < cli->gate.files.n; i++)
        ok = nytp_gate_read_rules(gate, cli->gate.files.at[i], &error);
    if (ok && cli->bases.n == 0 && nytp_gate_needs_base(gate))
        ok = nytp_error_set(&error, NYTP_ERR_FORMAT,
                            "a rule speaks of the base: --diff BASE is needed");
    if (ok)
        return EXIT_DONE;
    nytp_cli_say("%s", error.message);
    return error.status == NYTP_ERR_FORMAT || error.status == NYTP_ERR_LIMIT ? EXIT_USAGE
                                                                             : EXIT_INPUT;
}

struct answers {
    const struct nytp_cli *cli;
    const struct comparison *comparison;
};

static void write_answers(void *context, struct nytp_out *out)
{
    const struct answers *answers = context;
    const struct comparison *comparison = answers->comparison;
    if (answers->cli->gate.tap)
        nytp_gate_put_tap(&comparison->gate, &comparison->result, out);
    else
        nytp_gate_put_github(&comparison->gate, &comparison->result, out);
}

static void write_junit(void *context, struct nytp_out *out)
{
    const struct answers *answers = context;
    nytp_gate_put_junit(&answers->comparison->gate, &answers->comparison->result, out);
}

static enum exit_status put_answers(const struct nytp_cli *cli,
                                    const struct comparison *comparison)
{
    struct answers answers = {cli, comparison};
    enum exit_status status = EXIT_DONE;
    if (cli->gate.junit != NULL && (nytp_cli_replaces_input(cli, cli->gate.junit) ||
                                    nytp_cli_replaces_output(cli, cli->gate.junit)))
        return EXIT_USAGE;
    if (cli->gate.junit != NULL)
        status = nytp_cli_write_output(cli->gate.junit, write_junit, &answers);
    if (status == EXIT_DONE && (cli->gate.tap || cli->gate.annotations != NULL))
        status = nytp_cli_write_output("-", write_answers, &answers);
    return status;
}

/* Reports broken rules, and rules that could not be judged. A breach begins with FILE:LINE,
 * which editors and CI turn into a link. */
static void report_breaches(const struct nytp_gate *gate, const struct nytp_gate_result *result)
{
    for (uint32_t i = 0; i < result->n_offenders; i++) {
        const struct nytp_gate_offender *offender = &result->offenders[i];
        fprintf(stderr, "%s [%s]\n", offender->message, gate->rules[offender->rule].text);
    }
    for (uint32_t i = 0; i < gate->n_rules; i++) {
        const struct nytp_gate_rule *rule = &gate->rules[i];
        if (result->answers[i].verdict == NYTP_GATE_UNJUDGED)
            nytp_cli_say("%s: %s [%s]", rule->place != NULL ? rule->place : "--fail-over",
                         result->answers[i].text, rule->text);
    }
}

enum exit_status nytp_compare_judge(const struct run *run, struct comparison *comparison)
{
    const struct nytp_gate *gate = &comparison->gate;
    const struct nytp_gate_result *result = &comparison->result;
    if (gate->n_rules == 0)
        return EXIT_DONE;
    report_breaches(gate, result);
    for (uint32_t i = 0; i < gate->n_accepts && !run->cli.quiet; i++)
        if (!gate->accepts[i].used)
            nytp_cli_say("%s: no sub beyond a limit matches %s", gate->accepts[i].place,
                         gate->accepts[i].text);
    const enum exit_status status = put_answers(&run->cli, comparison);
    if (status != EXIT_DONE || result->n_offenders > 0)
        return status != EXIT_DONE ? status : EXIT_EXCEEDED;
    return nytp_gate_count(gate, result, NYTP_GATE_UNJUDGED) > 0 ? EXIT_USAGE : EXIT_DONE;
}

/* ---- all of it ---- */

/* Stacks of all runs of a side are added up. */
static void note_uneven_runs(const struct run *run, const struct nytp_diff *diff)
{
    const uint32_t *n = diff->n_runs;
    if (run->cli.bases.n > 0 && run->cli.exporter->sums_runs && !run->cli.quiet &&
        !run->cli.export.normalize && n[NYTP_DIFF_BASE] != n[NYTP_DIFF_NEW])
        nytp_cli_say("%s holds the sums of %lu runs of the base and %lu now",
                     run->cli.exporter->name, (unsigned long)n[NYTP_DIFF_BASE],
                     (unsigned long)n[NYTP_DIFF_NEW]);
}

/* Compare what was loaded, if both sides can be. */
static enum exit_status compare(const struct run *run, const struct sides *sides,
                                struct comparison *comparison)
{
    const struct nytp_cli *cli = &run->cli;
    struct nytp_error error = {0};
    const struct nytp_diff_sides how = {
        .side_of_recording = comparison->side_of_recording,
        .merge_runs = cli->export.merge_runs,
        .counts = comparison->counts,
        .defined = &comparison->defined,
    };
    struct nytp_diff *diff = comparison->diff = nytp_diff_new(
        comparison->judged != NULL ? comparison->judged : comparison->profile, &how, &error);
    if (diff == NULL) {
        nytp_cli_say("comparing: %s", error.message);
        return EXIT_INPUT;
    }
    if (diff->counts != NULL && cli->exporter->shows_stacks) {
        nytp_cli_say("--diff: %s needs recordings, and the base is a table of counts",
                     cli->exporter->name);
        return EXIT_USAGE;
    }
    if (!nytp_gate_check(&comparison->gate, diff, &comparison->result, &error)) {
        nytp_cli_say("limits: %s", error.message);
        return EXIT_INPUT;
    }
    for (uint32_t i = 0; i < sides->n_notes; i++)
        nytp_diff_note(diff, "%s", sides->notes[i]);
    if (nytp_diff_other_program(diff))
        nytp_diff_note(diff, "the base is of another program");
    note_uneven_runs(run, diff);
    return EXIT_DONE;
}

enum exit_status nytp_compare_load(struct run *run, struct comparison *comparison)
{
    const struct nytp_cli *cli = &run->cli;
    struct sides sides = {.run = run, .comparison = comparison};
    enum exit_status status = read_gate(cli, &comparison->gate);
    run->cli.gate.statements = nytp_gate_needs_statements(&comparison->gate);
    if (status == EXIT_DONE)
        status = cli->bases.n > 0 ? load_both(comparison, &sides) : load_new(run, comparison);
    if (status == EXIT_DONE && cli->bases.n + comparison->gate.n_rules > 0)
        status = compare(run, &sides, comparison);
    for (uint32_t i = 0; i < sides.n; i++)
        nytp_profile_free(sides.profiles[i]);
    free(sides.profiles);
    return status;
}

void nytp_compare_free(struct comparison *comparison)
{
    nytp_diff_free(comparison->diff);
    if (comparison->judged != NULL)
        comparison->judged->strings = NULL; /* the profile's */
    nytp_profile_free(comparison->judged);
    nytp_profile_free(comparison->profile);
    nytp_counts_free(comparison->counts);
    free(comparison->side_of_recording);
    nytp_gate_result_free(&comparison->result);
    nytp_gate_free(&comparison->gate);
    nytp_defined_free(&comparison->defined);
}
