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

#include "formats/base/table.h"
#include "formats/model/model.h"
#include "formats/stream/event.h"
#include "tick_sums.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NYTP_NO_NODE 0u         /* node index 0 is never used */
#define NYTP_NO_SUB  UINT32_MAX /* a frame whose name never became known */

#define NYTP_MAX_NODES       20000000u /* of a tree: what damaged input can make us allocate */
#define NYTP_UNINDEXED_LINES 16u       /* lines of a node that are searched one by one */

/* A context: the path of calls from the root to here. Its sums are without those of its calls. */
struct nytp_tree_node {
    uint32_t parent;     /* a root's is the root itself */
    uint32_t sub;        /* builder's name id, or NYTP_NO_SUB */
    uint32_t file, line; /* call site; builder's file index */
    uint32_t first_child, next_sibling;
    uint32_t first_line;    /* into lines, 0 = none */
    uint32_t n_lines;       /* beyond NYTP_UNINDEXED_LINES they are in by_line */
    uint32_t recorded_name; /* if it never returned, the name in its comment, or 0 */
    bool unreturned;
    bool hangs; /* the program ended while it hung here */
    uint64_t calls;
    int64_t excl_ticks;
};

/* The statement profiler's sums for a line in a context. A statement that goes on after a block
 * in it (a loop's next round, eval, if) counts in `after_leave`, after a call of a Perl sub in
 * neither. */
struct nytp_tree_line {
    uint32_t node, file, line;
    uint32_t next; /* of the same node, 0 = last */
    int64_t ticks;
    uint64_t statements, after_leave;
};

/* Waits are the part of the time of a line, or of a call without lines (a builtin, an xsub),
 * that was no processor time. A wait may be negative: the two clocks are not read at the same
 * moment. These are the keys of a line of a node, and of a node without lines. */
static inline struct nytp_key nytp_wait_of_line(uint32_t node, uint32_t file, uint32_t line)
{
    return (struct nytp_key){node, file, line, 0};
}

static inline struct nytp_key nytp_wait_of_node(uint32_t node)
{
    return (struct nytp_key){node, 0, 0, 1};
}

/* A sample of allocated memory, in the circular list of what it belongs to: a node (if to none
 * of its lines), a line, or neither yet. */
struct nytp_tree_sample {
    uint64_t id;
    uint64_t space, objects;
    uint32_t next;
    uint32_t freed_as : 28;  /* its number among the freed, from 1 on; 0: it is none of them */
    bool is_from_before : 1; /* it was allocated before the recording began */
    bool is_inherited : 1;   /* if so: by a parent of the process, before the fork */
    bool is_of_peak : 1;     /* in use when its process used most */
};

/* The most samples of a stream, against damaged input. 28 bits count the freed ones. */
#define NYTP_MAX_SAMPLES 67108864u

/* SVs made less freed, and the last of a list of samples, whose next is the first; 0 = none. */
struct nytp_tree_memory {
    int64_t svs;
    uint32_t last_sample;
};

/* The memory of nodes (on none of their lines), or of lines; only as far as there is any. */
struct nytp_tree_memories {
    struct nytp_tree_memory *of;
    uint32_t capacity;
};

/* An event to be booked on a node. In a list, which is in the order of time, a call stands right
 * after the events in it, so a reader from the end meets the call first. Each statement has one,
 * so they are small. A call takes two: a NYTP_BOOK_CALL, and before it one with its other
 * numbers. */
struct nytp_booking {
    union {
        struct nytp_statement statement; /* as it was read; its fid gives way to `file` */
        struct {
            union {
                struct {
                    uint32_t what;
                    union {
                        int32_t ticks; /* of a statement */
                        int32_t svs;
                        uint32_t sample;
                        uint32_t sub; /* of a call */
                    };
                };
                int64_t excl_ticks; /* of the call that is next in the list */
            };
            union {
                struct {
                    uint32_t file, line;
                };
                uint32_t inside; /* number of bookings before this one made in that call */
            };
        };
    };
};

/* Bits of `what`. A statement's are less than NYTP_BOOK_SVS. SVs and samples are on a line or on
 * none. NYTP_BOOK_RUNNING: the running statement began there; its line is not known yet. */
