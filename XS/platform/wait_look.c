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
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#if NYTP_KERNEL_CALLS

enum {
    ARGUMENTS = 4, /* of a call that are looked at */
    DNS_PORT = 53,
    SET_BYTES = 128, /* of select() */
};

struct blocked {
    long number;
    unsigned long arguments[ARGUMENTS];
};

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* False: it runs. */
static bool parse(const char *text, const char *end, struct blocked *blocked)
{
    const bool is_negative = text < end && *text == '-';
    text += is_negative;
    if (text >= end || *text < '0' || *text > '9')
        return false;
    blocked->number = 0;
    for (; text < end && *text >= '0' && *text <= '9'; text++)
        blocked->number = blocked->number * 10 + (*text - '0');
    if (is_negative)
        blocked->number = -1;
    for (int i = 0; i < ARGUMENTS; i++) {
        blocked->arguments[i] = 0;
        while (text < end && *text == ' ')
            text++;
        text += text + 1 < end && text[0] == '0' && text[1] == 'x' ? 2 : 0;
        for (; text < end && hex_digit(*text) >= 0; text++)
            blocked->arguments[i] =
                blocked->arguments[i] << 4 | (unsigned long)hex_digit(*text);
    }
    return true;
}

static enum nytp_wait_reason of_socket(int fd, struct nytp_wait_seen *seen)
{
    uint32_t len = NYTP_PEER_BYTES;
    const struct sockaddr_in *const address = (const void *)seen->peer;
    for (uint32_t i = 0; i < NYTP_PEER_BYTES; i++)
        ((volatile unsigned char *)seen->peer)[i] = 0;
    const long error =
        nytp_kernel_call(SYS_getpeername, fd, (long)seen->peer, (long)&len, 0, 0, 0);
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
    if (nytp_kernel_call(SYS_statx, fd, (long)"", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
                         STATX_TYPE, (long)&found, 0) == 0)
        return found.stx_mode;
#endif
    struct stat older; /* kernels before 4.11 */
    return nytp_kernel_call(SYS_fstat, fd, (long)&older, 0, 0, 0, 0) == 0 ? older.st_mode : 0;
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
    if (S_ISCHR(mode) && nytp_kernel_call(SYS_ioctl, fd, TCGETS, (long)settings, 0, 0, 0) == 0)
        return NYTP_WAIT_FOR_TERMINAL;
    return NYTP_WAIT_UNKNOWN;
}

static bool copy(long pid, unsigned long from_address, void *to, size_t size)
{
    const struct iovec target = {to, size}, from = {(void *)from_address, size};
    return from_address != 0 && nytp_read_memory(pid, &target, &from, 1) == (long)size;
}

