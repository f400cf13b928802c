/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The tick thread by itself, without perl. Prints TAP; ticks.t builds and runs it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../../XS/platform/ticks.h"
#include "../tap.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const void *word[NYTP_TICK_WORDS];
static volatile int asked;
static struct nytp_ring ring;
static char error[200];

static void prepare(void)
{
    for (int i = 0; i < NYTP_TICK_WORDS; i++) {
        word[i] = &word[i];
        ring.look_at[i] = &word[i];
    }
    ring.asked = &asked;
    ring.clock = CLOCK_MONOTONIC;
    ring.cpu_clock = CLOCK_THREAD_CPUTIME_ID;
}

/* Until so many more ticks have come. */
static void await_ticks(unsigned n)
{
    const uint64_t from = ring.n_ticks;
    while (ring.n_ticks < from + n)
        sched_yield();
}

enum {
    OTHER_THREADS = 0
#ifdef __SANITIZE_THREAD__
                    + 1 /* ThreadSanitizer's own */
#endif
};

/* The tick thread's line of /proc that begins so; how many threads there are. */
static unsigned thread_status(const char *key, char *line, size_t size)
{
    unsigned n = 0;
    DIR *const tasks = opendir("/proc/self/task");
    line[0] = '\0';
    for (const struct dirent *task; tasks != NULL && (task = readdir(tasks)) != NULL;) {
        char path[300];
        n += task->d_name[0] != '.';
        if (task->d_name[0] == '.' || atoi(task->d_name) == getpid())
            continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", task->d_name);
        FILE *const status = fopen(path, "r");
        while (status != NULL && fgets(line, (int)size, status) != NULL)
            if (strncmp(line, key, strlen(key)) == 0)
                break;
        if (status != NULL)
            fclose(status);
    }
    if (tasks != NULL)
        closedir(tasks);
    return n;
}

static void test_ticks(void)
{
    char line[200];
    ok(nytp_ticks_add(&ring, error, sizeof error), "the thread starts");
    nytp_ticks_set_period(1000);
    errno = 77;
    await_ticks(20);
    ok(errno == 77, "errno is the program's");
    const struct nytp_tick *const tick = nytp_tick_next(&ring);
    ok(tick != NULL && ring.head == 1 && tick->n >= 20, "what stays the same is one entry");
    ok(tick != NULL && memcmp(tick->words, word, sizeof word) == 0, "it has the words");
    ok(__atomic_load_n(&asked, __ATOMIC_RELAXED) == 1, "the program is asked to look");
    const uint64_t first = tick == NULL ? 0 : tick->ns;
    nytp_tick_taken(&ring);
    await_ticks(3);
    const struct nytp_tick *const next = nytp_tick_next(&ring);
    ok(next != NULL && next->ns > first, "what was taken makes room for another");
    if (access("/proc/self/task", R_OK) != 0)
        return;
    ok(thread_status("SigBlk", line, sizeof line) == 2 + OTHER_THREADS,
       "there are two threads");
    const uint64_t blocked = strtoull(line + strcspn(line, "\t"), NULL, 16);
    /* All but SIGKILL, SIGSTOP and the three that C libraries keep for themselves. */
    ok((blocked | UINT64_C(0x380040100)) == UINT64_MAX, "it blocks every signal of programs");
}

static void test_full_ring(void)
{
    nytp_ticks_set_period(100);
    while (ring.head - ring.tail < NYTP_TICKS_IN_RING)
        __atomic_store_n(&word[0], (const char *)word[0] + 1, __ATOMIC_RELAXED);
    const struct nytp_tick *const last = &ring.ticks[(ring.head - 1) % NYTP_TICKS_IN_RING];
    const uint64_t ns = last->ns;
    for (const uint64_t from = ring.n_ticks; ring.n_ticks < from + 10;)
        __atomic_store_n(&word[0], (const char *)word[0] + 1, __ATOMIC_RELAXED);
    ok(ring.head - ring.tail == NYTP_TICKS_IN_RING, "a full ring takes no more");
    ok(last->ns > ns, "its last entry gets the time");
    while (nytp_tick_next(&ring) != NULL)
        nytp_tick_taken(&ring);
    nytp_ticks_set_period(1000);
}

