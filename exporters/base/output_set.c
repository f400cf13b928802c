/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Several outputs that belong together; see output_set.h.
 *
 * The members of a folder are DIR/.nytp-report.PID.N.tmp/0, /1, … until they are moved. Numbers
 * instead of names, so that a signal handler can remove them knowing only how many there are.
 */
#include "output_set.h"

#include "formats/base/arena.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MANIFEST       "nytprof-report.txt"
#define MANIFEST_TITLE "Files of an NYTProf report, one name on each line:\n"
#define MAX_MANIFEST   (4 << 20) /* bytes of a manifest that are looked at */
#define MAX_TEMP_TRYS  100

enum kind {
    FOLDER,
    SINGLE,
    NOWHERE
};

struct listing {
    char **names; /* sorted; they point into `text` */
    uint32_t n, capacity;
    char *text;
};

struct nytp_output_set {
    enum kind kind;
    struct nytp_error error;
    struct nytp_out *out;    /* the member being written; SINGLE: the caller's */
    struct nytp_out *nulled; /* takes puts after an error */
    char *path, *temp;       /* FOLDER: its path, and that of the hidden folder */
    char **names;            /* of the members, by number */
    uint32_t n_names, capacity;
    char **sorted;      /* the same, when all are known; NULL before that */
    struct listing old; /* members of an earlier report, listed when `sorted` is */
    bool replace;
    uint32_t n_kept;
};

/* The state for signal handlers. It is set while there is a hidden folder. */
static struct {
    char temp[4096]; /* "" = none */
    volatile sig_atomic_t n_members;
} unfinished;

/* "TEMP/N" without stdio, for a signal handler. */
static void member_path(char *to, size_t size, const char *temp, uint32_t number)
{
    char digits[12], *const end = digits + sizeof digits;
    const char *const first = nytp_digits_before(end, number);
    const size_t n = (size_t)(end - first);
    size_t len = strlen(temp);
    if (len + n + 2 > size)
        len = 0;
    memcpy(to, temp, len);
    to[len++] = '/';
    memcpy(to + len, first, n);
    to[len + n] = '\0';
}

void nytp_output_set_remove_unfinished(void)
{
    if (unfinished.temp[0] == '\0')
        return;
    for (uint32_t i = 0; i < (uint32_t)unfinished.n_members; i++) {
        char path[sizeof unfinished.temp + 16];
        member_path(path, sizeof path, unfinished.temp, i);
        unlink(path);
    }
    rmdir(unfinished.temp);
    unfinished.temp[0] = '\0';
}

static bool fail_errno(struct nytp_output_set *set, const char *verb, const char *name)
{
    return nytp_error_set(&set->error, NYTP_ERR_IO, "cannot %s %s: %s", verb, name,
                          strerror(errno));
}

/* ---- opening ---- */

static struct nytp_output_set *set_new(enum kind kind)
{
    struct nytp_output_set *set = calloc(1, sizeof *set);
    if (set != NULL)
        set->kind = kind;
    return set;
}

/* A path below the folder, at most as long as the hidden folder's. A longer name is cut and
 * leads nowhere. */
struct place {
    char path[sizeof unfinished.temp + 256];
};

static struct place place_of(const struct nytp_output_set *set, const char *name)
{
    struct place place;
    snprintf(place.path, sizeof place.path, "%s/%s", set->path, name);
    return place;
}

/* Make the hidden folder that members are written into. */
static bool make_temp(struct nytp_output_set *set)
{
    const size_t size = strlen(set->path) + 64;
    set->temp = malloc(size);
    if (set->temp == NULL)
        return nytp_out_of_memory(&set->error);
    if (size > sizeof unfinished.temp)
        return nytp_error_set(&set->error, NYTP_ERR_IO, "the folder's name is too long");
    for (int i = 0; i < MAX_TEMP_TRYS; i++) {
        snprintf(set->temp, size, "%s/.nytp-report.%ld.%d.tmp", set->path, (long)getpid(), i);
        sigset_t old;
        nytp_hold_fatal_signals(&old);
        const bool made = mkdir(set->temp, 0777) == 0;
        if (made) {
            unfinished.n_members = 0;
            strcpy(unfinished.temp, set->temp);
        }
        const int saved = errno;
        sigprocmask(SIG_SETMASK, &old, NULL);
        errno = saved;
        if (made)
            return true;
        if (errno != EEXIST)
            break;
    }
    nytp_error_set(&set->error, NYTP_ERR_IO, "cannot write in the folder: %s", strerror(errno));
    free(set->temp);
    set->temp = NULL;
    return false;
}

static bool open_folder(struct nytp_output_set *set, const char *path)
{
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/')
        len--;
    set->path = strndup(path, len);
    if (set->path == NULL)
        return nytp_out_of_memory(&set->error);
    struct stat st;
    if (mkdir(set->path, 0777) != 0 && errno != EEXIST)
        return nytp_error_set(&set->error, NYTP_ERR_IO, "cannot make the folder: %s",
                              strerror(errno));
    if (stat(set->path, &st) != 0 || !S_ISDIR(st.st_mode))
        return nytp_error_set(&set->error, NYTP_ERR_IO, "is not a folder");
    return make_temp(set);
}

