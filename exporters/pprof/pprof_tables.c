/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Tables of pprof's message; see pprof_tables.h. A function is a sub
 * in a file; a location is a line of one.
 */
#include "pprof_tables.h"

#include "formats/base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool nytp_pprof_tables_init(struct nytp_pprof_tables *t, const struct nytp_profile *profile)
{
    *t = (struct nytp_pprof_tables){
        .profile = profile,
        .names = nytp_viewer_names_new(profile),
        .strings = nytp_strings_new(),
    };
    return t->names != NULL && t->strings != NULL;
}

void nytp_pprof_tables_free(struct nytp_pprof_tables *t)
{
    free(t->locations);
    free(t->functions);
    nytp_table_free(&t->location_ids);
    nytp_table_free(&t->function_ids);
    nytp_strings_free(t->strings);
    nytp_viewer_names_free(t->names);
}

uint32_t nytp_pprof_string_id(struct nytp_pprof_tables *t, const char *text, size_t len)
{
    const uint32_t id = nytp_strings_intern(t->strings, text, len);
    if (id != UINT32_MAX)
        return id;
    t->no_memory = true;
    return 0;
}

static uint32_t name_id(struct nytp_pprof_tables *t, struct nytp_name name)
{
    return nytp_pprof_string_id(t, name.ptr, name.len);
}

uint32_t nytp_pprof_escaped_id(struct nytp_pprof_tables *t, struct nytp_name name)
{
    struct nytp_name escaped;
    uint32_t id = 0;
    if (!nytp_utf8_valid(name.ptr, name.len)) { /* a label of the command line */
        id = nytp_strings_intern_mixed(t->strings, name.ptr, name.len);
        if (id != UINT32_MAX)
            name = nytp_strings_get(t->strings, id);
    }
    if (id != UINT32_MAX && nytp_viewer_names_escape(t->names, name, &escaped))
        return name_id(t, escaped);
    t->no_memory = true;
    return 0;
}

/* Ids of functions and locations count from 1. */
static uint32_t function_id(struct nytp_pprof_tables *t, uint32_t sub, uint32_t file)
{
    const struct nytp_key key = {sub, file, 0, 0};
    const uint32_t known = nytp_table_get(&t->function_ids, key);
    if (known != NYTP_TABLE_NONE)
        return known;
    const struct nytp_pprof_function function = {
        .name = name_id(t, t->names->subs[sub]),
        .filename = name_id(t, t->names->files[file]),
        .start_line = file == t->profile->subs[sub].file ? t->profile->subs[sub].first_line : 0,
    };
    if (!nytp_grow(&t->functions, &t->functions_size, t->n_functions, sizeof *t->functions) ||
        !nytp_table_put(&t->function_ids, key, t->n_functions + 1)) {
        t->no_memory = true;
        return 1;
    }
    t->functions[t->n_functions++] = function;
    return t->n_functions;
}

uint32_t nytp_pprof_location_id(struct nytp_pprof_tables *t, uint32_t sub, uint32_t file,
                                uint32_t line)
{
    file = nytp_line_file(t->profile, sub, file, line);
    const struct nytp_key key = {sub, file, line, 0};
    const uint32_t known = nytp_table_get(&t->location_ids, key);
    if (known != NYTP_TABLE_NONE)
        return known;
    const struct nytp_pprof_location location = {
        .function = function_id(t, sub, file),
        .line = line,
    };
    if (!nytp_grow(&t->locations, &t->locations_size, t->n_locations, sizeof *t->locations) ||
        !nytp_table_put(&t->location_ids, key, t->n_locations + 1)) {
        t->no_memory = true;
        return 1;
    }
    t->locations[t->n_locations++] = location;
    return t->n_locations;
}

/* ---- comments ---- */

/* Text fields must be UTF-8, and an error message may have been cut inside a character. */
static void replace_non_ascii(char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text >= 0x80)
            *text = '?';
}

void nytp_pprof_comment(struct nytp_pprof_tables *t, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (t->n_comments == NYTP_PPROF_MAX_COMMENTS)
        return;
    if (!nytp_utf8_valid(text, strlen(text)))
        replace_non_ascii(text);
    t->comments[t->n_comments++] = nytp_pprof_escaped_id(t, nytp_name_of_text(text));
}

static void comment_recording(struct nytp_pprof_tables *t,
                              const struct nytp_recording *recording)
{
    if (recording->application.len > 0)
        nytp_pprof_comment(t, "script: %s", recording->application.ptr);
    if (recording->perl_version.len > 0)
        nytp_pprof_comment(t, "perl: %s", recording->perl_version.ptr);
    if (recording->xs_version.len > 0)
        nytp_pprof_comment(t, "recorder: %s", recording->xs_version.ptr);
    if (recording->partial)
        nytp_pprof_comment(t, "partial: %s", recording->error.message);
}

void nytp_pprof_comment_all(struct nytp_pprof_tables *t, uint64_t n_pruned)
{
    const struct nytp_profile *profile = t->profile;
    if (profile->n_recordings == 1) {
        comment_recording(t, &profile->recordings[0]);
    } else {
        nytp_pprof_comment(t, "merged from %lu recordings",
                           (unsigned long)profile->n_recordings);
        for (uint32_t i = 0; i < profile->n_recordings; i++)
            if (profile->recordings[i].partial)
                nytp_pprof_comment(t, "partial: %s: %s",
                                   profile->recordings[i].path.ptr,
                                   profile->recordings[i].error.message);
    }
    if (profile->estimated_tree)
        nytp_pprof_comment(t,
                           "estimated: stacks, from call counts (no call events)");
    else if (!(profile->has & NYTP_HAS_ENTRIES) && profile->total.calls > 0)
        nytp_pprof_comment(t,
                           "estimated: lines within stacks (no call entry events)");
    if (n_pruned > 0)
        nytp_pprof_comment(t, "pruned: %llu deeper contexts",
                           (unsigned long long)n_pruned);
}
