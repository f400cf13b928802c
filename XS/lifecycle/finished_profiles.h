/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Profiles that rotate has finished. Only the last few are kept on disk (option keep=).
 */
#ifndef NYTP_FINISHED_PROFILES_H
#define NYTP_FINISHED_PROFILES_H

#include "XS/output/descriptor.h"

#include <stdint.h>

struct nytp_recorder;

struct nytp_finished_profile {
    char *path;
    struct nytp_file_id id;
};

struct nytp_rec_finished_profiles {
    struct nytp_finished_profile *files; /* oldest first; NULL: none yet */
    uint32_t n, size;
};

/* Call it when rotate is about to finish the open file: adds it and removes the oldest beyond
 * keep=, if they are still the files written here. errno may change. */
void nytp_finished_profiles_add(struct nytp_recorder *rec);

#endif
