/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The streams of threads; see parts.h.
 */
#define _GNU_SOURCE
#include "parts.h"

#include "formats/base/arena.h"
#include "formats/stream/write/merge_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    SHORT = 1 << 20,   /* bytes: a longer stream keeps its own file */
    MOST_OPEN = 10000, /* at one time, however many descriptors there may be */
};

int nytp_parts_temporary_file(const char *name)
{
    const char *const folder = getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.XXXXXX", folder == NULL ? "/tmp" : folder, name);
    const int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

struct nytp_part *nytp_part_new(struct nytp_parts *parts, struct nytp_error *error)
{
    struct nytp_part *const part = calloc(1, sizeof *part);
    if (part == NULL)
        nytp_out_of_memory(error);
    else if (parts->n_open >= MOST_OPEN)
        nytp_error_set(error, NYTP_ERR_LIMIT, "they are too many");
    else if ((part->fd = nytp_parts_temporary_file("nytp-spy")) < 0)
        nytp_error_set(error, NYTP_ERR_IO, "%s", strerror(errno));
    else {
        parts->n_open++;
        return part;
    }
    free(part);
    return NULL;
}

static bool write_all(int fd, const uint8_t *bytes, size_t len)
{
    while (len > 0) {
        const ssize_t done = write(fd, bytes, len);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        bytes += done;
        len -= (size_t)done;
    }
    return true;
}

bool nytp_part_put(void *context, const uint8_t *bytes, size_t len)
{
    struct nytp_part *const part = context;
    if (part->error.status == NYTP_OK && !write_all(part->fd, bytes, len))
        nytp_error_set(&part->error, NYTP_ERR_IO, "a temporary file cannot be written: %s",
                       strerror(errno));
    return part->error.status == NYTP_OK;
}

static bool put_out(void *context, const uint8_t *bytes, size_t len)
{
    struct nytp_out *const out = context;
    nytp_put(out, bytes, len);
    return out->error.status == NYTP_OK;
}

/* Copies `len` bytes from `at` on. False: errno says why, or they cannot be put there. */
static bool copy_bytes(int from, off_t at, off_t len, nytp_bytes_fn *put, void *to)
{
    uint8_t bytes[16384];
    while (len > 0) {
        const size_t most = len < (off_t)sizeof bytes ? (size_t)len : sizeof bytes;
        const ssize_t got = pread(from, bytes, most, at);
        errno = got == 0 ? ENODATA : errno; /* the file has become shorter */
        if (got <= 0 || !put(to, bytes, (size_t)got))
            return false;
        at += got;
        len -= got;
    }
    return true;
}

static bool cannot_read(struct nytp_error *error)
{
    return nytp_error_set(error, NYTP_ERR_IO, "a temporary file cannot be read: %s",
                          strerror(errno));
}

/* Puts a short stream behind the others. If that fails, as on a full disk, it keeps its own
 * file. */
static void move_to_common(struct nytp_parts *parts, struct nytp_ended_part *ended)
{
    if (ended->len > SHORT)
        return;
    if (parts->common_fd < 0)
        parts->common_fd = nytp_parts_temporary_file("nytp-spy-ended");
    struct nytp_part common = {.fd = parts->common_fd};
    if (common.fd < 0 || lseek(common.fd, parts->common_len, SEEK_SET) < 0 ||
        !copy_bytes(ended->fd, 0, ended->len, nytp_part_put, &common))
        return;
    close(ended->fd);
    *ended = (struct nytp_ended_part){-1, parts->common_len, ended->len, ended->is_cut};
    parts->common_len += ended->len;
}

void nytp_part_end(struct nytp_parts *parts, struct nytp_part *part, bool is_whole)
{
    struct nytp_ended_part ended = {.fd = part->fd,
                                    .len = lseek(part->fd, 0, SEEK_END),
                                    .is_cut = !is_whole || part->error.status != NYTP_OK};
    parts->n_open--;
    parts->n_cut += ended.is_cut;
    free(part);
    if (!nytp_grow(&parts->ended, &parts->capacity, parts->n_ended, sizeof *parts->ended)) {
        parts->n_cut += !ended.is_cut;
        close(ended.fd);
        return;
    }
    move_to_common(parts, &ended);
    parts->ended[parts->n_ended++] = ended;
}

static bool merge_file(struct nytp_merge *merge, int fd, struct nytp_error *error)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return nytp_merge_add(merge, path, error);
}

/* One of the common file is copied to memory for the merge, which reads whole files: it is
 * short, and the disk may be full. */
static bool merge_part(struct nytp_merge *merge, const struct nytp_parts *parts,
                       const struct nytp_ended_part *part, struct nytp_error *error)
{
    struct nytp_part copy = {.fd = part->fd >= 0 ? part->fd
                                                 : memfd_create("nytp-spy", MFD_CLOEXEC)};
    const bool is_there =
        copy.fd >= 0 && (part->fd >= 0 || copy_bytes(parts->common_fd, part->at, part->len,
                                                     nytp_part_put, &copy));
    bool ok = is_there ? merge_file(merge, copy.fd, error) : cannot_read(error);
    if (is_there && !ok && part->is_cut) { /* the part has all that came before the cut */
        *error = (struct nytp_error){0};
        ok = true;
    }
    if (part->fd < 0 && copy.fd >= 0)
        close(copy.fd);
    return ok;
}

static bool merge_parts(const struct nytp_parts *parts, struct nytp_out *out,
                        struct nytp_error *error)
{
    struct nytp_merge *const merge = nytp_merge_new(put_out, NULL, out, 6);
    bool ok = merge != NULL || nytp_out_of_memory(error);
    for (uint32_t i = 0; ok && i < parts->n_ended; i++)
        ok = merge_part(merge, parts, &parts->ended[i], error);
    ok = ok && nytp_merge_finish(merge, error);
    nytp_merge_free(merge);
    return ok;
}

/* The stream of one thread is the profile as it is, if it has an end. */
bool nytp_parts_write(const struct nytp_parts *parts, struct nytp_out *out,
                      struct nytp_error *error)
{
    const struct nytp_ended_part *const first = parts->ended;
    if (parts->n_ended != 1 || first->is_cut)
        return merge_parts(parts, out, error);
    if (!copy_bytes(first->fd >= 0 ? first->fd : parts->common_fd, first->at, first->len,
                    put_out, out) &&
        out->error.status == NYTP_OK)
        return cannot_read(error);
    if (out->error.status != NYTP_OK)
        *error = out->error;
    return out->error.status == NYTP_OK;
}

void nytp_parts_free(struct nytp_parts *parts)
{
    for (uint32_t i = 0; i < parts->n_ended; i++)
        if (parts->ended[i].fd >= 0)
            close(parts->ended[i].fd);
    if (parts->common_fd >= 0)
        close(parts->common_fd);
    free(parts->ended);
    *parts = NYTP_NO_PARTS;
}
