/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Child processes; see children.h and proc(5).
 */
#define _GNU_SOURCE
#include "children.h"

#include "process.h"

#include "formats/base/arena.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct list {
    pid_t *pids;
    uint32_t n, capacity;
};

static void add(struct list *list, pid_t pid)
{
    if (nytp_grow(&list->pids, &list->capacity, list->n, sizeof *list->pids))
        list->pids[list->n++] = pid;
}

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
    char path[60], text[4097];
    size_t len = 0;
    ssize_t got;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)task);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
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

static void read_exe(pid_t pid, char *to, size_t size)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    const ssize_t len = readlink(path, to, size - 1);
    to[len < 0 ? 0 : len] = '\0';
}

bool nytp_child_may_be_perl(pid_t child, pid_t parent)
{
    char exe[4096], of_parent[4096];
    read_exe(child, exe, sizeof exe);
    read_exe(parent, of_parent, sizeof of_parent);
    const char *const slash = strrchr(exe, '/');
    return exe[0] != '\0' && (strcmp(exe, of_parent) == 0 ||
                              strncmp(slash == NULL ? exe : slash + 1, "perl", 4) == 0);
}
