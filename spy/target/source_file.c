/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Files that a process calls its source; see source_file.h. Relies on openat2(2) where there is
 * one: an absolute link in a container leads to a file of the container.
 */
#define _GNU_SOURCE
#include "source_file.h"

#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

/* What lies there may become something else meanwhile, or be a pipe into which nobody writes.
 */
static int open_of(pid_t pid, const char *name)
{
    const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    const bool is_absolute = name[0] == '/';
    char path[4200];
    if (pid == 0)
        return open(name, flags);
#ifdef SYS_openat2
    snprintf(path, sizeof path, "/proc/%d/root", (int)pid);
    const int root = is_absolute ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (root >= 0) {
        const struct open_how how = {.flags = (uint64_t)flags, .resolve = RESOLVE_IN_ROOT};
        const int fd = (int)syscall(SYS_openat2, root, name, &how, sizeof how);
        const bool is_known = errno != ENOSYS && errno != EPERM;
        close(root);
        if (fd >= 0 || is_known)
            return fd;
    }
#endif
    snprintf(path, sizeof path, "/proc/%d/%s%s", (int)pid, is_absolute ? "root" : "cwd/", name);
    return open(path, flags);
}

static double modified_s(const struct stat *status)
{
    return (double)status->st_mtim.tv_sec + (double)status->st_mtim.tv_nsec * 1e-9;
}

FILE *nytp_source_file_open(pid_t pid, const char *name, double not_after_s)
{
    struct rights rights = {.n_groups = 0};
    struct stat status;
    if (pid != 0 && !give_up_rights(pid, &rights))
        return NULL;
    const int fd = open_of(pid, name);
    take_back_rights(&rights);
    const bool is_it = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                       status.st_size <= LARGEST && modified_s(&status) <= not_after_s;
    FILE *const file = is_it ? fdopen(fd, "r") : NULL;
    if (file == NULL && fd >= 0)
        close(fd);
    return file;
}
