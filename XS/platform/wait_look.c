/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Looks at what is waited for; see wait_look.h. The file's form is that of the kernel's
 * fs/proc/base.c, proc_pid_syscall(): "running", or the number of the call, six arguments and
 * two addresses; -1 for a thread that is blocked and in no call, as in a page fault.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "wait_look.h"

#include "memory.h"

#include "sampling/wait_calls.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#if NYTP_KERNEL_CALLS

enum {
    DNS_PORT = 53,
    SET_BYTES = 128, /* of select() */
};

bool nytp_blocked_read(int fd, struct nytp_blocked *blocked)
{
    char text[256], *at;
    const long len = nytp_kernel_call(SYS_pread64, (long[6]){fd, (long)text, sizeof text - 1});
    if (len <= 0)
        return false;
    text[len] = '\0';
    blocked->number = strtol(text, &at, 10);
    if (at == text)
        return false;
    for (int i = 0; i < NYTP_BLOCKED_ARGUMENTS; i++)
        blocked->arguments[i] = strtoul(at, &at, 16);
    return true;
}

static enum nytp_wait_reason of_socket(int fd, struct nytp_wait_seen *seen)
{
    uint32_t len = NYTP_PEER_BYTES;
    const struct sockaddr_in *const address = (const void *)seen->peer;
    memset(seen->peer, 0, sizeof seen->peer);
    const long error =
        nytp_kernel_call(SYS_getpeername, (long[6]){fd, (long)seen->peer, (long)&len});
    seen->peer_len = error != 0 ? 0 : len < NYTP_PEER_BYTES ? len : NYTP_PEER_BYTES;
    const bool is_internet =
        seen->peer_len >= sizeof *address &&
        (address->sin_family == AF_INET || address->sin_family == AF_INET6);
    return is_internet && address->sin_port == htons(DNS_PORT) ? NYTP_WAIT_FOR_DNS
                                                               : NYTP_WAIT_FOR_SOCKET;
}

/* Returns the file's type if this machine knows it, or 0. It asks no server: if that does not
 * answer, all threads would wait. */
static unsigned mode_of(int fd)
{
#ifdef STATX_TYPE
    struct statx found;
    if (nytp_kernel_call(SYS_statx, (long[6]){fd, (long)"", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
                                              STATX_TYPE, (long)&found}) == 0)
        return found.stx_mode;
#endif
    struct stat older; /* kernels before 4.11 */
    return nytp_kernel_call(SYS_fstat, (long[6]){fd, (long)&older}) == 0 ? older.st_mode : 0;
}

static enum nytp_wait_reason of_fd(int fd, struct nytp_wait_seen *seen)
{
    char settings[256]; /* of a terminal */
    const unsigned mode = mode_of(fd);
    if (S_ISSOCK(mode))
        return of_socket(fd, seen);
    if (S_ISFIFO(mode))
        return NYTP_WAIT_FOR_PIPE;
    if (S_ISREG(mode) || S_ISDIR(mode) || S_ISBLK(mode))
        return NYTP_WAIT_FOR_DISK;
    if (S_ISCHR(mode) &&
        nytp_kernel_call(SYS_ioctl, (long[6]){fd, TCGETS, (long)settings}) == 0)
        return NYTP_WAIT_FOR_TERMINAL;
    return NYTP_WAIT_UNKNOWN;
}

static bool copy(long pid, unsigned long from_address, void *to, size_t size)
{
    return from_address != 0 &&
           nytp_read_part(pid, (const void *)from_address, to, size) == (long)size;
}

/* The first descriptor of a select()'s sets; none: it sleeps. */
static enum nytp_wait_reason of_select(long pid, const struct nytp_blocked *blocked,
                                       struct nytp_wait_seen *seen)
{
    unsigned char set[SET_BYTES];
    for (int i = 1; i < NYTP_BLOCKED_ARGUMENTS; i++) {
        const unsigned long n = blocked->arguments[0];
        const size_t size = n / 8 + 8 < SET_BYTES ? n / 8 + (n % 8 != 0) : SET_BYTES;
        if (n == 0 || !copy(pid, blocked->arguments[i], set, size))
            continue;
        for (unsigned long fd = 0; fd < n && fd / 8 < size; fd++)
            if (set[fd / 8] >> (fd % 8) & 1)
                return of_fd((int)fd, seen);
    }
    return NYTP_WAIT_FOR_SLEEP;
}

