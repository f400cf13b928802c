/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Facts that systems report differently; see platform.h. Linux: proc(5), getauxval(3). macOS:
 * libproc.h and sys/proc_info.h. FreeBSD: sysctl(3), struct kinfo_proc and struct kinfo_file
 * of sys/user.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "platform.h"

#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined(__linux__)

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/sysmacros.h>

static const long ns_per_s = 1000000000;

static unsigned long long number_in(const char *text, int n)
{
    const char *word = text + strspn(text, " ");
    for (; n > 0; n--) {
        word += strcspn(word, " ");
        word += strspn(word, " ");
    }
    return strtoull(word, NULL, 10);
}

/* `start` is in clock ticks since boot. */
static bool to_time(unsigned long long start, struct timespec *time)
{
    struct timespec now, up;
    const long ticks_per_s = sysconf(_SC_CLK_TCK);
    if (ticks_per_s <= 0 || clock_gettime(CLOCK_BOOTTIME, &up) != 0 ||
        clock_gettime(CLOCK_REALTIME, &now) != 0)
        return false;
    const int64_t started_ns =
        (int64_t)(start / (unsigned long)ticks_per_s) * ns_per_s +
        (int64_t)(start % (unsigned long)ticks_per_s) * (ns_per_s / ticks_per_s);
    const int64_t age_ns = (int64_t)up.tv_sec * ns_per_s + up.tv_nsec - started_ns;
    const int64_t began_ns = (int64_t)now.tv_sec * ns_per_s + now.tv_nsec - age_ns;
    time->tv_sec = (time_t)(began_ns / ns_per_s);
    time->tv_nsec = (long)(began_ns % ns_per_s);
    return true;
}

/* Reads the head of a file of /proc. No stdio: every start and signal handlers come here. */
static bool read_text(const char *path, char *text, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t len = read(fd, text, size - 1);
    close(fd);
    text[len > 0 ? len : 0] = '\0';
    return true;
}

bool nytp_platform_process(long pid, struct nytp_system_process *process)
{
    char path[40], text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    if (!read_text(path, text, sizeof text))
        return false;
    const char *const name_end = strrchr(text, ')'); /* it may contain anything */
    if (name_end == NULL)
        return false;
    process->parent = (long)number_in(name_end + 1, 1); /* word 0 is the state */
    process->group = (long)number_in(name_end + 1, 2);
    return to_time(number_in(name_end + 1, 19), &process->began);
}

/* Returns the value of the line that begins with `word`, in bytes, or -1 if there is none. */
static int64_t kilobytes_of(const char *text, const char *word)
{
    const char *const line = strstr(text, word);
    return line != NULL ? (int64_t)number_in(line + strlen(word) + 1, 0) * 1024 : -1;
}

/* getrusage() would include the program that called exec. */
bool nytp_platform_memory(int64_t *now, int64_t *peak)
{
    char text[4096];
    if (!read_text("/proc/self/status", text, sizeof text))
        return false;
    *now = kilobytes_of(text, "\nVmRSS:");
    *peak = kilobytes_of(text, "\nVmHWM:");
    return *now >= 0 && *peak >= 0;
}

/* proc(5), statm: pages of the program, then pages in core. */
bool nytp_platform_resident(int64_t *now)
{
    char text[128];
    if (!read_text("/proc/self/statm", text, sizeof text))
        return false;
    const uint64_t pages = number_in(text, 1);
    *now = (int64_t)pages * sysconf(_SC_PAGESIZE);
    return pages > 0;
}