static void test_fork(void)
{
    fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) {
        const uint64_t n = ring.n_ticks;
        nytp_ticks_forked();
        if (nytp_tick_next(&ring) != NULL || ring.n_ticks > n + 1)
            _exit(1);
        if (!nytp_ticks_run(error, sizeof error))
            _exit(2);
        await_ticks(5);
        execl("/bin/true", "true", (char *)NULL);
        _exit(3);
    }
    int status;
    waitpid(pid, &status, 0);
    ok(status == 0, "a child starts its own, and it is no hindrance to exec");
    await_ticks(3);
    ok(true, "the parent's goes on");
}

static _Atomic unsigned n_answers;

static void on_rights(void)
{
}

static void on_ready(struct nytp_tick_watch *watch)
{
    if (watch->fds[0].revents & POLLIN) {
        char byte;
        if (read(watch->fds[0].fd, &byte, 1) != 1)
            return;
        watch->again_ms = 1;
    }
    n_answers++;
}

static void test_watch(void)
{
    int ends[2];
    static struct nytp_tick_watch watch = {
        .n = 1, .on_ready = on_ready, .on_rights = on_rights};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return;
    watch.fds[0] = (struct pollfd){.fd = ends[0], .events = POLLIN};
    ok(nytp_ticks_watch(&watch, error, sizeof error), "a descriptor is watched");
    await_ticks(3);
    ok(n_answers == 0, "ticks come meanwhile");
    ok(write(ends[1], "x", 1) == 1, "it becomes ready");
    while (n_answers < 3)
        sched_yield();
    ok(n_answers >= 3, "it is answered, and again after the time that was asked for");
    nytp_ticks_watch(NULL, error, sizeof error);
    const unsigned n = n_answers;
    await_ticks(5);
    ok(n_answers == n, "when it is not watched any more it is not answered");
}

/* Until the tick thread's users are these, as the program comes to safe points. */
static void await_user(const char *users)
{
    char line[200] = "";
    do {
        nytp_ticks_follow_rights();
        thread_status("Uid:", line, sizeof line);
    } while (strstr(line, users) == NULL);
}

static void test_rights(void)
{
#ifdef __linux__
    char line[200];
    if (geteuid() != 0) {
        ok(true, "the thread gives up rights with the process # SKIP needs root");
        return;
    }
    /* The kernel itself changes those of the calling thread alone. */
    if (syscall(SYS_setresuid, -1, 65534, -1) != 0)
        return;
    await_user("65534");
    ok(true, "the thread gives up rights with the process");
    await_ticks(2);
    ok(true, "and its ticks go on");
    if (syscall(SYS_setresuid, -1, 0, -1) != 0)
        return;
    await_user("\t0\t0\t0\t0");
    ok(true, "and gets them back with it");
    if (setegid(65534) != 0)
        return;
    thread_status("Gid:", line, sizeof line);
    while (strstr(line, "65534") == NULL) {
        nytp_ticks_follow_rights();
        thread_status("Gid:", line, sizeof line);
    }
    ok(true, "a group, too");
#endif
}

int main(void)
{
    alarm(300); /* no wait for ticks is for ever */
    prepare();
    test_ticks();
    test_full_ring();
    if (OTHER_THREADS == 0) /* it has no threads in children */
        test_fork();
    test_watch();
    test_rights();
    nytp_ticks_remove(&ring);
    char line[200];
    ok(thread_status("Uid:", line, sizeof line) <= 1 + OTHER_THREADS,
       "with the last ring the thread ends");
    return done_testing();
}
