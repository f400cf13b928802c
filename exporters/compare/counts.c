/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Reads and writes a table of counts; see counts.h.
 */
#include "counts.h"

#include "formats/base/arena.h"
#include "formats/stream/source.h"
#include "exporters/base/json.h"
#include "exporters/base/json_scan.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_BYTES ((size_t)256 << 20) /* limit of a file: some million subs */

bool nytp_counts_is_one(const char *path)
{
    struct stat info;
    if (strcmp(path, "-") == 0 || stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    struct nytp_error error = {0};
    struct nytp_source *source = nytp_source_open(path, &error);
    const bool is_one =
        source != NULL && nytp_source_fill(source, 1) >= 1 && *source->at == '{';
    nytp_source_free(source);
    return is_one;
}

/* ---- reading ---- */

/* Reads a text that is freed with the table. If a key is repeated, the first text counts. */
static bool read_name(struct nytp_json_scan *scan, struct nytp_name *name)
{
    char *text = NULL;
    size_t len;
    if (name->ptr != NULL)
        return nytp_json_scan_skip(scan);
    if (!nytp_json_scan_string(scan, &text, &len))
        return false;
    *name = (struct nytp_name){text, (uint32_t)len};
    return true;
}

static bool read_field(struct nytp_json_scan *scan, const char *key, void *to)
{
    struct nytp_counts_sub *const sub = to;
    if (strcmp(key, "sub") == 0)
        return read_name(scan, &sub->name);
    if (strcmp(key, "file") == 0)
        return read_name(scan, &sub->file);
    if (strcmp(key, "statements") == 0)
        return nytp_json_scan_count(scan, &sub->statements);
    if (strcmp(key, "calls") == 0)
        return nytp_json_scan_count(scan, &sub->calls);
    return nytp_json_scan_skip(scan);
}

/* Reads an object; `read` reads the value of each key. */
typedef bool read_member_fn(struct nytp_json_scan *scan, const char *key, void *to);

static bool read_object(struct nytp_json_scan *scan, read_member_fn *read, void *to)
{
    bool ok = nytp_json_scan_expect(scan, '{');
    if (ok && nytp_json_scan_take(scan, '}'))
        return true;
    while (ok) {
        char *key = NULL;
        size_t len;
        ok = nytp_json_scan_string(scan, &key, &len) && nytp_json_scan_expect(scan, ':') &&
             read(scan, key, to);
        free(key);
        if (!nytp_json_scan_take(scan, ','))
            break;
    }
    return ok && nytp_json_scan_expect(scan, '}');
}

static bool read_sub(struct nytp_json_scan *scan, struct nytp_counts_sub *sub)
{
    if (!read_object(scan, read_field, sub))
        return false;
    if (sub->name.ptr == NULL)
        return nytp_error_at(&scan->error, NYTP_ERR_FORMAT, (uint64_t)(scan->at - scan->start),
                             false, "an entry without \"sub\"");
    if (sub->file.ptr == NULL)
        sub->file.ptr = calloc(1, 1);
    return sub->file.ptr != NULL || nytp_out_of_memory(&scan->error);
}

static bool read_subs(struct nytp_json_scan *scan, struct nytp_counts *counts)
{
    uint32_t capacity = counts->n_subs;
    if (!nytp_json_scan_expect(scan, '['))
        return false;
    if (nytp_json_scan_take(scan, ']'))
        return true;
    do {
        if (!nytp_grow(&counts->subs, &capacity, counts->n_subs, sizeof *counts->subs))
            return nytp_out_of_memory(&scan->error);
        struct nytp_counts_sub *sub = &counts->subs[counts->n_subs++];
        *sub = (struct nytp_counts_sub){0};
        if (!read_sub(scan, sub))
            return false;
    } while (nytp_json_scan_take(scan, ','));
    return nytp_json_scan_expect(scan, ']');
}

/* Unknown conditions are ignored, as in the other objects. */
static bool read_condition(struct nytp_json_scan *scan, const char *key, void *to)
{
    struct nytp_conditions *const conditions = to;
    for (uint32_t i = 0; i < NYTP_N_CONDITIONS; i++)
        if (nytp_condition_names[i].key != NULL &&
            strcmp(key, nytp_condition_names[i].key) == 0)
            return read_name(scan, &conditions->value[i]);
    return nytp_json_scan_skip(scan);
}

static bool read_sampled(struct nytp_json_scan *scan, struct nytp_counts *counts)
{
    int64_t sampled = 0;
    const bool ok = nytp_json_scan_count(scan, &sampled);
    counts->sampled = sampled != 0;
    return ok;
}

static bool read_member(struct nytp_json_scan *scan, const char *key, void *to)
{
    struct nytp_counts *const counts = to;
    if (strcmp(key, "nytp_counts") == 0)
        return nytp_json_scan_count(scan, &counts->version);
    if (strcmp(key, "application") == 0)
        return read_name(scan, &counts->application);
    if (strcmp(key, "facts") == 0)
        return read_object(scan, read_condition, &counts->conditions);
    if (strcmp(key, "sampled") == 0)
        return read_sampled(scan, counts);
    if (strcmp(key, "statements") == 0)
        return nytp_json_scan_count(scan, &counts->statements);
    if (strcmp(key, "calls") == 0)
        return nytp_json_scan_count(scan, &counts->calls);
    if (strcmp(key, "subs") == 0 && counts->subs == NULL)
        return read_subs(scan, counts);
    return nytp_json_scan_skip(scan);
}

static bool scan_counts(struct nytp_json_scan *scan, struct nytp_counts *counts)
{
    if (!read_object(scan, read_member, counts))
        return false;
    if (counts->version != NYTP_COUNTS_VERSION)
        return nytp_error_set(&scan->error, NYTP_ERR_FORMAT,
                              "no table of counts of version %d (nytp_counts=%lld); "
                              "nytp-export --save-base writes one",
                              NYTP_COUNTS_VERSION, (long long)counts->version);
    return true;
}

static char *read_text(const char *path, size_t *len, struct nytp_error *error)
{
    struct nytp_source *source = nytp_source_open(path, error);
    char *text = NULL;
    uint32_t capacity = 0;
    size_t n;
    *len = 0;
    while (error->status == NYTP_OK && (n = nytp_source_fill(source, 1)) > 0) {
        if (*len + n > MAX_BYTES) {
            nytp_error_set(error, NYTP_ERR_LIMIT, "more than %lu MB",
                           (unsigned long)MAX_BYTES >> 20);
        } else if (!nytp_reserve(&text, &capacity, *len + n, 1)) {
            nytp_out_of_memory(error);
        } else {
            memcpy(text + *len, source->at, n);
            source->at += n;
            *len += n;
        }
    }
    if (error->status == NYTP_OK)
        *error = *nytp_source_error(source);
    nytp_source_free(source);
    if (error->status == NYTP_OK && text == NULL)
        nytp_error_set(error, NYTP_ERR_TRUNCATED, "empty file");
    if (error->status == NYTP_OK)
        return text;
    free(text);
    return NULL;
}

struct nytp_counts *nytp_counts_read(const char *path, struct nytp_error *error)
{
    size_t len;
    char *text = read_text(path, &len, error);
    if (text == NULL)
        return NULL;
    struct nytp_json_scan scan;
    nytp_json_scan_begin(&scan, text, len);
    struct nytp_counts *counts = calloc(1, sizeof *counts);
    const bool ok = counts != NULL && scan_counts(&scan, counts);
    free(text);
    if (ok)
        return counts;
    if (counts == NULL)
        nytp_out_of_memory(error);
    else
        *error = scan.error;
    nytp_counts_free(counts);
    return NULL;
}

static void free_name(struct nytp_name name)
{
    free((char *)(uintptr_t)name.ptr);
}

void nytp_counts_free(struct nytp_counts *counts)
{
    if (counts == NULL)
        return;
    for (uint32_t i = 0; i < counts->n_subs; i++) {
        free_name(counts->subs[i].name);
        free_name(counts->subs[i].file);
    }
    for (uint32_t i = 0; i < NYTP_N_CONDITIONS; i++)
        free_name(counts->conditions.value[i]);
    free(counts->subs);
    free_name(counts->application);
    free(counts);
}
