/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The model: one or several profiles as exporters see them. It is a few flat, sorted arrays
 * that refer to each other by index. build.h and merge_profiles.h make one; profile.h looks
 * things up in it, checks and frees it. formats/model.md has the rules by which times are
 * assigned.
 *
 * Units: all times are ticks of 1/ticks_per_sec, signed 64 bit. Lines count from 1; 0 means
 * "no line". Index 0 of files and subs is a real entry ("no file", the root), never a gap.
 *
 * Ownership: everything belongs to the profile and lives until nytp_profile_free().
 */
#ifndef NYTP_MODEL_H
#define NYTP_MODEL_H

#include "formats/stream/comments/cost_records.h"
#include "formats/stream/comments/regex_records.h"
#include "formats/stream/comments/wait_records.h"
#include "formats/base/error.h"
#include "order.h"
#include "formats/base/blake2b.h"
#include "formats/stream/event.h"
#include "formats/stream/source.h"
#include "formats/base/strings.h"

/* Names (struct nytp_name) are valid UTF-8, and equal names have equal ptr: see
 * nytp_strings_intern_mixed(). */

/* The limit for the sum of all calls of an input, and for that of all statements. Anything
 * beyond it, in a damaged file, counts 0. So sums of a few such terms cannot overflow. At 100
 * ns a tick it is 158 years. */
#define NYTP_MAX_TOTAL_TICKS INT64_C(50000000000000000)

/* The contents of a recording as a bit set; also an exporter's `needs`. */
enum nytp_has {
    NYTP_HAS_STATEMENTS = 1 << 0,  /* TIME records: option stmts=1 */
    NYTP_HAS_ARCS = 1 << 1,        /* call counts and times per call site: subs=1 */
    NYTP_HAS_CALLS = 1 << 2,       /* call events: calls=1 or 2 */
    NYTP_HAS_ENTRIES = 1 << 3,     /* call entry events: calls=2 */
    NYTP_HAS_SOURCE = 1 << 4,      /* source lines: savesrc=1 */
    NYTP_HAS_BLOCKS = 1 << 5,      /* TIME_BLOCK: blocks=1 */
    NYTP_HAS_SVS = 1 << 6,         /* SVs made and freed: memory=1 */
    NYTP_HAS_BYTES = 1 << 7,       /* and samples of allocated bytes: memory=BYTES */
    NYTP_HAS_COUNTED_SVS = 1 << 8, /* NYTP_HAS_SVS, and svs=0 did not leave them out */
    NYTP_HAS_TIMES = 1 << 9,       /* counts=0; without it all ticks are 0 */
};

/* One process of the recording. */
struct nytp_process {
    uint32_t pid, ppid;
    uint32_t thread, parent_thread; /* its number and its creator's; 0 = the first thread */
    double start_s, end_s;          /* epoch; end_s is 0 if the end is unknown */
    uint32_t recording;
    uint32_t root;      /* node index of its root, sub main::RUNTIME */
    int64_t stmt_ticks; /* sum of its statement records, as recorded */
    struct nytp_costs costs;
    bool sampled; /* "statements" are samples; calls are those seen, a lower bound */
    int64_t cpu_ticks; /* if sampled: processor time of stmt_ticks */
    int64_t
        processor_ticks; /* processor time since start_s, sampled or not; 0 = unknown */
    int64_t memory_start,
        memory_peak;      /* bytes in core at start_s and at the peak; 0 = unknown */
    int64_t recording_ticks; /* recording cost that was subtracted from the times */
    bool complete;           /* its end was seen */
    bool knows_before;       /* reports memory in use from its earlier files */
    uint32_t inherits_from;  /* pid of a parent that allocated some of this memory; 0 = none */
    int64_t peak_in_use, peak_ticks; /* most bytes in use, and when, on the spans' axis */
    bool is_superseded; /* a later file of this process reports the memory in use (in_use.h) */
    struct nytp_name labels; /* DB::label_profile(): lines "KEY=VALUE", each key once; or "" */
};

