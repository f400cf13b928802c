/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * tmon.out, the profile of Devel::DProf, in its new form, for dprofpp and other readers
 * (formats/dprof.md). User and real time are the recording's time; system time is 0.
 *
 * The format is a log of calls. It is written from the calling-context tree: the first call of
 * a context has all its time, the others are empty. So totals and numbers of calls are exact,
 * but the order of calls is the tree's.
 *
 * Time can be written inside a call only. The tree of a recording without call events is an
 * estimate and has contexts without a call. Such a context borrows a call of the same sub from
 * a context that has several, so that the sub's number of calls stays right. A sub with fewer
 * calls than contexts with time is shown with more calls than it had.
 */
#include "exporters/base/exporter.h"

#include "formats/base/utf8.h"

#include "exporters/stacks/viewer_names.h"
#include "exporters/base/version.h"

#include <inttypes.h>
#include <stdlib.h>

/* Some 10 to 20 GB. A damaged profile may claim any number. */
#define MOST_CALLS 1000000000u

/* Readers, including ours, accept lines of less than 64 KiB. */
#define MOST_NAME 60000u

/* The main program is no sub in this format: its time is outside of all calls. */
static bool is_root(const struct nytp_profile *profile, uint32_t node)
{
    return profile->nodes[node].parent == node;
}

/* Returns the calls to write for a context: at least one, or 0 if it needs none. */
static uint64_t first_plan(const struct nytp_node *node)
{
    const bool unreturned = (node->flags & NYTP_NODE_UNRETURNED) != 0;
    if (node->calls == 0 && !unreturned && node->excl_ticks == 0 && node->n_children == 0)
        return 0;
    return node->calls > 0 ? node->calls : 1;
}

/* Contexts with several calls give up those that contexts of the same sub without calls have
 * borrowed. `borrowed` is by sub. */
static void repay_calls(const struct nytp_profile *profile, uint64_t *calls, uint64_t *borrowed)
{
    for (uint32_t i = 0; i < profile->n_nodes; i++) {
        uint64_t *owed = &borrowed[profile->nodes[i].sub];
        if (calls[i] < 2)
            continue;
        const uint64_t repaid = *owed < calls[i] - 1 ? *owed : calls[i] - 1;
        calls[i] -= repaid;
        *owed -= repaid;
    }
}

/* Returns the number of calls to write for each node; 0: none. NULL if memory is out. */
static uint64_t *plan_calls(const struct nytp_profile *profile)
{
    uint64_t *calls = calloc((size_t)profile->n_nodes + 1, sizeof *calls);
    uint64_t *borrowed = calloc((size_t)profile->n_subs + 1, sizeof *borrowed);
    if (calls == NULL || borrowed == NULL) {
        free(calls);
        free(borrowed);
        return NULL;
    }
    for (uint32_t i = 0; i < profile->n_nodes; i++) {
        const struct nytp_node *node = &profile->nodes[i];
        if (is_root(profile, i))
            continue;
        calls[i] = first_plan(node);
        if (node->calls == 0 && (node->flags & NYTP_NODE_UNRETURNED) == 0)
            borrowed[node->sub] += calls[i];
    }
    repay_calls(profile, calls, borrowed);
    free(borrowed);
    return calls;
}

static uint64_t count_calls(const struct nytp_profile *profile, const uint64_t *planned)
{
    uint64_t calls = 0;
    for (uint32_t i = 0; i < profile->n_nodes; i++)
        calls += planned[i];
    return calls;
}

static int64_t count_ticks(const struct nytp_profile *profile)
{
    int64_t ticks = 0;
    for (uint32_t i = 0; i < profile->n_nodes; i++)
        if (profile->nodes[i].excl_ticks > 0)
            ticks += profile->nodes[i].excl_ticks;
    return ticks;
}

static void put_header(const struct nytp_profile *profile, uint64_t calls, struct nytp_out *out)
{
    const int64_t ticks = count_ticks(profile);
    nytp_puts(out, "#fOrTyTwO\n");
    nytp_printf(out, "$hz=%" PRId64 ";\n", profile->ticks_per_sec);
    nytp_puts(out,
              "$XS_VERSION='nytp-export " NYTP_VERSION "';\n# All values are given in HZ\n");
    nytp_puts(out, "$over_utime=0; $over_stime=0; $over_rtime=0;\n$over_tests=10000;\n");
    nytp_printf(out, "$rrun_utime=%" PRId64 "; $rrun_stime=0; $rrun_rtime=%" PRId64 ";\n\n",
                ticks, ticks);
    nytp_printf(out, "$total_marks=%" PRIu64 "\n\nPART2\n", 2 * calls);
}

/* Returns the end of the package: the last "::" before a possible file name. */
static uint32_t package_len(struct nytp_name name)
{
    uint32_t len = 0;
    for (uint32_t i = 0; i + 1 < name.len && name.ptr[i] != '[' && name.ptr[i] != '('; i++)
        if (name.ptr[i] == ':' && name.ptr[i + 1] == ':')
            len = i;
    return len;
}

