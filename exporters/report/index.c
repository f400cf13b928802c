/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The pages of the whole program: index.html, index-subs-excl.html. See report.h.
 */
#include "report.h"

#include "formats/model/label_sums.h"
#include "formats/model/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE NYTP_REPORT_NONE

#define MOST_ROWS 1000 /* of processes, and of labels */
#define N_TOP     15   /* rows of the hottest subs and of the largest differences */

/* Returns the duration of a complete process in seconds, else 0. */
static double duration(const struct nytp_process *process)
{
    return process->end_s > process->start_s ? process->end_s - process->start_s : 0;
}

/* Writes the duration as nytprofhtml shows it: from start to end of the processes, minus the
 * profiler's own time. It includes start-up and the writing of the profile. */
static void put_duration(struct nytp_report *report)
{
    const struct nytp_profile *profile = report->profile;
    const double shown = (double)nytp_report_ns(report, profile->total.ticks) * 1e-9;
    const struct nytp_name *overhead =
        nytp_profile_attribute(profile, "cumulative_overhead_ticks");
    double all = 0, own = 0;
    for (uint32_t i = 0; i < profile->n_processes; i++) {
        all += duration(&profile->processes[i]);
        own -= (double)profile->processes[i].recording_ticks;
    }
    if (overhead != NULL && profile->n_recordings == 1)
        own -= strtod(overhead->ptr, NULL); /* interned names end in NUL */
    own = all + own / (double)profile->ticks_per_sec;
    if (all <= 0 || own <= 0 || report->options->selected != NULL ||
        fabs(own - shown) < own / 1000)
        return;
    nytp_puts(report->out, "<p class=\"sentence duration\">From start to end <b>");
    nytp_report_put_seconds(report, report->out, own);
    nytp_puts(report->out, "</b> passed (of ");
    nytp_report_put_seconds(report, report->out, all);
    nytp_puts(report->out, "): start-up and the writing of the profile, too, as nytprofhtml "
                           "counts it.</p>\n");
}

/* "Profiled for 9.16ms, executing …", and more about the sums. */
static void put_sentence(struct nytp_report *report)
{
    const struct nytp_profile *profile = report->profile;
    const bool sampled = report->profile->sampled;
    struct nytp_out *out = report->out;
    uint32_t n_files = 0, n_evals = 0;
    int64_t recording = 0;
    for (uint32_t f = 1; f < profile->n_files; f++) {
        n_evals += nytp_report_is_eval(report, f);
        n_files += !nytp_report_is_eval(report, f) && report->files[f].stem != NULL;
    }
    for (uint32_t i = 0; i < profile->n_processes; i++)
        recording += profile->processes[i].recording_ticks;
    nytp_puts(out, "<p class=\"sentence\">Profiled for <b>");
    nytp_report_put_time(report, out, profile->total.ticks);
    if (report->wait_ticks > 0 && report->wait_ticks >= profile->total.ticks / 100) {
        nytp_puts(out, "</b>, <b>");
        nytp_report_put_time(report, out, report->wait_ticks);
        nytp_puts(out, "</b> of it waiting<b>");
    }
    nytp_printf(out, "</b>, %s <b>", sampled ? "in" : "executing");
    nytp_report_plural(out, profile->total.statements, sampled ? "sample" : "statement",
                       sampled ? "samples" : "statements");
    nytp_printf(out, "</b> and <b>%s", sampled ? "at least " : "");
    nytp_report_plural(out, profile->total.calls, "subroutine call", "subroutine calls");
    nytp_puts(out, "</b> in ");
    nytp_report_plural(out, n_files, "source file", "source files");
    if (n_evals > 0) {
        nytp_puts(out, " and ");
        nytp_report_plural(out, n_evals, "string eval", "string evals");
    }
    if (!sampled) {
        nytp_puts(out, ", together <b>");
        nytp_report_plural(out, profile->total.statements + profile->total.calls, "op", "ops");
        nytp_puts(out, "</b>");
    }
    nytp_puts(out, ".</p>\n");
    put_duration(report);
    if (report->options->child_wait_ticks > 0) {
        nytp_puts(out, "<p class=\"sentence\">Besides, processes waited <b>");
        nytp_report_put_time(report, out, report->options->child_wait_ticks);
        nytp_puts(out, "</b> for one another: that is counted once, in the times of those that "
                       "ran.</p>\n");
    }
    if (recording > 0) {
        nytp_puts(out, "<p class=\"sentence cost\">Recording cost <b>");
        nytp_report_put_time(report, out, recording);
        nytp_puts(out, "</b> more, which is taken off all times here.</p>\n");
    }
}

