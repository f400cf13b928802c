/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Bytes out; see out.h. A put copies into a buffer; a full buffer is drained through the
 * optional compressor to where the bytes go: a descriptor or memory.
 *
 * The temporary file is opened with O_EXCL and mode 0666 rather than by mkstemp(), so that
 * umask and a folder's default ACL decide as they would for the final file.
 */
#include "out.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/arena.h"
#include "formats/deflate/deflate.h"

#define BUFFER_SIZE   (256 * 1024)
#define MAX_TEMP_TRYS 100
#define MAX_LINKS     40

struct nytp_out_impl {
    int fd;           /* -1: memory */
    char *path;       /* as given, for messages */
    char *final_path; /* rename the temporary file to this; NULL = written in place */
    char *temp_path;  /* NULL = none */
    struct nytp_deflate *deflate; /* NULL = plain */
    bool finished;                /* the compressor has written its end */
    bool keep;                    /* memory: keep the bytes */
    uint8_t *memory;
    size_t memory_len;
    uint32_t memory_capacity;
    uint8_t buffer[BUFFER_SIZE];
};

/* A copy for signal handlers, which outlives the output; "" = none. */
static char unfinished_path[4096];

void nytp_out_remove_unfinished(void)
{
    if (unfinished_path[0] != '\0')
        unlink(unfinished_path);
}

void nytp_hold_fatal_signals(sigset_t *old)
{
    sigset_t fatal;
    sigemptyset(&fatal);
    sigaddset(&fatal, SIGINT);
    sigaddset(&fatal, SIGTERM);
    sigaddset(&fatal, SIGHUP);
    sigprocmask(SIG_BLOCK, &fatal, old);
}

static void fail_errno(struct nytp_out *out, const char *verb)
{
    const int saved = errno;
    const enum nytp_status status = saved == EPIPE ? NYTP_ERR_STOPPED : NYTP_ERR_IO;
    nytp_error_set(&out->error, status, "cannot %s: %s", verb, strerror(saved));
}

static bool out_ok(const struct nytp_out *out)
{
    return out->error.status == NYTP_OK;
}

/* Append to an output that is kept in memory. */
static void emit_to_memory(struct nytp_out *out, const uint8_t *bytes, size_t len)
{
    struct nytp_out_impl *impl = out->impl;
    if (!impl->keep)
        return;
    if (!nytp_reserve(&impl->memory, &impl->memory_capacity, impl->memory_len + len, 1)) {
        nytp_error_set(&out->error, NYTP_ERR_MEMORY, "out of memory: output of %zu bytes",
                       impl->memory_len + len);
        return;
    }
    if (len > 0)
        memcpy(impl->memory + impl->memory_len, bytes, len);
    impl->memory_len += len;
}

static void emit_bytes(struct nytp_out *out, const uint8_t *bytes, size_t len)
{
    if (out->impl->fd < 0) {
        emit_to_memory(out, bytes, len);
        return;
    }
    while (len > 0 && out_ok(out)) {
        const ssize_t n = write(out->impl->fd, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            fail_errno(out, "write");
            return;
        }
        bytes += n;
        len -= (size_t)n;
    }
}

static bool emit_packed(void *context, const uint8_t *bytes, size_t len)
{
    struct nytp_out *out = context;
    emit_bytes(out, bytes, len);
    return out_ok(out);
}

static void pack_bytes(struct nytp_out *out, const uint8_t *bytes, size_t len,
                       enum nytp_flush flush)
{
    struct nytp_deflate *deflate = out->impl->deflate;
    static_assert(BUFFER_SIZE <= NYTP_DEFLATE_ROOM, "a buffer fits into the compressor's room");
    memcpy(nytp_deflate_room(deflate), bytes, len);
    nytp_deflate_run(deflate, len, flush, emit_packed, out);
}

static void pass_on(struct nytp_out *out, const uint8_t *bytes, size_t len)
{
    if (len == 0 || !out_ok(out))
        return;
    if (out->impl->deflate != NULL)
        pack_bytes(out, bytes, len, NYTP_FLUSH_NONE);
    else
        emit_bytes(out, bytes, len);
}

