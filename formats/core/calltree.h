/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Growing the calling-context tree from call events, with the name of a call known only when
 * it returns.
 *
 * The trick: an open frame owns a nameless subtree. When the call returns and its name is
 * known, the subtree is merged into the sibling of the same name and call site, or becomes
 * that sibling if there is none. A merged node is gone for good, so all merging together costs
 * no more than the number of nodes ever made: linear in the events. Frames without content
 * (xsubs, opcodes) never get a node of their own.
 *
 * Files without entry events are the same thing: the frames above a return are then implied.
 *
 * Statements belong to the frame that was current when they began, which is not the one that
 * is current when their time record arrives (nytprof-v5.md, "Order of records").
 */
#ifndef NYTP_CALLTREE_H
#define NYTP_CALLTREE_H

#include "table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NYTP_NO_NODE 0u         /* node index 0 is never used */
#define NYTP_NO_SUB  UINT32_MAX /* a frame whose name never became known */

/* Named limits. A depth beyond the first is damage, not a program. */
#define NYTP_MAX_DEPTH       1000000u
#define NYTP_MAX_NODES       20000000u
#define NYTP_LINE_CACHE      4096u
#define NYTP_PENDING_HINTS   2048u
#define NYTP_UNINDEXED_LINES 16u

struct nytp_tree_node {
    uint32_t parent;
    uint32_t sub;        /* builder's name id, or NYTP_NO_SUB */
    uint32_t file, line; /* call site; builder's file index */
    uint32_t first_child, next_sibling;
    uint32_t first_line; /* into lines, 0 = none */
    uint32_t n_lines;    /* beyond NYTP_UNINDEXED_LINES they are in by_line */
    uint32_t follow;     /* the line that was booked first the last time */
    uint32_t told; /* of one that never returned: the name that a comment told, or 0 */
    bool unreturned;
    uint64_t calls;
    int64_t excl_ticks;
};

/* What the statement profiler measured on a line in a context. A statement that goes on after a
 * block in it was left (a loop's next round, eval, if) counts in `left`, one that goes on after
 * a call of a Perl sub in neither. */
struct nytp_tree_line {
    uint32_t file, line;
    uint32_t next;   /* of the same node, 0 = last */
    uint32_t follow; /* of the same node: booked after this one the last time, or 0 */
    int64_t ticks;
    uint64_t statements, left;
};

/* Open frames. Implied frames in which nothing happened are not kept: two neighbours on the
 * stack can differ by more than one in depth. */
struct nytp_frame {
    uint32_t node;       /* its nameless subtree, NYTP_NO_NODE until something happens in it */
    uint32_t depth;      /* as in return events, less the tree's base_depth; 0 = the process */
    uint32_t file, line; /* call site */
    uint32_t told;       /* the name that a comment told while it was open, or 0 */
    bool entered;        /* an entry event was seen; else implied by a deeper event */
    bool spilled;        /* had too many pending lines: they go to its node */
    uint32_t first_pending; /* its entries in `pending` begin here */
    int64_t entry_clock;    /* statement clock at the entry */
    int64_t start_ticks;    /* estimate on the time axis */
};

/* What happened in an open frame, not yet booked on any node: a line that ran, or calls that
 * left nothing but their time (opcodes, xsubs). Most calls are short, and what they did is
 * best booked once, on the node that the name leads to. The entries of open frames lie in one
 * stack as the frames do; a frame that has too many gets a node and books there. */
struct nytp_pending {
    uint32_t sub; /* NYTP_NO_SUB for a line */
    uint32_t file, line;
    uint32_t left;  /* of a line: blocks that were left to go on with it */
    int64_t ticks;  /* statement ticks, or exclusive ticks of the calls */
    uint64_t count; /* statements, or calls */
};

