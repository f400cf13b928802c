/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Names of the records, and which attributes are counts.
 */
#include "event.h"

#include <string.h>

const char *nytp_tag_name(enum nytp_tag tag)
{
    static const char *const names[NYTP_TAG_COUNT] = {
#define NYTP_TAG(name, byte) [NYTP_TAG_##name] = #name,
#include "tags.def"
    };
    return names[tag];
}

bool nytp_attribute_is_count(const char *key, size_t len)
{
    static const char *const counts[] = {"samples", "sample_ticks", "samples_torn"};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (strlen(counts[i]) == len && memcmp(counts[i], key, len) == 0)
            return true;
    return false;
}