/* proc(5), environ: variables, each followed by a zero. */
bool nytp_platform_began_with(const char *variable)
{
    char text[4096];
    size_t matched = 0; /* characters of this variable; `missed` if it is another */
    const size_t all = strlen(variable), missed = all + 1;
    const int fd = open("/proc/self/environ", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return true;
    for (ssize_t len; matched != all && (len = read(fd, text, sizeof text)) > 0;)
        for (ssize_t i = 0; i < len && matched != all; i++)
            if (text[i] == '\0')
                matched = 0;
            else
                matched = matched < all && text[i] == variable[matched] ? matched + 1 : missed;
    close(fd);
    return matched == all;
}

bool nytp_platform_has_open(long pid, const struct stat *file)
{
    struct stat opened;
    char name[300];
    snprintf(name, sizeof name, "/proc/%ld/fd", pid);
    DIR *const descriptors = opendir(name);
    if (descriptors == NULL)
        return false;
    bool found = false;
    const size_t len = strlen(name);
    for (const struct dirent *entry; !found && (entry = readdir(descriptors)) != NULL;) {
        snprintf(name + len, sizeof name - len, "/%s", entry->d_name);
        found = stat(name, &opened) == 0 && opened.st_dev == file->st_dev &&
                opened.st_ino == file->st_ino;
    }
    closedir(descriptors);
    return found;
}

long nytp_platform_lock_holder(dev_t dev, ino_t ino)
{
    FILE *const list = fopen("/proc/locks", "re");
    if (list == NULL)
        return 0;
    char line[256];
    long holder = 0;
    while (holder == 0 && fgets(line, sizeof line, list) != NULL) {
        long pid;
        unsigned major_number, minor_number;
        uintmax_t inode;
        if (sscanf(line, "%*d: FLOCK %*s %*s %ld %x:%x:%" SCNuMAX, &pid, &major_number,
                   &minor_number, &inode) == 4 &&
            major_number == major(dev) && minor_number == minor(dev) && inode == ino)
            holder = pid;
    }
    fclose(list);
    return holder;
}

bool nytp_platform_is_setuid(void)
{
    return getauxval(AT_SECURE) != 0;
}

bool nytp_platform_is_of_root(void)
{
    return getauxval(AT_UID) == 0;
}

#elif defined(__APPLE__)

#include <libproc.h>
#include <stdlib.h>

bool nytp_platform_process(long pid, struct nytp_system_process *process)
{
    struct proc_bsdinfo info;
    if (proc_pidinfo((int)pid, PROC_PIDTBSDINFO, 0, &info, sizeof info) != (int)sizeof info)
        return false;
    process->parent = (long)info.pbi_ppid;
    process->group = (long)info.pbi_pgid;
    process->began.tv_sec = (time_t)info.pbi_start_tvsec;
    process->began.tv_nsec = (long)info.pbi_start_tvusec * 1000;
    return true;
}

static bool is_open_at(long pid, const struct proc_fdinfo *at, const struct stat *file)
{
    struct vnode_fdinfo info;
    return at->proc_fdtype == PROX_FDTYPE_VNODE &&
           proc_pidfdinfo((int)pid, at->proc_fd, PROC_PIDFDVNODEINFO, &info, sizeof info) ==
               (int)sizeof info &&
           info.pvi.vi_stat.vst_dev == (uint32_t)file->st_dev &&
           info.pvi.vi_stat.vst_ino == file->st_ino;
}

bool nytp_platform_has_open(long pid, const struct stat *file)
{
    const int size = proc_pidinfo((int)pid, PROC_PIDLISTFDS, 0, NULL, 0);
    struct proc_fdinfo *const list = size > 0 ? malloc((size_t)size) : NULL;
    const int len = list == NULL ? 0 : proc_pidinfo((int)pid, PROC_PIDLISTFDS, 0, list, size);
    const int n = len / (int)sizeof *list;
    bool found = false;
    for (int i = 0; !found && i < n; i++)
        found = is_open_at(pid, &list[i], file);
    free(list);
    return found;
}

#elif defined(__FreeBSD__)

#include <stdlib.h>
#include <sys/sysctl.h>
#include <sys/user.h>

bool nytp_platform_process(long pid, struct nytp_system_process *process)
{
    const int name[] = {CTL_KERN, KERN_PROC, KERN_PROC_PID, (int)pid};
    struct kinfo_proc info;
    size_t len = sizeof info;
    if (sysctl(name, 4, &info, &len, NULL, 0) != 0 || len != sizeof info)
        return false;
    process->parent = (long)info.ki_ppid;
    process->group = (long)info.ki_pgid;
    process->began.tv_sec = info.ki_start.tv_sec;
    process->began.tv_nsec = info.ki_start.tv_usec * 1000;
    return true;
}

static bool is_open_in(const char *list, size_t len, const struct stat *file)
{
    for (size_t at = 0; len - at >= sizeof(int);) {
        const struct kinfo_file *const one = (const struct kinfo_file *)(list + at);
        if (one->kf_structsize <= 0 || (size_t)one->kf_structsize > len - at)
            break;
        if (one->kf_type == KF_TYPE_VNODE && one->kf_fd >= 0 &&
            one->kf_un.kf_file.kf_file_fsid == file->st_dev &&
            one->kf_un.kf_file.kf_file_fileid == file->st_ino)
            return true;
        at += (size_t)one->kf_structsize;
    }
    return false;
}

bool nytp_platform_has_open(long pid, const struct stat *file)
{
    const int name[] = {CTL_KERN, KERN_PROC, KERN_PROC_FILEDESC, (int)pid};
    size_t len = 0;
    if (sysctl(name, 4, NULL, &len, NULL, 0) != 0)
        return false;
    len += len / 4; /* it may open more meanwhile */
    char *const list = malloc(len);
    const bool found = list != NULL && sysctl(name, 4, list, &len, NULL, 0) == 0 &&
                       is_open_in(list, len, file);
    free(list);
    return found;
}

#else

bool nytp_platform_process(long pid, struct nytp_system_process *process)
{
    (void)pid;
    (void)process;
    return false;
}

bool nytp_platform_has_open(long pid, const struct stat *file)
{
    (void)pid;
    (void)file;
    return false;
}

#endif

#ifndef __linux__

bool nytp_platform_is_setuid(void)
{
    return getuid() != geteuid() || getgid() != getegid();
}

bool nytp_platform_is_of_root(void)
{
    return getuid() == 0;
}

long nytp_platform_lock_holder(dev_t dev, ino_t ino)
{
    (void)dev;
    (void)ino;
    return 0;
}

bool nytp_platform_memory(int64_t *now, int64_t *peak)
{
    (void)now;
    (void)peak;
    return false;
}

bool nytp_platform_resident(int64_t *now)
{
    (void)now;
    return false;
}

bool nytp_platform_began_with(const char *variable)
{
    (void)variable;
    return true;
}

#endif

int64_t nytp_platform_times_slept(void)
{
#ifdef RUSAGE_THREAD
    struct rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage) == 0)
        return usage.ru_nvcsw;
#endif
    return -1;
}

#ifndef __APPLE__

void nytp_platform_drop_signals(const sigset_t *signals)
{
    const struct timespec no_time = {0};
    while (sigtimedwait(signals, NULL, &no_time) > 0)
        ;
}

#else

static bool is_one_pending(const sigset_t *signals)
{
    sigset_t pending;
    if (sigpending(&pending) != 0)
        return false;
    for (int number = 1; number < NSIG; number++)
        if (sigismember(signals, number) == 1 && sigismember(&pending, number) == 1)
            return true;
    return false;
}

void nytp_platform_drop_signals(const sigset_t *signals)
{
    int number;
    while (is_one_pending(signals) && sigwait(signals, &number) == 0)
        ;
}

#endif