/* One input file. Arcs and line costs are kept per recording, all else is unified. */
struct nytp_recording {
    struct nytp_name path;        /* as given on the command line */
    struct nytp_name application; /* $0, or "" */
    struct nytp_name perl_version, xs_version, host;
    double basetime_s;
    uint32_t first_process, n_processes;
    uint32_t script; /* file of its main::RUNTIME, or 0 */
    bool partial;    /* the input ended early or was damaged; `error` says where */
    struct nytp_error error;
    bool has_labels;           /* DB::label() was called */
    unsigned has;              /* enum nytp_has, of this input */
    bool estimated_tree;       /* no call events: contexts are derived from arcs */
    uint64_t spans_pruned;     /* the shortest calls, left out of spans for lack of room */
    int64_t pruned_span_ticks; /* the longest of them */
    uint64_t stretches_left_out; /* of labels, for lack of room */
};

struct nytp_pair { /* attribute or option of the first recording, in stream order; or a sum */
    struct nytp_name key, value;
};

struct nytp_file {
    struct nytp_name name; /* as recorded: absolute path, "-e", "-", "(eval 3)[/x/y.pl:7]" */
    uint32_t fid;          /* in its recording */
    uint32_t recording;    /* the first that has it */
    uint32_t eval_file; /* index of the file that ran this string eval, or 0; never a ring */
    uint32_t eval_line;
    uint32_t flags, size, mtime_s;
    uint32_t first_source; /* into sources; n_sources is 0 if there is none */
    uint32_t n_sources;
    uint8_t n_text_sums; /* 1: text_sum is that of a text not recorded; 2: several, none
                          * valid */
    uint8_t text_sum[NYTP_BLAKE2B_BYTES];
    bool unnamed; /* not named in the recording; called "(unknown file FID)" */
};

struct nytp_source_line { /* sorted by file, line; text includes its newline, raw bytes */
    uint32_t file, line;
    const char *text;
    uint32_t len;
};

/* Statements on a line within one block and one sub, which are given by their first lines. As
 * recorded, only with build option `blocks` and not for string evals. Sorted by the lines. */
struct nytp_block {
    uint32_t file, line, block_line, sub_line;
    int64_t ticks; /* of statements that took any time */
    uint64_t statements;
};

/* Operations of regular expressions at one place with one pattern in one process, as recorded
 * with option regex=1. Times are in nanoseconds. */
struct nytp_regex {
    enum nytp_regex_kind kind;
    uint32_t process, file, line;
    struct nytp_name pattern; /* cut, control characters as \xHH; "" for tr and // */
    uint64_t calls, matches;
    uint64_t compiled;                   /* for compile: how often it really compiled */
    uint64_t total_ns, max_ns, max_len;  /* the longest call, and the bytes of its subject */
    const struct nytp_regex_size *sizes; /* NYTP_REGEX_SIZES, by nytp_regex_size_of() */
};

/* Data that a selection removed. Reasons for waiting and regular expressions are known for
 * whole processes, so a selection of time loses them. */
enum nytp_lost {
    NYTP_LOST_TIME = 1,   /* time, and data of whole processes */
    NYTP_LOST_CALLS = 2,  /* calls of the database from the time line */
    NYTP_LOST_PLACES = 4, /* reasons for waiting or regular expressions, if there were any */
};

/* The waiting of a sampled process on one line, over all samples. */
struct nytp_waited {
    enum nytp_wait_reason reason;
    uint32_t process, file, line;
    struct nytp_name peer; /* of a socket; may be "" */
    uint64_t samples;
    int64_t ns;
};

/* Measures of sampled allocations. */
enum nytp_bytes_measure {
    NYTP_ALLOC_OBJECTS, /* blocks allocated; bytes allocated */
    NYTP_ALLOC_SPACE,
    NYTP_INUSE_OBJECTS, /* of these, not freed at the end, plus known earlier ones in use */
    NYTP_INUSE_SPACE,
    NYTP_N_BYTES_MEASURES
};

struct nytp_bytes {
    int64_t of[NYTP_N_BYTES_MEASURES]; /* each at least 0 */
};

