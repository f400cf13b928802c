/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Cuts prefixes off paths; see select.h.
 */
#include "select.h"

#include "formats/base/strings.h"
#include "rename.h"

#include <stdlib.h>
#include <string.h>

/* Returns the length of the longest prefix that the text begins with, or 0. */
static size_t prefix_len(const struct nytp_texts *prefixes, const char *text, size_t len)
{
    size_t longest = 0;
    for (uint32_t i = 0; i < prefixes->n; i++) {
        const size_t n = strlen(prefixes->at[i]);
        if (n > longest && n <= len && memcmp(text, prefixes->at[i], n) == 0)
            longest = n;
    }
    return longest;
}

/* Writes the text without the prefixes to `to`, which has room for as many bytes. A path begins
 * the text, if `at_start`, or stands in brackets. Returns the length. */
static uint32_t trim_text(const struct nytp_texts *prefixes, const char *text, uint32_t len,
                          bool at_start, char *to)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < len;) {
        const bool begins = i == 0 ? at_start : text[i - 1] == '[';
        i += begins ? (uint32_t)prefix_len(prefixes, text + i, len - i) : 0;
        if (i < len)
            to[n++] = text[i++];
    }
    return n;
}

/* Returns false if memory is out. */
static bool trim_name(const struct nytp_profile *profile, const struct nytp_texts *prefixes,
                      struct nytp_name *name, bool at_start)
{
    char *text = malloc((size_t)name->len + 1);
    if (text == NULL)
        return false;
    const uint32_t len = trim_text(prefixes, name->ptr, name->len, at_start, text);
    bool ok = true;
    if (len != name->len && len > 0) {
        const uint32_t id = nytp_strings_intern(profile->strings, text, len);
        ok = id != UINT32_MAX;
        if (ok)
            *name = nytp_strings_get(profile->strings, id);
    }
    free(text);
    return ok;
}

bool nytp_trim_paths(struct nytp_profile *profile, const struct nytp_texts *prefixes,
                     struct nytp_error *error)
{
    struct nytp_name *subs = malloc(((size_t)profile->n_subs + 1) * sizeof *subs);
    struct nytp_name *files = malloc(((size_t)profile->n_files + 1) * sizeof *files);
    bool ok = subs != NULL && files != NULL;
    for (uint32_t i = 0; ok && i < profile->n_subs; i++) {
        subs[i] = profile->subs[i].name;
        ok = trim_name(profile, prefixes, &subs[i], false);
    }
    for (uint32_t i = 0; ok && i < profile->n_files; i++) {
        files[i] = profile->files[i].name;
        ok = trim_name(profile, prefixes, &files[i], true);
    }
    for (uint32_t i = 0; ok && i < profile->n_recordings; i++)
        ok = trim_name(profile, prefixes, &profile->recordings[i].application, true);
    if (ok)
        ok = nytp_rename(profile, subs, files, error);
    else
        nytp_out_of_memory(error);
    free(subs);
    free(files);
    return ok;
}
