/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Walks outwards over string evals; see eval_files.h. Each file is visited once, however long
 * the chains are: a walk ends where an earlier one has been.
 */
#include "eval_files.h"

#include <stdlib.h>

/* Walks outwards from `file`. Returns the file that leads back to this walk, or 0. */
static uint32_t end_of_ring(const struct nytp_file *files, uint32_t *walked, uint32_t file)
{
    uint32_t at = file;
    while (files[at].eval_file != 0 && walked[at] == 0) {
        walked[at] = file;
        if (walked[files[at].eval_file] == file)
            return at;
        at = files[at].eval_file;
    }
    return 0;
}

bool nytp_count_eval_rings(const struct nytp_file *files, uint32_t n_files, uint32_t *n_rings)
{
    uint32_t *const walked = calloc((size_t)n_files + 1, sizeof *walked);
    *n_rings = 0;
    for (uint32_t i = 1; walked != NULL && i < n_files; i++)
        *n_rings += end_of_ring(files, walked, i) != 0;
    free(walked);
    return walked != NULL;
}

bool nytp_cut_eval_rings(struct nytp_file *files, uint32_t n_files)
{
    uint32_t *const walked = calloc((size_t)n_files + 1, sizeof *walked);
    for (uint32_t i = 1; walked != NULL && i < n_files; i++) {
        const uint32_t end = end_of_ring(files, walked, i);
        if (end != 0)
            files[end].eval_file = files[end].eval_line = 0;
    }
    free(walked);
    return walked != NULL;
}

uint32_t *nytp_outermost_files(const struct nytp_profile *profile)
{
    const struct nytp_file *const files = profile->files;
    uint32_t *const outermost = calloc((size_t)profile->n_files + 1, sizeof *outermost);
    for (uint32_t i = 1; outermost != NULL && i < profile->n_files; i++) {
        uint32_t at = i;
        while (files[at].eval_file != 0 && outermost[at] == 0)
            at = files[at].eval_file;
        const uint32_t end = outermost[at] != 0 ? outermost[at] : at;
        outermost[end] = end;
        for (at = i; outermost[at] == 0; at = files[at].eval_file)
            outermost[at] = end;
    }
    return outermost;
}