enum nytp_sub_kind {
    NYTP_SUB_PERL = 0,
    NYTP_SUB_XSUB,
    NYTP_SUB_OPCODE,     /* a builtin timed as a sub: Pkg::CORE:print, CORE::print */
    NYTP_SUB_RUNTIME,    /* code outside any sub: main::RUNTIME, Pkg::RUNTIME */
    NYTP_SUB_UNRETURNED, /* frames that never returned and have no name */
};

/* Sub 0 is main::RUNTIME. From index 1 on sorted by name, then file, which identify a sub. */
struct nytp_sub {
    struct nytp_name name; /* "Pkg::sub" */
    uint32_t file;         /* 0 = unknown (xsubs and opcodes of packages without a Perl file) */
    uint32_t first_line, last_line; /* 0,0 = xsub, opcode or unknown */
    enum nytp_sub_kind kind;
    bool is_lost; /* a selection leaves out all its calls */
    uint64_t calls;
    int64_t excl_ticks;
    int64_t incl_ticks; /* outermost calls only; for the root: the total */
    int64_t reci_ticks; /* inclusive time of the nested calls of a recursion */
    uint32_t rec_depth; /* deepest recursion, 0 = none */
    uint64_t statements;
    int64_t stmt_ticks;      /* measured by the statement profiler, unadjusted */
    int64_t cpu_ticks;       /* processor time of excl_ticks, as in struct nytp_node_line */
    int64_t svs;             /* exclusive: the sum of its lines' net */
    struct nytp_bytes bytes; /* exclusive */
    uint32_t first_line_cost, n_line_costs; /* into line_costs (all recordings) */
    uint32_t first_arc, n_arcs; /* arcs in which it is the caller (all recordings) */
};

/* The cost of one line for a sub in one recording. The excl_ticks of a sub's line costs add up
 * exactly to its excl_ticks. Sorted by sub, recording, file, line. */
struct nytp_line_cost {
    uint32_t sub, recording;
    uint32_t file, line; /* may be another file than the sub's: a required file, an eval */
    int64_t excl_ticks;
    uint64_t statements;
    int64_t cpu_ticks; /* as in struct nytp_node_line */
};

/* Calls from one place. Sorted by caller, callee, recording, file, line. */
struct nytp_arc {
    uint32_t caller, callee, recording;
    uint32_t file, line; /* call site: first line of the calling statement, or 0 */
    uint64_t calls;      /* 0: a selection left only calls below these calls, or a share is
                          * less than one call (calls=0) */
    int64_t incl_ticks;  /* calls at recursion depth 1 of the callee */
    int64_t excl_ticks;
    int64_t reci_ticks; /* calls nested in another call of the callee */
    uint32_t rec_depth;
};

/* Calling-context tree. The nodes of a process are contiguous from its root on, depth first,
 * so a parent precedes its children. Siblings are sorted by sub, file, line. */
enum nytp_node_flag {
    NYTP_NODE_UNRETURNED = 1 << 0, /* a call that was open when the recording ended */
    NYTP_NODE_HANGS = 1 << 1,      /* and the program hung in it */
};

struct nytp_node {
    uint32_t parent; /* itself for a root */
    uint32_t sub;
    uint32_t file, line; /* call site in the parent; 0,0 = unknown */
    uint32_t flags;
    uint32_t depth; /* 0 for a root */
    uint64_t calls;
    int64_t excl_ticks;
    int64_t incl_ticks;                     /* excl_ticks plus the incl_ticks of all children */
    uint32_t first_child, n_children;       /* into children[] */
    uint32_t first_node_line, n_node_lines; /* into node_lines[] */
};

/* The places of a node's exclusive ticks, which add up exactly to its excl_ticks. Sorted by
 * file, line. Measured if the recording has call entries, else estimated from the totals of
 * the sub's lines, which are always exact. */
struct nytp_node_line {
    uint32_t file, line;
    int64_t ticks;
    uint64_t statements;
    uint64_t after_leave; /* continuations after a nested block; 0 after a selection or merge */
    int64_t cpu_ticks;    /* sampled: processor time, else 0. Without a selection the sum for a
                           * process is its cpu_ticks */
};

struct nytp_in_use {
    int64_t objects, space; /* blocks, and bytes */
};

