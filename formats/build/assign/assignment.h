/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * From what the builder holds (builder_state.h) to the model (model.h). This header is private to
 * the files of this folder. They run in this order:
 *
 *     assign_subs.c  names become subs; finds the lines of which only the sub is known
 *     estimate.c          contexts, where the recording has no call events
 *     assign.c       the sorted tree; the time that the subroutine profiler did not see
 *     line_costs.c        every context's time on lines
 *     assign_cpu.c   of a sampled recording, what of that was processor time
 *
 * assign.c calls the others. The rules that they carry out are in formats/model.md.
 */
#ifndef NYTP_ASSIGNMENT_H
#define NYTP_ASSIGNMENT_H

#include "formats/build/gather/builder_state.h"
#include "line_owners.h"

#include "formats/base/wide.h"
#include "formats/model/svs.h"

/* A line's statement cost of which only the sub is known, not the context: it is put on
 * contexts by line_costs.c. */
struct nytp_loose_line {
    uint32_t process, sub, file, line;
    int64_t ticks;
    uint64_t statements, after_leave; /* as in struct nytp_tree_line */
};

/* The state that the steps share. */
struct nytp_assignment {
    struct nytp_builder *b;
    struct nytp_profile *p;
    struct nytp_line_owners *owners;
    uint32_t *sub_of_name; /* name id -> sub index */
    uint32_t unreturned_name;
    NYTP_LIST(struct nytp_loose_line) loose; /* sorted by process, sub, file, line */
    uint32_t *node_of_raw;
    uint32_t *raw_of_node;
    int64_t *stmt_ticks; /* per node */
    int64_t *deficit;    /* per node: its time that lies in statements of its ancestors */
    /* The nodes' shares of lines, before they are sorted into node_lines. `next` of an entry
     * is another one of the same loose line, its index + 1. */
    NYTP_LIST(struct nytp_tree_line) entries;
    bool *has_accepts; /* per sub: it is accept(), whose arcs left its waits out; NULL: none */
    struct nytp_svs_rows svs; /* of lines of nodes */
};

/* Sums of a sub that several steps need. */
struct nytp_sub_sums {
    int64_t loose_ticks;         /* statement ticks of its loose lines */
    int64_t arc_excl, arc_incl;  /* ticks of arcs into it */
    uint64_t arc_calls;
    int64_t ops_excl; /* of xsubs and opcodes that it calls */
    bool calls_out;   /* it is a caller */
};

/* Name what never returned, callers and subs; collect loose lines. Afterwards arcs and loose
 * lines name subs by index. Returns false if memory is out, as all below. */
bool nytp_assign_subs(struct nytp_assignment *s);

/* Grow the tree of a recording without call events from its arcs. */
bool nytp_estimate_tree(struct nytp_assignment *s, const struct nytp_sub_sums *sums);

/* Put every node's exclusive ticks, and all statements, on lines: p->node_lines. */
bool nytp_apportion_lines(struct nytp_assignment *s);

/* Processor time of a sampled recording's node_lines, so that those of a process add up to its
 * cpu_ticks. */
bool nytp_assign_cpu(struct nytp_assignment *s);

/* Gives each arc of accept() that has no time the wait of the accepts on its line
 * (accept_waits.h). Not for our own recorder's recordings, which have the cost of recording.
 * Without single calls the wait is the part of the line's statements that other builtins and
 * xsubs leave. Call it when subs have been assigned. */
bool nytp_accept_arcs_fill(struct nytp_assignment *s);

/* Adds to the recorded arcs of calls that led to such accepts what these waited. Call it when the
 * tree is complete. */
bool nytp_accept_arcs_raise(const struct nytp_assignment *s);

/* Makes p->spans, the time line, of the calls that were kept. */
bool nytp_lay_out_spans(const struct nytp_assignment *s);

/* Returns the builder's profile, complete, which is then the caller's; or NULL with *error set if
 * memory is out. */
struct nytp_profile *nytp_assign(struct nytp_builder *builder, struct nytp_error *error);

/* An xsub or opcode, which runs no lines of its own. */
static inline bool nytp_is_leaf_kind(const struct nytp_assignment *s, uint32_t sub)
{
    return s->p->subs[sub].kind == NYTP_SUB_OPCODE || s->p->subs[sub].kind == NYTP_SUB_XSUB;
}

/* The name id of a sub. */
static inline uint32_t nytp_id_of_sub(const struct nytp_assignment *s, uint32_t sub)
{
    return nytp_strings_intern(s->b->strings, s->p->subs[sub].name.ptr,
                               s->p->subs[sub].name.len);
}

static inline int64_t nytp_at_least_0(int64_t ticks)
{
    return ticks > 0 ? ticks : 0;
}

/* A total that is shared out over weights, to the last tick: shares are differences of running
 * sums. `sum` is that of all weights, and not 0. */
struct nytp_sharing {
    int64_t total, sum, cumulated, given;
};

/* Returns the share of the next weight. */
static inline int64_t nytp_next_share(struct nytp_sharing *s, int64_t weight)
{
    const int64_t given = s->given;
    s->cumulated += weight;
    s->given = nytp_mul_div_signed(s->total, s->cumulated, s->sum);
    return s->given - given;
}

#endif
