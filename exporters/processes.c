/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The processes of a recording for the terminal, one row each, children below their parents:
 * start, duration, and time spent only waiting for children.
 */
#include "exporters/base/exporter.h"
#include "exporters/base/process_tree.h"
#include "exporters/base/waits.h"
#include "exporters/table/sheet.h"
#include "formats/model/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE    NYTP_NO_PROCESS
#define CROWDED 2   /* ratio of exclusive to processor time */
#define NARROW  110 /* narrower terminals get only the most important columns */

struct row {
    uint32_t first_child, next; /* sorted by start; next: sibling */
    uint32_t depth;
    int64_t child_wait, other_wait;
    uint64_t statements;
};

struct table {
    const struct nytp_profile *profile;
    const struct nytp_export_options *options;
    struct nytp_out *out;
    struct row *rows; /* by process; the last is the parent of those without one */
    uint32_t *order;  /* parents come before their children */
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

static void link_rows(struct table *table)
{
    const uint32_t n = table->profile->n_processes;
    table->first_s = n > 0 ? process_of(table, table->tree.order[0])->start_s : 0;
    for (uint32_t i = 0; i <= n; i++)
        table->rows[i].first_child = table->rows[i].next = NONE;
    for (uint32_t i = n; i-- > 0;) {
        const uint32_t process = table->tree.order[i], parent = table->tree.parents[process];
        struct row *const above = &table->rows[parent != NONE ? parent : n];
        table->rows[process].next = above->first_child;
        above->first_child = process;
    }
}

/* Parents come before their children. No recursion. */
static void order_rows(const struct table *table)
{
    uint32_t at = table->rows[table->profile->n_processes].first_child, depth = 0, n = 0;
    while (at != NONE) {
        table->rows[at].depth = depth;
        table->order[n++] = at;
        if (table->rows[at].first_child != NONE) {
            at = table->rows[at].first_child;
            depth++;
            continue;
        }
        while (table->rows[at].next == NONE && table->tree.parents[at] != NONE) {
            at = table->tree.parents[at];
            depth--;
        }
        at = table->rows[at].next;
    }
}

/* ---- rows ---- */

enum {
    PID,
    PARENT,
    START,
    WALL,
    CPU,
    PEAK,
    OWN,
    CHILD_WAIT,
    OTHER_WAIT,
    STATEMENTS,
    STATE,
    COMMAND
};

static const struct nytp_column columns[] = {
    [PID] = {"pid", "pid", NYTP_CELL_COUNT, 8, 8},
    [PARENT] = {"parent", "parent", NYTP_CELL_COUNT, 9},
    [START] = {"start", "start", NYTP_CELL_TICKS, 11, 11},
    [WALL] = {"wall", "wall", NYTP_CELL_TICKS, 11, 11},
    [CPU] = {"cpu", "cpu", NYTP_CELL_TICKS, 11, 11, .dashes_zero = true},
    [PEAK] = {"memory", "memory", NYTP_CELL_BYTES, 11, .dashes_zero = true},
    [OWN] = {"own", "own", NYTP_CELL_TICKS, 11, 11, .dashes_zero = true},
    [CHILD_WAIT] = {"child_wait", "child-wait", NYTP_CELL_TICKS, 11, 11, .dashes_zero = true},
    [OTHER_WAIT] = {"other_wait", "other-wait", NYTP_CELL_TICKS, 11, .dashes_zero = true},
    [STATEMENTS] = {"statements", "", NYTP_CELL_COUNT, 11},
    [STATE] = {"state", "state", NYTP_CELL_WORD, 9, 9, .gap = 1},
    [COMMAND] = {"command", "command", NYTP_CELL_CODE},
};

/* An impossible time (the time of day in a damaged file) becomes the longest one. */
static int64_t ticks_of(const struct table *table, double seconds)
{
    const double most = 9e18;
    const double ticks = seconds * (double)table->profile->ticks_per_sec;
    if (!(ticks > -most && ticks < most))
        return ticks < 0 ? (int64_t)-most : (int64_t)most;
    return (int64_t)(ticks + (ticks < 0 ? -0.5 : 0.5));
}

static struct nytp_name command_of(const struct table *table,
                                   const struct nytp_process *process)
{
    return nytp_text_program(&table->profile->recordings[process->recording]);
}

static void fill(const struct nytp_sheet *sheet, uint32_t index, struct nytp_cell *cells)
{
    const struct table *const table = sheet->context;
    const struct nytp_process *const process = process_of(table, index);
    const struct row *const row = &table->rows[index];
    const int64_t measured = table->profile->nodes[process->root].incl_ticks;
    const struct nytp_cell known[] = {
        [PID] = {.value = process->pid},
        [PARENT] = {.value = process->ppid, .is_none = table->tree.parents[index] == NONE},
        [START] = {.value = ticks_of(table, process->start_s - table->first_s)},
        [WALL] = {.value = ticks_of(table, process->end_s - process->start_s),
                  .is_none = !(process->end_s > 0)},
        [CPU] = {.value = process->processor_ticks},
        [PEAK] = {.value = process->memory_peak},
        [OWN] = {.value = measured - row->child_wait - row->other_wait},
        [CHILD_WAIT] = {.value = row->child_wait},
        [OTHER_WAIT] = {.value = row->other_wait},
        [STATEMENTS] = {.value = (int64_t)row->statements},
        [STATE] = {.text = nytp_name_of_text(process->complete ? "complete" : "partial")},
        [COMMAND] = {.text = command_of(table, process)},
    };
    memcpy(cells, known, sizeof known);
}

/* Writes the thread's number and the program, indented by the depth. */
static void put_command(const struct nytp_sheet *sheet, uint32_t index, uint32_t pad,
                        uint32_t room, struct nytp_out *out)
{
    const struct table *const table = sheet->context;
    const struct nytp_process *const process = process_of(table, index);
    const uint32_t depth = table->rows[index].depth;
    char thread[24] = "";
    if (process->thread > 0)
        snprintf(thread, sizeof thread, "thread %lu, ", (unsigned long)process->thread);
    const uint32_t indent = 2 * (depth < 20 ? depth : 20);
    const uint32_t used = indent + (uint32_t)strlen(thread);
    nytp_text_pad(out, pad + indent);
    nytp_puts(out, thread);
    nytp_text_put_tail(out, command_of(table, process), nytp_columns_left(room, used, 12));
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
    struct nytp_export_options options = *table->options;
    struct nytp_sheet sheet =
        nytp_sheet_of(table->profile, table->options, columns, COMMAND + 1);
    link_rows(table);
    order_rows(table);
    sheet.name = "processes";
    sheet.is_narrow = options.columns > 0 && options.columns < NARROW;
    sheet.columns[START].narrow = table->has_cpu ? 0 : 11;
    sheet.columns[STATEMENTS].title = nytp_text_stmts(table->profile);
    sheet.n_shown = 0;
    for (unsigned i = PID; i <= COMMAND; i++)
        nytp_sheet_show(&sheet, i,
                        i == CPU    ? table->has_cpu
                        : i == PEAK ? table->has_peak
                                    : true);
    sheet.context = table;
    sheet.rows = table->order;
    sheet.n = sheet.wanted = table->profile->n_processes;
    sheet.fill = fill;
    sheet.tail = put_command;
    if (nytp_sheets_put(&sheet, 1, table->out))
        return;
    options.child_wait_ticks = 0; /* each row has its own */
    nytp_text_headline(table->out, table->profile, &options);
    nytp_sheet_put_text(&sheet, table->out);
    report_crowding(table);
}

static bool processes_write(const struct nytp_profile *profile,
                            const struct nytp_export_options *options, struct nytp_out *out)
{
    struct table table = {.profile = profile, .options = options, .out = out};
    struct nytp_waits waits;
    for (uint32_t i = 0; i < profile->n_processes; i++) {
        table.has_cpu |= profile->processes[i].processor_ticks > 0;
        table.has_peak |= profile->processes[i].memory_peak > 0;
    }
    table.rows = calloc((size_t)profile->n_processes + 1, sizeof *table.rows);
    table.order = malloc(((size_t)profile->n_processes + 1) * sizeof *table.order);
    const bool ok = nytp_waits_init(&waits, profile, options->waits, &out->error) &&
                    table.rows != NULL && table.order != NULL &&
                    nytp_process_tree_init(&table.tree, profile);
    if (ok) {
        sum_waits(&table, &waits);
        put_table(&table);
    } else {
        nytp_out_of_memory(&out->error);
    }
    nytp_waits_free(&waits);
    free(table.rows);
    free(table.order);
    nytp_process_tree_free(&table.tree);
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_processes = {
    .name = "processes",
    .title = "processes as a tree, with what they waited, for the terminal",
    .shows_counts = true,
    .needs = NYTP_HAS_ARCS,
    .write = processes_write,
    .takes = "as unit wait",
};