static enum nytp_wait_reason of_poll(long pid, const struct nytp_blocked *blocked,
                                     struct nytp_wait_seen *seen)
{
    struct pollfd first;
    if (blocked->arguments[1] == 0)
        return NYTP_WAIT_FOR_SLEEP;
    return copy(pid, blocked->arguments[0], &first, sizeof first) ? of_fd(first.fd, seen)
                                                                  : NYTP_WAIT_UNKNOWN;
}

static enum nytp_wait_reason of_call(const struct nytp_wait_call *call, long pid,
                                     const struct nytp_blocked *blocked,
                                     struct nytp_wait_seen *seen)
{
    const long command = (long)blocked->arguments[1];
    if (call->reason != NYTP_WAIT_UNKNOWN)
        return call->reason;
    switch (call->subject) {
    case NYTP_WAITS_FILE:
        return of_fd((int)blocked->arguments[0], seen);
    case NYTP_WAITS_SELECT:
        return of_select(pid, blocked, seen);
    case NYTP_WAITS_POLL:
        return of_poll(pid, blocked, seen);
    case NYTP_WAITS_LOCK:
        return command == F_SETLKW || command == F_OFD_SETLKW ? NYTP_WAIT_FOR_LOCK
                                                              : NYTP_WAIT_UNKNOWN;
    case NYTP_WAITS_EPOLL:
    case NYTP_WAITS_CHILD:
    case NYTP_WAITS_NOTHING:
        break;
    }
    return NYTP_WAIT_UNKNOWN;
}

void nytp_wait_look(const struct nytp_own_fd *call, long pid, struct nytp_wait_seen *seen)
{
    struct nytp_blocked blocked;
    const int fd = nytp_own_fd(call);
    if (fd < 0 || !nytp_blocked_read(fd, &blocked))
        return;
    seen->peer_len = 0;
    seen->reason = blocked.number == -1 ? NYTP_WAIT_FOR_FAULT : NYTP_WAIT_UNKNOWN;
    for (const struct nytp_wait_call *call = nytp_wait_calls; call->name != NULL; call++)
        if (call->number == blocked.number)
            seen->reason = of_call(call, pid, &blocked, seen);
}

#else

bool nytp_blocked_read(int fd, struct nytp_blocked *blocked)
{
    (void)fd, (void)blocked;
    return false;
}

void nytp_wait_look(const struct nytp_own_fd *call, long pid, struct nytp_wait_seen *seen)
{
    (void)call, (void)pid, (void)seen;
}

#endif

void nytp_wait_look_begin(struct nytp_own_fd *call)
{
    nytp_wait_look_end(call);
    const int low = open("/proc/thread-self/syscall", O_RDONLY | O_CLOEXEC);
    const int high = low >= 0 ? nytp_own_fd_move(low) : -1;
    if (high != low)
        *call = nytp_own_fd_of(high);
    else if (low >= 0)
        close(low);
}

void nytp_wait_look_end(struct nytp_own_fd *call)
{
    const int fd = call->ino != 0 ? nytp_own_fd(call) : -1;
    if (fd >= 0)
        close(fd);
    *call = (struct nytp_own_fd){.fd = -1};
}

bool nytp_wait_look_is_lost(const struct nytp_own_fd *call)
{
    return call->ino != 0 && nytp_own_fd(call) < 0;
}

void nytp_wait_put_peer(const struct nytp_wait_seen *seen, char *text, size_t size)
{
    char host[INET6_ADDRSTRLEN] = "";
    const struct sockaddr_in *const four = (const void *)seen->peer;
    const struct sockaddr_in6 *const six = (const void *)seen->peer;
    const struct sockaddr_un *const local = (const void *)seen->peer;
    const size_t len = seen->peer_len;
    text[0] = '\0';
    if (len >= sizeof *four && four->sin_family == AF_INET) {
        inet_ntop(AF_INET, &four->sin_addr, host, sizeof host);
        snprintf(text, size, "%s:%u", host, (unsigned)ntohs(four->sin_port));
    } else if (len >= sizeof *six && six->sin6_family == AF_INET6) {
        inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof host);
        snprintf(text, size, "[%s]:%u", host, (unsigned)ntohs(six->sin6_port));
    } else if (len > offsetof(struct sockaddr_un, sun_path) && local->sun_family == AF_UNIX) {
        snprintf(text, size, "%.*s", (int)(len - offsetof(struct sockaddr_un, sun_path)),
                 local->sun_path);
    }
    for (char *at = text; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
}
