/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The model: what exporters see of one or several profiles. It is a handful of flat, sorted
 * arrays that refer to each other by index. Here is what it is made of; build.h and
 * merge_profiles.h make one, profile.h looks things up in it, checks it and frees it. The rules
 * by which times got where they are stand in formats/model.md.
 *
 * Units: all times are ticks of 1/ticks_per_sec, signed 64 bit. Lines count from 1; 0 means
 * "no line". Index 0 of files and subs is a real entry ("no file", the root), never a gap.
 *
 * Ownership: everything hangs off the profile and lives until nytp_profile_free().
 */
#ifndef NYTP_MODEL_H
#define NYTP_MODEL_H

#include "formats/stream/comments/cost_records.h"
#include "formats/stream/comments/regex_records.h"
#include "formats/stream/comments/wait_records.h"
#include "formats/base/error.h"
#include "formats/base/blake2b.h"
#include "formats/stream/event.h"
#include "formats/stream/source.h"
#include "formats/base/strings.h"

/* Names (struct nytp_name) of a profile are valid UTF-8, and equal ones have equal ptr: see
 * nytp_strings_intern_mixed(). */

/* All calls of an input together take no more than this, and so do all statements; what a
 * damaged file claims beyond it counts 0. So sums of ticks need no look: there are a few of
 * such terms in each. At 100 ns a tick it is 158 years. */
#define NYTP_MAX_TOTAL_TICKS INT64_C(50000000000000000)

/* What a recording holds, as a bit set; an exporter's `needs` is one too. */
enum nytp_has {
    NYTP_HAS_STATEMENTS = 1 << 0,  /* TIME records: option stmts=1 */
    NYTP_HAS_ARCS = 1 << 1,        /* call counts and times per call site: subs=1 */
    NYTP_HAS_CALLS = 1 << 2,       /* call events: calls=1 or 2 */
    NYTP_HAS_ENTRIES = 1 << 3,     /* call entry events: calls=2 */
    NYTP_HAS_SOURCE = 1 << 4,      /* source lines: savesrc=1 */
    NYTP_HAS_BLOCKS = 1 << 5,      /* TIME_BLOCK: blocks=1 */
    NYTP_HAS_SVS = 1 << 6,         /* SVs made and freed: memory=1 */
    NYTP_HAS_BYTES = 1 << 7,       /* and samples of allocated bytes: memory=BYTES */
    NYTP_HAS_COUNTED_SVS = 1 << 8, /* with NYTP_HAS_SVS: those of SVs are counts, and not 0
                                      because svs=0 left them out */
};

/* One process of the recording. */
struct nytp_process {
    uint32_t pid, ppid;
    uint32_t thread, parent_thread; /* a thread of it, and which made that; 0 = the first */
    double start_s, end_s;          /* epoch; end_s 0 when the end was not seen */
    uint32_t recording;
    uint32_t root;      /* node index: the root of its tree, sub main::RUNTIME */
    int64_t stmt_ticks; /* sum of all its statement records, as recorded */
    struct nytp_costs costs;
    bool sampled; /* "statements" are samples, calls were seen to begin: there were as many or
                     more */
    int64_t cpu_ticks; /* if so: of stmt_ticks, what it was on a processor */
    int64_t
        processor_ticks; /* from start_s on, on a processor, sampled or not; 0 = not known */
    int64_t memory_start,
        memory_peak;      /* bytes in core at start_s, and at most; 0 = not known */
    int64_t recording_ticks; /* what recording cost, as far as it was taken off the times */
    bool complete;           /* its end was seen */
    bool knows_before;       /* it tells what is in use that earlier files of it allocated */
    uint32_t inherits_from;  /* pid of a parent that allocated some of what it tells before it
                                forked; 0 = none */
    int64_t peak_in_use, peak_ticks; /* the most bytes that were in use at any time, and when
                                        that was reached, on the axis of its spans */
    bool is_superseded; /* a later file of it in the profile tells what is in use (in_use.h) */
    struct nytp_name labels; /* DB::label_profile(): lines "KEY=VALUE", each key once; or "" */
};

