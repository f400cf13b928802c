/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Sources that a profile kept, as files; see unpack.h.
 *
 * A recorded name becomes a path of plain components first; then every folder on the way is
 * opened below the one before without following links, so a path cannot lead out of DIR.
 */
#include "unpack.h"

#include "outputs.h"

#include "formats/base/strings.h"
#include "formats/base/table.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_COMPONENT 200      /* bytes of a file's name; the usual limit is 255 */
#define MAX_RELATIVE  1000     /* bytes of a path below DIR */
#define MAX_SAME_NAME 100000   /* files of one name, told apart by a number */
#define MAX_GAP_LINES 10000000 /* empty lines written for lines without source, in all */

struct unpack {
    struct nytp_profile *profile;
    struct nytp_error *error;
    const char *dir; /* as the user gave it, for messages */
    char *absolute;
    int dir_fd;
    struct nytp_table taken; /* path's string id -> recorded name's, of this run */
    uint64_t gap_lines_left;
};

/* A path below DIR, being built. */
struct path {
    char text[MAX_RELATIVE + 1];
    size_t len;
    size_t suffix; /* where ".pm" begins, or len */
};

static bool no_memory(struct unpack *u)
{
    return nytp_error_set(u->error, NYTP_ERR_MEMORY, "out of memory for sources");
}

/* ---- names ---- */

/* callgrind_annotate cuts a file's name at a colon. */
static char plain_char(char c)
{
    const unsigned char byte = (unsigned char)c;
    return byte < ' ' || byte == 0x7f || c == ':' || c == '/' || c == '\\' ? '_' : c;
}

static void add_component(struct path *path, const char *text, size_t len)
{
    const size_t kept = nytp_utf8_whole(text, len, MAX_COMPONENT);
    if (path->len + kept + 2 > MAX_RELATIVE)
        path->len = 0; /* too deep: what is left is enough to tell it by */
    if (path->len > 0)
        path->text[path->len++] = '/';
    const bool dots = (len == 1 && text[0] == '.') || (len == 2 && memcmp(text, "..", 2) == 0);
    for (size_t i = 0; i < kept; i++)
        path->text[path->len++] = dots ? '_' : plain_char(text[i]);
}

static void path_from_file(struct path *path, struct nytp_name name)
{
    const char *at = name.ptr, *const end = name.ptr + name.len;
    while (at < end) {
        const char *slash = memchr(at, '/', (size_t)(end - at));
        const size_t len = (size_t)((slash != NULL ? slash : end) - at);
        if (len > 0 && !(len == 1 && *at == '.'))
            add_component(path, at, len);
        at += len + 1;
    }
}

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           c == '.' || c == '_' || (unsigned char)c >= 0x80;
}

/* "(eval 7)[(eval 6)[/x/a.pl:5]:3]" becomes eval-7-eval-6-a.pl-5-3.pl */
static void path_from_eval(struct path *path, struct nytp_name name)
{
    size_t bracket = 0;
    for (uint32_t i = 0; i < name.len && path->len < MAX_RELATIVE - 4; i++) {
        const char c = name.ptr[i];
        if (c == '/')
            path->len = bracket; /* keep the last component of a path */
        else if (is_word(c))
            path->text[path->len++] = c;
        else if (path->len > 0 && path->text[path->len - 1] != '-')
            path->text[path->len++] = '-';
        if (c == '[')
            bracket = path->len;
    }
    path->len = nytp_utf8_whole(path->text, path->len, MAX_COMPONENT);
    while (path->len > 0 && path->text[path->len - 1] == '-')
        path->len--;
    memcpy(path->text + path->len, ".pl", 3);
    path->len += 3;
}

static void find_suffix(struct path *path)
{
    path->suffix = path->len;
    for (size_t i = path->len; i-- > 1 && path->text[i] != '/';) {
        if (path->text[i] == '.' && path->text[i - 1] != '/') {
            path->suffix = i;
            return;
        }
    }
}

static void path_from_name(struct path *path, struct nytp_name name)
{
    path->len = 0;
    if (nytp_compare_names(name, nytp_name_of_text("-e")) == 0)
        path_from_file(path, nytp_name_of_text("dash-e.pl"));
    else if (nytp_compare_names(name, nytp_name_of_text("-")) == 0)
        path_from_file(path, nytp_name_of_text("stdin.pl"));
    else if (name.len > 6 && memcmp(name.ptr, "(eval ", 6) == 0)
        path_from_eval(path, name);
    else
        path_from_file(path, name);
    if (path->len == 0)
        add_component(path, "unnamed", 7);
    find_suffix(path);
}