struct nytp_calltree {
    struct nytp_tree_node *nodes;
    struct nytp_tree_line *lines;
    struct nytp_frame *frames; /* [0] is the process itself */
    uint32_t n_nodes, nodes_capacity, free_nodes;
    uint32_t n_lines, lines_capacity, free_lines;
    uint32_t top, frames_capacity;
    uint32_t base_depth; /* frames below frame 1 that were open before the recording */
    uint32_t max_nodes;
    uint32_t live_nodes;

    struct nytp_table by_call; /* (parent, sub, file, line) -> node, named nodes only */
    struct nytp_table by_line; /* (node, file, line, 0) -> line record, of large nodes */

    /* whose statement is running */
    uint32_t owner_frame; /* valid while <= top, else owner_node */
    uint32_t owner_node;

    struct nytp_pending *pending;
    uint32_t n_pending, pending_capacity;
    uint32_t pending_hint[NYTP_PENDING_HINTS]; /* where an entry may be found */

    bool returned_before; /* a return event was seen in this process */
    uint32_t *work;       /* pairs of nodes to merge */
    uint32_t n_work, work_capacity;

    /* the last lines touched: a statement usually runs where one ran before */
    struct {
        uint32_t node, file, line, record;
    } line_cache[NYTP_LINE_CACHE];
};

bool nytp_calltree_init(struct nytp_calltree *tree, uint64_t max_nodes);
void nytp_calltree_free(struct nytp_calltree *tree);

/* Begin a process: a new root named `sub`. Its node index, or NYTP_NO_NODE (memory, limit). */
uint32_t nytp_calltree_begin(struct nytp_calltree *tree, uint32_t sub);

/* All of these return false when memory or a limit is out. Ticks and clocks are the builder's.
 */
bool nytp_calltree_entry(struct nytp_calltree *tree, uint32_t file, uint32_t line,
                         int64_t clock);
bool nytp_calltree_return(struct nytp_calltree *tree, uint32_t depth, uint32_t sub,
                          int64_t incl_ticks, int64_t excl_ticks, int64_t clock);

/* The call that is open at `depth` is one of `sub`, should it never return. Calls are told from
 * the innermost outwards. Nothing where no entry event opened that call. */
bool nytp_calltree_tell(struct nytp_calltree *tree, uint32_t depth, uint32_t sub);

/* Time of the statement that was just left; the next one begins in the current frame. */
bool nytp_calltree_statement(struct nytp_calltree *tree, uint32_t file, uint32_t line,
                             int64_t ticks, uint32_t statements, uint32_t left);

/* Nothing has happened yet in the frame at this index. */
bool nytp_calltree_frame_is_fresh(const struct nytp_calltree *tree, uint32_t index);

/* Nothing but: the next statement begins in the current frame. */
void nytp_calltree_next_statement(struct nytp_calltree *tree);

/* End the process: frames still open become nodes marked unreturned. */
bool nytp_calltree_end(struct nytp_calltree *tree);

/* The named child, or NYTP_NO_NODE. */
uint32_t nytp_calltree_child(const struct nytp_calltree *tree, uint32_t parent, uint32_t sub,
                             uint32_t file, uint32_t line);

/* The child, made if need be; NYTP_NO_NODE when memory or the limit is out. */
uint32_t nytp_calltree_add_child(struct nytp_calltree *tree, uint32_t parent, uint32_t sub,
                                 uint32_t file, uint32_t line);

/* Add to a node's line record, made if need be. */
bool nytp_calltree_add_line(struct nytp_calltree *tree, uint32_t node, uint32_t file,
                            uint32_t line, int64_t ticks, uint64_t statements, uint64_t left);

/* Merge everything of `from` (times, calls, lines, children) into `to`; `from` must not be
 * linked anywhere and is freed. */
bool nytp_calltree_merge(struct nytp_calltree *tree, uint32_t from, uint32_t to);

/* Take a linked node out of its parent, keeping its content; cost: its elder siblings. */
void nytp_calltree_unlink(struct nytp_calltree *tree, uint32_t node);

#endif