/* ---- processes and labels ---- */

#define MOST_INPUTS 3 /* that a command names */

static void put_word(struct nytp_out *out, struct nytp_name word)
{
    nytp_putc(out, '\'');
    for (uint32_t i = 0, from = 0; i <= word.len; i++)
        if (i == word.len || word.ptr[i] == '\'') {
            nytp_html_text(out, word.ptr + from, i - from);
            nytp_puts(out, i < word.len ? "'\\''" : "'");
            from = i + 1;
        }
}

static void put_inputs(struct nytp_report *report)
{
    const struct nytp_profile *const profile = report->profile;
    if (profile->n_recordings > MOST_INPUTS)
        nytp_puts(report->out, " FILES");
    for (uint32_t i = 0; i < profile->n_recordings && profile->n_recordings <= MOST_INPUTS;
         i++) {
        nytp_putc(report->out, ' ');
        put_word(report->out, profile->recordings[i].path);
    }
}

/* Opening a row shows the command for a report of it alone. */
static void begin_command(struct nytp_out *out)
{
    nytp_puts(out, "<details><summary><small>its report</small></summary>"
                   "<code>nytp export --html");
}

static void end_command(struct nytp_out *out)
{
    nytp_puts(out, "</code></details>\n");
}

static const struct nytp_report_column process_columns[] = {
    {"pid", NULL, "Process", .is_text = false},
    {"wall", "From its start to its end", "Wall time", .is_text = false},
    {"excl", "What was recorded of it, without waiting", "Work", .is_text = false},
    {"process", NULL, "Program", .is_text = true},
};

static int64_t waits_of_process(const struct nytp_report *report, uint32_t index)
{
    const struct nytp_profile *const profile = report->profile;
    const uint32_t end = nytp_process_nodes_end(profile, index);
    int64_t ticks = 0;
    for (uint32_t n = profile->processes[index].root; n < end; n++)
        ticks += report->waits[profile->nodes[n].sub] ? profile->nodes[n].excl_ticks : 0;
    return ticks;
}

static void put_process(struct nytp_report *report, void *context, uint32_t index)
{
    const struct nytp_profile *const profile = report->profile;
    const struct nytp_process *const process = &profile->processes[index];
    const struct nytp_recording *const recording = &profile->recordings[process->recording];
    const struct nytp_name program =
        recording->application.len > 0 ? recording->application : recording->path;
    const int64_t waited = waits_of_process(report, index);
    struct nytp_out *const out = report->out;
    (void)context;
    if (nytp_report_process_is_part(report, index))
        nytp_printf(out, " data-part=%up", (unsigned)index);
    nytp_printf(out, "><td>%u", (unsigned)process->pid);
    nytp_report_seconds_cell(report, duration(process));
    nytp_report_time_cell(report, profile->nodes[process->root].incl_ticks - waited, true,
                          profile->total.ticks);
    nytp_puts(out, "<td>");
    nytp_html_text(out, program.ptr, program.len);
    if (process->thread > 0)
        nytp_printf(out, " <small>thread %u</small>", (unsigned)process->thread);
    if (waited > 0) {
        nytp_puts(out, " <small>and waited ");
        nytp_report_put_time(report, out, waited);
        nytp_puts(out, "</small>");
    }
    nytp_puts(out, process->complete ? "" : " <small>partial</small>");
    if (recording->n_processes == 1) {
        begin_command(out);
        nytp_putc(out, ' ');
        put_word(out, recording->path);
        end_command(out);
    } else {
        nytp_putc(out, '\n');
    }
}

static void put_processes(struct nytp_report *report)
{
    static const struct nytp_report_table table = {"processes",
                                                   "Processes",
                                                   "",
                                                   NYTP_REPORT_COLUMNS(process_columns),
                                                   .put_row = put_process,
                                                   .most = MOST_ROWS};
    if (report->profile->n_processes > 1)
        nytp_report_put_table(report, &table, report->profile->n_processes, NULL);
}

