/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The run that this process is part of; see run.h. Linux's /proc/PID/stat tells (proc(5)).
 */
#include "run.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/auxv.h>
#endif

enum {
    MAX_ANCESTORS = 64,
};

static const long ns_per_s = 1000000000;

struct process {
    long parent, group;
    unsigned long long start; /* clock ticks since the machine was started */
};

/* The n-th word of the text, from 0, as a number. */
static unsigned long long number_in(const char *text, int n)
{
    const char *word = text + strspn(text, " ");
    for (; n > 0; n--) {
        word += strcspn(word, " ");
        word += strspn(word, " ");
    }
    return strtoull(word, NULL, 10);
}

/* Without stdio, since every start comes here. */
static bool read_process(long pid, struct process *process)
{
    char path[40], text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t len = read(fd, text, sizeof text - 1);
    close(fd);
    text[len > 0 ? len : 0] = '\0';
    const char *const name_end = strrchr(text, ')'); /* the name may hold anything */
    if (name_end == NULL)
        return false;
    process->parent = (long)number_in(name_end + 1, 1); /* behind the state */
    process->group = (long)number_in(name_end + 1, 2);
    process->start = number_in(name_end + 1, 19);
    return true;
}

bool nytp_run_is_ancestor(long ancestor)
{
    long pid = (long)getppid();
    struct process process;
    for (int i = 0; ancestor > 0 && pid > 0 && i < MAX_ANCESTORS; i++, pid = process.parent) {
        if (pid == ancestor)
            return true;
        if (!read_process(pid, &process))
            return false;
    }
    return false;
}

static bool environment_loads_profiler(void)
{
    static const char *const variables[] = {"PERL5OPT", "PERL5DB", "HARNESS_PERL_SWITCHES"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *const value = getenv(variables[i]);
        if (value != NULL && strstr(value, "NYTProf") != NULL)
            return true;
    }
    return false;
}

/* The process that the run began with: the oldest above this one that is still of its group. */
static bool read_first(struct process *first)
{
    struct process above;
    if (!read_process((long)getpid(), first))
        return false;
    if (!environment_loads_profiler())
        return true;
    for (int i = 0; first->parent > 0 && i < MAX_ANCESTORS; i++) {
        if (!read_process(first->parent, &above) || above.group != first->group)
            break;
        *first = above;
    }
    return true;
}

struct timespec nytp_run_began(void)
{
    struct process first;
    struct timespec now, up;
    const long ticks_per_s = sysconf(_SC_CLK_TCK);
    clock_gettime(CLOCK_REALTIME, &now);
    if (ticks_per_s <= 0 || clock_gettime(CLOCK_BOOTTIME, &up) != 0 || !read_first(&first))
        return now;
    const int64_t started_ns =
        (int64_t)(first.start / (unsigned long)ticks_per_s) * ns_per_s +
        (int64_t)(first.start % (unsigned long)ticks_per_s) * (ns_per_s / ticks_per_s);
    const int64_t age_ns = (int64_t)up.tv_sec * ns_per_s + up.tv_nsec - started_ns;
    const int64_t began_ns = (int64_t)now.tv_sec * ns_per_s + now.tv_nsec - age_ns;
    return (struct timespec){.tv_sec = (time_t)(began_ns / ns_per_s),
                             .tv_nsec = (long)(began_ns % ns_per_s)};
}

/* Linux tells how it was when the program began, whatever that has made of its ids since. With
 * capabilities of the file all ids are the same, and only AT_SECURE tells. */
bool nytp_run_has_more_rights(void)
{
#ifdef __linux__
    return getauxval(AT_SECURE) != 0 && getauxval(AT_UID) != 0;
#else
    return getuid() != 0 && (getuid() != geteuid() || getgid() != getegid());
#endif
}
