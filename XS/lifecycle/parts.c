/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The table of the recorder's parts; see parts.h. Their structs are one allocation, so a
 * recorder has all or, if memory is out, is not made, and no part has to ask.
 */
#include "parts.h"

#include "XS/names/evals.h"
#include "XS/names/files.h"
#include "XS/names/info_queue.h"
#include "XS/names/subs.h"
#include "XS/exact/blocks.h"
#include "XS/exact/bytes.h"
#include "XS/exact/labels.h"
#include "XS/exact/release.h"
#include "XS/exact/switch_ops.h"
#include "XS/sampling/last_stack.h"
#include "XS/state/state.h"
#include "XS/state/stream.h"
#include "finished_profiles.h"
#include "lifecycle.h"

struct data {
#define NYTP_PART(name, has_data, ...) NYTP_IF_##has_data(struct nytp_rec_##name name;)
#include "XS/state/parts.def"
};

static bool make(struct nytp_recorder *rec)
{
    struct data *const data = calloc(1, sizeof *data);
    if (data == NULL)
        return false;
    rec->parts = data;
#define NYTP_PART(name, has_data, ...) NYTP_IF_##has_data(rec->name = &data->name;)
#include "XS/state/parts.def"
    return true;
}

#define HOOK(has_it, hook, function) NYTP_IF_##has_it([hook] = function, )

static const struct nytp_part parts[] = {
#define NYTP_PART(name, has_data, has_begin_file, has_end_file, has_fork, has_thread,          \
                  has_free)                                                                    \
    {.hooks = {HOOK(has_begin_file, NYTP_BEGIN_FILE, nytp_##name##_begin_file)                 \
                   HOOK(has_end_file, NYTP_END_FILE, nytp_##name##_end_file)                   \
                       HOOK(has_fork, NYTP_FORK, nytp_##name##_fork)                           \
                           HOOK(has_free, NYTP_FREE, nytp_##name##_free)},                     \
     NYTP_IF_##has_thread(.thread = nytp_##name##_thread)},
#include "XS/state/parts.def"
};

void nytp_parts_begin(void)
{
    nytp_parts_set(parts, C_ARRAY_LENGTH(parts), make);
}