static void drain_buffer(struct nytp_out *out)
{
    struct nytp_out_impl *impl = out->impl;
    pass_on(out, impl->buffer, (size_t)(out->at - impl->buffer));
    out->at = impl->buffer;
}

static void finish_output(struct nytp_out *out)
{
    drain_buffer(out);
    if (out->impl->deflate == NULL || out->impl->finished || !out_ok(out))
        return;
    out->impl->finished = true;
    pack_bytes(out, out->impl->buffer, 0, NYTP_FLUSH_FINISH);
}

/* ---- puts ---- */

void nytp_put_slowly(struct nytp_out *out, const void *bytes, size_t len)
{
    if (len == 0 || !out_ok(out))
        return;
    drain_buffer(out);
    if (len < BUFFER_SIZE) {
        nytp_put(out, bytes, len);
        return;
    }
    for (const uint8_t *at = bytes; len > 0 && out_ok(out);) {
        const size_t piece = len < BUFFER_SIZE ? len : BUFFER_SIZE;
        pass_on(out, at, piece);
        out->n_bytes += piece;
        at += piece;
        len -= piece;
    }
}

static const char two_digits[] = "00010203040506070809101112131415161718192021222324"
                                 "25262728293031323334353637383940414243444546474849"
                                 "50515253545556575859606162636465666768697071727374"
                                 "75767778798081828384858687888990919293949596979899";

char *nytp_digits_before(char *end, uint64_t value)
{
    for (; value >= 100; value /= 100)
        memcpy(end -= 2, &two_digits[value % 100 * 2], 2);
    if (value >= 10)
        memcpy(end -= 2, &two_digits[value * 2], 2);
    else
        *--end = (char)('0' + value);
    return end;
}

/* A copy of a fixed length, which includes bytes behind the digits, takes a few
 * instructions. */
char *nytp_append_u64(char *at, uint64_t value)
{
    char digits[2 * NYTP_MAX_DIGITS] = {0};
    char *const end = digits + NYTP_MAX_DIGITS;
    const char *const first = nytp_digits_before(end, value);
    memcpy(at, first, NYTP_MAX_DIGITS);
    return at + (end - first);
}

void nytp_put_u64(struct nytp_out *out, uint64_t value)
{
    char digits[NYTP_MAX_DIGITS];
    const char *const first = nytp_digits_before(digits + sizeof digits, value);
    nytp_put(out, first, (size_t)(digits + sizeof digits - first));
}

