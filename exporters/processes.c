/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The processes of a recording for the terminal, one row each, children below their parents:
 * start, duration, and time spent only waiting for children.
 */
#include "exporters/base/exporter.h"
#include "exporters/base/process_tree.h"
#include "exporters/base/text.h"
#include "exporters/base/waits.h"
#include "formats/model/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE         NYTP_NO_PROCESS
#define CROWDED      2   /* ratio of exclusive to processor time */
#define NARROW       110 /* narrower terminals get only the most important columns */
#define FIXED        94  /* columns of the numbers */
#define CPU          11  /* added if known; a narrow terminal then has no start */
#define PEAK         11  /* added if known, except on a narrow terminal */
#define NARROW_FIXED 63

struct row {
    uint32_t parent; /* index of a process, NONE = not in the recording */
    uint32_t first_child, last_child, next; /* sorted by start; next: sibling */
    int64_t child_wait, other_wait;
    uint64_t statements;
};

struct table {
    const struct nytp_profile *profile;
    const struct nytp_export_options *options;
    struct nytp_out *out;
    struct row *rows; /* by process; the last is the parent of those without one */
    struct nytp_process_tree tree;
    double first_s;
    bool has_cpu;  /* processor time of any process is known */
    bool has_peak; /* and its memory */
};

static const struct nytp_process *process_of(const struct table *table, uint32_t index)
{
    return &table->profile->processes[index];
}

/* ---- the tree ---- */

static void add_child(const struct table *table, uint32_t parent, uint32_t child)
{
    struct row *above = &table->rows[parent != NONE ? parent : table->profile->n_processes];
    if (above->last_child == NONE)
        above->first_child = child;
    else
        table->rows[above->last_child].next = child;
    above->last_child = child;
}

static void link_rows(struct table *table)
{
    const uint32_t n = table->profile->n_processes;
    table->first_s = n > 0 ? process_of(table, table->tree.order[0])->start_s : 0;
    for (uint32_t i = 0; i <= n; i++) {
        struct row *row = &table->rows[i];
        row->first_child = row->last_child = row->next = NONE;
    }
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t process = table->tree.order[i];
        table->rows[process].parent = table->tree.parents[process];
        add_child(table, table->rows[process].parent, process);
    }
}

/* ---- rows ---- */

static bool is_narrow(const struct table *table)
{
    return table->options->columns > 0 && table->options->columns < NARROW;
}

/* An impossible time (the time of day in a damaged file) is shown as the longest one. */
static void put_seconds(const struct table *table, double seconds)
{
    const double most = 9e18;
    double ticks = seconds * (double)table->profile->ticks_per_sec;
    if (!(ticks > -most && ticks < most))
        ticks = ticks < 0 ? -most : most;
    nytp_putc(table->out, ' ');
    nytp_text_time(table->out, (int64_t)(ticks + (ticks < 0 ? -0.5 : 0.5)),
                   table->profile->ticks_per_sec, table->options->unit, 10);
}

static void put_ticks(const struct table *table, int64_t ticks)
{
    if (ticks == 0)
        nytp_printf(table->out, "%11s", "-");
    else {
        nytp_putc(table->out, ' ');
        nytp_text_time(table->out, ticks, table->profile->ticks_per_sec, table->options->unit,
                       10);
    }
}

static void put_memory(const struct table *table, int64_t bytes)
{
    if (bytes == 0)
        nytp_printf(table->out, "%11s", "-");
    else
        nytp_text_bytes(table->out, bytes, 11);
}

static const char *state_of(const struct nytp_process *process)
{
    return process->complete ? "complete" : "partial";
}

/* Writes the thread's number and the program, indented by the depth. */
static void put_title(const struct table *table, const struct nytp_process *process,
                      uint32_t depth)
{
    const struct nytp_recording *recording = &table->profile->recordings[process->recording];
    struct nytp_out *out = table->out;
    char thread[24] = "";
    if (process->thread > 0)
        snprintf(thread, sizeof thread, "thread %lu, ", (unsigned long)process->thread);
    const uint32_t indent = 2 * (depth < 20 ? depth : 20);
    nytp_text_pad(out, indent);
    nytp_puts(out, thread);
    const uint32_t fixed =
        is_narrow(table) ? NARROW_FIXED
                         : FIXED + (table->has_cpu ? CPU : 0) + (table->has_peak ? PEAK : 0);
    const uint32_t used = fixed + indent + (uint32_t)strlen(thread),
                   columns = table->options->columns;
    nytp_text_put_tail(
        out, recording->application.len > 0 ? recording->application : recording->path,
        columns == 0          ? 0
        : columns > used + 12 ? columns - used
                              : 12);
}