/* SVs (perl's values) and memory on a line of a node or in a line cost. */
struct nytp_svs {
    int64_t net;  /* SVs made minus SVs freed */
    int64_t kept; /* unsigned surplus of SVs made by the node, on its lines that made more than
                   * they freed */
    struct nytp_bytes bytes;
    struct nytp_in_use inherited; /* part of the memory in use, from the parent process */
    struct nytp_in_use elsewhere; /* in use, but counted in another process (in_use.h) */
    int64_t peak_space;           /* bytes in use at the process's peak */
};

/* One call on the time axis; only with build option `spans`. Sorted by process, start,
 * depth: a frame precedes what it calls; properly nested. */
struct nytp_span {
    uint32_t node;
    int64_t start_ticks, end_ticks; /* from the process's start; end >= start */
};

/* A stretch of the time axis with a label (DB::label()); only with build option `spans`.
 * Sorted by process, then start. The stretches of one key do not overlap. In a sampled process
 * their ends come from the clock; else they are between calls. */
struct nytp_stretch {
    uint32_t process;
    struct nytp_name key, value;    /* as in the stream: control characters as \xHH */
    int64_t start_ticks, end_ticks; /* on the axis of the process's spans */
};

/* The memory of a process at one time. Sorted by process, then time. An input has at most
 * NYTP_MOST_MEMORY_POINTS. Beyond that two are joined: the larger values of both, at the time
 * of the later one. */
#define NYTP_MOST_MEMORY_POINTS 65536u

struct nytp_memory_point {
    uint32_t process;
    int64_t at_ticks; /* on the axis of the process's spans */
    int64_t resident; /* bytes in core */
    int64_t in_use;   /* sampled bytes allocated and not freed yet; 0 without NYTP_HAS_BYTES */
    int64_t svs;      /* made minus freed since recording began; 0 without NYTP_HAS_SVS */
};

struct nytp_totals {
    int64_t ticks; /* sum of the roots' incl_ticks */
    uint64_t statements, calls;
};

struct nytp_faults {
    uint64_t negative_times;     /* records with negative ticks */
    uint64_t wrapped_statements; /* negative statement ticks below -1 s: a 32 bit wrap */
    uint64_t unreturned_frames;
};

/* A table: its rows, and their number as `n_NAME`. */
#define NYTP_ROWS(type, name)                                                                  \
    type *name;                                                                                \
    uint32_t n_##name

struct nytp_profile {
    int64_t ticks_per_sec;
    unsigned has;        /* enum nytp_has, of all recordings together */
    bool partial;        /* true if any recording is */
    bool estimated_tree; /* true for any recording */
    bool sampled;        /* true if any process is */
    unsigned lost;       /* enum nytp_lost, for all recordings */
    struct nytp_totals total;
    struct nytp_faults faults;

    NYTP_ROWS(struct nytp_recording, recordings);
    NYTP_ROWS(struct nytp_process, processes);
    NYTP_ROWS(struct nytp_pair, attributes);
    NYTP_ROWS(struct nytp_pair, options);
    NYTP_ROWS(struct nytp_file, files); /* 0 = no file, name "" */
    NYTP_ROWS(struct nytp_source_line, sources);
    NYTP_ROWS(struct nytp_block, blocks);
    NYTP_ROWS(struct nytp_regex, regexes); /* by process */
    NYTP_ROWS(struct nytp_waited, waited); /* by process */
    NYTP_ROWS(struct nytp_sub, subs);
    NYTP_ROWS(struct nytp_line_cost, line_costs);
    NYTP_ROWS(struct nytp_arc, arcs);
    NYTP_ROWS(struct nytp_node, nodes);
    NYTP_ROWS(uint32_t, children); /* node indices */
    NYTP_ROWS(struct nytp_node_line, node_lines);
    struct nytp_svs *node_line_svs, *line_cost_svs; /* parallel arrays; or NULL */
    NYTP_ROWS(struct nytp_span, spans);
    NYTP_ROWS(struct nytp_stretch, stretches);
    NYTP_ROWS(struct nytp_memory_point, memory_points);

    struct nytp_strings *strings; /* owns every name */
    struct nytp_arena *arena;     /* owns source text and the regexes' sizes */
};

#endif
