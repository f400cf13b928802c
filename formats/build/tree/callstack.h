/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The calls that are open while a stream is read, and how the calling-context tree grows from
 * them. The stream names a call only when it returns.
 *
 * The trick: what happens in a call waits, in order, behind what happened before it in its
 * callers, until the call returns. Then its name is known, and all that it left becomes a part
 * of what waits for its caller. From time to time what waits is booked, read backwards: from
 * the outermost call inwards, so that nearly every call is booked on the node where it belongs.
 * Only a frame that is open at that time is booked without a name: it owns a nameless subtree,
 * which is merged into the sibling of the same name and call site when the call returns, or
 * becomes that sibling if there is none. A merged node is gone for good, so all merging
 * together costs no more than the number of nodes ever made: linear in the events. Frames
 * without content (xsubs, opcodes) never get a node of their own.
 *
 * Files without entry events are the same thing: the frames above a return are then implied.
 *
 * Statements belong to the frame that was current when they began, which is not the one that
 * is current when their time record arrives (nytprof-v5.md, "Records").
 */
#ifndef NYTP_CALLSTACK_H
#define NYTP_CALLSTACK_H

#include "calltree.h"
#include "formats/stream/event.h"

#define NYTP_NO_BOOKING UINT32_MAX /* no index of `pending` */

/* Bookings that may wait; then all are booked, and the open frames get nameless nodes, which it
 * takes long to merge. */
#define NYTP_MAX_PENDING 262144u

/* Open frames. Implied frames in which nothing happened are not kept: two neighbours on the
 * stack can differ by more than one in depth. */
struct nytp_frame {
    uint32_t node;  /* its own, or a nameless subtree; NYTP_NO_NODE until something happens */
    uint32_t depth; /* as in return events, less the tree's base_depth; 0 = the process */
    uint32_t file, line;    /* call site */
    uint32_t recorded_name; /* the name that a comment told while it was open, or 0 */
    bool resumed;           /* continues a call that began earlier; not counted as a call */
    bool entered;           /* an entry event was seen; else implied by a deeper event */
    uint32_t first_pending; /* its entries in `pending` begin here */
    int64_t entry_clock;    /* `clock` of nytp_callstack_entry() */
    int64_t start_ticks;    /* estimate on the time axis */
    bool hangs;             /* the program hangs in it */
    int64_t excl_ticks;     /* exclusive time to give it if it never returns */
};

struct nytp_callstack {
    struct nytp_calltree tree;

    struct nytp_frame *frames; /* [0] is the process itself */
    uint32_t top, frames_capacity;
    uint32_t base_depth; /* frames below frame 1 that were open before the recording */

    uint32_t owner_frame; /* frame whose statement runs; above `top`: tree.owner's */

    /* Bookings that are on no node yet. Those of open frames are one list, in the order of the
     * frames. */
    struct nytp_booking *pending;
    uint32_t n_pending;
    uint32_t running; /* the NYTP_BOOK_RUNNING that waits for its line, or NYTP_NO_BOOKING */

    bool returned_before; /* a return event was seen in this process */
    bool resumed;         /* the next return ends a part of a call that began earlier */
};

bool nytp_callstack_init(struct nytp_callstack *stack, uint64_t max_nodes);
void nytp_callstack_free(struct nytp_callstack *stack);

/* Begin a process: a new root named `sub`, a name id of the builder's. Returns the root's node,
 * or NYTP_NO_NODE when memory or the limit of nodes is out. */
uint32_t nytp_callstack_begin(struct nytp_callstack *stack, uint32_t sub);

/* A call begins at `file` and `line`, or the call at `depth` returns and was one of `sub`.
 * `clock` is the sum of the process's statement ticks so far: with it the time tells which of
 * several open frames it is that returns. These and all functions below that return a bool
 * return false when memory or a limit is out. */
bool nytp_callstack_entry(struct nytp_callstack *stack, uint32_t file, uint32_t line,
                          int64_t clock);
