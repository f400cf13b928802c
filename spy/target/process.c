/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Processes and threads in /proc; see process.h and proc(5).
 */
#define _GNU_SOURCE
#include "process.h"

#include "formats/base/arena.h"
#include "formats/base/platform.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MOST_ANCESTORS = 1000, /* a changing list may lead back to itself */
    /* include/linux/sched.h of the kernel, since 2.6.27 */
    PF_EXITING = 0x4,
    PF_KTHREAD = 0x200000,
};

/* Reads a file of /proc/PID at an offset; returns the number of bytes, or -1. */
static ssize_t read_file(pid_t pid, const char *name, off_t from, void *to, size_t size)
{
    char path[80];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    const ssize_t got = pread(fd, to, size, from);
    close(fd);
    return got;
}

/* Reads it as text; returns the length, or 0 on failure. */
static size_t slurp(pid_t pid, const char *name, char *to, size_t size)
{
    const ssize_t got = read_file(pid, name, 0, to, size - 1);
    to[got < 0 ? 0 : got] = '\0';
    return got < 0 ? 0 : (size_t)got;
}

/* Field `n` of "stat" as proc(5) counts them, from 3, the state, on. "" if there is none. The
 * second field, the name, may have any character. */
static const char *field_of_stat(const char *text, int n)
{
    const char *at = strrchr(text, ')');
    for (int field = 2; at != NULL && field < n; field++)
        at = strchr(at + 1, ' ');
    return at == NULL ? "" : at + 1;
}

static long field_of(const char *text, const char *name)
{
    const char *const at = strstr(text, name);
    return at == NULL ? 0 : strtol(at + strlen(name), NULL, 10);
}

struct nytp_process_state nytp_process_status(pid_t pid)
{
    char text[4096];
    struct nytp_process_state process = {0};
    if (slurp(pid, "status", text, sizeof text) == 0)
        return process;
    const char *const state = strstr(text, "\nState:\t");
    process.state = state == NULL ? '?' : state[8];
    process.parent = (pid_t)field_of(text, "\nPPid:\t");
    process.tracer = (pid_t)field_of(text, "\nTracerPid:\t");
    process.uid = (uid_t)field_of(text, "\nUid:\t");
    process.gid = (gid_t)field_of(text, "\nGid:\t");
    return process;
}

static unsigned long flags_of(const char *stat)
{
    return strtoul(field_of_stat(stat, 9), NULL, 10);
}

bool nytp_process_has_ended(pid_t pid)
{
    char text[1024];
    slurp(pid, "stat", text, sizeof text);
    const char state = *field_of_stat(text, 3);
    return state == '\0' || state == 'Z' || state == 'X' || (flags_of(text) & PF_EXITING) != 0;
}

uint64_t nytp_process_bytes(pid_t pid)
{
    char text[4096];
    slurp(pid, "status", text, sizeof text);
    return (uint64_t)(field_of(text, "\nVmRSS:\t") + field_of(text, "\nVmSwap:\t")) * 1024;
}

bool nytp_is_kernel_thread(pid_t pid)
{
    char text[1024];
    slurp(pid, "stat", text, sizeof text);
    return (flags_of(text) & PF_KTHREAD) != 0;
}

uint64_t nytp_process_start_ticks(pid_t pid)
{
    char text[1024];
    slurp(pid, "stat", text, sizeof text);
    return strtoull(field_of_stat(text, 22), NULL, 10);
}

/* The start is given in ticks; it was at the tick's end at the latest. */
static double process_start(pid_t pid)
{
    struct nytp_system_process process;
    return nytp_platform_process(pid, &process)
               ? (double)process.began.tv_sec + (double)process.began.tv_nsec * 1e-9 +
                     1 / (double)sysconf(_SC_CLK_TCK)
               : 0;
}

/* Sixteen bytes at AT_RANDOM of getauxval(3); exec makes new ones, fork copies them. */
struct exec_mark {
    uint8_t bytes[16];
};

static bool read_exec_mark(pid_t pid, struct exec_mark *mark)
{
    Elf64_auxv_t entries[64];
    uint64_t at = 0;
    const ssize_t len = read_file(pid, "auxv", 0, entries, sizeof entries);
    for (ssize_t i = 0; i < len / (ssize_t)sizeof *entries; i++)
        if (entries[i].a_type == AT_RANDOM)
            at = entries[i].a_un.a_val;
    return at != 0 && read_file(pid, "mem", (off_t)at, mark, sizeof *mark) == sizeof *mark;
}