/* One input file. Arcs and sub lines are kept apart by recording, all else is unified. */
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
    bool estimated_tree;       /* no call events: its contexts are derived from arcs */
    uint64_t spans_pruned;     /* calls that are not in spans: the shortest, for want of room */
    int64_t pruned_span_ticks; /* the longest of them */
    uint64_t stretches_left_out; /* of labels, for want of room */
};

struct nytp_pair { /* attribute or option of the first recording, in stream order; or a sum */
    struct nytp_name key, value;
};

struct nytp_file {
    struct nytp_name name; /* as recorded: absolute path, "-e", "-", "(eval 3)[/x/y.pl:7]" */
    uint32_t fid;          /* in its recording */
    uint32_t recording;    /* the first that has it */
    uint32_t eval_file; /* index of the file whose line ran this string eval, or 0; none leads
                           back to itself */
    uint32_t eval_line;
    uint32_t flags, size, mtime_s;
    uint32_t first_source; /* into sources; n_sources 0 when not kept */
    uint32_t n_sources;
    uint8_t n_text_sums; /* 1: the recording tells the sum of its text, which it did not keep;
                            2: it tells several, which prove nothing */
    uint8_t text_sum[NYTP_BLAKE2B_BYTES];
    bool unnamed; /* the recording names no such file; called "(unknown file FID)" here */
};

struct nytp_source_line { /* sorted by file, line; text includes its newline, raw bytes */
    uint32_t file, line;
    const char *text;
    uint32_t len;
};

/* What ran on a line within one block and one sub, by the lines where these begin: as recorded,
 * only with build option `blocks` and of files that are no string evals. Sorted by the lines.
 */
struct nytp_block {
    uint32_t file, line, block_line, sub_line;
    int64_t ticks; /* of statements that took any time */
    uint64_t statements;
};

/* An operation of regular expressions at one place with one pattern, in one process: as
 * recorded, with option regex=1. In nanoseconds, whatever the profile's ticks are. */
struct nytp_regex {
    enum nytp_regex_kind kind;
    uint32_t process, file, line;
    struct nytp_name pattern; /* cut, control characters as \xHH; "" of tr and of // */
    uint64_t calls, matches;
    uint64_t compiled;                   /* of compile: how often it was not spared */
    uint64_t total_ns, max_ns, max_len;  /* the longest call, and the bytes of its subject */
    const struct nytp_regex_size *sizes; /* NYTP_REGEX_SIZES, by nytp_regex_size_of() */
};

/* What a selection took out of a profile. Reasons of waiting and regular
 * expressions are known of whole processes: a selection of time has none of them. */
enum nytp_lost {
    NYTP_LOST_TIME = 1,   /* time, with what is known of whole processes */
    NYTP_LOST_CALLS = 2,  /* calls of the database from the time line */
    NYTP_LOST_PLACES = 4, /* reasons of waiting or regular expressions, which there were */
};

/* What a sampled process waited for on a line, of all samples together. */
struct nytp_waited {
    enum nytp_wait_reason reason;
    uint32_t process, file, line;
    struct nytp_name peer; /* of a socket; may be "" */
    uint64_t samples;
    int64_t ns;
};

/* What samples of allocated memory stand for. */
enum nytp_bytes_measure {
    NYTP_ALLOC_OBJECTS, /* blocks, and bytes, that were allocated */
    NYTP_ALLOC_SPACE,
    NYTP_INUSE_OBJECTS, /* of these, what was not freed before the end; and of what the process
                           allocated before, where that is known */
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
    NYTP_SUB_UNRETURNED, /* stands for frames that never returned and cannot be named */
};

