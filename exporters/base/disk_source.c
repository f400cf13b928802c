/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Source text from files of this machine; see disk_source.h.
 */
#include "disk_source.h"

#include "formats/base/arena.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_DISK_SOURCE (64 << 20) /* bytes of a file that is read for its source */

/* Returns true for devices and for files that the kernel makes up. The path shows mounts inside
 * these folders, and the device a path that leads there by a link. */
static bool is_special(const char *path, const struct stat *st)
{
    static const char *const folders[] = {"/proc", "/sys", "/dev"};
    struct stat root, folder;
    if (stat("/", &root) != 0)
        return true;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const size_t len = strlen(folders[i]);
        if (strncmp(path, folders[i], len) == 0 && (path[len] == '/' || path[len] == '\0'))
            return true;
        if (stat(folders[i], &folder) == 0 && folder.st_dev != root.st_dev &&
            folder.st_dev == st->st_dev)
            return true;
    }
    return false;
}

/* Opens a regular file; checks it before, as opening a device may have an effect, and after, as
 * the path may lead elsewhere by then. Returns NULL if it is none. */
static FILE *open_source(const char *path, struct stat *st)
{
    FILE *stream = NULL;
    struct stat seen;
    int fd = -1;
    char *real = realpath(path, NULL);
    if (real != NULL && stat(real, &seen) == 0 && S_ISREG(seen.st_mode) &&
        seen.st_size <= MAX_DISK_SOURCE && !is_special(real, &seen))
        fd = open(real, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, st) == 0 && st->st_dev == seen.st_dev &&
        st->st_ino == seen.st_ino && st->st_size == seen.st_size)
        stream = fdopen(fd, "r");
    if (stream == NULL && fd >= 0)
        close(fd);
    free(real);
    return stream;
}

/* The text of an open file, if it has the sum that the recording tells; `stream` is closed.
 * Later reads see the summed bytes, even if the file is changed meanwhile. */
static FILE *open_proved(const struct nytp_file *file, FILE *stream, size_t size)
{
    uint8_t sum[NYTP_BLAKE2B_BYTES];
    char *const text = malloc(size + 1);
    FILE *proved = NULL;
    if (text != NULL && fread(text, 1, size, stream) == size) {
        nytp_blake2b(text, size, sum);
        if (memcmp(sum, file->text_sum, sizeof sum) == 0)
            proved = fmemopen(NULL, size + 1, "w+");
    }
    if (proved != NULL) {
        fwrite(text, 1, size, proved);
        rewind(proved);
    }
    free(text);
    fclose(stream);
    return proved;
}

/* A file that was changed or put there after the program began may not be the version that perl
 * read. A copy may have the time of its original (rsync -a, dpkg), but st_ctime is its own.
 * The start is told to a whole second, in which the file must not have been changed either. */
static bool was_changed(const struct nytp_profile *profile, uint32_t f, const struct stat *st)
{
    const struct nytp_file *file = &profile->files[f];
    const double start_s = profile->recordings[file->recording].basetime_s;
    return (double)st->st_mtime >= start_s || (double)st->st_ctime >= start_s ||
           (file->mtime_s != 0 && (time_t)file->mtime_s != st->st_mtime) ||
           (file->size != 0 && (off_t)file->size != st->st_size);
}

FILE *nytp_disk_source_open(const struct nytp_profile *profile,
                            const struct nytp_export_options *options, uint32_t f,
                            enum nytp_disk_source *state)
{
    const struct nytp_file *const file = &profile->files[f];
    struct stat st;
    *state = NYTP_DISK_SOURCE_NONE;
    if (file->n_sources > 0 || file->name.len == 0 || file->name.ptr[0] != '/' ||
        memchr(file->name.ptr, '\0', file->name.len) != NULL)
        return NULL;
    const bool is_recorded = file->n_text_sums > 0;
    if (options->no_source_files || !(is_recorded || options->source_files)) {
        *state = NYTP_DISK_SOURCE_REFUSED;
        return NULL;
    }
    FILE *stream = open_source(file->name.ptr, &st);
    if (stream == NULL)
        return NULL;
    if (file->n_text_sums == 1 && file->size == st.st_size) {
        stream = open_proved(file, stream, (size_t)st.st_size);
    } else if (is_recorded || was_changed(profile, f, &st)) {
        fclose(stream);
        stream = NULL;
    }
    *state = stream != NULL ? NYTP_DISK_SOURCE_READ : NYTP_DISK_SOURCE_CHANGED;
    return stream;
}

/* ---- into the profile ---- */

/* Lines that are collected, in the order of files. */
struct collected {
    struct nytp_source_line *lines;
    uint32_t n, capacity;
    size_t bytes_left;
};

static bool collect(struct nytp_profile *profile, struct collected *all, uint32_t f,
                    FILE *stream)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t len;
    bool ok = true;
    for (uint32_t n = 1; ok && (len = getline(&line, &size, stream)) >= 0; n++) {
        if ((size_t)len > all->bytes_left)
            break;
        all->bytes_left -= (size_t)len;
        char *const text = nytp_arena_alloc(profile->arena, (size_t)len + 1);
        ok = text != NULL && nytp_grow(&all->lines, &all->capacity, all->n, sizeof *all->lines);
        if (!ok)
            break;
        memcpy(text, line, (size_t)len + 1);
        all->lines[all->n++] =
            (struct nytp_source_line){.file = f, .line = n, .text = text, .len = (uint32_t)len};
    }
    free(line);
    return ok;
}

/* The lines that the recording kept of a file, or those of the file here if it has time. */
static bool collect_file(struct nytp_profile *profile,
                         const struct nytp_export_options *options, struct collected *all,
                         uint32_t f, struct nytp_disk_sources *count)
{
    struct nytp_file *const file = &profile->files[f];
    enum nytp_disk_source state = NYTP_DISK_SOURCE_NONE;
    const uint32_t first = all->n;
    bool ok = true;
    for (uint32_t i = 0; ok && i < file->n_sources; i++) {
        ok = nytp_grow(&all->lines, &all->capacity, all->n, sizeof *all->lines);
        if (ok)
            all->lines[all->n++] = profile->sources[file->first_source + i];
    }
    FILE *const stream =
        count != NULL ? nytp_disk_source_open(profile, options, f, &state) : NULL;
    if (state == NYTP_DISK_SOURCE_CHANGED && count->n[state] == 0)
        count->changed = f;
    if (count != NULL)
        count->n[state]++;
    if (stream != NULL) {
        ok = collect(profile, all, f, stream);
        fclose(stream);
    }
    file->first_source = first;
    file->n_sources = all->n - first;
    return ok;
}

bool nytp_disk_sources_add(struct nytp_profile *profile,
                           const struct nytp_export_options *options,
                           struct nytp_disk_sources *count)
{
    struct collected all = {.bytes_left = MAX_DISK_SOURCE};
    bool *const has_time = calloc((size_t)profile->n_files + 1, sizeof *has_time);
    bool ok = has_time != NULL;
    for (uint32_t i = 0; ok && i < profile->n_line_costs; i++)
        has_time[profile->line_costs[i].file] = true;
    for (uint32_t f = 0; ok && f < profile->n_files; f++)
        ok = collect_file(profile, options, &all, f, has_time[f] ? count : NULL);
    free(has_time);
    free(profile->sources);
    profile->sources = all.lines;
    profile->n_sources = all.n;
    return ok;
}