/* The path with "-N" before its suffix, N > 1. */
static void put_numbered_path(char *to, size_t size, const struct path *path, unsigned number)
{
    if (number < 2)
        snprintf(to, size, "%.*s", (int)path->len, path->text);
    else
        snprintf(to, size, "%.*s-%u%.*s", (int)path->suffix, path->text, number,
                 (int)(path->len - path->suffix), path->text + path->suffix);
}

/* ---- content ---- */

struct content {
    char *bytes;
    size_t len;
};

/* Empty lines before the n-th source line, as far as the budget goes. */
static uint32_t gap_before(const struct unpack *u, const struct nytp_file *file, uint32_t n)
{
    const struct nytp_source_line *lines = &u->profile->sources[file->first_source];
    const uint32_t before = n > 0 ? lines[n - 1].line : 0;
    return lines[n].line > before ? lines[n].line - before - 1 : 0;
}

static void add_line(struct content *content, const struct nytp_source_line *line)
{
    char *const at = content->bytes + content->len;
    const uint32_t len =
        line->len > 0 && line->text[line->len - 1] == '\n' ? line->len - 1 : line->len;
    for (uint32_t i = 0; i < len; i++)
        at[i] = line->text[i] == '\n' ? ' ' : line->text[i]; /* one line stays one line */
    at[len] = '\n';
    content->len += (size_t)len + 1;
}

/* Lines after a gap that is beyond the budget are left out. */
static bool make_content(struct unpack *u, const struct nytp_file *file,
                         struct content *content)
{
    const struct nytp_source_line *lines = &u->profile->sources[file->first_source];
    size_t size = 1;
    uint32_t n_kept = 0;
    for (; n_kept < file->n_sources; n_kept++) {
        const uint32_t gap = gap_before(u, file, n_kept);
        if (gap > u->gap_lines_left)
            break;
        u->gap_lines_left -= gap;
        size += gap + (size_t)lines[n_kept].len + 1;
    }
    *content = (struct content){.bytes = malloc(size)};
    if (content->bytes == NULL)
        return no_memory(u);
    for (uint32_t n = 0; n < n_kept; n++) {
        const uint32_t gap = gap_before(u, file, n);
        memset(content->bytes + content->len, '\n', gap);
        content->len += gap;
        add_line(content, &lines[n]);
    }
    return true;
}