struct nytp_output_set *nytp_output_set_folder(const char *path, struct nytp_error *error)
{
    struct nytp_output_set *set = set_new(FOLDER);
    if (set == NULL) {
        nytp_out_of_memory(error);
        return NULL;
    }
    if (open_folder(set, path))
        return set;
    nytp_error_set(error, set->error.status, "%s", set->error.message);
    nytp_output_set_free(set);
    return NULL;
}

struct nytp_output_set *nytp_output_set_single(struct nytp_out *out)
{
    struct nytp_output_set *set = set_new(SINGLE);
    if (set != NULL)
        set->out = out;
    return set;
}

struct nytp_output_set *nytp_output_set_nowhere(void)
{
    return set_new(NOWHERE);
}

bool nytp_output_set_is_single(const struct nytp_output_set *set)
{
    return set->kind == SINGLE;
}

void nytp_output_set_replace(struct nytp_output_set *set)
{
    set->replace = true;
}

/* ---- members ---- */

static void close_member(struct nytp_output_set *set)
{
    if (set->kind == SINGLE || set->out == NULL)
        return;
    struct nytp_error error = {0};
    if (!nytp_out_close(set->out, &error) && set->error.status == NYTP_OK)
        nytp_error_set(&set->error, error.status, "%s: %s", set->names[set->n_names - 1],
                       error.message);
    set->out = NULL;
}

static bool add_name(struct nytp_output_set *set, const char *name)
{
    char *copy = strdup(name);
    if (copy == NULL ||
        !nytp_grow(&set->names, &set->capacity, set->n_names, sizeof *set->names)) {
        free(copy);
        return nytp_out_of_memory(&set->error);
    }
    set->names[set->n_names++] = copy;
    return true;
}

static struct nytp_out *open_numbered(struct nytp_output_set *set)
{
    char path[sizeof unfinished.temp + 16];
    struct nytp_error error = {0};
    member_path(path, sizeof path, set->temp, set->n_names - 1);
    unfinished.n_members = (sig_atomic_t)set->n_names;
    struct nytp_out *out = nytp_out_open(path, &error);
    if (out == NULL)
        nytp_error_set(&set->error, error.status, "%s: %s", set->names[set->n_names - 1],
                       error.message);
    return out;
}

/* Where puts go that nobody wants any more. */
static struct nytp_out *null_output(struct nytp_output_set *set)
{
    if (set->nulled == NULL)
        set->nulled = nytp_out_memory(false);
    if (set->nulled == NULL)
        abort(); /* not even a buffer can be had: there is no way to go on */
    return set->nulled;
}

struct nytp_out *nytp_output_set_member(struct nytp_output_set *set, const char *name)
{
    if (set->kind == SINGLE)
        return set->out;
    if (set->kind == NOWHERE)
        return null_output(set);
    close_member(set);
    if (set->error.status == NYTP_OK && add_name(set, name))
        set->out = open_numbered(set);
    return set->out != NULL ? set->out : null_output(set);
}

/* ---- what an earlier report left ---- */

static bool ends_with(const char *name, const char *end)
{
    const size_t len = strlen(name), end_len = strlen(end);
    return len >= end_len && strcmp(name + len - end_len, end) == 0;
}

/* "…-12-line.html" */
static bool is_source_page(const char *name)
{
    static const char *const ends[] = {"-line.html", "-block.html", "-sub.html"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (!ends_with(name, ends[i]))
            continue;
        const char *at = name + strlen(name) - strlen(ends[i]);
        const char *digits_end = at;
        while (at > name && at[-1] >= '0' && at[-1] <= '9')
            at--;
        return at < digits_end && at > name && at[-1] == '-';
    }
    return false;
}

