/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A process in which perl could be looked for without end is given up after so many reads,
 * however many mappings it has.
 */
#define _DEFAULT_SOURCE
#include "spy/perl/attach.h"
#include "spy/perl/stack.h"
#include "spy/perl/walker.h"

#include "t/spy/hostile.h"
#include "t/tap.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum {
    PATIENCE = 100, /* seconds, of which a tenth is enough */
    MOST_READS = 60000,
    ENOUGH_READS = 50000, /* a perl with all its modules takes 3,000 */
};

/* Returns the process, which is hostile from now on; *n is how many mappings it has. */
static pid_t start_hostile(int *n)
{
    int ready[2];
    if (pipe(ready) != 0)
        exit(1);
    const pid_t pid = fork();
    if (pid == 0) {
        alarm(PATIENCE);
        *n = be_hostile(*n);
        if (write(ready[1], n, sizeof *n) == sizeof *n)
            pause();
        _exit(1);
    }
    if (read(ready[0], n, sizeof *n) != sizeof *n)
        exit(1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static void test_mappings(int n, bool by_file)
{
    static struct nytp_perl perl;
    struct nytp_target target;
    struct nytp_error error = {0};
    char name[80], expected[120];
    const pid_t pid = start_hostile(&n);
    if (!nytp_target_of_process(&target, pid, &error) ||
        (by_file && !nytp_memory_by_file(&target.memory)))
        exit(1);
    const bool is_found = nytp_attach(&perl, &target, &error);
    snprintf(name, sizeof name, "%d mappings%s", n, by_file ? ", read as a file" : "");
    snprintf(expected, sizeof expected,
             "process %d is given up: it takes too long to find perl there", (int)pid);
    ok(!is_found && error.status == NYTP_ERR_LIMIT, name);
    is_text(error.message, expected, "which is said");
    ok(target.memory.n_calls >= ENOUGH_READS && target.memory.n_calls <= MOST_READS,
       "after as many reads as there may be");
    nytp_target_close(&target);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void test_memory_is_out(void)
{
    static struct nytp_names names;
    static struct nytp_walker walker;
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    setrlimit(RLIMIT_AS, &(struct rlimit){1, limit.rlim_max});
    const bool is_begun = nytp_walker_init(&walker, &names, &(struct nytp_interpreter){0});
    setrlimit(RLIMIT_AS, &limit);
    ok(!is_begun, "no room to remember calls is told");
    nytp_walker_free(&walker);
}

int main(void)
{
    alarm(PATIENCE);
    test_memory_is_out();
    test_mappings(1, false);
    test_mappings(10, false);
    /* valgrind knows 30,000 mappings at most; tests in it are quick ones */
    test_mappings(rounds(65000), false);
    test_mappings(10, true);
    return done_testing();
}
