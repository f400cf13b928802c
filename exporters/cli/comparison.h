/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The parts of an export: the inputs, and with --diff their base beside them. Between
 * loading and writing stands the comparison with its limits; behind the writing is told what
 * became of them.
 */
#ifndef NYTP_COMPARISON_H
#define NYTP_COMPARISON_H

#include "run.h"

#include "exporters/compare/counts.h"
#include "exporters/compare/diff.h"
#include "exporters/compare/match.h"
#include "exporters/gate/gate.h"

/* Zeroed before nytp_compare_load(). */
struct comparison {
    struct nytp_gate gate;
    struct nytp_gate_result result; /* of the gate's rules */
    struct nytp_defined defined;    /* subs of the inputs, called or not */
    struct nytp_profile *profile;   /* of the inputs and, with --diff, of the base */
    struct nytp_profile *judged;    /* the same without --diff as limits see it; borrows names
                                       from the profile. NULL without limits */
    struct nytp_diff *diff;         /* NULL without --diff and limits */
    uint8_t *side_of_recording;     /* n_recordings */
    uint32_t n_recordings;
    struct nytp_counts *counts; /* the base, when it is no recording */
};

/* Load what the command line names, by load.h, and compare it if there is something to compare
 * with or to judge. EXIT_DONE, or another status after a message; nytp_compare_free() in either
 * case. */
enum exit_status nytp_compare_load(struct run *run, struct comparison *comparison);

/* Tell who broke which limit: EXIT_DONE if all were judged and kept. */
enum exit_status nytp_compare_judge(const struct run *run, struct comparison *comparison);

void nytp_compare_free(struct comparison *comparison);

#endif
