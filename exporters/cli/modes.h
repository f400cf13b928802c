/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The modes of nytp-export. main.c reads the command line and calls one of them. Each reports
 * errors on standard error, and returns the exit status.
 */
#ifndef NYTP_MODES_H
#define NYTP_MODES_H

#include "run.h"

/* export.c: one profile of all inputs, selected, in one format. Hands over to the next. */
enum exit_status nytp_cli_run_export(struct run *run);

/* export_set.c: the formats of several files. With `diff` the profile holds both sides. */
struct nytp_diff;
struct nytp_profile;
enum exit_status nytp_cli_export_set(struct run *run, struct nytp_profile *profile,
                                     const struct nytp_diff *diff);

/* by_label.c: --by=label, what each label of the inputs took. */
enum exit_status nytp_cli_run_by_label(struct run *run);

/* inspection.c: --stats, --check and --dump, which look at each input by itself. */
enum exit_status nytp_cli_run_inspection(struct run *run);

#endif