static const struct nytp_report_column label_columns[] = {
    {"n", "How often it was set", "Times", .is_text = false},
    {"median", "Half of them took no longer", "Median", .is_text = false},
    {"total", "All of them, as recorded", "Time", .is_text = false},
    {"label", NULL, "Label", .is_text = true},
};

/* *are_parts becomes false if the flame graph cannot show it alone. */
static void put_label(struct nytp_report *report, void *are_parts, uint32_t index)
{
    struct nytp_out *const out = report->out;
    const struct nytp_label_row *const row = &report->options->report.label_rows[index];
    if (!nytp_report_put_label_part(report, row->key, row->value))
        *(bool *)are_parts = false;
    nytp_printf(out, "><td>%llu", (unsigned long long)row->n);
    nytp_report_seconds_cell(report, row->median_s);
    nytp_report_seconds_cell(report, row->total_s);
    nytp_puts(out, "<td><i>");
    nytp_html_text(out, row->key.ptr, row->key.len);
    nytp_puts(out, "</i> ");
    nytp_html_text(out, row->value.ptr, row->value.len);
    nytp_puts(out, " <small>95 % within ");
    nytp_report_put_seconds(report, out, row->p95_s);
    if (row->slowest.len > 0) {
        nytp_puts(out, "; most in ");
        nytp_report_put_any_name(report, row->slowest);
    }
    nytp_puts(out, "</small>");
    begin_command(out);
    nytp_puts(out, " --where ");
    put_word(out, row->key);
    nytp_putc(out, '=');
    put_word(out, row->value);
    put_inputs(report);
    end_command(out);
}

static void put_labels(struct nytp_report *report)
{
    static const struct nytp_report_table table = {"labels",
                                                   "Labels",
                                                   "",
                                                   NYTP_REPORT_COLUMNS(label_columns),
                                                   .put_row = put_label,
                                                   .most = MOST_ROWS};
    bool are_parts = true;
    if (report->options->report.n_label_rows > 0)
        nytp_report_put_table(report, &table, report->options->report.n_label_rows, &are_parts);
    if (!are_parts)
        nytp_report_put_part_bounds(report);
}

/* ---- the index ---- */

void nytp_report_index(struct nytp_report *report)
{
    const struct nytp_report_page page = {.kind = "index",
                                          .name = "index.html",
                                          .title = "Profile",
                                          .of_program = true,
                                          .file = NONE};
    report->explained = true;
    nytp_report_page_begin(report, &page);
    put_sentence(report);
    nytp_report_jump_list(report);
    if (report->options->report.diff != NULL) {
        nytp_report_compared(report);
        nytp_report_difference_table(report, N_TOP);
    }
    if (report->flame)
        nytp_report_flame_section(report, NONE);
    nytp_report_sub_table(report, "top", "Top 15 subroutines", report->subs_by_time,
                          report->n_called < N_TOP ? report->n_called : N_TOP);
    nytp_report_part_tables(report, N_TOP);
    nytp_puts(report->out, "<p>See <a href=");
    nytp_report_put_url(report, "index-subs-excl.html", "");
    nytp_printf(report->out, ">all subroutines</a> (%u that were called).</p>\n",
                (unsigned)report->n_called);
    put_labels(report);
    put_processes(report);
    nytp_report_query_tables(report);
    nytp_report_regex_table(report);
    nytp_report_reason_table(report);
    nytp_report_memory_curve(report);
    nytp_report_file_table(report);
    nytp_report_package_table(report);
    nytp_report_page_end(report);
}

void nytp_report_all_subs(struct nytp_report *report)
{
    const struct nytp_report_page page = {.kind = "subs",
                                          .name = "index-subs-excl.html",
                                          .title = "All subroutines",
                                          .file = NONE};
    report->explained = true;
    nytp_report_page_begin(report, &page);
    if (report->options->report.diff != NULL)
        nytp_report_difference_table(report, UINT32_MAX);
    nytp_report_sub_table(report, "subs", "Subroutines by exclusive time", report->subs_by_time,
                          report->n_called);
    nytp_report_never_table(report);
    nytp_report_page_end(report);
}
