/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Notes what recordings lack, and puts it in words; see missing_data.h.
 */
#include "missing_data.h"

#include "formats/model/profile.h"

#include <stdio.h>
#include <string.h>

#define HAS_ANYTHING (1u << 31) /* beside enum nytp_has */

static const struct {
    unsigned bit;
    const char *option, *value, *text;
    bool only_partial;
    const char *without; /* the same of a recording that tells no options */
} reasons[NYTP_LACK_REASONS] = {
    {HAS_ANYTHING, "", "", "", false, "it holds no statements, calls or samples"},
    {NYTP_HAS_STATEMENTS, "stmts", "0",
     ", so there are no statement counts and a sub's time stands on its first line", false,
     "it holds no statement counts, and a sub's time stands on its first line"},
    {NYTP_HAS_ARCS, "subs", "0", ", so no calls are known", false,
     "recorded without the subroutine profiler, so no calls are known"},
    {NYTP_HAS_ARCS, "calls", "0",
     " and without its end, where the calls are summed up, so no calls are known", true,
     "it ends before its subs, so no calls are known"},
    {NYTP_HAS_CALLS, "counts", "1", ", so stacks are estimated from call sites", false, ""},
    {NYTP_HAS_CALLS, "calls", "0", ", so stacks and their times are estimated from call sites",
     false,
     "recorded without call events, so stacks and their times are estimated"
     " from call sites"},
    {NYTP_HAS_ENTRIES, "calls", "1", ", so call sites on stacks come from totals", false,
     "recorded without call entries, so call sites on stacks come from totals"},
    {NYTP_HAS_SOURCE, "savesrc", "0", ", so it holds no source text", false,
     "it holds no source text"},
    {NYTP_HAS_BLOCKS, "blocks", "0", ", so times of blocks are missing", false,
     "it holds no times of blocks"},
};

/* Recordings of some age, and those of others, do not tell their options. What one lacks that
 * ends early lies behind its end. */
static bool may_be(const struct nytp_profile *profile, size_t reason)
{
    const bool is_attribute = strcmp(reasons[reason].option, "counts") == 0;
    const struct nytp_name *const recorded =
        is_attribute ? nytp_profile_attribute(profile, "counts")
                     : nytp_profile_option(profile, reasons[reason].option);
    const size_t len = strlen(reasons[reason].value);
    if (reasons[reason].only_partial && !profile->partial)
        return false;
    if (recorded == NULL)
        return !is_attribute && (reasons[reason].bit != NYTP_HAS_ARCS ||
                                 reasons[reason].only_partial == profile->partial);
    return recorded->len == len && memcmp(recorded->ptr, reasons[reason].value, len) == 0;
}

static unsigned what_lacks(const struct nytp_exporter *exporter,
                           const struct nytp_profile *profile)
{
    unsigned missing = exporter->needs & ~profile->has;
    if (!profile->partial && profile->total.ticks == 0 && profile->total.calls == 0 &&
        profile->total.statements == 0)
        return HAS_ANYTHING;
    if ((profile->has & NYTP_HAS_CALLS) == 0)
        missing &= ~(unsigned)NYTP_HAS_ENTRIES;
    if ((profile->has & NYTP_HAS_ARCS) == 0 && (missing & NYTP_HAS_CALLS) != 0) {
        missing &= ~(unsigned)NYTP_HAS_CALLS;
        missing |= NYTP_HAS_ARCS;
    }
    return missing;
}

void nytp_missing_data_add(struct nytp_missing_data *missing,
                           const struct nytp_exporter *exporter,
                           const struct nytp_profile *profile, const char *path)
{
    unsigned bits = what_lacks(exporter, profile);
    for (size_t i = 0; i < NYTP_LACK_REASONS; i++) {
        if ((bits & reasons[i].bit) == 0 || !may_be(profile, i))
            continue;
        bits &= ~(unsigned)reasons[i].bit;
        if (missing->of[i].n_inputs++ == 0) {
            missing->of[i].path = path;
            missing->of[i].is_known =
                strcmp(reasons[i].option, "counts") == 0 ||
                nytp_profile_option(profile, reasons[i].option) != NULL;
        }
    }
}

void nytp_missing_data_forget_sources(struct nytp_missing_data *missing)
{
    for (size_t i = 0; i < NYTP_LACK_REASONS; i++)
        if (reasons[i].bit == NYTP_HAS_SOURCE)
            missing->of[i].n_inputs = 0;
}

bool nytp_missing_data_message(const struct nytp_missing_data *missing, size_t reason,
                               char *text, size_t size)
{
    const uint32_t n = missing->of[reason].n_inputs;
    char more[40] = "";
    if (n == 0)
        return false;
    if (n > 1)
        snprintf(more, sizeof more, " and %lu more", (unsigned long)n - 1);
    if (missing->of[reason].is_known)
        snprintf(text, size, "%s%s: recorded with NYTPROF option %s=%s%s",
                 missing->of[reason].path, more, reasons[reason].option, reasons[reason].value,
                 reasons[reason].text);
    else
        snprintf(text, size, "%s%s: %s", missing->of[reason].path, more,
                 reasons[reason].without);
    return true;
}
