/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Source that a recording did not keep, from the file on this machine. A profile is what
 * somebody sent, and names any file: what is read here gets into pages that are sent on. So a
 * file is shown if it has the sum that the recording tells of the text that perl read
 * (source_records.h): whoever made the recording could read the text himself. Any other file
 * is shown only where the user says so, and if it is older than the program, and as large as
 * it was. All are regular files outside of /proc, /sys and /dev.
 */
#ifndef NYTP_DISK_SOURCE_H
#define NYTP_DISK_SOURCE_H

#include "exporter.h"

#include <stdio.h>

enum nytp_disk_source {
    NYTP_DISK_SOURCE_NONE, /* the recording kept it, or there is no such file */
    NYTP_DISK_SOURCE_READ,
    NYTP_DISK_SOURCE_REFUSED, /* nothing proves that it is what ran, and nobody asked for it */
    NYTP_DISK_SOURCE_CHANGED, /* the file is not, or may not be, as it was */
};

/* The file with this index, to be closed by the caller; NULL where it is not to be read, and
 * *state tells why. */
FILE *nytp_disk_source_open(const struct nytp_profile *profile,
                            const struct nytp_export_options *options, uint32_t f,
                            enum nytp_disk_source *state);

/* The number of files whose text was wanted, by state. `changed` is the first changed one. */
struct nytp_disk_sources {
    uint32_t n[NYTP_DISK_SOURCE_CHANGED + 1], changed;
};

/* Put such text into the profile, of the files that anything ran in. False when memory is out.
 */
bool nytp_disk_sources_add(struct nytp_profile *profile,
                           const struct nytp_export_options *options,
                           struct nytp_disk_sources *count);

#endif
