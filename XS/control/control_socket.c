/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A Unix socket by which somebody else steers the recorder; see control_socket.h.
 *
 * One command is under way at a time. It is handed over by its number: the tick thread sets
 * `order` when all else about it is written; a thread of the program sets `obeyed` when its
 * `answer` is. Who wakes late and reads a command sees by the number whether another has come
 * meanwhile. The list of targets is changed while the tick thread is held (ticks.h). The
 * descriptors are the tick thread's alone, so that none is used after it was closed.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* struct ucred */
#endif
#include "control_socket.h"

#include "XS/perl/safe_point.h"
#include "XS/ground/ticks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    ASK_AGAIN_MS = 20,   /* while a command waits */
    SLEEPERS_WAITS = 10, /* as often, before the answer comes without those that sleep */
};

/* Who is connected, by place in watch.fds; 0 is the socket itself. */
struct client {
    char line[NYTP_CONTROL_LINE];
    unsigned n;
    bool waits; /* for the answer to the command */
};

static struct nytp_tick_watch watch;
static struct client clients[NYTP_TICK_FDS];
static struct nytp_control_target *targets;
static uid_t owner;
static pid_t maker;
static char *socket_path; /* NULL: not listening */

struct order {
    atomic_int command; /* enum nytp_command */
    char argument[NYTP_CONTROL_LINE];
};
static struct order orders[2]; /* by the last bit of their number */
static atomic_uint order;      /* the newest one's number; 0: none yet */
static atomic_bool is_waiting; /* for it to be obeyed */
static unsigned n_waits;

static const char *const words[] = {
    [NYTP_COMMAND_ON] = "on",
    [NYTP_COMMAND_OFF] = "off",
    [NYTP_COMMAND_CHECKPOINT] = "checkpoint",
    [NYTP_COMMAND_ROTATE] = "rotate",
};
static const char *const state_words[] = {"off", "ready", "recording", "paused", "off", "off"};

/* ---- in the tick thread ---- */

#if NYTP_RAW_THREADS
NYTP_RAW_CODE static int accept_client(int fd)
{
    return (int)nytp_raw_syscall(SYS_accept4, fd, 0, 0, SOCK_CLOEXEC | SOCK_NONBLOCK, 0, 0);
}

NYTP_RAW_CODE static bool is_allowed(int fd)
{
    struct ucred peer = {0};
    socklen_t len = sizeof peer;
    const long result = nytp_raw_syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED,
                                         (long)&peer, (long)&len, 0);
    return result == 0 && (peer.uid == 0 || peer.uid == owner);
}

NYTP_RAW_CODE static long receive(int fd, char *to, size_t size)
{
    return nytp_raw_syscall(SYS_recvfrom, fd, (long)to, (long)size, MSG_DONTWAIT, 0, 0);
}

NYTP_RAW_CODE static void send_bytes(int fd, const char *bytes, size_t n)
{
    nytp_raw_syscall(SYS_sendto, fd, (long)bytes, (long)n, MSG_DONTWAIT | MSG_NOSIGNAL, 0, 0);
}

NYTP_RAW_CODE static void close_fd(int fd)
{
    nytp_raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
}
#else
static int accept_client(int fd)
{
    const int client = accept(fd, NULL, NULL);
    if (client >= 0)
        fcntl(client, F_SETFD, FD_CLOEXEC);
    return client;
}

/* The socket's mode lets nobody else in. */
static bool is_allowed(int fd)
{
    return fd >= 0;
}

static long receive(int fd, char *to, size_t size)
{
    return recv(fd, to, size, MSG_DONTWAIT);
}