double nytp_program_start(pid_t pid)
{
    struct exec_mark mark, of_parent;
    pid_t parent = pid;
    if (!read_exec_mark(pid, &mark))
        return process_start(pid);
    for (int i = 0; i < MOST_ANCESTORS && parent > 0; i++) {
        pid = parent;
        parent = nytp_process_status(pid).parent;
        if (!read_exec_mark(parent, &of_parent) || memcmp(&mark, &of_parent, sizeof mark) != 0)
            break;
    }
    return process_start(pid);
}

static void make_valid(char *text, size_t len)
{
    uint32_t character;
    for (size_t i = 0; i < len;) {
        const size_t n = nytp_utf8_decode(text + i, len - i, &character);
        if (n == 0)
            text[i] = '?';
        i += n > 0 ? n : 1;
    }
}

bool nytp_process_command(pid_t pid, char *to, size_t size)
{
    size_t len = slurp(pid, "cmdline", to, size);
    if (len == 0)
        return false;
    while (len > 0 && to[len - 1] == '\0')
        len--;
    for (size_t i = 0; i < len; i++)
        if (to[i] == '\0')
            to[i] = ' ';
        else if (iscntrl((unsigned char)to[i]))
            to[i] = '?';
    to[len] = '\0';
    make_valid(to, len);
    return true;
}

static bool is_perl(const char *program)
{
    const char *const slash = strrchr(program, '/');
    return strncmp(slash == NULL ? program : slash + 1, "perl", 4) == 0;
}

void nytp_process_script(pid_t pid, char *to, size_t size)
{
    const size_t len = slurp(pid, "cmdline", to, size);
    if (!is_perl(to))
        return;
    const char *at = to;
    while ((at += strlen(at) + 1) < to + len) {
        const bool is_switch = at[0] == '-' && at[1] != '\0';
        const bool is_last = strcmp(at, "--") == 0;
        if (strcmp(at, "-I") == 0 || is_last) /* the next argument belongs to it */
            at += strlen(at) + 1;
        if (at >= to + len)
            break;
        const bool is_code = is_switch && at[0] == '-' && at[1] != 'I' && at[1] != 'M' &&
                             at[1] != 'm' && strpbrk(at, "eE") != NULL;
        if (is_code)
            memcpy(to, "-e", sizeof "-e");
        if (is_code)
            return;
        if (!is_switch || is_last) {
            memmove(to, at, strlen(at) + 1);
            return;
        }
    }
}

struct list {
    pid_t *pids;
    uint32_t n, capacity;
};

static void add(struct list *list, pid_t pid)
{
    if (nytp_grow(&list->pids, &list->capacity, list->n, sizeof *list->pids))
        list->pids[list->n++] = pid;
}

static pid_t *numbers_in(const char *folder, uint32_t *n)
{
    struct list list = {0};
    DIR *const dir = opendir(folder);
    struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL)
        if (atoi(entry->d_name) > 0)
            add(&list, atoi(entry->d_name));
    if (dir != NULL)
        closedir(dir);
    *n = list.n;
    return list.pids;
}

bool nytp_process_link(pid_t pid, const char *name, char *to, size_t size)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    const ssize_t len = readlink(path, to, size - 1);
    to[len < 0 ? 0 : len] = '\0';
    return len > 0 && (size_t)len < size - 1;
}

/* Both links are seen from our root. */
bool nytp_process_folder(pid_t pid, char *to, size_t size)
{
    char root[4096];
    if (!nytp_process_link(pid, "cwd", to, size) ||
        !nytp_process_link(pid, "root", root, sizeof root))
        return false;
    const size_t len = strcmp(root, "/") == 0 ? 0 : strlen(root);
    const char *const below = strncmp(to, root, len) != 0 ? ""
                              : to[len] != '\0'           ? to + len
                                                          : "/";
    memmove(to, below, strlen(below) + 1);
    return to[0] == '/';
}

static int compare_pids(const void *a, const void *b)
{
    return *(const pid_t *)a - *(const pid_t *)b;
}

void nytp_pids_sort(pid_t *pids, uint32_t n)
{
    if (n > 0)
        qsort(pids, n, sizeof *pids, compare_pids);
}

bool nytp_pid_is_among(pid_t pid, const pid_t *sorted, uint32_t n)
{
    return n > 0 && bsearch(&pid, sorted, n, sizeof *sorted, compare_pids) != NULL;
}

