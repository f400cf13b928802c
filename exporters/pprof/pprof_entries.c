/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The exclusive values of a context; see pprof_entries.h. Pruned contexts are chained to the
 * one that includes them, so that each context is visited once.
 */
#include "pprof_entries.h"

#include "formats/base/arena.h"
#include "formats/model/svs.h"

#include <stdlib.h>

/* Chains are in index order. */
bool nytp_pprof_entries_init(struct nytp_pprof_entries *entries,
                             const struct nytp_profile *profile,
                             const struct nytp_stacks *stacks)
{
    *entries = (struct nytp_pprof_entries){.profile = profile};
    if (stacks->n_pruned == 0)
        return true;
    uint32_t *next = calloc((size_t)profile->n_nodes + 1, sizeof *next);
    if (next == NULL)
        return false;
    for (uint32_t n = profile->n_nodes; n-- > 0;) {
        const uint32_t kept = nytp_stacks_kept(stacks, n);
        if (kept == n)
            continue;
        next[n] = next[kept];
        next[kept] = n;
    }
    entries->next_member = next;
    return true;
}

void nytp_pprof_entries_free(struct nytp_pprof_entries *entries)
{
    free(entries->next_member);
    free(entries->at);
}

static void add_entry(struct nytp_pprof_entries *entries, struct nytp_pprof_entry entry)
{
    if (nytp_grow(&entries->at, &entries->size, entries->n, sizeof *entries->at))
        entries->at[entries->n++] = entry;
    else
        entries->no_memory = true;
}

static int compare_entries(const void *left, const void *right)
{
    const struct nytp_pprof_entry *a = left, *b = right;
    NYTP_RETURN_ORDER(a->file, b->file);
    return (a->line > b->line) - (a->line < b->line);
}

/* Makes one entry per line from those of several contexts. */
static void merge_entries(struct nytp_pprof_entries *entries)
{
    struct nytp_pprof_entry *at = entries->at;
    if (entries->n > 0)
        qsort(at, entries->n, sizeof *at, compare_entries);
    uint32_t n = 0;
    for (uint32_t i = 0; i < entries->n; i++) {
        if (n > 0 && compare_entries(&at[n - 1], &at[i]) == 0) {
            at[n - 1].ticks += at[i].ticks;
            at[n - 1].cpu_ticks += at[i].cpu_ticks;
            nytp_svs_add(&at[n - 1].memory, at[i].memory);
            at[n - 1].statements += at[i].statements;
        } else {
            at[n++] = at[i];
        }
    }
    entries->n = n;
}

static void add_lines(struct nytp_pprof_entries *entries, const struct nytp_node *node)
{
    const struct nytp_node_line *lines = &entries->profile->node_lines[node->first_node_line];
    for (uint32_t i = 0; i < node->n_node_lines; i++) {
        add_entry(entries,
                  (struct nytp_pprof_entry){
                      .file = lines[i].file,
                      .line = lines[i].line,
                      .ticks = lines[i].ticks,
                      .cpu_ticks = lines[i].cpu_ticks,
                      .memory = nytp_svs_of_line(entries->profile, node->first_node_line + i),
                      .statements = lines[i].statements});
    }
}

uint64_t nytp_pprof_entries_of(struct nytp_pprof_entries *entries, uint32_t n)
{
    const struct nytp_profile *profile = entries->profile;
    uint64_t calls = 0;
    uint32_t n_members = 0;
    entries->n = 0;
    for (uint32_t member = n;; member = entries->next_member[member]) {
        add_lines(entries, &profile->nodes[member]);
        calls += profile->nodes[member].calls;
        n_members++;
        if (entries->next_member == NULL || entries->next_member[member] == 0)
            break;
    }
    if (entries->n == 0 && calls > 0 && !entries->no_memory) {
        const struct nytp_sub *sub = &profile->subs[profile->nodes[n].sub];
        add_entry(entries,
                  (struct nytp_pprof_entry){.file = sub->file, .line = sub->first_line});
    }
    if (n_members > 1)
        merge_entries(entries);
    return calls;
}