static bool same_content(int folder, const char *leaf, const struct content *content)
{
    const int fd = openat(folder, leaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    struct stat st;
    bool same = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == (off_t)content->len;
    char buffer[16384];
    size_t done = 0;
    while (same && done < content->len) {
        const ssize_t n = read(fd, buffer, sizeof buffer);
        same = n > 0 && (size_t)n <= content->len - done &&
               memcmp(buffer, content->bytes + done, (size_t)n) == 0;
        done += same ? (size_t)n : 0;
    }
    close(fd);
    return same;
}

static bool write_all(int fd, const struct content *content)
{
    size_t done = 0;
    while (done < content->len) {
        const ssize_t n = write(fd, content->bytes + done, content->len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

/* ---- files ---- */

/* The folder that `path` is in, made if need be, and its last component. -1 with errno. */
static int open_folder(const struct unpack *u, const char *path, const char **leaf)
{
    int folder = openat(u->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const char *slash;
    while (folder >= 0 && (slash = strchr(path, '/')) != NULL) {
        char component[MAX_RELATIVE + 1];
        memcpy(component, path, (size_t)(slash - path));
        component[slash - path] = '\0';
        if (mkdirat(folder, component, 0777) != 0 && errno != EEXIST) {
            close(folder);
            return -1;
        }
        const int inner =
            openat(folder, component, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        const int saved = errno;
        close(folder);
        errno = saved;
        folder = inner;
        path = slash + 1;
    }
    *leaf = path;
    return folder;
}

enum outcome {
    WRITTEN,
    OCCUPIED,
    FOLDER_OCCUPIED,
    FAILED
};

/* Create the file, or find it there with the same content. */
static enum outcome put_file(struct unpack *u, const char *path, const struct content *content)
{
    const char *leaf = path;
    const int folder = open_folder(u, path, &leaf);
    if (folder < 0)
        return errno == ENOTDIR || errno == ELOOP ? FOLDER_OCCUPIED : FAILED;
    enum outcome outcome = WRITTEN;
    const int fd =
        openat(folder, leaf, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd >= 0) {
        bool ok = write_all(fd, content);
        int saved = errno;
        if (close(fd) != 0 && ok) {
            ok = false;
            saved = errno;
        }
        if (!ok) {
            unlinkat(folder, leaf, 0);
            outcome = FAILED;
        }
        errno = saved;
    } else if (errno != EEXIST) {
        outcome = FAILED;
    } else if (!same_content(folder, leaf, content)) {
        outcome = OCCUPIED;
    }
    const int saved = errno;
    if (outcome == WRITTEN)
        nytp_cli_note_written(folder, leaf);
    close(folder);
    errno = saved;
    return outcome;
}

/* Returns whether another file of this profile was unpacked to that path. */
static bool is_taken(const struct unpack *u, uint32_t path_id, uint32_t name_id)
{
    const uint32_t by = nytp_table_get(&u->taken, (struct nytp_key){path_id, 0, 0, 0});
    return by != NYTP_TABLE_NONE && by != name_id;
}

/* Intern DIR/path. UINT32_MAX when memory is out. */
static uint32_t intern_path(const struct unpack *u, const char *path)
{
    const size_t len = strlen(u->absolute) + 1 + strlen(path);
    char *whole = malloc(len + 1);
    if (whole == NULL)
        return UINT32_MAX;
    snprintf(whole, len + 1, "%s/%s", u->absolute, path);
    const uint32_t id = nytp_strings_intern(u->profile->strings, whole, len);
    free(whole);
    return id;
}

/* The whole path as one component. */
static void flatten_path(struct path *path)
{
    size_t begin = path->len > MAX_COMPONENT ? path->len - MAX_COMPONENT : 0;
    while (begin < path->len && nytp_utf8_inside(path->text[begin]))
        begin++;
    memmove(path->text, path->text + begin, path->len - begin);
    path->len -= begin;
    for (size_t i = 0; i < path->len; i++)
        if (path->text[i] == '/')
            path->text[i] = '_';
    find_suffix(path);
}

static bool unpack_content(struct unpack *u, struct nytp_file *file, struct path *path,
                           const struct content *content)
{
    char place[MAX_RELATIVE + 32];
    const uint32_t name_id =
        nytp_strings_intern(u->profile->strings, file->name.ptr, file->name.len);
    for (unsigned number = 1; number <= MAX_SAME_NAME; number++) {
        put_numbered_path(place, sizeof place, path, number);
        const uint32_t id = intern_path(u, place);
        if (id == UINT32_MAX || name_id == UINT32_MAX)
            return no_memory(u);
        const enum outcome outcome =
            is_taken(u, id, name_id) ? OCCUPIED : put_file(u, place, content);
        if (outcome == FAILED)
            return nytp_error_set(u->error, NYTP_ERR_IO, "cannot write source file %s/%s: %s",
                                  u->dir, place, strerror(errno));
        if (outcome == FOLDER_OCCUPIED) {
            flatten_path(path);
            number = 0;
            continue;
        }
        if (outcome == OCCUPIED)
            continue;
        file->name = nytp_strings_get(u->profile->strings, id);
        return nytp_table_put(&u->taken, (struct nytp_key){id, 0, 0, 0}, name_id) ||
               no_memory(u);
    }
    return nytp_error_set(u->error, NYTP_ERR_LIMIT, "more than %d source files named %s/%.*s",
                          MAX_SAME_NAME, u->dir, (int)path->len, path->text);
}

static bool unpack_file(struct unpack *u, struct nytp_file *file)
{
    struct path path;
    struct content content;
    path_from_name(&path, file->name);
    if (!make_content(u, file, &content))
        return false;
    const bool ok = unpack_content(u, file, &path, &content);
    free(content.bytes);
    return ok;
}

static bool open_dir(struct unpack *u)
{
    if (mkdir(u->dir, 0777) != 0 && errno != EEXIST)
        return nytp_error_set(u->error, NYTP_ERR_IO, "cannot make folder %s: %s", u->dir,
                              strerror(errno));
    u->dir_fd = open(u->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (u->dir_fd < 0 || (u->absolute = realpath(u->dir, NULL)) == NULL)
        return nytp_error_set(u->error, NYTP_ERR_IO, "cannot open folder %s: %s", u->dir,
                              strerror(errno));
    if (!nytp_utf8_valid(u->absolute, strlen(u->absolute)))
        return nytp_error_set(u->error, NYTP_ERR_IO,
                              "cannot use folder %s: its path is not UTF-8", u->dir);
    return true;
}

bool nytp_unpack_sources(struct nytp_profile *profile, const char *dir,
                         struct nytp_error *error)
{
    struct unpack u = {
        .profile = profile,
        .error = error,
        .dir = dir,
        .dir_fd = -1,
        .gap_lines_left = MAX_GAP_LINES,
    };
    bool ok = open_dir(&u);
    for (uint32_t i = 1; ok && i < profile->n_files; i++)
        if (profile->files[i].n_sources > 0)
            ok = unpack_file(&u, &profile->files[i]);
    if (u.dir_fd >= 0)
        close(u.dir_fd);
    free(u.absolute);
    nytp_table_free(&u.taken);
    return ok;
}
