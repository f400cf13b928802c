/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Profiles that rotate has finished, of which only the last few stay (option keep=).
 */
#ifndef NYTP_FINISHED_PROFILES_H
#define NYTP_FINISHED_PROFILES_H

#include "XS/output/descriptor.h"

#include <stdint.h>

struct nytp_recorder;

/* A profile that rotate has finished. */
struct nytp_finished_profile {
    char *path; /* owned */
    struct nytp_file_id id;
};

/* The part of the state that finished_profiles.c writes. */
struct nytp_rec_finished_profiles {
    struct nytp_finished_profile *files; /* the oldest first; NULL: none yet */
    uint32_t n, size;
};

/* The file that is open is about to be finished by rotate: remember it, and remove those that
 * are too many by that, if they are still the files that were written here. errno may change.
 */
void nytp_finished_profiles_add(struct nytp_recorder *rec);

/* The process is a child of the one whose files these are. */
void nytp_finished_profiles_forget(struct nytp_recorder *rec);

#endif
