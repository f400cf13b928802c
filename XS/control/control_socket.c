/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A Unix socket for control of the recorder; see control_socket.h.
 *
 * One command is in progress at a time, the newest, identified by its number. The tick thread
 * sets `order` after all data of the command; a program thread sets `obeyed` after its
 * `answer`. The number shows a late reader whether a newer command has come meanwhile. The list
 * of targets is changed while the tick thread is held (ticks.h).
 *
 * Only the tick thread uses the descriptors, so none is used after it was closed. But they are
 * in the program's table, and a program that becomes a daemon closes all descriptors. So each
 * is checked before use; likewise the socket's name is checked to be still that of our socket.
 * A lost socket is made again at the program's next safe point.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "control_socket.h"

#include "heap_copy.h"

#include "XS/output/descriptor.h"
#include "XS/perl/safe_point.h"
#include "XS/platform/memory.h"
#include "XS/platform/own_fd.h"
#include "XS/platform/rights.h"
#include "XS/platform/ticks.h"

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
    SLEEPERS_WAITS = 25, /* intervals until an answer is sent without sleeping targets */
    NS_PER_MS = 1000000,
    LOOK_MS = 200, /* interval of checks for idle clients and the socket; poll()'s longest */
    LONGEST_REMOVAL_MS = 3000,
};

static const uint64_t idle_ns = 3000000000; /* time for a client to send its command */

/* A connected client, by index in watch.fds. Index 0 is the socket itself and uses only
 * `own`. */
struct client {
    struct nytp_own_fd own;
    struct nytp_request request;
    uint64_t until_ns; /* deadline for its command */
    bool waits;        /* for the command's answer */
    bool is_taken;     /* by nytp_control_take_client() */
};

static struct nytp_tick_watch watch;
static struct client clients[NYTP_TICK_FDS];
static struct nytp_control_target *targets;
static uid_t owner;
static pid_t maker;
static bool is_inherited;           /* from the parent */
static char *socket_path;           /* NULL: not listening */
static struct nytp_file_id name_id; /* the socket's file when it got its name */
static atomic_bool is_lost;         /* the program closed the socket or changed its user */
static atomic_bool changes_user; /* the program changed its user: the tick thread shall remove
                                  * the name */
static atomic_bool name_is_gone; /* the tick thread has tried to remove it */

struct order {
    atomic_int command;
    char argument[NYTP_CONTROL_LINE];
};
static struct order orders[2]; /* by the last bit of their number */
static atomic_uint order;      /* number of the newest; 0: none yet */
static atomic_bool is_waiting; /* for targets to obey it */
static unsigned n_waits;
static _Atomic uint64_t off_at_ns; /* CLOCK_MONOTONIC; 0: no time limit */

static const char *const state_words[] = {
    [NYTP_LOADED] = "off",    [NYTP_ARMED] = "ready", [NYTP_RECORDING] = "recording",
    [NYTP_PAUSED] = "paused", [NYTP_CLOSED] = "off",  [NYTP_OFF] = "off",
};

/* ---- in the tick thread ---- */

static int accept_client(int fd)
{
#ifdef SOCK_CLOEXEC
    return accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
#else
    const int client = accept(fd, NULL, NULL);
    if (client >= 0)
        fcntl(client, F_SETFD, FD_CLOEXEC);
    return client;
#endif
}

/* Elsewhere the socket's mode lets nobody else in. */
static bool is_allowed(int fd)
{
#ifdef __linux__
    struct ucred peer = {0};
    socklen_t len = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
           (peer.uid == 0 || peer.uid == owner);
#else
    return fd >= 0;
#endif
}

/* Returns the descriptor at this index, or -1 if it is not ours any more. */
static int fd_of(unsigned i)
{
    return nytp_own_fd(&clients[i].own);
}

static void drop(unsigned i)
{
    close(fd_of(i));
    clients[i].own.fd = watch.fds[i].fd = -1;
}

/* Removes the socket's name unless something else has it now. */
static void remove_name(void)
{
    nytp_path_remove(socket_path, &name_id);
}