/* dprofpp cuts names at a blank. */
static void put_word(struct nytp_out *out, const char *text, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++)
        nytp_putc(out, text[i] == ' ' ? '_' : text[i]);
}

/* Introduces a sub before its first mark. Names that were cut get a number. */
static void put_sub(struct nytp_out *out, uint32_t sub, struct nytp_name name)
{
    const bool too_long = name.len > MOST_NAME;
    if (too_long)
        name.len = (uint32_t)nytp_utf8_whole(name.ptr, name.len, MOST_NAME);
    const uint32_t len = package_len(name);
    nytp_printf(out, "& %" PRIx32 " ", sub);
    if (len == 0)
        nytp_puts(out, "main");
    else
        put_word(out, name.ptr, len);
    nytp_putc(out, ' ');
    const uint32_t at = len == 0 ? 0 : len + 2;
    put_word(out, name.ptr + at, name.len - at);
    if (too_long)
        nytp_printf(out, "...%" PRIu32, sub);
    nytp_putc(out, '\n');
}

static void put_time(struct nytp_out *out, int64_t ticks)
{
    out->n_negative += ticks < 0;
    if (ticks <= 0)
        return;
    nytp_puts(out, "@ ");
    nytp_put_i64(out, ticks);
    nytp_puts(out, " 0 ");
    nytp_put_i64(out, ticks);
    nytp_putc(out, '\n');
}

static void put_mark(struct nytp_out *out, char mark, uint32_t sub)
{
    nytp_putc(out, mark);
    nytp_putc(out, ' ');
    nytp_put_hex(out, sub);
    nytp_putc(out, '\n');
}

static void put_leave_marks(struct nytp_out *out, uint32_t sub, uint64_t calls)
{
    put_mark(out, '-', sub);
    for (uint64_t i = 1; i < calls && out->error.status == NYTP_OK; i++) {
        put_mark(out, '+', sub);
        put_mark(out, '-', sub);
    }
}

/* Nodes are in the order of entries: a caller, then its callees. */
static void put_calls(const struct nytp_profile *profile, const struct nytp_viewer_names *names,
                      const uint64_t *planned, bool *introduced, struct nytp_out *out)
{
    uint32_t open = 0; /* the node whose call is open, or a root */
    for (uint32_t i = 0; i < profile->n_nodes && out->error.status == NYTP_OK; i++) {
        const struct nytp_node *node = &profile->nodes[i];
        if (!is_root(profile, i) && planned[i] == 0)
            continue;
        while (!is_root(profile, open) && open != node->parent) {
            put_leave_marks(out, profile->nodes[open].sub, planned[open]);
            open = profile->nodes[open].parent;
        }
        if (!is_root(profile, i)) {
            if (!introduced[node->sub])
                put_sub(out, node->sub, names->subs[node->sub]);
            introduced[node->sub] = true;
            put_mark(out, '+', node->sub);
        }
        put_time(out, node->excl_ticks);
        open = i;
    }
    while (!is_root(profile, open)) {
        put_leave_marks(out, profile->nodes[open].sub, planned[open]);
        open = profile->nodes[open].parent;
    }
}

static void write_log(const struct nytp_profile *profile, const uint64_t *planned,
                      uint64_t calls, struct nytp_out *out)
{
    struct nytp_viewer_names *names = nytp_viewer_names_new(profile);
    bool *introduced = calloc(profile->n_subs, sizeof *introduced);
    if (names != NULL && introduced != NULL) {
        put_header(profile, calls, out);
        put_calls(profile, names, planned, introduced, out);
    } else {
        nytp_error_set(&out->error, NYTP_ERR_MEMORY, "out of memory for names");
    }
    nytp_viewer_names_free(names);
    free(introduced);
}

static bool write_tmon(const struct nytp_profile *profile,
                       const struct nytp_export_options *options, struct nytp_out *out)
{
    (void)options;
    uint64_t *planned = plan_calls(profile);
    if (planned == NULL)
        return nytp_error_set(&out->error, NYTP_ERR_MEMORY, "out of memory for calls");
    const uint64_t calls = count_calls(profile, planned);
    if (calls > MOST_CALLS)
        nytp_error_set(&out->error, NYTP_ERR_LIMIT,
                       "%" PRIu64 " calls: tmon.out lists each, and no more than %u "
                       "are written",
                       calls, MOST_CALLS);
    else
        write_log(profile, planned, calls, out);
    free(planned);
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_tmon = {
    .name = "tmon",
    .title = "tmon.out of Devel::DProf, for dprofpp",
    .suffixes = ".tmon tmon.out*",
    .needs = NYTP_HAS_CALLS,
    .no_diff = "a log of calls has no difference; use --pprof",
    .write = write_tmon,
};
