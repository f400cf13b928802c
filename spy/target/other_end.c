/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * For whom a process waits; see other_end.h and proc(5).
 */
#define _GNU_SOURCE
#include "other_end.h"

#include "process.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_LINES = 200000, /* of a list of /proc that are looked through */
    TCP_LISTEN = 10,     /* include/net/tcp_states.h of the kernel */
};

/* Calls `take` for each line of a file of /proc until it returns true, which is returned. */
typedef bool take_line(const char *line, void *context);
static bool each_line(const char *path, take_line *take, void *context)
{
    char *line = NULL;
    size_t size = 0;
    bool is_found = false;
    FILE *const file = fopen(path, "re");
    for (int n = 0;
         file != NULL && !is_found && n < MOST_LINES && getline(&line, &size, file) > 0; n++)
        is_found = take(line, context);
    free(line);
    if (file != NULL)
        fclose(file);
    return is_found;
}

/* "process 17 (perl worker.pl)" */
static void tell_process(pid_t pid, char *to, size_t size)
{
    char command[200] = "";
    if (nytp_process_command(pid, command, sizeof command))
        snprintf(to, size, "process %d (%s)", (int)pid, command);
    else
        snprintf(to, size, "process %d%s", (int)pid,
                 nytp_process_status(pid).state == '\0' ? ", which has ended" : "");
}

/* ---- sockets ---- */

struct wanted_socket {
    uint64_t inode;
    const char *protocol;
    char text[300];
};

/* An address as /proc/net has it: words of four bytes in the machine's order, and a port. */
static bool put_address(const char *hex, char *to, size_t size)
{
    uint32_t words[4] = {0};
    unsigned port = 0;
    char address[INET6_ADDRSTRLEN];
    const size_t n = strcspn(hex, ":") / 8;
    if ((n != 1 && n != 4) || sscanf(hex + 8 * n, ":%x", &port) != 1)
        return false;
    for (size_t i = 0; i < n; i++)
        if (sscanf(hex + 8 * i, "%8" SCNx32, &words[i]) != 1)
            return false;
    const bool is_v4 = n == 1 || (words[0] == 0 && words[1] == 0 && words[2] == htonl(0xffff));
    if (inet_ntop(is_v4 ? AF_INET : AF_INET6, n == 4 && is_v4 ? words + 3 : words, address,
                  sizeof address) == NULL)
        return false;
    snprintf(to, size, is_v4 ? "%s:%u" : "[%s]:%u", address, port);
    return port != 0;
}

static bool take_internet(const char *line, void *context)
{
    struct wanted_socket *const wanted = context;
    char local[48], remote[48], here[80] = "?", there[80];
    unsigned state;
    uint64_t inode;
    if (sscanf(line, " %*[0-9]: %47s %47s %x %*s %*s %*s %*s %*s %" SCNu64, local, remote,
               &state, &inode) != 4 ||
        inode != wanted->inode)
        return false;
    put_address(local, here, sizeof here);
    if (state == TCP_LISTEN || !put_address(remote, there, sizeof there))
        snprintf(wanted->text, sizeof wanted->text, "%s %s%s", wanted->protocol, here,
                 state == TCP_LISTEN ? ", which listens" : "");
    else
        snprintf(wanted->text, sizeof wanted->text, "%s %s, peer %s", wanted->protocol, here,
                 there);
    return true;
}

static bool take_unix(const char *line, void *context)
{
    struct wanted_socket *const wanted = context;
    char path[200] = "";
    uint64_t inode;
    if (sscanf(line, "%*s %*s %*s %*s %*s %*s %" SCNu64 " %199[^\n]", &inode, path) < 2 ||
        inode != wanted->inode)
        return false;
    snprintf(wanted->text, sizeof wanted->text, "unix socket %s", path);
    return true;
}

bool nytp_tell_socket(pid_t pid, uint64_t inode, char *to, size_t size)
{
    static const struct {
        const char *list, *protocol;
        take_line *take;
    } lists[] = {{"tcp", "tcp", take_internet},
                 {"tcp6", "tcp", take_internet},
                 {"udp", "udp", take_internet},
                 {"udp6", "udp", take_internet},
                 {"unix", "", take_unix}};
    struct wanted_socket wanted = {.inode = inode};
    char path[60];
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        snprintf(path, sizeof path, "/proc/%d/net/%s", (int)pid, lists[i].list);
        wanted.protocol = lists[i].protocol;
        if (!each_line(path, lists[i].take, &wanted))
            continue;
        snprintf(to, size, "%s", wanted.text);
        return true;
    }
    return false;
}

/* ---- locks ---- */

struct wanted_lock {
    pid_t waits, holds;
    uint64_t number;
};

/* "1: FLOCK  ADVISORY  WRITE 17 08:01:123 0 EOF" is a lock, and after it "1: -> FLOCK ..." is
 * one that waits for it. */
static bool take_lock(const char *line, void *context)
{
    struct wanted_lock *const lock = context;
    uint64_t number;
    int pid;
    const char *const arrow = strstr(line, "-> ");
    if (sscanf(line, "%" SCNu64 ":", &number) != 1 ||
        sscanf(arrow != NULL ? arrow + 3 : strchr(line, ':') + 1, "%*s %*s %*s %d", &pid) != 1)
        return false;
    if (arrow != NULL)
        return pid == lock->waits && number == lock->number;
    lock->number = number;
    lock->holds = pid;
    return false;
}

bool nytp_tell_lock_holder(pid_t pid, char *to, size_t size)
{
    struct wanted_lock lock = {.waits = pid};
    char holder[300];
    if (!each_line("/proc/locks", take_lock, &lock) || lock.holds <= 0)
        return false;
    tell_process(lock.holds, holder, sizeof holder);
    snprintf(to, size, "held by %s", holder);
    return true;
}

/* ---- children ---- */

bool nytp_tell_child(pid_t pid, pid_t child, char *to, size_t size)
{
    uint32_t n = 0, n_children = 0;
    pid_t found = 0;
    pid_t *const all = nytp_processes(&n);
    for (uint32_t i = 0; i < n; i++) {
        if (nytp_process_status(all[i]).parent != pid)
            continue;
        n_children++;
        if (child == -1 || nytp_task_inside(all[i], all[i]) == child)
            found = all[i];
    }
    free(all);
    if (found != 0 && (child != -1 || n_children == 1))
        tell_process(found, to, size);
    else if (child == -1 && n_children > 1)
        snprintf(to, size, "any of %" PRIu32 " children", n_children);
    else
        return false;
    return true;
}
