/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Source files named by a process; see source_file.h. Relies on openat2(2): no link and no ".."
 * leads out of the process's root.
 */
#define _GNU_SOURCE
#include "source_file.h"

#include "apart.h"
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
};

struct wanted { /* a file, by its absolute name in a process */
    pid_t pid;
    const char *path;
    double program_s;
};

/* Takes the process's rights for opening files; returns false on failure. They are not given up
 * for good, but the calling process ends soon. */
static bool give_up_rights(pid_t pid)
{
    const struct nytp_process_state process = nytp_process_status(pid);
    if (process.state == '\0' || geteuid() != 0 || process.uid == 0)
        return process.state != '\0';
    if (setgroups(0, NULL) != 0)
        return false;
    setfsgid(process.gid);
    setfsuid(process.uid);
    return true;
}

static bool is_same(const char *path, const char *other)
{
    struct stat a, b;
    return stat(path, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* Looks a name up below the process's root. If the kernel cannot, only for a process with our
 * root. Returns -1 if there is no such file. */
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

/* Returns whether it is a kernel file, whose content depends on the reader. */
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

/* A copy may keep the time of its original (cp -p, tar, rsync, dpkg) in st_mtim; st_ctim has
 * the time of copying. */
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

/* Opening a device may have effects, so only a known file is opened. */
static int open_wanted(const void *context, int *state)
{
    const struct wanted *const wanted = context;
    char path[40];
    const int fd = give_up_rights(wanted->pid) ? find(wanted->pid, wanted->path) : -1;
    *state = fd < 0 ? NYTP_SOURCE_FILE_NONE : (int)judge(fd, wanted->program_s);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return *state == NYTP_SOURCE_FILE_READ ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

/* Returns false for "(eval 7)", "-e" and "-". */
static bool is_name_of_file(const char *name)
{
    return name[0] != '\0' && name[0] != '(' && strcmp(name, "-e") != 0 &&
           strcmp(name, "-") != 0;
}

FILE *nytp_source_file_open(pid_t pid, const char *name, double program_s,
                            enum nytp_source_file *state)
{
    char folder[4096] = "", path[8300];
    const struct wanted wanted = {pid, path, program_s};
    *state = NYTP_SOURCE_FILE_NONE;
    if (!is_name_of_file(name) ||
        (name[0] != '/' && !nytp_process_folder(pid, folder, sizeof folder)))
        return NULL;
    const int len = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (len < 0 || (size_t)len >= sizeof path)
        return NULL;
    int verdict = NYTP_SOURCE_FILE_SLOW;
    const int fd = nytp_open_apart(open_wanted, &wanted, &verdict);
    FILE *const file = fd < 0 ? NULL : fdopen(fd, "r");
    if (file == NULL && fd >= 0)
        close(fd);
    *state = file == NULL && verdict == NYTP_SOURCE_FILE_READ ? NYTP_SOURCE_FILE_NONE
                                                              : (enum nytp_source_file)verdict;
    return file;
}