/* Sends one line, cut to fit. */
static __attribute__((format(printf, 2, 3))) void say(int fd, const char *format, ...)
{
    char line[2 * NYTP_CONTROL_LINE];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line - 1, format, args);
    va_end(args);
    const size_t len = strlen(line);
    line[len] = '\n';
    send(fd, line, len + 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static bool has_obeyed(const struct nytp_control_target *target)
{
    const unsigned number = atomic_load(&order);
    return atomic_load(&target->obeyed) == number ||
           atomic_load(&orders[number & 1].command) == NYTP_COMMAND_NONE;
}

static void put_who(struct nytp_fixed_text *to, const struct nytp_control_target *target)
{
    nytp_fixed_printf(to, "pid %ld ", (long)maker);
    if (target->thread > 0)
        nytp_fixed_printf(to, "thread %u ", target->thread);
}

/* The interpreter may be freeing the name: reading freed memory this way does not crash. */
static void put_file(struct nytp_fixed_text *to, const struct nytp_control_target *target)
{
    const char *const path = *target->path;
    char letter = '\0';
    nytp_fixed_put(to, " into ");
    for (const char *at = path;
         at != NULL && nytp_read_part((long)maker, at, &letter, 1) == 1 && letter != '\0' &&
         to->n < to->size;
         at++)
        to->to[to->n++] = letter;
    nytp_fixed_printf(to, " since %lld", (long long)*(volatile const time_t *)target->began_s);
}

static void answer_status(int fd, struct nytp_control_target *target)
{
    char bytes[2 * NYTP_CONTROL_LINE];
    struct nytp_fixed_text text = {.to = bytes, .size = sizeof bytes - 1};
    const enum nytp_state state = *(volatile const enum nytp_state *)target->state;
    put_who(&text, target);
    nytp_fixed_put(&text, state_words[state]);
    if (state == NYTP_RECORDING || state == NYTP_PAUSED)
        put_file(&text, target);
    if (!has_obeyed(target))
        nytp_fixed_printf(
            &text, "; pending: %s",
            nytp_command_words[atomic_load(&orders[atomic_load(&order) & 1].command)]);
    nytp_fixed_put(&text, "; ");
    nytp_where_put(&text, &target->where);
    bytes[text.n++] = '\n';
    send(fd, bytes, text.n, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Sends the running op, and each open call with its line. */
static void answer_stack(int fd, struct nytp_control_target *target)
{
    static char bytes[65536];
    struct nytp_fixed_text text = {.to = bytes, .size = sizeof bytes};
    put_who(&text, target);
    nytp_where_put(&text, &target->where);
    nytp_where_put_stack(&text);
    send(fd, bytes, text.n, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void answer_by(int fd, void (*answer)(int fd, struct nytp_control_target *target))
{
    for (struct nytp_control_target *target = targets; target != NULL; target = target->next) {
        nytp_where_look(&target->where);
        answer(fd, target);
    }
}

static void ask_targets(void)
{
    for (struct nytp_control_target *target = targets; target != NULL; target = target->next)
        nytp_safe_point_ask(target->interpreter);
}

static void give_order(enum nytp_command what, const char *name)
{
    const unsigned number = atomic_load(&order) + 1;
    struct order *const next = &orders[number & 1];
    strcpy(next->argument, name);
    atomic_store(&next->command, (int)what);
    atomic_store(&order, number);
    n_waits = 0;
    atomic_store(&off_at_ns, 0);
    atomic_store(&is_waiting, true);
    ask_targets();
}

/* Returns the index of the client that waits for an answer, or 0: a further command takes the
 * place of the one before. */
static unsigned waiting_client(void)
{
    for (unsigned i = 1; i < NYTP_TICK_FDS; i++)
        if (clients[i].own.fd >= 0 && clients[i].waits)
            return i;
    return 0;
}

static void pass_answer_of(int fd, const struct nytp_control_target *target)
{
    static const char sleeps[] = "sleeps, and obeys when it wakes";
    if (has_obeyed(target))
        say(fd, "%s", target->answer);
    else if (target->thread > 0)
        say(fd, "ok thread %u %s", target->thread, sleeps);
    else
        say(fd, "ok %s", sleeps);
}

static void pass_answers_on(void)
{
    const unsigned i = waiting_client();
    if (i > 0) {
        for (const struct nytp_control_target *target = targets; target != NULL;
             target = target->next)
            pass_answer_of(fd_of(i), target);
        drop(i);
    }
    atomic_store(&is_waiting, false);
}

/* Returns whether all have obeyed, or all that do not sleep. */
static bool is_answered(void)
{
    unsigned n = 0, n_obeyed = 0;
    for (const struct nytp_control_target *target = targets; target != NULL;
         target = target->next) {
        n++;
        n_obeyed += has_obeyed(target);
    }
    return n_obeyed == n || (n_obeyed > 0 && n_waits >= SLEEPERS_WAITS);
}

/* Cancels an earlier command that was not obeyed. One that was is answered. */
static void withdraw(void)
{
    if (atomic_load(&is_waiting) && is_answered())
        pass_answers_on();
    const unsigned i = waiting_client();
    if (i > 0) {
        say(fd_of(i), "error another command has come in its place");
        drop(i);
    }
    atomic_store(&is_waiting, false);
}

/* A client that waits for its answer is not read: it may have shut down its side. */
static void hand_over(unsigned i, enum nytp_command what, const char *name)
{
    withdraw();
    clients[i].waits = true;
    clients[i].is_taken = false;
    watch.fds[i].events = 0;
    give_order(what, name);
}

static void cancel(int fd)
{
    bool is_pending = false;
    for (const struct nytp_control_target *target = targets; target != NULL;
         target = target->next)
        is_pending = is_pending || !has_obeyed(target);
    withdraw();
    give_order(NYTP_COMMAND_NONE, "");
    atomic_store(&is_waiting, false);
    say(fd, "%s", is_pending ? "ok withdrawn" : "error nothing is pending");
}

/* Returns false if this client is to be dropped. */
static bool read_client(unsigned i)
{
    struct nytp_request *const request = &clients[i].request;
    const char *name;
    if (clients[i].waits)
        return false; /* the client hung up */
    const ssize_t n = recv(fd_of(i), request->line + request->n,
                           sizeof request->line - request->n, MSG_DONTWAIT);
    if (n <= 0)
        return false;
    const enum nytp_command command = nytp_request_add(request, (size_t)n, &name);
    if (command == NYTP_COMMAND_NONE)
        return true;
    if (command == NYTP_COMMAND_STATUS)
        answer_by(fd_of(i), answer_status);
    else if (command == NYTP_COMMAND_CANCEL)
        cancel(fd_of(i));
    else if (command == NYTP_COMMAND_STACK)
        answer_by(fd_of(i), answer_stack);
    else if (command == NYTP_COMMAND_UNKNOWN)
        say(fd_of(i), "error no such command");
    else if (command != NYTP_COMMAND_TOO_LONG)
        hand_over(i, command, name);
    return clients[i].waits;
}

/* Returns a free index, after dropping the longest idle client if there is none. At most one
 * client waits for an answer. */
static unsigned make_room(void)
{
    unsigned oldest = 0;
    for (unsigned i = 1; i < NYTP_TICK_FDS; i++) {
        if (clients[i].own.fd < 0)
            return i;
        if (!clients[i].waits &&
            (oldest == 0 || clients[i].until_ns < clients[oldest].until_ns))
            oldest = i;
    }
    drop(oldest);
    return oldest;
}

/* The system gives a client the lowest free number; another cannot be requested. Until it is
 * moved to a high one, a microsecond later, the program may be given the next number instead.
 *
 * If none can be accepted, as when the program has all descriptors that it may have, the socket
 * is ignored until the next check. */
static void let_in(uint64_t now_ns)
{
    const int low = accept_client(fd_of(0));
    if (low < 0) {
        watch.fds[0].events = 0;
        return;
    }
    const int fd = nytp_own_fd_move(low);
    if (!is_allowed(fd)) {
        close(fd);
        return;
    }
    const unsigned i = make_room();
    clients[i].own = nytp_own_fd_of(fd);
    clients[i].request.n = 0;
    clients[i].until_ns = now_ns + idle_ns;
    clients[i].waits = false;
    watch.fds[i].fd = fd;
    watch.fds[i].events = POLLIN;
    watch.fds[i].revents = 0;
    ask_targets(); /* a status then tells the present state */
    say(fd, "nytp %ld", (long)maker);
}

static void look_at_socket(uint64_t now_ns)
{
    if (fd_of(0) < 0 || (watch.fds[0].revents & (POLLERR | POLLHUP))) {
        drop(0);
        atomic_store(&is_lost, true);
    }
    watch.fds[0].events = POLLIN;
    if (watch.fds[0].revents & POLLIN)
        let_in(now_ns);
    if (atomic_load(&is_lost))
        ask_targets();
}

static void look_at_client(unsigned i, uint64_t now_ns)
{
    const bool is_idle = !clients[i].waits && now_ns >= clients[i].until_ns;
    if (clients[i].own.fd < 0)
        return;
    if (is_idle || fd_of(i) < 0 || (watch.fds[i].revents != 0 && !read_client(i)))
        drop(i);
}

/* Schedules the next check no later than the end of a timed command. */
static void keep_deadline(uint64_t now_ns)
{
    const uint64_t end_ns = atomic_load(&off_at_ns);
    if (end_ns == 0)
        return;
    if (now_ns >= end_ns) {
        give_order(NYTP_COMMAND_OFF, "");
        watch.again_ms = ASK_AGAIN_MS;
    } else if ((end_ns - now_ns) / NS_PER_MS < LOOK_MS) {
        watch.again_ms = (uint32_t)((end_ns - now_ns) / NS_PER_MS) + 1;
    }
}

/* Removes the socket's name at the last moment: later the program may lack the right. A program
 * that is root, or not root, only for a while keeps its socket. */
static void give_up_name(void)
{
    if (atomic_load(&name_is_gone) ||
        !(atomic_load(&changes_user) || nytp_rights_are_given_up()))
        return;
    nytp_rights_use_on_files(remove_name);
    atomic_store(&is_lost, true);
    atomic_store(&name_is_gone, true);
}

static void on_ready(struct nytp_tick_watch *unused)
{
    const uint64_t now_ns = nytp_kernel_clock_ns(CLOCK_MONOTONIC);
    (void)unused;
    give_up_name();
    nytp_heap_copies_reap();
    for (unsigned i = 1; i < NYTP_TICK_FDS; i++)
        look_at_client(i, now_ns);
    look_at_socket(now_ns);
    for (struct nytp_control_target *target = targets; target != NULL; target = target->next)
        nytp_where_look(&target->where);
    const bool waits = atomic_load(&is_waiting);
    if (waits && is_answered())
        pass_answers_on();
    else if (waits) {
        n_waits++;
        ask_targets();
    }
    watch.again_ms = waits ? ASK_AGAIN_MS : LOOK_MS;
    if (!waits)
        keep_deadline(now_ns);
}

static void on_rights(void)
{
    give_up_name();
    ask_targets();
}

/* ---- in the program's thread ---- */

void nytp_control_remove_name(void)
{
    if (socket_path != NULL && !is_inherited && maker == getpid())
        remove_name();
}

void nytp_control_add_target(struct nytp_control_target *target)
{
    struct nytp_control_target **at = &targets;
    nytp_ticks_hold();
    while (*at != NULL)
        at = &(*at)->next;
    atomic_store(&target->obeyed, atomic_load(&order));
    nytp_where_begin(&target->where, target->interpreter, target->thread);
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
    is_inherited = true;
    nytp_heap_copies_forget();
    for (unsigned i = 1; i < watch.n; i++)
        drop(i);
    if (only == NULL)
        return;
    only->next = NULL;
    atomic_store(&off_at_ns, 0);
    nytp_where_begin(&only->where, only->interpreter, only->thread);
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

bool nytp_control_take_client(struct nytp_own_fd *client)
{
    nytp_ticks_hold();
    const unsigned i = waiting_client();
    const bool is_there = i > 0 && !clients[i].is_taken;
    if (is_there) {
        clients[i].is_taken = true;
        *client = clients[i].own;
    }
    nytp_ticks_let_go();
    return is_there;
}

void nytp_control_off_after(unsigned number, uint64_t ns)
{
    uint64_t none = 0;
    if (atomic_load(&order) == number)
        atomic_compare_exchange_strong(&off_at_ns, &none,
                                       nytp_kernel_clock_ns(CLOCK_MONOTONIC) + ns);
}

void nytp_control_ask_all(enum nytp_command what)
{
    nytp_ticks_hold();
    withdraw();
    give_order(what, "");
    atomic_store(&is_waiting, false); /* no client waits */
    nytp_ticks_let_go();
}

/* Returns whether a killed process left the socket: it belongs to us, and nobody accepts. */
static bool is_stale(const struct sockaddr_un *address)
{
    struct stat there;
    if (lstat(address->sun_path, &there) != 0 || !S_ISSOCK(there.st_mode) ||
        there.st_uid != geteuid())
        return false;
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    const bool stale = fd >= 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 &&
                       fcntl(fd, F_SETFL, O_NONBLOCK) == 0 && /* the listener may be stopped */
                       connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 &&
                       errno == ECONNREFUSED;
    if (fd >= 0)
        close(fd);
    return stale;
}

/* bind() follows no link and replaces nothing. On Linux the mode is set on the socket before it
 * has a name, so it never had another. */
static bool bind_name(int fd, const struct sockaddr_un *address)
{
    fchmod(fd, 0600);
    bool is_bound = bind(fd, (const struct sockaddr *)address, sizeof *address) == 0;
    if (!is_bound && errno == EADDRINUSE) {
        if (is_stale(address))
            unlink(address->sun_path);
        is_bound = bind(fd, (const struct sockaddr *)address, sizeof *address) == 0;
    }
#ifndef __linux__
    if (is_bound)
        fchmodat(AT_FDCWD, address->sun_path, 0600, AT_SYMLINK_NOFOLLOW);
#endif
    return is_bound;
}

static int make_socket(const char *path, char *error, size_t size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat there;
    if (strlen(path) >= sizeof address.sun_path) {
        snprintf(error, size, "control=%.1000s: a socket's name has at most %zu bytes", path,
                 sizeof address.sun_path - 1);
        return -1;
    }
    strcpy(address.sun_path, path);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd >= 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0 &&
        bind_name(fd, &address)) {
        if (listen(fd, NYTP_TICK_FDS) == 0 && lstat(path, &there) == 0) {
            name_id = nytp_file_id_of(&there);
            return nytp_own_fd_move(fd);
        }
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
    nytp_memory_begin();
    is_inherited = false;
    socket_path = strdup(path);
    atomic_store(&is_waiting, false);
    atomic_store(&is_lost, false);
    atomic_store(&changes_user, false);
    atomic_store(&name_is_gone, false);
    for (unsigned i = 0; i < NYTP_TICK_FDS; i++) {
        clients[i].own.fd = -1;
        watch.fds[i] = (struct pollfd){.fd = -1};
    }
    clients[0].own = nytp_own_fd_of(fd);
    watch.fds[0] = (struct pollfd){.fd = fd, .events = POLLIN};
    watch.n = NYTP_TICK_FDS;
    watch.again_ms = LOOK_MS;
    watch.on_ready = on_ready;
    watch.on_rights = on_rights;
    char why[120] = "out of memory";
    if (socket_path != NULL && nytp_ticks_watch(&watch, why, sizeof why))
        return true;
    snprintf(error, size, "control=%s: %s", path, why);
    nytp_control_close();
    return false;
}

bool nytp_control_is_lost(void)
{
    if (nytp_ticks_follow_rights()) {
        const struct nytp_rights rights = nytp_rights_now();
        atomic_store(&changes_user, !nytp_rights_are_of(&rights, owner));
    }
    return atomic_load(&is_lost) && atomic_exchange(&is_lost, false);
}

void nytp_control_leave(void)
{
    const bool was_there = socket_path != NULL;
    nytp_control_close();
    nytp_heap_copies_end();
    if (was_there && !is_inherited)
        atomic_store(&is_lost, true);
}

/* The tick thread removes the name, since the program has no right to. It looks after LOOK_MS
 * if a socket closed by the program did not wake it, and may have to wait for a processor. */
static void wait_for_removal(void)
{
    const struct timespec one = {.tv_nsec = NS_PER_MS};
    for (int ms = 0; ms < LONGEST_REMOVAL_MS && nytp_ticks_are_run() &&
                     atomic_load(&changes_user) && !atomic_load(&name_is_gone);
         ms++)
        nanosleep(&one, NULL);
}

void nytp_control_close(void)
{
    char unused[80];
    if (socket_path == NULL)
        return;
    if (maker == getpid() && !is_inherited) {
        remove_name();
        atomic_store(&changes_user, geteuid() != owner);
        shutdown(fd_of(0), SHUT_RDWR); /* wakes the tick thread */
        wait_for_removal();
    }
    nytp_ticks_watch(NULL, unused, sizeof unused);
    for (unsigned i = 0; i < NYTP_TICK_FDS; i++)
        drop(i);
    watch.n = 0;
    char *const path = socket_path;
    socket_path = NULL; /* before free(): a signal may come */
    free(path);
}
