/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Whether a comparison is of one program; see other_program.h.
 */
#include "other_program.h"

#include "counts.h"
#include "formats/base/strings.h"

static bool is_new_program(const struct nytp_diff *diff, struct nytp_name program)
{
    for (uint32_t i = 0; i < diff->profile->n_recordings; i++)
        if (diff->side_of_recording[i] == NYTP_DIFF_NEW &&
            nytp_compare_names(nytp_base_name(diff->profile->recordings[i].application),
                               program) == 0)
            return true;
    return false;
}

bool nytp_diff_other_program(const struct nytp_diff *diff)
{
    if (diff->counts != NULL) {
        const struct nytp_name program = diff->counts->application;
        return program.ptr != NULL && !is_new_program(diff, program);
    }
    for (uint32_t i = 0; i < diff->profile->n_recordings; i++)
        if (diff->side_of_recording[i] == NYTP_DIFF_BASE &&
            is_new_program(diff, nytp_base_name(diff->profile->recordings[i].application)))
            return false;
    return diff->n_runs[NYTP_DIFF_BASE] > 0;
}
