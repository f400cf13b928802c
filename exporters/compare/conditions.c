/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Conditions of a comparison; see conditions.h.
 */
#include "conditions.h"

#include "formats/base/strings.h"
#include "formats/model/profile.h"

#include <stdio.h>
#include <string.h>

enum {
    PERL,
    RECORDER,
    CALLS,
    STMTS,
    SLOWOPS,
    CLOCK,
    HASH_SEED,
    INTERVAL
};

const struct nytp_condition nytp_condition_names[NYTP_N_CONDITIONS] = {
    [PERL] = {"perl", "perl"},
    [RECORDER] = {"recorder", "the recorder"},
    [CALLS] = {"calls", "option calls"},
    [STMTS] = {"stmts", "option stmts"},
    [SLOWOPS] = {"slowops", "option slowops"},
    [CLOCK] = {NULL, "the clock"},
    [HASH_SEED] = {"hash_seed", "the hash seed"},
    [INTERVAL] = {NULL, "the time from sample to sample (ns)"},
};

static struct nytp_name known(const struct nytp_name *value)
{
    return value != NULL ? *value : (struct nytp_name){0};
}

struct nytp_conditions nytp_conditions_of(const struct nytp_profile *profile)
{
    struct nytp_conditions conditions = {{
        [PERL] = profile->recordings[0].perl_version,
        [RECORDER] = profile->recordings[0].xs_version,
        [CLOCK] = known(nytp_profile_attribute(profile, "clock_id")),
        [HASH_SEED] = known(nytp_profile_attribute(profile, "hash_seed")),
        [INTERVAL] = known(nytp_profile_attribute(profile, "sample_interval_ns")),
    }};
    for (int i = CALLS; i <= SLOWOPS; i++)
        conditions.value[i] = known(nytp_profile_option(profile, nytp_condition_names[i].key));
    return conditions;
}

static bool is_random(struct nytp_name seed)
{
    return seed.len == 6 && memcmp(seed.ptr, "random", 6) == 0;
}

bool nytp_conditions_describe(const struct nytp_conditions *base,
                              const struct nytp_conditions *now, uint32_t i, char *text,
                              size_t size)
{
    const struct nytp_name was = base->value[i], is = now->value[i];
    if (i == HASH_SEED && (is_random(was) || is_random(is))) {
        snprintf(text, size,
                 "the hash seed is not fixed (PERL_HASH_SEED=0), so counts of what "
                 "depends on the order of keys vary");
        return true;
    }
    if (was.len == 0 || is.len == 0 || nytp_compare_names(was, is) == 0)
        return false;
    snprintf(text, size, "%s differs: %.*s in the base, now %.*s", nytp_condition_names[i].what,
             was.len < 40 ? (int)was.len : 40, was.ptr, is.len < 40 ? (int)is.len : 40, is.ptr);
    return true;
}
