/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Finds the parent of each process. Pids return, and each container counts its own from 1, so a
 * process is identified by its host, pid, thread and start.
 */
#ifndef NYTP_PROCESS_TREE_H
#define NYTP_PROCESS_TREE_H

#include "formats/model/model.h"

#define NYTP_NO_PROCESS UINT32_MAX

struct nytp_process_tree {
    uint32_t *parents; /* by process: the one that began it, or NYTP_NO_PROCESS */
    uint32_t *order;   /* processes by start; what began at the same time by index */
};

/* Returns false if memory is out; there is nothing to free then. */
bool nytp_process_tree_init(struct nytp_process_tree *tree, const struct nytp_profile *profile);
void nytp_process_tree_free(struct nytp_process_tree *tree);

#endif