bool nytp_callstack_return(struct nytp_callstack *stack, uint32_t depth, uint32_t sub,
                           int64_t incl_ticks, int64_t excl_ticks, int64_t clock);

/* The next return ends a part of a call that began earlier: it counts as none. */
void nytp_callstack_resumed(struct nytp_callstack *stack);

/* A comment of the stream told that the call which is open at `depth` is one of `sub`. The name
 * is used if that call never returns. Comments tell calls from the innermost outwards. Where no
 * entry event opened the call nothing is changed. */
bool nytp_callstack_note_name(struct nytp_callstack *stack, uint32_t depth, uint32_t sub);

/* The depth of the frame at this index, as returns count it. */
static inline uint32_t nytp_callstack_depth(const struct nytp_callstack *stack, uint32_t index)
{
    return index == 0 ? 0 : stack->frames[index].depth + stack->base_depth;
}

/* Book the time of the statement that was just left on its line, in the frame in which it
 * began; the next one begins in the current frame. `what`: NYTP_BOOK_COUNTS unless time is only
 * added, NYTP_BOOK_AFTER_LEAVE for a statement that goes on after a block in it was left. */
bool nytp_callstack_statement(struct nytp_callstack *stack, uint32_t file, uint32_t line,
                              int32_t ticks, uint32_t what);

/* Where NYTP_MAX_RUN statements can be written that nytp_callstack_statements() is to book; not
 * there any more after another booking. */
static inline struct nytp_statement *nytp_callstack_room(const struct nytp_callstack *stack)
{
    return &stack->pending[stack->n_pending].statement;
}

/* Book statements, at most NYTP_MAX_RUN, that follow the one booked last: they begin and end in
 * the current frame. `what` is of the first of them. */
bool nytp_callstack_statements(struct nytp_callstack *stack, uint32_t file,
                               const struct nytp_statement *run, uint32_t n, uint32_t what);

/* The next three are for sampled recordings, which tell of each sample how much of its time was
 * waiting and no processor time (sample_waits.h).
 *
 * So many ticks of the statement that runs were waiting. To be called before
 * nytp_callstack_statement() books the statement itself. */
bool nytp_callstack_line_wait(struct nytp_callstack *stack, uint32_t file, uint32_t line,
                              int64_t ticks);

/* A sample hit a call of a builtin or an xsub, which has no lines. While that call is the top
 * frame, nytp_callstack_waiter() remembers its caller. After it has returned,
 * nytp_callstack_call_wait() says which call it was and how long it waited. */
bool nytp_callstack_waiter(struct nytp_callstack *stack);
bool nytp_callstack_call_wait(struct nytp_callstack *stack, uint32_t sub, uint32_t file,
                              uint32_t line, int64_t ticks);

/* SVs that were made, less those that were freed, in the top frame: on this line if the running
 * statement began there. */
bool nytp_callstack_svs(struct nytp_callstack *stack, uint32_t file, uint32_t line,
                        int32_t svs);

/* A sample of allocated memory in the top frame, likewise. */
bool nytp_callstack_sample(struct nytp_callstack *stack, uint32_t file, uint32_t line,
                           struct nytp_tree_sample sample);

/* Returns whether nothing but making SVs has happened yet in the frame at this index. */
bool nytp_callstack_frame_is_fresh(const struct nytp_callstack *stack, uint32_t index);

/* The next statement begins in the current frame; no time is booked. */
void nytp_callstack_next_statement(struct nytp_callstack *stack);

/* The top frame is one in which the program hangs, which took it so long without a statement;
 * of these ticks some were waiting. */
bool nytp_callstack_hangs_in_top(struct nytp_callstack *stack, int64_t ticks,
                                 int64_t wait_ticks);

/* All frames above this index become nodes marked unreturned: with 0, the process ends. */
bool nytp_callstack_leave(struct nytp_callstack *stack, uint32_t index);

#endif
