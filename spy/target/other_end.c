/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The other end of a wait; see other_end.h and proc(5).
 */
#define _GNU_SOURCE
#include "other_end.h"

#include "process.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_LINES = 200000, /* read of a list in /proc */
    MOST_LINKS = 200000, /* of descriptors */
    TCP_LISTEN = 10,     /* include/net/tcp_states.h of the kernel */
};

/* Calls `take` for each line of a file until it returns true. Returns whether it did. */
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
static void describe_process(pid_t pid, char *to, size_t size)
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

/* Converts an address of /proc/net: words of four bytes in the machine's order, and a port. */
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
    uint64_t inode;
    wanted->text[0] = '\0';
    return sscanf(line, "%*s %*s %*s %*s %*s %*s %" SCNu64 " %199[^\n]", &inode,
                  wanted->text) >= 1 &&
           inode == wanted->inode;
}

static bool has_our_network(pid_t pid)
{
    char path[40];
    struct stat theirs, ours;
    snprintf(path, sizeof path, "/proc/%d/ns/net", (int)pid);
    return stat(path, &theirs) == 0 && stat("/proc/self/ns/net", &ours) == 0 &&
           theirs.st_ino == ours.st_ino;
}

/* Asks the kernel for the peer of a socket (sock_diag(7)); returns 0 if it has none. */
static uint32_t ask_for_peer(int netlink, uint64_t inode)
{
    struct {
        struct nlmsghdr head;
        struct unix_diag_req request;
    } question = {{sizeof question, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 0, 0},
                  {.sdiag_family = AF_UNIX,
                   .udiag_states = UINT32_MAX,
                   .udiag_ino = (uint32_t)inode,
                   .udiag_show = UDIAG_SHOW_PEER,
                   .udiag_cookie = {UINT32_MAX, UINT32_MAX}}};
    struct {
        struct nlmsghdr head;
        struct unix_diag_msg about;
        struct {
            struct nlattr head;
            uint32_t peer;
        } attribute;
    } answer;
    return send(netlink, &question, sizeof question, 0) == sizeof question &&
                   recv(netlink, &answer, sizeof answer, 0) == sizeof answer &&
                   answer.head.nlmsg_type == SOCK_DIAG_BY_FAMILY &&
                   answer.attribute.head.nla_type == UNIX_DIAG_PEER
               ? answer.attribute.peer
               : 0;
}

static uint32_t unix_peer(pid_t pid, uint64_t inode)
{
    if (!has_our_network(pid))
        return 0;
    const int netlink = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    const uint32_t peer = netlink < 0 ? 0 : ask_for_peer(netlink, inode);
    if (netlink >= 0)
        close(netlink);
    return peer;
}

/* Returns the first other process that has a socket open, or 0 if none is visible. */
static pid_t holder_of_socket(pid_t pid, uint32_t inode)
{
    char path[60], wanted[40], link[40];
    uint32_t n = 0, n_links = 0;
    pid_t found = 0;
    pid_t *const all = nytp_processes(&n);
    snprintf(wanted, sizeof wanted, "socket:[%" PRIu32 "]", inode);
    for (uint32_t i = 0; i < n && found == 0 && n_links < MOST_LINKS; i++) {
        snprintf(path, sizeof path, "/proc/%d/fd", (int)all[i]);
        const int folder = all[i] == pid ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *const fds = folder < 0 ? NULL : fdopendir(folder);
        const struct dirent *fd;
        while (fds != NULL && found == 0 && n_links++ < MOST_LINKS &&
               (fd = readdir(fds)) != NULL) {
            const ssize_t len = readlinkat(folder, fd->d_name, link, sizeof link - 1);
            link[len < 0 ? 0 : len] = '\0';
            if (strcmp(link, wanted) == 0)
                found = all[i];
        }
        if (fds != NULL)
            closedir(fds);
        else if (folder >= 0)
            close(folder);
    }
    free(all);
    return found;
}

/* Writes "unix socket /run/x", or with ", peer /run/x of process 17 (perl server.pl)" appended:
 * a client's socket has no name. */
static void describe_unix(pid_t pid, const char *list, struct wanted_socket *wanted, char *to,
                          size_t size)
{
    char holder[300] = "";
    const uint32_t peer = unix_peer(pid, wanted->inode);
    snprintf(to, size, "unix socket%s%s", wanted->text[0] == '\0' ? "" : " ", wanted->text);
    if (peer == 0)
        return;
    wanted->inode = peer;
    const bool is_named = each_line(list, take_unix, wanted) && wanted->text[0] != '\0';
    const pid_t pid_of_peer = holder_of_socket(pid, peer);
    if (pid_of_peer != 0)
        describe_process(pid_of_peer, holder, sizeof holder);
    if (is_named || pid_of_peer != 0)
        snprintf(to + strlen(to), size - strlen(to), ", peer %s%s%s",
                 is_named ? wanted->text : "", is_named && pid_of_peer != 0 ? " of " : "",
                 holder);
}

bool nytp_describe_socket(pid_t pid, uint64_t inode, char *to, size_t size)
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
        if (lists[i].take == take_unix)
            describe_unix(pid, path, &wanted, to, size);
        else
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

/* "1: FLOCK ADVISORY WRITE 17 08:01:123 0 EOF" is a lock; "1: -> FLOCK ..." after it is a
 * waiter. */
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

bool nytp_describe_lock_holder(pid_t pid, char *to, size_t size)
{
    struct wanted_lock lock = {.waits = pid};
    char holder[300];
    if (!each_line("/proc/locks", take_lock, &lock) || lock.holds <= 0)
        return false;
    describe_process(lock.holds, holder, sizeof holder);
    snprintf(to, size, "held by %s", holder);
    return true;
}

/* ---- children ---- */

bool nytp_describe_child(pid_t pid, pid_t child, char *to, size_t size)
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
        describe_process(found, to, size);
    else if (child == -1 && n_children > 1)
        snprintf(to, size, "any of %" PRIu32 " children", n_children);
    else
        return false;
    return true;
}
