/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The text of a source page's lines; see source_text.h.
 */
#define _XOPEN_SOURCE 700 /* realpath */
#include "source_text.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_DISK_SOURCE (64 << 20) /* bytes of a file that is read for its source */

static bool may_read(const struct nytp_report *report, uint32_t f)
{
    const struct nytp_export_options *options = report->options;
    const struct nytp_part *part = &report->profile->parts[report->profile->files[f].part];
    return !options->no_source_files && (options->source_files || part->is_own);
}

/* What the kernel makes up, and devices. Mounts inside them are on devices of their own, which
 * the path tells; a path that leads there otherwise is told by the device. */
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

/* A regular file, opened once and looked at as it is open, whatever its path leads to by then.
 * A pipe does not block. NULL if it is none, or cannot be read. */
static FILE *open_source(const char *path, struct stat *st)
{
    FILE *stream = NULL;
    char *real = realpath(path, NULL);
    const int fd = real != NULL ? open(real, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1;
    if (fd >= 0 && fstat(fd, st) == 0 && S_ISREG(st->st_mode) &&
        st->st_size <= MAX_DISK_SOURCE && !is_special(real, st))
        stream = fdopen(fd, "r");
    if (stream == NULL && fd >= 0)
        close(fd);
    free(real);
    return stream;
}

/* When the last process of the file's recording ended, or began, as far as is known. */
static double end_of_recording(const struct nytp_profile *profile, uint32_t f)
{
    const struct nytp_part *part = &profile->parts[profile->files[f].part];
    double end_s = part->basetime_s;
    for (uint32_t i = 0; i < part->n_processes; i++) {
        const struct nytp_process *process = &profile->processes[part->first_process + i];
        const double s = process->end_s > 0 ? process->end_s : process->start_s;
        end_s = s > end_s ? s : end_s;
    }
    return end_s;
}

/* Times of files are cut to whole seconds in a recording. */
static bool was_changed(const struct nytp_report *report, uint32_t f, const struct stat *st)
{
    const struct nytp_file *file = &report->profile->files[f];
    return (double)st->st_mtime > end_of_recording(report->profile, f) + 1 ||
           (file->mtime_s != 0 && (time_t)file->mtime_s != st->st_mtime) ||
           (file->size != 0 && (off_t)file->size != st->st_size);
}

void nytp_report_disk_open(const struct nytp_report *report, uint32_t f,
                           struct nytp_report_disk *disk)
{
    struct stat st;
    const struct nytp_name name = nytp_report_file_name(report, f);
    *disk = (struct nytp_report_disk){.stream = NULL};
    if (report->profile->files[f].n_sources > 0 || name.len == 0 || name.ptr[0] != '/' ||
        memchr(name.ptr, '\0', name.len) != NULL)
        return;
    if (!may_read(report, f)) {
        disk->remark = "the recording kept none; with <code>--source-files</code> it is read "
                       "from this machine";
        return;
    }
    disk->stream = open_source(name.ptr, &st);
    if (disk->stream == NULL)
        return;
    disk->remark = "from this machine, as the recording kept none";
    if (was_changed(report, f, &st)) {
        disk->remark = "the recording kept none, and the file here was changed since";
        fclose(disk->stream);
        disk->stream = NULL;
    }
}

void nytp_report_disk_close(struct nytp_report_disk *disk)
{
    if (disk->stream != NULL)
        fclose(disk->stream);
    free(disk->line);
}

bool nytp_report_disk_next(struct nytp_report_disk *disk)
{
    if (disk->stream == NULL)
        return false;
    disk->len = getline(&disk->line, &disk->size, disk->stream);
    if (disk->len >= 0)
        return true;
    fclose(disk->stream);
    disk->stream = NULL;
    return false;
}

struct nytp_name nytp_report_without_newline(const char *text, uint32_t len)
{
    while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == '\r'))
        len--;
    return (struct nytp_name){text, len};
}

struct nytp_name nytp_report_disk_line(const struct nytp_report_disk *disk)
{
    if (disk->stream == NULL || disk->len < 0)
        return (struct nytp_name){NULL, 0};
    return nytp_report_without_newline(disk->line, (uint32_t)disk->len);
}

static bool begins_with_word(struct nytp_name text, const char *word)
{
    const size_t len = strlen(word);
    return text.len >= len && memcmp(text.ptr, word, len) == 0;
}

bool nytp_report_is_comment(struct nytp_name text, bool *in_pod)
{
    if (text.len > 1 && text.ptr[0] == '=' &&
        ((text.ptr[1] | 32) >= 'a' && (text.ptr[1] | 32) <= 'z')) {
        *in_pod = !begins_with_word(text, "=cut");
        return true;
    }
    if (*in_pod)
        return true;
    uint32_t i = 0;
    while (i < text.len && (text.ptr[i] == ' ' || text.ptr[i] == '\t'))
        i++;
    return i < text.len && text.ptr[i] == '#';
}
