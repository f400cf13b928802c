/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The comments of pprof's message; see pprof_comments.h.
 */
#include "pprof_comments.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Text fields must be UTF-8, and an error message may have been cut inside a character. */
static void replace_non_ascii(char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text >= 0x80)
            *text = '?';
}

void nytp_pprof_comment(struct nytp_pprof_comments *comments, struct nytp_pprof_tables *tables,
                        const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (comments->n == NYTP_PPROF_MAX_COMMENTS)
        return;
    if (!nytp_utf8_valid(text, strlen(text)))
        replace_non_ascii(text);
    const struct nytp_name name = {.ptr = text, .len = (uint32_t)strlen(text)};
    comments->ids[comments->n++] = nytp_pprof_escaped_id(tables, name);
}

static void add_recording_comments(struct nytp_pprof_comments *comments,
                                   struct nytp_pprof_tables *tables,
                                   const struct nytp_recording *recording)
{
    if (recording->application.len > 0)
        nytp_pprof_comment(comments, tables, "script: %s", recording->application.ptr);
    if (recording->perl_version.len > 0)
        nytp_pprof_comment(comments, tables, "perl: %s", recording->perl_version.ptr);
    if (recording->xs_version.len > 0)
        nytp_pprof_comment(comments, tables, "recorder: %s", recording->xs_version.ptr);
    if (recording->partial)
        nytp_pprof_comment(comments, tables, "partial: %s", recording->error.message);
}

void nytp_pprof_comment_all(struct nytp_pprof_comments *comments,
                            struct nytp_pprof_tables *tables, uint64_t n_pruned)
{
    const struct nytp_profile *profile = tables->profile;
    if (profile->n_recordings == 1) {
        add_recording_comments(comments, tables, &profile->recordings[0]);
    } else {
        nytp_pprof_comment(comments, tables, "merged from %lu recordings",
                           (unsigned long)profile->n_recordings);
        for (uint32_t i = 0; i < profile->n_recordings; i++)
            if (profile->recordings[i].partial)
                nytp_pprof_comment(comments, tables, "partial: %s: %s",
                                   profile->recordings[i].path.ptr,
                                   profile->recordings[i].error.message);
    }
    if (profile->estimated_tree)
        nytp_pprof_comment(comments, tables,
                           "estimated: stacks, from call counts (no call events)");
    else if (!(profile->has & NYTP_HAS_ENTRIES) && profile->total_calls > 0)
        nytp_pprof_comment(comments, tables,
                           "estimated: lines within stacks (no call entry events)");
    if (n_pruned > 0)
        nytp_pprof_comment(comments, tables, "pruned: %llu deeper contexts",
                           (unsigned long long)n_pruned);
}
