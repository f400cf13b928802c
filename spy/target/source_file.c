/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Files that a process calls its source; see source_file.h. Relies on openat2(2): no link and
 * no ".." leads out of the process's root.
 */
#define _GNU_SOURCE
#include "source_file.h"

#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>
#ifdef SYS_openat2
#include <linux/openat2.h>
#endif

enum {
    LARGEST = 64 << 20,
    MOST_GROUPS = 256,
};

/* Rights to files that were given up for a while. */
struct rights {
    gid_t groups[MOST_GROUPS];
    int n_groups;
    bool are_given_up;
};

/* False: they cannot be, or there is no such process. */
static bool give_up_rights(pid_t pid, struct rights *rights)
{
    const struct nytp_process_state process = nytp_process_status(pid);
    rights->are_given_up = false;
    if (process.state == '\0')
        return false;
    if (geteuid() != 0 || process.uid == 0)
        return true;
    rights->n_groups = getgroups(MOST_GROUPS, rights->groups);
    if (rights->n_groups < 0 || setgroups(0, NULL) != 0)
        return false;
    setfsgid(process.gid);
    setfsuid(process.uid);
    rights->are_given_up = true;
    return true;
}

static void take_back_rights(const struct rights *rights)
{
    if (!rights->are_given_up)
        return;
    setfsuid(geteuid());
    setfsgid(getegid());
    setgroups((size_t)rights->n_groups, rights->groups);
}

static bool is_same(const char *path, const char *other)
{
    struct stat a, b;
    return stat(path, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* A name is looked up below the process's root. Where the kernel cannot do that, it is looked
 * up only for a process that has our root. -1: there is none. */
static int find(pid_t pid, const char *path)
{
    char root[40], mounts[40];
    snprintf(root, sizeof root, "/proc/%d/root", (int)pid);
#ifdef SYS_openat2
    const struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
    const int root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    const int fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof how);
    const bool is_known = fd >= 0 || (errno != ENOSYS && errno != EPERM);
    if (root_fd >= 0)
        close(root_fd);
    if (is_known)
        return fd;
#endif
    snprintf(mounts, sizeof mounts, "/proc/%d/ns/mnt", (int)pid);
    return is_same(root, "/") && is_same(mounts, "/proc/self/ns/mnt")
               ? open(path, O_PATH | O_CLOEXEC)
               : -1;
}

/* The process may have one of the kernel's files there, which tell of who reads them. */
static bool is_made_up(int fd)
{
    struct statfs about;
    return fstatfs(fd, &about) != 0 || about.f_type == PROC_SUPER_MAGIC ||
           about.f_type == SYSFS_MAGIC;
}

static double seconds(const struct timespec *time)
{
    return (double)time->tv_sec + (double)time->tv_nsec * 1e-9;
}

/* A copy may have the time of what it was made of (cp -p, tar, rsync, dpkg), which is in
 * st_mtim; when it got there is in st_ctim. */
static enum nytp_source_file judge(int fd, double program_s)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size > LARGEST ||
        is_made_up(fd))
        return NYTP_SOURCE_FILE_NONE;
    return seconds(&status.st_mtim) > program_s || seconds(&status.st_ctim) > program_s
               ? NYTP_SOURCE_FILE_CHANGED
               : NYTP_SOURCE_FILE_READ;
}

/* Opening a device may do something, so only what was seen to be a file is opened. */
static FILE *open_judged(int fd, enum nytp_source_file *state)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const int readable =
        *state == NYTP_SOURCE_FILE_READ ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    FILE *const file = readable >= 0 ? fdopen(readable, "r") : NULL;
    if (file == NULL && readable >= 0)
        close(readable);
    if (file == NULL && *state == NYTP_SOURCE_FILE_READ)
        *state = NYTP_SOURCE_FILE_NONE;
    return file;
}

/* "(eval 7)", "-e" and "-" are none. */
static bool is_name_of_file(const char *name)
{
    return name[0] != '\0' && name[0] != '(' && strcmp(name, "-e") != 0 &&
           strcmp(name, "-") != 0;
}

FILE *nytp_source_file_open(pid_t pid, const char *name, double program_s,
                            enum nytp_source_file *state)
{
    struct rights rights = {.n_groups = 0};
    char folder[4096] = "", path[8300];
    *state = NYTP_SOURCE_FILE_NONE;
    if (!is_name_of_file(name) ||
        (name[0] != '/' && !nytp_process_folder(pid, folder, sizeof folder)))
        return NULL;
    const int len = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (len < 0 || (size_t)len >= sizeof path || !give_up_rights(pid, &rights))
        return NULL;
    const int fd = find(pid, path);
    FILE *file = NULL;
    if (fd >= 0) {
        *state = judge(fd, program_s);
        file = open_judged(fd, state);
        close(fd);
    }
    take_back_rights(&rights);
    return file;
}