/* Sub 0 is main::RUNTIME. Sorted by name, then file, from index 1 on. Identity: name + file. */
struct nytp_sub {
    struct nytp_name name; /* "Pkg::sub" */
    uint32_t file;         /* 0 = unknown (xsubs and opcodes of packages without Perl file) */
    uint32_t first_line, last_line; /* 0,0 = xsub, opcode or unknown */
    enum nytp_sub_kind kind;
    bool is_lost; /* a selection leaves out its calls wherever they are */
    uint64_t calls;
    int64_t excl_ticks;
    int64_t incl_ticks; /* outermost calls only; for the root: the total */
    int64_t reci_ticks; /* inclusive time of the nested calls of a recursion */
    uint32_t rec_depth; /* deepest recursion, 0 = none */
    uint64_t statements;
    int64_t stmt_ticks;      /* what the statement profiler measured in it, unadjusted */
    int64_t cpu_ticks;       /* of its excl_ticks, as in struct nytp_node_line */
    int64_t svs;             /* exclusive: the net of its lines' */
    struct nytp_bytes bytes; /* exclusive */
    uint32_t first_line_cost, n_line_costs; /* into line_costs (all recordings) */
    uint32_t first_arc, n_arcs; /* arcs in which it is the caller (all recordings) */
};

/* What a sub spent on one line (in one recording). The excl_ticks of a sub's line costs add up
 * to its excl_ticks exactly. Sorted by sub, recording, file, line. */
struct nytp_line_cost {
    uint32_t sub, recording;
    uint32_t file, line; /* file may differ from the sub's: code of a required file, an eval */
    int64_t excl_ticks;
    uint64_t statements;
    int64_t cpu_ticks; /* as in struct nytp_node_line */
};

/* Calls from one place. Sorted by caller, callee, recording, file, line. */
struct nytp_arc {
    uint32_t caller, callee, recording;
    uint32_t file, line; /* call site: first line of the calling statement; may be 0 */
    uint64_t calls;      /* 0: none of its own is left, only what happened in calls below it
                            (a selection), or a share of less than one (calls=0) */
    int64_t incl_ticks;  /* calls at recursion depth 1 of the callee */
    int64_t excl_ticks;
    int64_t reci_ticks; /* calls nested in another call of the callee */
    uint32_t rec_depth;
};

/* Calling-context tree. The nodes of a process are contiguous from its root on, depth first,
 * so a parent's index is lower than its children's. Siblings are sorted by sub, file, line. */
enum nytp_node_flag {
    NYTP_NODE_UNRETURNED = 1 << 0, /* a frame that was open when the recording ended */
    NYTP_NODE_HANGS = 1 << 1,      /* and the recording tells that the program hung in it */
};

struct nytp_node {
    uint32_t parent; /* itself for a root */
    uint32_t sub;
    uint32_t file, line; /* call site in the parent; 0,0 when unknown */
    uint32_t flags;
    uint32_t depth; /* 0 for a root */
    uint64_t calls;
    int64_t excl_ticks;
    int64_t incl_ticks;                     /* excl_ticks plus the incl_ticks of all children */
    uint32_t first_child, n_children;       /* into children[] */
    uint32_t first_node_line, n_node_lines; /* into node_lines[] */
};

/* Where a node's exclusive ticks were spent; they add up to its excl_ticks exactly. Sorted by
 * file, line. Measured where the recording has call entries, else estimated from the totals
 * of the sub's lines (which are exact in either case). */
struct nytp_node_line {
    uint32_t file, line;
    int64_t ticks;
    uint64_t statements;
    uint64_t after_leave; /* how often a statement there went on after a block in it was left; 0
                      once a selection or a merge made the node anew */
    int64_t cpu_ticks;    /* sampled: processor time spent there, at least 0; those of a process
                             add up to its cpu_ticks, before any selection. Else 0: not known */
};

struct nytp_in_use {
    int64_t objects, space; /* blocks, and bytes */
};