static void send_bytes(int fd, const char *bytes, size_t n)
{
    send(fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void close_fd(int fd)
{
    close(fd);
}
#endif

struct line {
    char text[2 * NYTP_CONTROL_LINE];
    size_t n;
};

NYTP_RAW_CODE static void put(struct line *line, const char *text)
{
    for (; *text != '\0' && line->n < sizeof line->text - 1; text++)
        line->text[line->n++] = *text;
}

NYTP_RAW_CODE static void put_number(struct line *line, unsigned long number)
{
    char digits[24];
    char *at = digits + sizeof digits;
    *--at = '\0';
    do
        *--at = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    put(line, at);
}

NYTP_RAW_CODE static void say(int fd, const char *head, const char *text)
{
    struct line line;
    line.n = 0;
    put(&line, head);
    put(&line, text);
    line.text[line.n++] = '\n';
    send_bytes(fd, line.text, line.n);
}

NYTP_RAW_CODE static void greet(int fd)
{
    struct line line;
    line.n = 0;
    put(&line, "nytp ");
    put_number(&line, (unsigned long)maker);
    line.text[line.n++] = '\n';
    send_bytes(fd, line.text, line.n);
}

NYTP_RAW_CODE static bool has_obeyed(const struct nytp_control_target *target)
{
    return atomic_load(&target->obeyed) == atomic_load(&order);
}

NYTP_RAW_CODE static void put_who(struct line *line, const struct nytp_control_target *target)
{
    if (target->thread == 0)
        return;
    put(line, "thread ");
    put_number(line, target->thread);
    put(line, " ");
}

NYTP_RAW_CODE static void tell_status_of(int fd, struct nytp_control_target *target)
{
    struct line line;
    line.n = 0;
    put(&line, "pid ");
    put_number(&line, (unsigned long)maker);
    put(&line, " ");
    put_who(&line, target);
    put(&line, state_words[*(volatile const int *)target->state]);
    if (!has_obeyed(target)) {
        put(&line, " pending ");
        put(&line, words[atomic_load(&orders[atomic_load(&order) & 1].command)]);
    }
    put(&line, " file ");
    put(&line, target->files[atomic_load(&target->file_at) & 1]);
    line.text[line.n++] = '\n';
    send_bytes(fd, line.text, line.n);
}

NYTP_RAW_CODE static void tell_status(int fd)
{
    for (struct nytp_control_target *target = targets; target != NULL; target = target->next)
        tell_status_of(fd, target);
}

NYTP_RAW_CODE static void ask_targets(void)
{
    for (struct nytp_control_target *target = targets; target != NULL; target = target->next)
        nytp_safe_point_ask(target->interpreter);
}

NYTP_RAW_CODE static void drop(unsigned i)
{
    close_fd(watch.fds[i].fd);
    watch.n--;
    watch.fds[i] = watch.fds[watch.n];
    clients[i].n = clients[watch.n].n;
    clients[i].waits = clients[watch.n].waits;
    for (unsigned j = 0; j < clients[i].n; j++)
        clients[i].line[j] = clients[watch.n].line[j];
}

/* The rest of `line` behind the word, past one space; NULL: it begins with another word. */
NYTP_RAW_CODE static const char *after_word(const char *line, const char *word)
{
    while (*word != '\0' && *line == *word)
        line++, word++;
    if (*word != '\0' || (*line != '\0' && *line != ' '))
        return NULL;
    return *line == ' ' ? line + 1 : line;
}

NYTP_RAW_CODE static void give_order(enum nytp_command what, const char *name)
{
    const unsigned number = atomic_load(&order) + 1;
    struct order *const next = &orders[number & 1];
    size_t n = 0;
    for (; name[n] != '\0'; n++)
        next->argument[n] = name[n];
    next->argument[n] = '\0';
    atomic_store(&next->command, (int)what);
    atomic_store(&order, number);
    n_waits = 0;
    atomic_store(&is_waiting, true);
    ask_targets();
}

NYTP_RAW_CODE static void hand_over(unsigned i, enum nytp_command what, const char *name)
{
    if (atomic_load(&is_waiting)) {
        say(watch.fds[i].fd, "error ", "another command waits for the program");
        return;
    }
    clients[i].waits = true;
    give_order(what, name);
}

/* False: this client is done with. */
NYTP_RAW_CODE static bool obey_line(unsigned i)
{
    const char *const line = clients[i].line;
    if (after_word(line, "status") != NULL) {
        tell_status(watch.fds[i].fd);
        return false;
    }
    for (int what = NYTP_COMMAND_ON; what <= NYTP_COMMAND_ROTATE; what++) {
        const char *const name = after_word(line, words[what]);
        if (name != NULL) {
            hand_over(i, (enum nytp_command)what, name);
            return clients[i].waits;
        }
    }
    say(watch.fds[i].fd, "error ", "no such command");
    return false;
}

NYTP_RAW_CODE static bool read_client(unsigned i)
{
    struct client *const client = &clients[i];
    const long n =
        receive(watch.fds[i].fd, client->line + client->n, sizeof client->line - client->n);
    if (n <= 0 || client->waits)
        return n > 0;
    client->n += (unsigned)n;
    for (unsigned at = 0; at < client->n; at++)
        if (client->line[at] == '\n') {
            client->line[at] = '\0';
            return obey_line(i);
        }
    return client->n < sizeof client->line;
}

NYTP_RAW_CODE static void let_in(void)
{
    const int fd = accept_client(watch.fds[0].fd);
    if (fd < 0)
        return;
    if (watch.n >= NYTP_TICK_FDS || !is_allowed(fd)) {
        close_fd(fd);
        return;
    }
    clients[watch.n].n = 0;
    clients[watch.n].waits = false;
    watch.fds[watch.n].fd = fd;
    watch.fds[watch.n].events = POLLIN;
    watch.fds[watch.n].revents = 0;
    watch.n++;
    ask_targets(); /* should the status be asked for, it is of now */
    greet(fd);
}

NYTP_RAW_CODE static void pass_answer_of(int fd, const struct nytp_control_target *target)
{
    if (has_obeyed(target)) {
        say(fd, "", target->answer);
        return;
    }
    struct line line;
    line.n = 0;
    put(&line, "ok ");
    put_who(&line, target);
    put(&line, "sleeps, and obeys when it wakes\n");
    send_bytes(fd, line.text, line.n);
}

NYTP_RAW_CODE static void pass_answers_on(void)
{
    for (unsigned i = watch.n; i > 1; i--) {
        if (!clients[i - 1].waits)
            continue;
        for (const struct nytp_control_target *target = targets; target != NULL;
             target = target->next)
            pass_answer_of(watch.fds[i - 1].fd, target);
        drop(i - 1);
    }
    atomic_store(&is_waiting, false);
}

/* All have obeyed, or those that do not sleep. */
NYTP_RAW_CODE static bool is_answered(void)
{
    unsigned n = 0, n_obeyed = 0;
    for (const struct nytp_control_target *target = targets; target != NULL;
         target = target->next) {
        n++;
        n_obeyed += has_obeyed(target);
    }
    return n_obeyed == n || (n_obeyed > 0 && n_waits >= SLEEPERS_WAITS);
}

NYTP_RAW_CODE static void on_ready(struct nytp_tick_watch *unused)
{
    (void)unused;
    if (watch.fds[0].revents & POLLIN)
        let_in();
    for (unsigned i = watch.n; i > 1; i--)
        if (watch.fds[i - 1].revents != 0 && !read_client(i - 1))
            drop(i - 1);
    const bool waits = atomic_load(&is_waiting);
    if (waits && is_answered())
        pass_answers_on();
    else if (waits) {
        n_waits++;
        ask_targets();
    }
    watch.again_ms = waits ? ASK_AGAIN_MS : 0;
}

/* ---- in the program's thread ---- */

void nytp_control_add_target(struct nytp_control_target *target)
{
    struct nytp_control_target **at = &targets;
    nytp_ticks_hold();
    while (*at != NULL)
        at = &(*at)->next;
    atomic_store(&target->obeyed, atomic_load(&order));
    target->next = NULL;
    *at = target;
    nytp_ticks_let_go();
}

void nytp_control_remove_target(struct nytp_control_target *target)
{
    struct nytp_control_target **at = &targets;
    nytp_ticks_hold();
    while (*at != NULL && *at != target)
        at = &(*at)->next;
    if (*at != NULL)
        *at = target->next;
    nytp_ticks_let_go();
}

void nytp_control_forked(struct nytp_control_target *only)
{
    targets = only;
    if (only == NULL)
        return;
    only->next = NULL;
    atomic_store(&only->obeyed, atomic_load(&order));
}

enum nytp_command nytp_control_command(const struct nytp_control_target *target,
                                       char name[NYTP_CONTROL_LINE], unsigned *number)
{
    *number = atomic_load(&order);
    if (atomic_load(&target->obeyed) == *number)
        return NYTP_COMMAND_NONE;
    const struct order *const newest = &orders[*number & 1];
    const int what = atomic_load(&newest->command);
    memcpy(name, newest->argument, NYTP_CONTROL_LINE);
    return atomic_load(&order) == *number ? (enum nytp_command)what : NYTP_COMMAND_NONE;
}

void nytp_control_answer(struct nytp_control_target *target, unsigned number, const char *line)
{
    snprintf(target->answer, sizeof target->answer, "%s", line);
    atomic_store(&target->obeyed, number);
}

void nytp_control_ask_all(enum nytp_command what)
{
    nytp_ticks_hold();
    if (!atomic_load(&is_waiting))
        give_order(what, "");
    atomic_store(&is_waiting, false); /* nobody is to be told */
    nytp_ticks_let_go();
}

void nytp_control_tell_file(struct nytp_control_target *target, const char *path)
{
    const char *const text = path == NULL ? "" : path;
    const unsigned now = atomic_load(&target->file_at);
    if (strncmp(target->files[now & 1], text, NYTP_CONTROL_LINE - 1) == 0)
        return;
    snprintf(target->files[(now + 1) & 1], NYTP_CONTROL_LINE, "%s", text);
    atomic_store(&target->file_at, now + 1);
}

/* One that a process left behind which was killed: ours, and nobody accepts. */
static bool is_stale(const struct sockaddr_un *address)
{
    struct stat there;
    if (lstat(address->sun_path, &there) != 0 || !S_ISSOCK(there.st_mode) ||
        there.st_uid != geteuid())
        return false;
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    const bool stale = fd >= 0 &&
                       connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 &&
                       errno == ECONNREFUSED;
    if (fd >= 0)
        close(fd);
    return stale;
}

/* The mode is that of the socket before it gets its name (Linux), so that it never was another.
 * bind() follows no link and replaces nothing. */
static bool bind_name(int fd, const struct sockaddr_un *address)
{
    fchmod(fd, 0600);
    if (bind(fd, (const struct sockaddr *)address, sizeof *address) == 0)
        return true;
    if (errno != EADDRINUSE || !is_stale(address))
        return false;
    unlink(address->sun_path);
    return bind(fd, (const struct sockaddr *)address, sizeof *address) == 0;
}

static int make_socket(const char *path, char *error, size_t size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        snprintf(error, size, "control=%s: a socket's name has at most %zu bytes", path,
                 sizeof address.sun_path - 1);
        return -1;
    }
    strcpy(address.sun_path, path);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd >= 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0 &&
        bind_name(fd, &address)) {
        chmod(path, 0600);
        if (listen(fd, NYTP_TICK_FDS) == 0)
            return fd;
        unlink(path);
    }
    snprintf(error, size, "control=%s: %s", path,
             errno == EADDRINUSE ? "there is something of that name" : strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

bool nytp_control_listen(const char *path, char *error, size_t size)
{
    nytp_control_close();
    const int fd = make_socket(path, error, size);
    if (fd < 0)
        return false;
    owner = geteuid();
    maker = getpid();
    socket_path = strdup(path);
    atomic_store(&is_waiting, false);
    watch.fds[0] = (struct pollfd){.fd = fd, .events = POLLIN};
    watch.n = 1;
    watch.again_ms = 0;
    watch.on_ready = on_ready;
    char why[120] = "out of memory";
    if (socket_path != NULL && nytp_ticks_watch(&watch, why, sizeof why))
        return true;
    snprintf(error, size, "control=%s: %s", path, why);
    nytp_control_close();
    return false;
}

void nytp_control_close(void)
{
    char unused[80];
    if (socket_path == NULL)
        return;
    if (maker == getpid()) {
        unlink(socket_path);
        shutdown(watch.fds[0].fd, SHUT_RDWR);
    }
    nytp_ticks_watch(NULL, unused, sizeof unused);
    for (unsigned i = 0; i < watch.n; i++)
        close(watch.fds[i].fd);
    watch.n = 0;
    free(socket_path);
    socket_path = NULL;
}
