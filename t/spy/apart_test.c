/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Signals that come while a file is opened apart: poll() and the clock are this program's, so
 * that they come in that very moment.
 */
#define _GNU_SOURCE
#include "spy/target/apart.h"

#include "t/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t n_handled;
static int n_polls, n_interrupted; /* n_interrupted: so many polls end by signals */
static int64_t now_ms;

int clock_gettime(clockid_t clock, struct timespec *to)
{
    (void)clock;
    *to = (struct timespec){now_ms / 1000, now_ms % 1000 * 1000000};
    return 0;
}

/* Each signal is sent when the one before it should have been handled. */
int poll(struct pollfd *fds, nfds_t n, int timeout)
{
    const struct timespec at_most = {timeout == 0 ? 0 : 600, 0};
    if (n_polls++ >= n_interrupted)
        return ppoll(fds, n, &at_most, NULL);
    for (int i = 0; i < 2; i++)
        kill(getpid(), SIGINT);
    now_ms += 400;
    errno = EINTR;
    return timeout == 0 ? 0 : -1;
}

static void note(int signal)
{
    (void)signal;
    n_handled++;
}

static int open_proc(const void *context, int *verdict)
{
    (void)context;
    *verdict = 7;
    return open("/proc/self/status", O_RDONLY | O_CLOEXEC);
}

static int never_open(const void *context, int *verdict)
{
    (void)context;
    *verdict = 7;
    pause();
    return -1;
}

int main(void)
{
    int verdict = 0;
    sigaction(SIGINT, &(struct sigaction){.sa_handler = note}, NULL);
    n_interrupted = 1;
    const int fd = nytp_open_apart(open_proc, NULL, &verdict);
    ok(n_handled == 2, "two signals that come while a file is opened are two");
    ok(fd >= 0 && verdict == 7, "and the file is opened all the same");
    n_interrupted = 100;
    n_polls = verdict = 0;
    ok(nytp_open_apart(never_open, NULL, &verdict) == -1 && verdict == 0,
       "a file that does not come is given up, however many signals come");
    ok(n_polls == 4, "after a second");
    return done_testing();
}
