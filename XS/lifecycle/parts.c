/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The table of the recorder's parts; see parts.h.
 */
#include "parts.h"

#include "XS/state/state.h"

#define IF_0(function) NULL
#define IF_1(function) function

static const struct nytp_part parts[] = {
#define NYTP_PART(name, has_begin_file, has_end_file, has_fork, has_thread, has_free)          \
    {.hooks = {[NYTP_BEGIN_FILE] = IF_##has_begin_file(nytp_##name##_begin_file),              \
               [NYTP_END_FILE] = IF_##has_end_file(nytp_##name##_end_file),                    \
               [NYTP_FORK] = IF_##has_fork(nytp_##name##_fork),                                \
               [NYTP_FREE] = IF_##has_free(nytp_##name##_free)},                               \
     .thread = IF_##has_thread(nytp_##name##_thread)},
#include "XS/state/parts.def"
};

void nytp_parts_begin(void)
{
    nytp_parts_set(parts, C_ARRAY_LENGTH(parts));
}
