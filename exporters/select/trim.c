/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Cuts prefixes off paths; see trim.h.
 */
#include "trim.h"

#include "formats/base/strings.h"
#include "rename.h"

#include <stdlib.h>
#include <string.h>

struct prefixes {
    const char *const *list;
    uint32_t n;
};

/* How much of the text is one of the prefixes, of which the longest counts. */
static size_t prefix_len(const struct prefixes *prefixes, const char *text, size_t len)
{
    size_t longest = 0;
    for (uint32_t i = 0; i < prefixes->n; i++) {
        const size_t n = strlen(prefixes->list[i]);
        if (n > longest && n <= len && memcmp(text, prefixes->list[i], n) == 0)
            longest = n;
    }
    return longest;
}

/* The text without what is cut, into `to`, which has room for as many bytes. A path begins the
 * text, if `at_start`, or stands in brackets. Returns how long it is. */
static uint32_t trim_text(const struct prefixes *prefixes, const char *text, uint32_t len,
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

/* False when memory is out. */
static bool trim_name(const struct nytp_profile *profile, const struct prefixes *prefixes,
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

bool nytp_trim_paths(struct nytp_profile *profile, const char *const *list, uint32_t n,
                     struct nytp_error *error)
{
    const struct prefixes prefixes = {list, n};
    struct nytp_name *subs = malloc(((size_t)profile->n_subs + 1) * sizeof *subs);
    struct nytp_name *files = malloc(((size_t)profile->n_files + 1) * sizeof *files);
    bool ok = subs != NULL && files != NULL;
    for (uint32_t i = 0; ok && i < profile->n_subs; i++) {
        subs[i] = profile->subs[i].name;
        ok = trim_name(profile, &prefixes, &subs[i], false);
    }
    for (uint32_t i = 0; ok && i < profile->n_files; i++) {
        files[i] = profile->files[i].name;
        ok = trim_name(profile, &prefixes, &files[i], true);
    }
    for (uint32_t i = 0; ok && i < profile->n_parts; i++)
        ok = trim_name(profile, &prefixes, &profile->parts[i].application, true);
    if (ok)
        ok = nytp_rename(profile, subs, files, error);
    else
        nytp_error_set(error, NYTP_ERR_MEMORY, "out of memory");
    free(subs);
    free(files);
    return ok;
}

/* ---- events ---- */

/* The trimmed text takes the place of the event's, in one of the two buffers. */
static bool trim_str(struct nytp_trim *trim, int buffer, struct nytp_str *text, bool at_start)
{
    const struct prefixes prefixes = {trim->prefixes, trim->n_prefixes};
    if (trim->sizes[buffer] < text->len) {
        char *grown = realloc(trim->buffers[buffer], text->len);
        if (grown == NULL)
            return false;
        trim->buffers[buffer] = grown;
        trim->sizes[buffer] = text->len;
    }
    if (text->len == 0)
        return true;
    const uint32_t len =
        trim_text(&prefixes, text->ptr, text->len, at_start, trim->buffers[buffer]);
    if (len > 0 && len != text->len) {
        text->ptr = trim->buffers[buffer];
        text->len = len;
    }
    return true;
}

static bool is_application(const struct nytp_str *key)
{
    static const char application[] = "application";
    return key->len == sizeof application - 1 &&
           memcmp(key->ptr, application, sizeof application - 1) == 0;
}

static bool trim_event(struct nytp_sink *sink, const struct nytp_event *event)
{
    struct nytp_trim *trim = (struct nytp_trim *)sink;
    struct nytp_event e = *event;
    bool ok = true;
    switch (e.tag) {
    case NYTP_TAG_NEW_FID:
        ok = trim_str(trim, 0, &e.u.new_fid.name, true);
        break;
    case NYTP_TAG_ATTRIBUTE:
        ok = !is_application(&e.u.pair.key) || trim_str(trim, 0, &e.u.pair.value, true);
        break;
    case NYTP_TAG_SUB_INFO:
        ok = trim_str(trim, 0, &e.u.sub_info.name, false);
        break;
    case NYTP_TAG_SUB_RETURN:
        ok = trim_str(trim, 0, &e.u.sub_return.name, false);
        break;
    case NYTP_TAG_SUB_CALLERS:
        ok = trim_str(trim, 0, &e.u.sub_callers.caller, false) &&
             trim_str(trim, 1, &e.u.sub_callers.callee, false);
        break;
    case NYTP_TAG_COMMENT: /* may name an open call */
        ok = trim_str(trim, 0, &e.u.comment.text, false);
        break;
    default:
        break;
    }
    return ok && trim->next->event(trim->next, &e);
}

void nytp_trim_init(struct nytp_trim *trim, const char *const *prefixes, uint32_t n,
                    struct nytp_sink *next)
{
    *trim = (struct nytp_trim){
        .sink = {trim_event}, .next = next, .prefixes = prefixes, .n_prefixes = n};
}

void nytp_trim_release(struct nytp_trim *trim)
{
    free(trim->buffers[0]);
    free(trim->buffers[1]);
}
