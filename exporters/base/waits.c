/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Finds out which contexts wait; see waits.h. Whether a sub waits is decided once by its name
 * (waits.def and the user's expressions), then each of its contexts by how long its calls
 * took.
 */
#include "waits.h"
#include "formats/base/strings.h"

#include <stdlib.h>
#include <string.h>

struct waiter {
    const char *name;
    bool is_builtin;
    enum nytp_wait_kind kind;
    int64_t least_us; /* mean of a call, in microseconds */
};

static const struct waiter waiters[] = {
#define NYTP_WAIT_BUILTIN(name, kind, least_us) {name, true, NYTP_WAIT_##kind, least_us},
#define NYTP_WAIT_SUB(name, kind, least_us)     {name, false, NYTP_WAIT_##kind, least_us},
#include "waits.def"
#undef NYTP_WAIT_BUILTIN
#undef NYTP_WAIT_SUB
};

static const struct waiter added = {.name = "", .kind = NYTP_WAIT_BLOCK};

/* Without the detail, which only builtins and xsubs have. */
static struct nytp_name bare_name(const struct nytp_sub *sub)
{
    const bool may_have = sub->kind == NYTP_SUB_OPCODE || sub->kind == NYTP_SUB_XSUB;
    const char *const blank = may_have ? memchr(sub->name.ptr, ' ', sub->name.len) : NULL;
    return (struct nytp_name){sub->name.ptr, blank != NULL ? (uint32_t)(blank - sub->name.ptr)
                                                           : sub->name.len};
}

struct nytp_name nytp_builtin_name(const struct nytp_sub *sub)
{
    const struct nytp_name name = bare_name(sub);
    uint32_t begin = sub->kind == NYTP_SUB_OPCODE ? name.len : 0;
    while (begin > 0 && name.ptr[begin - 1] != ':')
        begin--;
    return begin > 0 ? (struct nytp_name){name.ptr + begin, name.len - begin}
                     : (struct nytp_name){"", 0};
}

static const struct waiter *find_waiter(const struct nytp_sub *sub)
{
    const struct nytp_name builtin = nytp_builtin_name(sub), bare = bare_name(sub);
    for (size_t i = 0; i < sizeof waiters / sizeof *waiters; i++) {
        const struct nytp_name name = waiters[i].is_builtin ? builtin : bare;
        if (nytp_compare_names(name, nytp_name_of_text(waiters[i].name)) == 0)
            return &waiters[i];
    }
    return NULL;
}

bool nytp_waits_by_name(struct nytp_name name, double mean_s)
{
    const bool is_builtin = strstr(name.ptr, "CORE:") != NULL;
    const struct nytp_sub sub = {.name = name,
                                 .kind = is_builtin ? NYTP_SUB_OPCODE : NYTP_SUB_XSUB};
    const struct waiter *const waiter = find_waiter(&sub);
    return waiter != NULL && mean_s * 1e6 >= (double)waiter->least_us;
}

/* Per sub the row that it matches, or NULL. */
static const struct waiter **match_subs(const struct nytp_profile *profile,
                                        const struct nytp_patterns *more,
                                        struct nytp_error *error)
{
    const struct waiter **of = calloc((size_t)profile->n_subs + 1, sizeof *of);
    if (of == NULL)
        nytp_out_of_memory(error);
    for (uint32_t i = 0; of != NULL && i < profile->n_subs; i++) {
        of[i] = find_waiter(&profile->subs[i]);
        if (more != NULL && nytp_patterns_match(more, profile->subs[i].name, error))
            of[i] = &added;
    }
    return of;
}

static bool takes_long(const struct nytp_profile *profile, const struct nytp_node *node,
                       int64_t least_us)
{
    const double calls = node->calls > 0 ? (double)node->calls : 1;
    const double mean_s = (double)node->excl_ticks / (double)profile->ticks_per_sec / calls;
    return mean_s * 1e6 >= (double)least_us;
}

bool nytp_waits_init(struct nytp_waits *waits, const struct nytp_profile *profile,
                     const struct nytp_patterns *more, struct nytp_error *error)
{
    struct nytp_error failed = {0};
    *waits = (struct nytp_waits){.kinds = calloc((size_t)profile->n_nodes + 1, 1)};
    const struct waiter **of = match_subs(profile, more, &failed);
    if (waits->kinds == NULL)
        nytp_out_of_memory(&failed);
    for (uint32_t i = 0; failed.status == NYTP_OK && i < profile->n_nodes; i++) {
        const struct nytp_node *node = &profile->nodes[i];
        const struct waiter *waiter = of[node->sub];
        if (waiter == NULL || node->excl_ticks <= 0 ||
            !takes_long(profile, node, waiter->least_us))
            continue;
        waits->kinds[i] = (uint8_t)waiter->kind;
        waits->ticks += node->excl_ticks;
    }
    free(of);
    if (failed.status != NYTP_OK)
        *error = failed;
    return failed.status == NYTP_OK;
}

void nytp_waits_free(struct nytp_waits *waits)
{
    free(waits->kinds);
}

/* ---- by sub ---- */

bool *nytp_waits_subs(const struct nytp_waits *waits, const struct nytp_profile *profile)
{
    bool *is_waiting = calloc((size_t)profile->n_subs + 1, sizeof *is_waiting);
    int64_t *balance = calloc((size_t)profile->n_subs + 1, sizeof *balance);
    for (uint32_t n = 0; is_waiting != NULL && balance != NULL && n < profile->n_nodes; n++) {
        const struct nytp_node *node = &profile->nodes[n];
        balance[node->sub] +=
            waits->kinds[n] != NYTP_WAIT_NONE ? node->excl_ticks : -node->excl_ticks;
    }
    for (uint32_t s = 0; is_waiting != NULL && balance != NULL && s < profile->n_subs; s++)
        is_waiting[s] = balance[s] > 0;
    if (balance == NULL) {
        free(is_waiting);
        is_waiting = NULL;
    }
    free(balance);
    return is_waiting;
}
