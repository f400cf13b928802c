/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Selections: a profile becomes a smaller profile before an exporter sees it, so that each
 * option means the same in every format. They work on the calling-context tree; everything
 * else (arcs, line costs, sub totals) is computed from the tree again.
 */
#ifndef NYTP_SELECT_H
#define NYTP_SELECT_H

#include "formats/model/model.h"
#include "exporters/base/exporter.h"

/* The user's selection. Zeroed, everything stays. The members are applied in their order.
 *
 * An expression matches a frame when it matches the name of the frame's sub or of that sub's
 * file. The root frame of a process is matched by the name of its input's script. If the input
 * holds several processes (nytprofmerge), their scripts cannot be told apart, and `ignore` does
 * not match root frames by the script. The root frame of a process always stays, since it joins
 * the rest, but loses its own time and call where pprof would drop the sample. */
struct nytp_selection {
    bool merge_evals; /* string evals run by one line become one file "(eval 0)[...]" */
    bool detail;      /* builtins and xsubs become subs by detail: see select.h */
    struct nytp_patterns focus, ignore; /* whole stacks: some frame must / none may match */
    struct nytp_patterns waits;         /* subs that wait besides those of waits.def */
    bool no_wait;              /* own time of what waits is dropped, what is below it stays */
    bool no_builtins;          /* opcode subs are hidden */
    struct nytp_patterns hide; /* frames go, their cost to the call site in the caller */
    struct nytp_patterns show; /* frames that do not match are hidden */
    struct nytp_patterns show_from; /* frames above the outermost match go; without match the
                                       stack is dropped */
    bool collapse_recursion;        /* a frame whose caller is the same sub is merged into it */
    uint32_t max_depth;             /* frames per stack, root included; 0 = any */
    double min_percent; /* of the total; less inclusive time is pruned into "(pruned)".
                           0 and below: none */
    double of_s;        /* the total that it is of, in seconds; 0: the profile's */
    void (*on_miss)(const char *text); /* gets one line for each expression that matches no
                                          sub and no file; NULL = nobody is told */
};

/* Apply to the profile in place. The time line is kept unless time was dropped (focus,
 * ignore, show, show_from). False with *error set (memory; an expression that backtracks too
 * much, NYTP_ERR_LIMIT); the profile is then only good for nytp_profile_free(). */
bool nytp_select(struct nytp_profile *profile, const struct nytp_selection *selection,
                 struct nytp_error *error);

/* ---- what else changes a profile in place: false with *error set, when
 * memory is out; the profile is then only good for nytp_profile_free() ---- */

/* Cuts the prefixes from file names, also in the brackets of string evals and anonymous subs,
 * and from the paths of programs. Returns false with *error set, as nytp_rename(). */
bool nytp_trim_paths(struct nytp_profile *profile, const struct nytp_texts *prefixes,
                     struct nytp_error *error);

/* Add to *ticks what each process waited for its children (wait, waitpid, system, backticks;
 * see base/waits.def), as far as the times of those that are in one of the profiles go. With
 * `take_out` the profiles are without it from then on, but for their time lines. False with
 * *error set; they are then only good for nytp_profile_free(). */
bool nytp_child_waits(struct nytp_profile *const *profiles, uint32_t n, bool take_out,
                      int64_t *ticks, struct nytp_error *error);

#endif
