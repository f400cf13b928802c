/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The calling-context tree while it grows: a node for each distinct path of calls, with what
 * was booked on it and the lines that ran in it. callstack.h decides what is booked where.
 *
 * Nodes, lines and subs are numbers, never pointers: the arrays move when they grow, and freed
 * nodes and lines are used again.
 */
#ifndef NYTP_CALLTREE_H
#define NYTP_CALLTREE_H

#include "table.h"
#include "wait_sums.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NYTP_NO_NODE 0u         /* node index 0 is never used */
#define NYTP_NO_SUB  UINT32_MAX /* a frame whose name never became known */

#define NYTP_MAX_NODES       20000000u /* of a tree: what damaged input can make us allocate */
#define NYTP_LINE_CACHE      4096u     /* entries of `line_cache` */
#define NYTP_UNINDEXED_LINES 16u       /* lines of a node that are searched one by one */

/* A context: the path of calls from the root to here. What it measures is its own, without what
 * it calls. */
struct nytp_tree_node {
    uint32_t parent;     /* a root's is the root itself */
    uint32_t sub;        /* builder's name id, or NYTP_NO_SUB */
    uint32_t file, line; /* call site; builder's file index */
    uint32_t first_child, next_sibling;
    uint32_t first_line; /* into lines, 0 = none */
    uint32_t n_lines;    /* beyond NYTP_UNINDEXED_LINES they are in by_line */
    uint32_t follow;     /* the line that was booked first the last time */
    uint32_t told;       /* of one that never returned: the name that a comment told, or 0 */
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

/* What is to be booked on a node: a line that ran in it, or calls from it. What happened in a
 * call stands right before it and is booked on its node: a list of bookings, read backwards,
 * has each call before all that happened in it. */
struct nytp_booking {
    uint32_t sub; /* NYTP_NO_SUB for a line */
    uint32_t file, line;
    uint32_t depth; /* of the frame; see callstack.h */
    int64_t ticks;  /* statement ticks, or exclusive ticks of the calls */
    uint32_t count; /* statements, or calls */
    union {
        uint32_t left;   /* of a line: blocks that were left to go on with it */
        uint32_t inside; /* of a call: so many bookings before this one happened in it */
    };
};

/* The sub of a booking whose line is not known yet: the running statement began there. */
#define NYTP_RUNNING (UINT32_MAX - 1)

struct nytp_calltree {
    struct nytp_tree_node *nodes; /* [0] unused */
    struct nytp_tree_line *lines; /* [0] unused */
    uint32_t n_nodes, nodes_capacity, free_nodes;
    uint32_t n_lines, lines_capacity, free_lines;
    uint32_t max_nodes;
    uint32_t live_nodes;

    struct nytp_table by_call; /* (parent, sub, file, line) -> node, named nodes only */
    struct nytp_table by_line; /* (node, file, line, 0) -> line record, of large nodes */

    struct nytp_wait_sums waits; /* of a sampled recording */
    uint32_t waiter; /* the node whose call of a builtin or xsub a sample hit; follows
                        a merge as `owner` does */

    /* The node in which the running statement began, where its frame is not open any more
     * (callstack.h). When that node is merged into another, this becomes the other. */
    uint32_t owner;

    uint32_t *work; /* pairs of nodes to merge */
    uint32_t n_work, work_capacity;

    struct nytp_booked_call { /* whose bookings are next, and those that it lies in */
        uint32_t node;
        uint32_t first;    /* of its bookings, in the list */
        uint32_t previous; /* the line booked last, 0 at first */
    } * booked_calls;
    uint32_t booked_calls_capacity;

    /* the last lines touched: a statement usually runs where one ran before */
    struct {
        uint32_t node, file, line, record;
    } line_cache[NYTP_LINE_CACHE];
};

bool nytp_calltree_init(struct nytp_calltree *tree, uint64_t max_nodes);
void nytp_calltree_free(struct nytp_calltree *tree);

/* A node without name and parent; NYTP_NO_NODE when memory or the limit is out. */
uint32_t nytp_calltree_new_node(struct nytp_calltree *tree);

/* The named child, or NYTP_NO_NODE. */
uint32_t nytp_calltree_child(const struct nytp_calltree *tree, uint32_t parent, uint32_t sub,
                             uint32_t file, uint32_t line);

/* The child, made if need be; NYTP_NO_NODE when memory or the limit is out. */
uint32_t nytp_calltree_add_child(struct nytp_calltree *tree, uint32_t parent, uint32_t sub,
                                 uint32_t file, uint32_t line);

/* Add to a node's line record, made if need be. */
bool nytp_calltree_add_line(struct nytp_calltree *tree, uint32_t node, uint32_t file,
                            uint32_t line, int64_t ticks, uint64_t statements, uint64_t left);

/* Book what happened in a node: on its lines, and on children made if need be, and so on. Where
 * the running statement began in one of them, that becomes the owner. False when memory or the
 * limit is out, here and below. */
bool nytp_calltree_book(struct nytp_calltree *tree, uint32_t node,
                        const struct nytp_booking *bookings, uint32_t n);

/* Give a nameless subtree its name and its place: it becomes the child of that name, or is
 * merged into the one that is there. `subtree` may be NYTP_NO_NODE: then the child is made if
 * need be. The child, or NYTP_NO_NODE. */
uint32_t nytp_calltree_attach(struct nytp_calltree *tree, uint32_t parent, uint32_t subtree,
                              uint32_t sub, uint32_t file, uint32_t line);

/* Lines and children of `from` go to `to`; `from` stays, with its own time and calls. */
bool nytp_calltree_move_content(struct nytp_calltree *tree, uint32_t from, uint32_t to);

/* Merge everything of `from` (times, calls, lines, children) into `to`; `from` must not be
 * linked anywhere and is freed. */
bool nytp_calltree_merge(struct nytp_calltree *tree, uint32_t from, uint32_t to);

/* Take a linked node out of its parent, keeping its content; cost: its elder siblings. */
void nytp_calltree_unlink(struct nytp_calltree *tree, uint32_t node);

#endif
