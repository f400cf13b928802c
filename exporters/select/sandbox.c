/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Names of packages that frameworks made up; see sandbox.h.
 */
#include "sandbox.h"

#include "formats/model/eval_files.h"
#include "formats/base/strings.h"
#include "rename.h"

#include <stdlib.h>
#include <string.h>

/* Returns how much of a name is such a package, "::" behind it not counted; 0: none. */
static uint32_t sandbox_len(struct nytp_name name)
{
    static const char *const roots[] = {"Mojo::Server::Sandbox::", "Plack::Sandbox::"};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        const uint32_t len = (uint32_t)strlen(roots[i]);
        if (name.len <= len || memcmp(name.ptr, roots[i], len) != 0)
            continue;
        for (uint32_t at = len + 1; at + 2 < name.len; at++)
            if (name.ptr[at] == ':' && name.ptr[at + 1] == ':')
                return at;
    }
    return 0;
}

static bool is_of(struct nytp_name name, struct nytp_name sandbox)
{
    return sandbox_len(name) == sandbox.len && memcmp(name.ptr, sandbox.ptr, sandbox.len) == 0;
}

/* The file that was loaded: the first that a sub of the package is in. */
static struct nytp_name file_of(const struct nytp_profile *profile, const uint32_t *outermost,
                                uint32_t first, struct nytp_name sandbox)
{
    for (uint32_t i = first; i < profile->n_subs && is_of(profile->subs[i].name, sandbox);
         i++) {
        const uint32_t file = outermost[profile->subs[i].file];
        if (file != 0)
            return nytp_base_name(profile->files[file].name);
    }
    return (struct nytp_name){"app", 3};
}

/* The name with the file in the sandbox's place; for free(). Returns NULL if memory is out. */
static char *name_in_file(struct nytp_name name, uint32_t sandbox, struct nytp_name file,
                          size_t *len)
{
    const uint32_t rest = name.len - sandbox;
    char *const text = malloc((size_t)file.len + rest);
    *len = (size_t)file.len + rest;
    if (text != NULL) {
        memcpy(text, file.ptr, file.len);
        memcpy(text + file.len, name.ptr + sandbox, rest);
    }
    return text;
}

static bool rename_one(const struct nytp_profile *profile, struct nytp_name *name,
                       uint32_t sandbox, struct nytp_name file)
{
    size_t len;
    char *const text = name_in_file(*name, sandbox, file, &len);
    const uint32_t id =
        text != NULL ? nytp_strings_intern_mixed(profile->strings, text, len) : UINT32_MAX;
    free(text);
    if (id == UINT32_MAX)
        return false;
    *name = nytp_strings_get(profile->strings, id);
    return true;
}

/* Subs are sorted by name: those of a package stand together. */
bool nytp_name_sandboxes(struct nytp_profile *profile, struct nytp_error *error)
{
    struct nytp_name *const names = malloc(((size_t)profile->n_subs + 1) * sizeof *names);
    uint32_t *const outermost = nytp_outermost_files(profile);
    struct nytp_name sandbox = {"", 0}, file = {"", 0};
    bool ok = names != NULL && outermost != NULL, changed = false;
    for (uint32_t i = 0; ok && i < profile->n_subs; i++) {
        names[i] = profile->subs[i].name;
        const uint32_t len = sandbox_len(names[i]);
        if (len == 0)
            continue;
        if (sandbox.len == 0 || !is_of(names[i], sandbox)) {
            sandbox = (struct nytp_name){names[i].ptr, len};
            file = file_of(profile, outermost, i, sandbox);
        }
        changed = true;
        ok = rename_one(profile, &names[i], len, file);
    }
    if (!ok)
        nytp_out_of_memory(error);
    else if (changed)
        ok = nytp_rename(profile, names, NULL, error);
    free(outermost);
    free(names);
    return ok;
}

static bool rename_slowest(struct nytp_label_sums *sums, struct nytp_label_row *row)
{
    static const struct nytp_name unknown = {"app", 3};
    const uint32_t sandbox = sandbox_len(row->slowest);
    size_t len;
    if (sandbox == 0)
        return true;
    const struct nytp_name file = nytp_base_name(row->slowest_file);
    char *const text = name_in_file(row->slowest, sandbox, file.len > 0 ? file : unknown, &len);
    if (text != NULL)
        row->slowest = nytp_label_sums_keep(sums, text, len);
    free(text);
    return text != NULL && row->slowest.ptr != NULL;
}

struct nytp_label_row *nytp_label_rows_named(struct nytp_label_sums *sums, uint32_t *n_rows)
{
    struct nytp_label_row *const rows = nytp_label_sums_rows(sums, n_rows);
    bool ok = rows != NULL;
    for (uint32_t i = 0; ok && i < *n_rows; i++)
        ok = rename_slowest(sums, &rows[i]);
    if (ok)
        return rows;
    free(rows);
    return NULL;
}
