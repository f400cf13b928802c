/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Samples a process and writes each stack as one line, outermost first: "main:12;main::f:3".
 * For the tests of the walk, which look at single samples; in the end it says how many were
 * whole.
 *
 *     samples PID HZ N [apart | stopped | followed | builtins]
 *
 * With "apart" the process has had 0.2 ms of a processor since the last one, so that what kept
 * it from its processor counts once. With "stopped" it is stopped for each look besides: what
 * is seen then was not changed by being looked at. With "followed" it is looked at as a
 * recording looks. With "builtins" a line ends in the builtin that runs: "main:12;CORE:sort".
 */
#include "spy/perl/attach.h"
#include "spy/record/sampling.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    APART_NS = 200000,
    MOST_TRIES = 100,
};

static void put_stack(const struct nytp_names *names, const struct nytp_stack *stack,
                      const char *builtin)
{
    for (uint32_t i = stack->n; i-- > 0;) {
        const struct nytp_frame *const frame = &stack->frames[i];
        const char *name = frame->kind == NYTP_FRAME_MAIN ? "main" : "(eval)";
        if (frame->kind == NYTP_FRAME_SUB)
            name = nytp_strings_get(names->strings, names->subs[frame->sub].name).ptr;
        printf("%s:%u%s", name, frame->line, i > 0 ? ";" : "");
    }
    printf(builtin != NULL ? ";CORE:%s\n" : "\n", builtin);
}

static void take(void *names, struct nytp_spied_thread *thread, int64_t ticks, int64_t cpu)
{
    if (ticks >= 0)
        put_stack(names, &thread->stack, NULL);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* False: it has ended. */
static bool wait_until_it_has_run(pid_t pid, int64_t *ran_ns)
{
    struct timespec now;
    clockid_t clock;
    while (clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &now) == 0) {
        const int64_t ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
        if (ns - *ran_ns >= APART_NS) {
            *ran_ns = ns;
            return true;
        }
        nanosleep(&(struct timespec){0, APART_NS}, NULL);
    }
    return false;
}

/* Stops a process, and waits until it has stopped or ended. */
static void stop(pid_t pid)
{
    const int fd = nytp_task_open(pid, pid, "stat");
    kill(pid, SIGSTOP);
    for (char letter = 'R'; letter == 'R' || letter == 'S' || letter == 'D';)
        letter = nytp_task_state(fd).letter;
    close(fd);
}

/* A program that changes may not be known at the first try. */
static bool attach(struct nytp_perl *perl, struct nytp_target *target, struct nytp_error *error)
{
    for (int i = 0; i < MOST_TRIES; i++) {
        *error = (struct nytp_error){0};
        if (nytp_attach(perl, target, error))
            return true;
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    return false;
}

int main(int argc, char **argv)
{
    struct nytp_target target;
    struct nytp_perl perl;
    struct nytp_names names;
    struct nytp_walker walker;
    struct nytp_error error = {0};
    if (argc < 4)
        return 2;
    const long rate = atol(argv[2]), n = atol(argv[3]);
    if (!nytp_target_of_process(&target, atoi(argv[1]), &error) ||
        !attach(&perl, &target, &error) || !nytp_name_cache_init(&names, &perl)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    if (!nytp_walker_init(&walker, &names, &perl.interpreters[0]))
        return 1;
    const bool is_followed = argc > 4 && strcmp(argv[4], "followed") == 0;
    const bool has_builtins = argc > 4 && strcmp(argv[4], "builtins") == 0;
    struct nytp_look_counts looks = {0};
    struct nytp_sampling sampling = {
        .names = &names, .sample = take, .context = &names, .counts = &looks};
    walker.keeps_all = argc < 5 || strcmp(argv[4], "ends") != 0;
    const bool is_apart = argc > 4 && walker.keeps_all && !is_followed && !has_builtins,
               is_stopped = is_apart && strcmp(argv[4], "stopped") == 0;
    long counts[3] = {0}, i = 0;
    int64_t ran_ns = 0;
    const double began = seconds();
    for (; i < n; i++) {
        if (is_apart && !wait_until_it_has_run(target.pid, &ran_ns))
            break;
        if (is_stopped)
            stop(target.pid);
        const enum nytp_sampled sampled = !is_followed                    ? nytp_sample(&walker)
                                          : nytp_sampling_look(&sampling) ? NYTP_TORN
                                                                          : NYTP_GONE;
        if (is_stopped)
            kill(target.pid, SIGCONT);
        counts[sampled]++;
        if (sampled == NYTP_WHOLE)
            put_stack(&names, &walker.stack,
                      has_builtins ? nytp_timed_builtin(&perl, walker.stack.builtin) : NULL);
        if (sampled == NYTP_GONE)
            break;
        nanosleep(&(struct timespec){0, 1000000000 / rate}, NULL);
    }
    fprintf(stderr,
            "%ld whole, %llu of them at a second look, %llu at a later one, %ld torn, %.0f us "
            "each, "
            "%.1f calls each, %.1f pieces each\n",
            counts[NYTP_WHOLE], (unsigned long long)walker.n_retried,
            (unsigned long long)walker.n_retried_more, counts[NYTP_TORN],
            (seconds() - began) / (double)(i + 1) * 1e6,
            (double)target.memory.n_calls / (double)(i + 1),
            (double)target.memory.n_pieces / (double)(i + 1));
    nytp_walker_free(&walker);
    nytp_name_cache_free(&names);
    nytp_detach(&perl);
    nytp_target_close(&target);
    return 0;
}