static void put_row(const struct table *table, uint32_t index, uint32_t depth)
{
    const struct nytp_process *process = process_of(table, index);
    const struct row *row = &table->rows[index];
    const int64_t measured = table->profile->nodes[process->root].incl_ticks;
    struct nytp_out *out = table->out;
    nytp_printf(out, "%8lu", (unsigned long)process->pid);
    if (is_narrow(table))
        ; /* the order shows the parent */
    else if (row->parent != NONE)
        nytp_printf(out, " %8lu", (unsigned long)process->ppid);
    else
        nytp_printf(out, " %8s", "-");
    if (!is_narrow(table) || !table->has_cpu)
        put_seconds(table, process->start_s - table->first_s);
    if (process->end_s > 0)
        put_seconds(table, process->end_s - process->start_s);
    else
        nytp_printf(out, "%11s", "-");
    if (table->has_cpu)
        put_ticks(table, process->processor_ticks);
    if (table->has_peak && !is_narrow(table))
        put_memory(table, process->memory_peak);
    put_ticks(table, measured - row->child_wait - row->other_wait);
    put_ticks(table, row->child_wait);
    if (!is_narrow(table)) {
        put_ticks(table, row->other_wait);
        nytp_printf(out, " %10llu", (unsigned long long)row->statements);
    }
    nytp_printf(out, "  %-9s", state_of(process));
    put_title(table, process, depth);
    nytp_putc(out, '\n');
}

/* Parents come before their children. No recursion. */
static void put_rows(const struct table *table)
{
    uint32_t at = table->rows[table->profile->n_processes].first_child, depth = 0;
    while (at != NONE) {
        const struct row *row = &table->rows[at];
        put_row(table, at, depth);
        if (row->first_child != NONE) {
            at = row->first_child;
            depth++;
            continue;
        }
        while (row->next == NONE && row->parent != NONE) {
            row = &table->rows[row->parent];
            depth--;
        }
        at = row->next;
    }
}

static void sum_waits(const struct table *table, const struct nytp_waits *waits)
{
    const struct nytp_profile *profile = table->profile;
    for (uint32_t p = 0; p < profile->n_processes; p++) {
        const uint32_t end = nytp_process_nodes_end(profile, p);
        for (uint32_t n = profile->processes[p].root; n < end; n++) {
            const struct nytp_node *node = &profile->nodes[n];
            for (uint32_t l = 0; l < node->n_node_lines; l++)
                table->rows[p].statements +=
                    profile->node_lines[node->first_node_line + l].statements;
            if (waits->kinds[n] == NYTP_WAIT_CHILD)
                table->rows[p].child_wait += profile->nodes[n].excl_ticks;
            else if (waits->kinds[n] == NYTP_WAIT_BLOCK)
                table->rows[p].other_wait += profile->nodes[n].excl_ticks;
        }
    }
}

/* Says so if most of the work was waiting for a processor: too many processes at once. */
static void report_crowding(const struct table *table)
{
    const struct nytp_profile *profile = table->profile;
    int64_t own = 0, cpu = 0;
    for (uint32_t i = 0; i < profile->n_processes; i++) {
        const struct nytp_process *process = process_of(table, i);
        own += profile->nodes[process->root].incl_ticks - table->rows[i].child_wait -
               table->rows[i].other_wait;
        cpu = nytp_ticks_sum(cpu, process->processor_ticks);
        if (process->processor_ticks == 0)
            return;
    }
    if (own / CROWDED < cpu)
        return;
    nytp_text_time(table->out, own, profile->ticks_per_sec, table->options->unit, 0);
    nytp_puts(table->out, " of their own, ");
    nytp_text_time(table->out, cpu, profile->ticks_per_sec, table->options->unit, 0);
    nytp_puts(table->out, " of it on a processor: they waited for one\n");
}

static void put_table(struct table *table)
{
    link_rows(table);
    struct nytp_export_options options = *table->options;
    options.child_wait_ticks = 0; /* each row has its own */
    nytp_text_headline(table->out, table->profile, &options);
    nytp_text_style(table->out, table->options->color, NYTP_STYLE_BOLD);
    if (is_narrow(table))
        nytp_printf(table->out, "     pid%s        own child-wait  state    command",
                    table->has_cpu ? "       wall        cpu" : "      start       wall");
    else
        nytp_printf(table->out,
                    "     pid   parent      start       wall%s%s        own child-wait"
                    " other-wait %10s  state    command",
                    table->has_cpu ? "        cpu" : "", table->has_peak ? "     memory" : "",
                    nytp_text_stmts(table->profile));
    nytp_text_style(table->out, table->options->color, NYTP_STYLE_PLAIN);
    nytp_putc(table->out, '\n');
    put_rows(table);
    report_crowding(table);
}

static bool processes_write(const struct nytp_profile *profile,
                            const struct nytp_export_options *options, struct nytp_out *out)
{
    struct table table = {.profile = profile, .options = options, .out = out};
    struct nytp_waits waits;
    for (uint32_t i = 0; i < profile->n_processes; i++)
        table.has_cpu |= profile->processes[i].processor_ticks > 0;
    for (uint32_t i = 0; i < profile->n_processes; i++)
        table.has_peak |= profile->processes[i].memory_peak > 0;
    table.rows = calloc((size_t)profile->n_processes + 1, sizeof *table.rows);
    const bool ok = nytp_waits_init(&waits, profile, options->waits, &out->error) &&
                    table.rows != NULL && nytp_process_tree_init(&table.tree, profile);
    if (ok) {
        sum_waits(&table, &waits);
        put_table(&table);
    } else {
        nytp_out_of_memory(&out->error);
    }
    nytp_waits_free(&waits);
    free(table.rows);
    nytp_process_tree_free(&table.tree);
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_processes = {
    .name = "processes",
    .title = "processes as a tree, with what they waited, for the terminal",
    .suffixes = "",
    .needs = NYTP_HAS_ARCS,
    .write = processes_write,
};