pid_t *nytp_processes(uint32_t *n)
{
    return numbers_in("/proc", n);
}

pid_t *nytp_tasks(pid_t pid, uint32_t *n)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    return numbers_in(path, n);
}

size_t nytp_task_read(pid_t pid, pid_t task, const char *name, char *to, size_t size)
{
    char path[40];
    snprintf(path, sizeof path, "task/%d/%s", (int)task, name);
    return slurp(pid, path, to, size);
}

pid_t nytp_task_inside(pid_t pid, pid_t task)
{
    char text[4096];
    nytp_task_read(pid, task, "status", text, sizeof text);
    char *const at = strstr(text, "\nNSpid:");
    if (at == NULL)
        return task;
    at[strcspn(at + 1, "\n") + 1] = '\0';
    return (pid_t)atoi(strrchr(at, '\t') + 1); /* the last is that of the innermost namespace */
}

int nytp_task_open(pid_t pid, pid_t task, const char *name)
{
    char path[60];
    snprintf(path, sizeof path, "/proc/%d/task/%d/%s", (int)pid, (int)task, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

struct nytp_task_state nytp_task_state(int stat_fd)
{
    char text[600];
    const ssize_t len = pread(stat_fd, text, sizeof text - 1, 0);
    text[len < 0 ? 0 : len] = '\0';
    const char *const processor = field_of_stat(text, 39);
    return (struct nytp_task_state){.letter = *field_of_stat(text, 3),
                                    .processor = *processor == '\0' ? -1 : atoi(processor),
                                    .n_tasks = atoi(field_of_stat(text, 20))};
}

struct nytp_task_times nytp_task_times(int schedstat_fd)
{
    char text[80], *end;
    const ssize_t len = pread(schedstat_fd, text, sizeof text - 1, 0);
    if (len <= 0)
        return (struct nytp_task_times){-1, -1, 0};
    text[len] = '\0';
    const int64_t ran_ns = strtoll(text, &end, 10), waited_ns = strtoll(end, &end, 10);
    return (struct nytp_task_times){ran_ns, waited_ns, strtoll(end, NULL, 10)};
}

/* ---- children ---- */

bool nytp_children_are_listed(void)
{
    static int are = -1;
    if (are < 0)
        are = access("/proc/thread-self/children", R_OK) == 0;
    return are;
}

/* Parses numbers, each followed by a blank; the buffer's end may cut the last one. */
static void add_children_of_task(struct list *list, pid_t pid, pid_t task)
{
    char text[4097];
    size_t len = 0;
    ssize_t got;
    const int fd = nytp_task_open(pid, task, "children");
    while (fd >= 0 && (got = read(fd, text + len, sizeof text - 1 - len)) > 0) {
        char *at = text, *blank;
        text[len + (size_t)got] = '\0';
        for (; (blank = strchr(at, ' ')) != NULL; at = blank + 1)
            add(list, atoi(at));
        len = strlen(at);
        memmove(text, at, len);
    }
    if (fd >= 0)
        close(fd);
}

static void add_by_status(struct list *list, const pid_t *parents, uint32_t n_parents)
{
    uint32_t n;
    pid_t *const all = nytp_processes(&n);
    for (uint32_t i = 0; i < n; i++) {
        if (nytp_pid_is_among(nytp_process_status(all[i]).parent, parents, n_parents))
            add(list, all[i]);
    }
    free(all);
}

pid_t *nytp_children(const pid_t *parents, uint32_t n_parents, uint32_t *n)
{
    struct list list = {0};
    if (!nytp_children_are_listed())
        add_by_status(&list, parents, n_parents);
    for (uint32_t i = 0; i < n_parents && nytp_children_are_listed(); i++) {
        uint32_t n_tasks;
        pid_t *const tasks = nytp_tasks(parents[i], &n_tasks);
        for (uint32_t k = 0; k < n_tasks; k++)
            add_children_of_task(&list, parents[i], tasks[k]);
        free(tasks);
    }
    *n = list.n;
    return list.pids;
}

bool nytp_child_may_be_perl(pid_t child, pid_t parent)
{
    char exe[4096], of_parent[4096];
    nytp_process_link(child, "exe", exe, sizeof exe);
    nytp_process_link(parent, "exe", of_parent, sizeof of_parent);
    return exe[0] != '\0' && (strcmp(exe, of_parent) == 0 || is_perl(exe));
}
