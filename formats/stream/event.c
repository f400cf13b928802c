/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Names of the records.
 */
#include "event.h"

const char *nytp_tag_name(enum nytp_tag tag)
{
    static const char *const names[NYTP_TAG_COUNT] = {
#define NYTP_TAG(name, byte) [NYTP_TAG_##name] = #name,
#include "tags.def"
    };
    return names[tag];
}