/* The first descriptor of a select()'s sets; none: it sleeps. */
static enum nytp_wait_reason of_select(long pid, const struct blocked *blocked,
                                       struct nytp_wait_seen *seen)
{
    unsigned char set[SET_BYTES];
    for (int i = 1; i < ARGUMENTS; i++) {
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

static enum nytp_wait_reason of_poll(long pid, const struct blocked *blocked,
                                     struct nytp_wait_seen *seen)
{
    struct pollfd first;
    if (blocked->arguments[1] == 0)
        return NYTP_WAIT_FOR_SLEEP;
    return copy(pid, blocked->arguments[0], &first, sizeof first) ? of_fd(first.fd, seen)
                                                                  : NYTP_WAIT_UNKNOWN;
}

static enum nytp_wait_reason of_call(const struct nytp_wait_call *call, long pid,
                                     const struct blocked *blocked, struct nytp_wait_seen *seen)
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
    char text[200];
    struct blocked blocked;
    const int fd = nytp_own_fd(call);
    const long len =
        fd < 0 ? -1 : nytp_kernel_call(SYS_pread64, fd, (long)text, sizeof text, 0, 0, 0);
    if (len <= 0 || !parse(text, text + len, &blocked))
        return;
    seen->peer_len = 0;
    seen->reason = blocked.number == -1 ? NYTP_WAIT_FOR_FAULT : NYTP_WAIT_UNKNOWN;
    for (const struct nytp_wait_call *call = nytp_wait_calls; call->name != NULL; call++)
        if (call->number == blocked.number)
            seen->reason = of_call(call, pid, &blocked, seen);
}

void nytp_wait_look_begin(struct nytp_own_fd *call)
{
    nytp_wait_look_end(call);
    const int lowest = nytp_own_fd_lowest();
    const int fd = lowest > 0 ? open("/proc/thread-self/syscall", O_RDONLY | O_CLOEXEC) : -1;
    const int high = fd >= 0 ? nytp_own_fd_move(fd, lowest) : -1;
    if (high >= lowest && high >= 0)
        *call = nytp_own_fd_of(high);
    else if (high >= 0)
        close(high);
}

void nytp_wait_look_end(struct nytp_own_fd *call)
{
    const int fd = call->ino != 0 ? nytp_own_fd(call) : -1;
    if (fd >= 0)
        close(fd);
    *call = (struct nytp_own_fd){.fd = -1};
}

/* The number and what follows it; returns where that ends. */
static size_t put_number(char *text, size_t size, size_t n, unsigned number, char end)
{
    char digits[12];
    int i = 0;
    do
        digits[i++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (i > 0 && n + 1 < size)
        text[n++] = digits[--i];
    if (n + 1 < size)
        text[n++] = end;
    return n;
}

void nytp_wait_put_peer(const struct nytp_wait_seen *seen, char *text, size_t size)
{
    const struct sockaddr_in *const four = (const void *)seen->peer;
    const struct sockaddr_un *const local = (const void *)seen->peer;
    size_t n = 0;
    if (seen->peer_len >= sizeof *four && four->sin_family == AF_INET) {
        const unsigned char *const host = (const unsigned char *)&four->sin_addr;
        for (int i = 0; i < 4; i++)
            n = put_number(text, size, n, host[i], i < 3 ? '.' : ':');
        n = put_number(text, size, n, ntohs(four->sin_port), '\0') - 1;
    } else if (seen->peer_len > offsetof(struct sockaddr_un, sun_path) &&
               local->sun_family == AF_UNIX) {
        const size_t len = seen->peer_len - offsetof(struct sockaddr_un, sun_path);
        for (; n < len && n + 1 < size && local->sun_path[n] != '\0'; n++)
            text[n] = local->sun_path[n];
    }
    text[n] = '\0';
}

#else

void nytp_wait_put_peer(const struct nytp_wait_seen *seen, char *text, size_t size)
{
    (void)seen, (void)size;
    text[0] = '\0';
}

void nytp_wait_look(const struct nytp_own_fd *call, long pid, struct nytp_wait_seen *seen)
{
    (void)call, (void)pid, (void)seen;
}

void nytp_wait_look_begin(struct nytp_own_fd *call)
{
    *call = (struct nytp_own_fd){.fd = -1};
}

void nytp_wait_look_end(struct nytp_own_fd *call)
{
    (void)call;
}

#endif

bool nytp_wait_look_is_lost(const struct nytp_own_fd *call)
{
    return call->ino != 0 && nytp_own_fd(call) < 0;
}

void nytp_wait_peer_text(const struct nytp_wait_seen *seen, char *text, size_t size)
{
    char host[INET6_ADDRSTRLEN] = "";
    const struct sockaddr_in6 *const six = (const void *)seen->peer;
    nytp_wait_put_peer(seen, text, size);
    if (seen->peer_len >= sizeof *six && six->sin6_family == AF_INET6) {
        inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof host);
        snprintf(text, size, "[%s]:%u", host, (unsigned)ntohs(six->sin6_port));
    }
    for (char *at = text; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
}