/* This is how files of a report that left no manifest are known. */
bool nytp_output_set_is_member(const char *name)
{
    static const char *const fixed[] = {
        "index.html",
        "index-subs-excl.html",
        "subs-treemap-excl.html",
        "packages-callgraph.dot",
        "subs-callgraph.dot",
        "all_stacks_by_time.calls",
        "all_stacks_by_time.svg",
        "flamegraph_subattr.txt",
    };
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (strcmp(name, fixed[i]) == 0)
            return true;
    return is_source_page(name);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_listed(char *const *names, uint32_t n, const char *name)
{
    return n > 0 && bsearch(&name, names, n, sizeof *names, by_text) != NULL;
}

/* The names of the folder's manifest; none when there is no manifest. */
static void read_manifest(const struct nytp_output_set *set, struct listing *listing)
{
    const int fd = open(place_of(set, MANIFEST).path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    listing->text = fd >= 0 ? malloc(MAX_MANIFEST + 1) : NULL;
    const ssize_t len = listing->text != NULL ? read(fd, listing->text, MAX_MANIFEST) : 0;
    if (fd >= 0)
        close(fd);
    const size_t title_len = sizeof MANIFEST_TITLE - 1;
    if (len < (ssize_t)title_len || memcmp(listing->text, MANIFEST_TITLE, title_len) != 0)
        return;
    listing->text[len] = '\0';
    for (char *at = listing->text + title_len; *at != '\0';) {
        char *end = strchr(at, '\n');
        if (end == NULL)
            break;
        *end = '\0';
        if (!nytp_grow(&listing->names, &listing->capacity, listing->n, sizeof *listing->names))
            break;
        listing->names[listing->n++] = at;
        at = end + 1;
    }
    if (listing->n > 0)
        qsort(listing->names, listing->n, sizeof *listing->names, by_text);
}

/* Only plain files and links are removed, never a folder. */
static void remove_old(struct nytp_output_set *set, const char *name)
{
    if (unlink(place_of(set, name).path) != 0 && errno != ENOENT)
        fail_errno(set, "remove", name);
}

/* All members have begun: sorts their names, and reads those of an earlier report. */
static void list_names(struct nytp_output_set *set)
{
    read_manifest(set, &set->old);
    set->sorted = malloc((set->n_names + 1) * sizeof *set->sorted);
    if (set->sorted == NULL) {
        nytp_out_of_memory(&set->error);
        return;
    }
    memcpy(set->sorted, set->names, set->n_names * sizeof *set->sorted);
    qsort(set->sorted, set->n_names, sizeof *set->sorted, by_text);
}

/* Remove what an earlier report wrote and this one does not write again. */
static void remove_earlier(struct nytp_output_set *set)
{
    const struct listing *const old = &set->old;
    DIR *folder = opendir(set->path);
    if (folder == NULL) {
        fail_errno(set, "read", "the folder");
        return;
    }
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || ends_with(set->temp, name) ||
            is_listed(set->sorted, set->n_names, name))
            continue;
        if (old->n > 0 ? is_listed(old->names, old->n, name) : nytp_output_set_is_member(name))
            remove_old(set, name);
        else
            set->n_kept++;
    }
    closedir(folder);
}

/* ---- finishing ---- */

/* Files of earlier reports that stay are listed on, so that a later one can still remove them.
 */
static void put_earlier(struct nytp_output_set *set, struct nytp_out *out)
{
    for (uint32_t i = 0; set->sorted != NULL && i < set->old.n; i++) {
        const char *const name = set->old.names[i];
        struct stat st;
        if (strchr(name, '/') == NULL && lstat(place_of(set, name).path, &st) == 0 &&
            !is_listed(set->sorted, set->n_names, name))
            nytp_printf(out, "%s\n", name);
    }
}

static void put_manifest(struct nytp_output_set *set)
{
    struct nytp_out *out = nytp_output_set_member(set, MANIFEST);
    list_names(set);
    nytp_puts(out, MANIFEST_TITLE);
    for (uint32_t i = 0; i < set->n_names; i++)
        nytp_printf(out, "%s\n", set->names[i]);
    if (!set->replace)
        put_earlier(set, out);
    close_member(set);
}

static bool move_member(struct nytp_output_set *set, uint32_t number)
{
    char from[sizeof unfinished.temp + 16];
    member_path(from, sizeof from, set->temp, number);
    return rename(from, place_of(set, set->names[number]).path) == 0 ||
           fail_errno(set, "write", set->names[number]);
}

/* A folder in the place of a member cannot be replaced; found before anything is moved. */
static void check_places(struct nytp_output_set *set)
{
    for (uint32_t i = 0; i < set->n_names && set->error.status == NYTP_OK; i++) {
        struct stat st;
        if (lstat(place_of(set, set->names[i]).path, &st) == 0 && S_ISDIR(st.st_mode))
            nytp_error_set(&set->error, NYTP_ERR_IO, "cannot write %s: it is a folder",
                           set->names[i]);
    }
}

/* The index comes last: who has it has the rest. */
static void move_all(struct nytp_output_set *set)
{
    for (int last = 0; last <= 1; last++)
        for (uint32_t i = 0; i < set->n_names; i++)
            if ((strcmp(set->names[i], "index.html") == 0) == (last == 1) &&
                !move_member(set, i))
                return;
}

bool nytp_output_set_finish(struct nytp_output_set *set, struct nytp_error *error,
                            uint32_t *n_kept)
{
    if (set->kind == FOLDER) {
        put_manifest(set);
        check_places(set);
        if (set->error.status == NYTP_OK && set->replace)
            remove_earlier(set);
        if (set->error.status == NYTP_OK)
            move_all(set);
        if (n_kept != NULL)
            *n_kept = set->n_kept;
    }
    if (set->error.status == NYTP_OK)
        return true;
    nytp_error_set(error, set->error.status, "%s", set->error.message);
    return false;
}

void nytp_output_set_free(struct nytp_output_set *set)
{
    if (set == NULL)
        return;
    if (set->kind != SINGLE)
        nytp_out_discard(set->out);
    nytp_out_discard(set->nulled);
    if (set->temp != NULL)
        nytp_output_set_remove_unfinished();
    for (uint32_t i = 0; i < set->n_names; i++)
        free(set->names[i]);
    free(set->names);
    free(set->sorted);
    free(set->old.names);
    free(set->old.text);
    free(set->temp);
    free(set->path);
    free(set);
}