/* Perl's values (SVs) on a line of a node, and in a line cost, and memory. */
struct nytp_svs {
    int64_t net;  /* that were made there, less those that were freed */
    int64_t kept; /* for what has no sign: as many as the node made more than it freed, at least
                     0, on the lines that made more */
    struct nytp_bytes bytes;
    struct nytp_in_use inherited; /* of what is in use, what the process has from its parent */
    struct nytp_in_use elsewhere; /* in use, but counted in another process (in_use.h) */
    int64_t peak_space;           /* bytes in use at the process's peak */
};

/* One call on the time axis; only with build option `spans`. Sorted by process, start,
 * depth: a frame precedes what it calls; properly nested. */
struct nytp_span {
    uint32_t node;
    int64_t start_ticks, end_ticks; /* from the process's start; end >= start */
};

/* What of the time axis was under a label (DB::label()); only with build option `spans`. Sorted
 * by process, then start. A key has one value at a time: its stretches do not overlap. Of
 * a sampled process the ends are told by the clock, else they lie between the calls. */
struct nytp_stretch {
    uint32_t process;
    struct nytp_name key, value;    /* as in the stream: control characters as \xHH */
    int64_t start_ticks, end_ticks; /* on the axis of the process's spans */
};

/* What a process had in memory at an instant. Sorted by process, then time; those of an input
 * are at most NYTP_MOST_MEMORY_POINTS. Where there would be more, one stands for two, with the
 * larger values of both, at the time of the later one. */
#define NYTP_MOST_MEMORY_POINTS 65536u

struct nytp_memory_point {
    uint32_t process;
    int64_t at_ticks; /* on the axis of the process's spans */
    int64_t resident; /* bytes in core */
    int64_t in_use;   /* of what samples tell that it allocated, not freed yet; 0 without
                         NYTP_HAS_BYTES */
    int64_t svs;      /* made less freed since recording began; 0 without NYTP_HAS_SVS */
};

struct nytp_profile {
    int64_t ticks_per_sec;
    unsigned has;        /* enum nytp_has, of all recordings together */
    bool partial;        /* any recording is */
    bool estimated_tree; /* of any recording */
    bool sampled;        /* any process is */
    unsigned lost;       /* enum nytp_lost, of any recording */
    int64_t total_ticks; /* sum of the roots' incl_ticks */
    uint64_t total_statements, total_calls;
    uint64_t negative_times;     /* records that carried negative ticks */
    uint64_t wrapped_statements; /* negative statement ticks below -1 s: a 32 bit wrap */
    uint64_t unreturned_frames;

    struct nytp_recording *recordings;
    struct nytp_process *processes;
    struct nytp_pair *attributes, *options;
    struct nytp_file *files; /* 0 = no file, name "" */
    struct nytp_source_line *sources;
    struct nytp_block *blocks;
    struct nytp_regex *regexes; /* by process */
    struct nytp_waited *waited; /* by process */
    struct nytp_sub *subs;
    struct nytp_line_cost *line_costs;
    struct nytp_arc *arcs;
    struct nytp_node *nodes;
    uint32_t *children; /* node indices */
    struct nytp_node_line *node_lines;
    struct nytp_svs *node_line_svs, *line_cost_svs; /* each beside its node line or line cost;
                                                       NULL without NYTP_HAS_SVS */
    struct nytp_span *spans;
    struct nytp_stretch *stretches;
    struct nytp_memory_point *memory_points;
    uint32_t n_recordings, n_processes, n_attributes, n_options, n_files, n_sources, n_blocks,
        n_regexes, n_waited, n_subs, n_line_costs, n_arcs, n_nodes, n_children, n_node_lines,
        n_spans, n_stretches, n_memory_points;

    struct nytp_strings *strings; /* owns every name */
    struct nytp_arena *arena;     /* owns the source text and what the regexes' sizes are */
};

#endif