#define NYTP_BOOK_COUNTS NYTP_STATEMENT_COUNTS /* counts as a statement or a call */
#define NYTP_BOOK_AFTER_LEAVE                                                                  \
    NYTP_STATEMENT_DISCOUNTED /* a block was left to go on with this statement */
#define NYTP_BOOK_SVS     4u
#define NYTP_BOOK_CALL    8u
#define NYTP_BOOK_RUNNING 16u
#define NYTP_BOOK_SAMPLE  32u

/* A cache of numbers by the low bits of a hash, as large as the list it serves. */
struct nytp_tree_cache {
    uint32_t *of; /* 0: nothing yet */
    uint32_t mask;
};

struct nytp_booked_call { /* the call whose bookings are next, and its callers */
    uint32_t node;
    uint32_t first; /* of its bookings, in the list */
};

struct nytp_calltree {
    struct nytp_tree_node *nodes; /* [0] unused */
    struct nytp_tree_line *lines; /* [0] unused */
    uint32_t n_nodes, nodes_capacity, free_nodes;
    uint32_t n_lines, lines_capacity, free_lines;
    struct nytp_tree_memories node_memory, line_memory;
    NYTP_LIST(struct nytp_tree_sample) samples; /* [0] unused */
    uint32_t max_nodes;
    uint32_t live_nodes;

    struct nytp_table by_call; /* (parent, sub, file, line) -> node, named nodes only */
    struct nytp_table by_line; /* (node, file, line, 0) -> line record, of large nodes */

    struct nytp_tick_sums waits; /* of a sampled recording, by nytp_wait_of_line() */
    uint32_t waiter; /* the node whose call of a builtin or xsub a sample hit; follows
                        a merge as `owner` does */

    /* The node in which the running statement began, where its frame is not open any more
     * (callstack.h). When that node is merged into another, this becomes the other. */
    uint32_t owner;

    NYTP_LIST(uint32_t) work; /* pairs of nodes to merge */
    NYTP_LIST(struct nytp_booked_call) booked_calls;

    /* The last lines and nodes touched: what happens usually happened before. Their fields say
     * what they are of. */
    struct nytp_tree_cache line_cache, call_cache;
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

/* Adds these amounts to the record of this line of this node, made if need be. */
bool nytp_calltree_add_line(struct nytp_calltree *tree, const struct nytp_tree_line *more);

/* A sample that is not booked yet; 0 when memory or the limit is out. */
uint32_t nytp_calltree_new_sample(struct nytp_calltree *tree, struct nytp_tree_sample sample);

/* Adds a sample to a node's line, or with line 0 to the node. */
bool nytp_calltree_book_sample(struct nytp_calltree *tree, uint32_t node, uint32_t file,
                               uint32_t line, uint32_t sample);

/* Returns the sums of a node or a line record. */
struct nytp_svs nytp_calltree_svs(const struct nytp_calltree *tree,
                                  const struct nytp_tree_memories *memories, uint32_t index);

/* Books the events in a node: on its lines, on children made if need be, and so on. The one in
 * which the running statement began becomes the owner. Here and below: false if memory or the
 * limit is out. */
bool nytp_calltree_book(struct nytp_calltree *tree, uint32_t node,
                        const struct nytp_booking *bookings, uint32_t n);

/* Gives a nameless subtree, or NYTP_NO_NODE, its name and place: it becomes the child of that
 * name, or is merged into the one that is there. Returns the child, or NYTP_NO_NODE. */
uint32_t nytp_calltree_attach(struct nytp_calltree *tree, uint32_t parent, uint32_t subtree,
                              uint32_t sub, uint32_t file, uint32_t line);

/* Lines, SVs, samples and children of `from` go to `to`; `from` stays, with its own time and
 * calls. */
bool nytp_calltree_move_content(struct nytp_calltree *tree, uint32_t from, uint32_t to);

/* Merge everything of `from` (times, calls, lines, children) into `to`; `from` must not be
 * linked anywhere and is freed. */
bool nytp_calltree_merge(struct nytp_calltree *tree, uint32_t from, uint32_t to);

#endif
