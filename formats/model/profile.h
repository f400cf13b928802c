/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Functions of a finished profile (model.h): look something up, check it, free it.
 */
#ifndef NYTP_PROFILE_H
#define NYTP_PROFILE_H

#include "formats/base/error.h"
#include "model.h"

/* Frees the profile and everything that it owns. Accepts NULL. */
void nytp_profile_free(struct nytp_profile *profile);

/* Returns the value of an attribute or option, borrowed from the profile, or NULL. */
const struct nytp_name *nytp_profile_attribute(const struct nytp_profile *profile,
                                               const char *key);
const struct nytp_name *nytp_profile_option(const struct nytp_profile *profile,
                                            const char *key);

/* Returns a source line, borrowed from the profile, or NULL if the recording does not have it.
 * `file` is an index of profile->files; `line` may be any number. */
const struct nytp_source_line *nytp_profile_source(const struct nytp_profile *profile,
                                                   uint32_t file, uint32_t line);

/* Returns true if every invariant of model.h holds; else *error describes the first violation.
 * Takes one pass over the arrays. A violation is a bug of this program, whatever the input. */
bool nytp_profile_adds_up(const struct nytp_profile *profile, struct nytp_error *error);

/* Returns true if the profile adds up and no call has an impossible call site; else *error
 * describes the first one. This is `nytp-export --check`. */
bool nytp_profile_check(const struct nytp_profile *profile, struct nytp_error *error);

/* Returns true for a builtin: Pkg::CORE:print, CORE::print. */
bool nytp_is_opcode_name(struct nytp_name name);

/* Adds two times of nested calls; the result saturates. No other sum of ticks needs this: a
 * builder accepts at most NYTP_MAX_TOTAL_TICKS of an input, and a merge checks its products. */
static inline int64_t nytp_ticks_sum(int64_t a, int64_t b)
{
    int64_t sum;
    return !__builtin_add_overflow(a, b, &sum) ? sum : b < 0 ? INT64_MIN : INT64_MAX;
}

/* The order of profile->blocks, and of a node's lines, for qsort(). */
int nytp_compare_blocks(const void *x, const void *y);
int nytp_compare_node_lines(const void *x, const void *y);

/* Returns the line of a node at a place, or NULL. */
const struct nytp_node_line *nytp_node_line_at(const struct nytp_profile *profile,
                                               const struct nytp_node *node, uint32_t file,
                                               uint32_t line);

/* Adjacent rows of a table. */
struct nytp_slice {
    uint32_t first, n;
};

/* Returns the rows of n processes from `process` on. */
struct nytp_slice nytp_memory_points_of(const struct nytp_profile *p, uint32_t process,
                                        uint32_t n);
struct nytp_slice nytp_stretches_of(const struct nytp_profile *p, uint32_t process, uint32_t n);
struct nytp_slice nytp_regexes_of(const struct nytp_profile *p, uint32_t process, uint32_t n);
struct nytp_slice nytp_waited_of(const struct nytp_profile *p, uint32_t process, uint32_t n);

/* Returns the first span of this node or a later process's, or n_spans. Spans are sorted by
 * process, whose nodes are in one piece: `node` is the first of a process. */
uint32_t nytp_first_span(const struct nytp_profile *p, uint32_t node);

/* Notes that a selection left out time: removes data that is known for whole processes only. */
void nytp_profile_lose_time(struct nytp_profile *p);

struct nytp_arc_list {
    struct nytp_arc *arcs;
    uint32_t n, capacity;
};

/* Lists the arcs of the tree alone, in an empty list; the caller frees list->arcs. Unknown
 * sites are 0, 0. Returns false if memory is out. */
bool nytp_profile_tree_arcs(const struct nytp_profile *p, struct nytp_arc_list *list);

/* Returns the index behind a process's last node. */
uint32_t nytp_process_nodes_end(const struct nytp_profile *p, uint32_t process);

#endif