void nytp_put_i64(struct nytp_out *out, int64_t value)
{
    if (value < 0)
        nytp_putc(out, '-');
    nytp_put_u64(out, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void nytp_put_hex(struct nytp_out *out, uint64_t value)
{
    char digits[16];
    char *at = digits + sizeof digits;
    do
        *--at = "0123456789abcdef"[value & 15];
    while ((value >>= 4) > 0);
    nytp_put(out, at, (size_t)(digits + sizeof digits - at));
}

void nytp_printf(struct nytp_out *out, const char *format, ...)
{
    char text[1024];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (len >= 0 && (size_t)len < sizeof text) {
        nytp_put(out, text, (size_t)len);
    } else if (len > 0) {
        char *longer = malloc((size_t)len + 1);
        if (longer == NULL) {
            nytp_error_set(&out->error, NYTP_ERR_MEMORY, "out of memory: text of %d bytes",
                           len);
        } else {
            vsnprintf(longer, (size_t)len + 1, format, again);
            nytp_put(out, longer, (size_t)len);
            free(longer);
        }
    }
    va_end(again);
}

/* ---- opening ---- */

static struct nytp_out *out_new(const char *path)
{
    struct nytp_out *out = calloc(1, sizeof *out);
    /* not calloc: the buffer need not be touched before it is used */
    struct nytp_out_impl *impl = malloc(sizeof *impl);
    char *copy = strdup(path);
    if (out == NULL || impl == NULL || copy == NULL) {
        free(out);
        free(impl);
        free(copy);
        return NULL;
    }
    memset(impl, 0, offsetof(struct nytp_out_impl, buffer));
    impl->fd = -1;
    impl->path = copy;
    out->impl = impl;
    out->at = impl->buffer;
    out->end = impl->buffer + BUFFER_SIZE;
    return out;
}

/* "-", /dev/stdout and /dev/fd/N are an open descriptor: opening them anew would begin at the
 * start of a redirected file and overwrite what others wrote before us. -1 if it is none. */
static int open_descriptor(const char *path)
{
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    static const char *const prefixes[] = {"/dev/fd/", "/proc/self/fd/"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        const size_t len = strlen(prefixes[i]);
        if (strncmp(path, prefixes[i], len) != 0 || path[len] < '0' || path[len] > '9')
            continue;
        char *end;
        const long fd = strtol(path + len, &end, 10);
        if (*end == '\0' && fd <= INT_MAX)
            return (int)fd;
    }
    return -1;
}

/* No signal may find a temporary file whose name is not known yet. */
static int create_temp(const char *path)
{
    sigset_t old;
    nytp_hold_fatal_signals(&old);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), saved = errno;
    if (fd >= 0 && strlen(path) < sizeof unfinished_path)
        strcpy(unfinished_path, path);
    sigprocmask(SIG_SETMASK, &old, NULL);
    errno = saved;
    return fd;
}

/* The temporary file was renamed or removed. */
static void forget_temp(struct nytp_out_impl *impl)
{
    if (impl->temp_path != NULL && strcmp(unfinished_path, impl->temp_path) == 0)
        unfinished_path[0] = '\0';
    free(impl->temp_path);
    impl->temp_path = NULL;
}

/* The temporary file's name is short and hidden, never the target's plus something:
 * KCachegrind would take that for a part of the same profile. */
static bool open_temp(struct nytp_out *out, char *final_path)
{
    struct nytp_out_impl *impl = out->impl;
    impl->final_path = final_path;
    const char *slash = strrchr(final_path, '/');
    const int folder_len = slash != NULL ? (int)(slash - final_path + 1) : 0;
    const size_t size = (size_t)folder_len + 64;
    impl->temp_path = malloc(size);
    if (impl->temp_path == NULL)
        return nytp_out_of_memory(&out->error);
    for (int i = 0; i < MAX_TEMP_TRYS; i++) {
        snprintf(impl->temp_path, size, "%.*s.nytp-export.%ld.%d.tmp", folder_len, final_path,
                 (long)getpid(), i);
        impl->fd = create_temp(impl->temp_path);
        if (impl->fd >= 0)
            return true;
        if (errno != EEXIST)
            break;
    }
    fail_errno(out, "create a file beside it");
    free(impl->temp_path);
    impl->temp_path = NULL;
    return false;
}

/* Returns the target of a symbolic link to a file that does not exist yet, or NULL with errno.
 */
static char *link_target(const char *path)
{
    char target[PATH_MAX];
    char *at = strdup(path);
    struct stat st;
    for (int i = 0; at != NULL && i < MAX_LINKS; i++) {
        if (lstat(at, &st) != 0 || !S_ISLNK(st.st_mode))
            return at;
        const ssize_t len = readlink(at, target, sizeof target - 1);
        const char *const slash = strrchr(at, '/');
        const size_t folder_len = slash != NULL ? (size_t)(slash - at) + 1 : 0;
        char *next = len > 0 ? malloc(folder_len + (size_t)len + 1) : NULL;
        if (next != NULL) {
            target[len] = '\0';
            sprintf(next, "%.*s%s", *target == '/' ? 0 : (int)folder_len, at, target);
        }
        free(at);
        at = next;
    }
    free(at);
    return NULL;
}

static bool open_in_place(struct nytp_out *out)
{
    out->impl->fd = open(out->impl->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (out->impl->fd < 0)
        fail_errno(out, "open");
    return out->impl->fd >= 0;
}

/* Sets the owner if we may give files away. Do it before the mode: it drops set-user-id. */
static bool keep_owner_and_mode(struct nytp_out *out, const struct stat *st)
{
    const int fd = out->impl->fd;
    const bool kept =
        fchown(fd, st->st_uid, st->st_gid) == 0 || fchown(fd, (uid_t)-1, st->st_gid) == 0;
    const mode_t mode = st->st_mode & 07777; /* another group gets no more than others do */
    if (fchmod(fd, kept ? mode : (mode & ~(mode_t)070) | (mode & 07) << 3) != 0)
        fail_errno(out, "set the mode");
    return out_ok(out);
}

/* Opens the output. An open descriptor, a device and a FIFO are written as they are; anything
 * else is written to a temporary file beside it. */
static bool open_path(struct nytp_out *out)
{
    struct nytp_out_impl *impl = out->impl;
    const int fd = open_descriptor(impl->path);
    if (fd >= 0) {
        impl->fd = dup(fd);
        if (impl->fd < 0)
            fail_errno(out, "open");
        return impl->fd >= 0;
    }
    struct stat st;
    if (stat(impl->path, &st) == 0) {
        if (!S_ISREG(st.st_mode))
            return open_in_place(out);
        if (access(impl->path, W_OK) != 0) {
            fail_errno(out, "write");
            return false;
        }
        char *real = realpath(impl->path, NULL);
        if (real == NULL) {
            fail_errno(out, "open");
            return false;
        }
        if (!open_temp(out, real))
            return false;
        return keep_owner_and_mode(out, &st);
    }
    if (errno != ENOENT) {
        fail_errno(out, "open");
        return false;
    }
    const size_t len = strlen(impl->path);
    if (len == 0 || impl->path[len - 1] == '/')
        return nytp_error_set(&out->error, NYTP_ERR_IO, "cannot open: no file name");
    char *target = link_target(impl->path);
    if (target == NULL)
        fail_errno(out, "open");
    return target != NULL && open_temp(out, target);
}

struct nytp_out *nytp_out_open(const char *path, struct nytp_error *error)
{
    struct nytp_out *out = out_new(path);
    if (out == NULL) {
        nytp_out_of_memory(error);
        return NULL;
    }
    struct stat st;
    if (open_path(out) && fstat(out->impl->fd, &st) == 0) {
        out->is_pipe = !S_ISREG(st.st_mode);
        return out;
    }
    nytp_error_set(error, out->error.status, "%s", out->error.message);
    nytp_out_discard(out);
    return NULL;
}

struct nytp_out *nytp_out_memory(bool keep)
{
    struct nytp_out *out = out_new("(memory)");
    if (out != NULL)
        out->impl->keep = keep;
    return out;
}

void nytp_out_gzip(struct nytp_out *out)
{
    if (!out_ok(out) || out->impl->deflate != NULL)
        return;
    out->impl->deflate = nytp_deflate_new(NYTP_GZIP);
    if (out->impl->deflate == NULL)
        nytp_error_set(&out->error, NYTP_ERR_MEMORY, "out of memory for compression");
}

/* ---- closing ---- */

bool nytp_out_close(struct nytp_out *out, struct nytp_error *error)
{
    struct nytp_out_impl *impl = out->impl;
    finish_output(out);
    if (impl->fd >= 0) {
        const int status = close(impl->fd);
        impl->fd = -1;
        if (status != 0 && out_ok(out))
            fail_errno(out, "write");
    }
    if (out_ok(out) && impl->temp_path != NULL) {
        if (rename(impl->temp_path, impl->final_path) == 0)
            forget_temp(impl);
        else
            fail_errno(out, "rename the finished file into place");
    }
    const bool ok = out_ok(out);
    if (!ok)
        nytp_error_set(error, out->error.status, "%s", out->error.message);
    nytp_out_discard(out);
    return ok;
}

void nytp_out_discard(struct nytp_out *out)
{
    if (out == NULL)
        return;
    struct nytp_out_impl *impl = out->impl;
    if (impl->fd >= 0)
        close(impl->fd);
    if (impl->temp_path != NULL)
        unlink(impl->temp_path);
    nytp_deflate_free(impl->deflate);
    free(impl->memory);
    forget_temp(impl);
    free(impl->final_path);
    free(impl->path);
    free(impl);
    free(out);
}

const uint8_t *nytp_out_bytes(struct nytp_out *out, size_t *len)
{
    static const uint8_t nothing[1] = {0};
    finish_output(out);
    *len = out->impl->memory_len;
    return out->impl->memory != NULL ? out->impl->memory : nothing;
}
