/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * How much of a processor nytp-spy takes, and how many samples it says were due: by clocks that
 * this program sets, so that nothing else on the machine is in the way.
 */
#define _GNU_SOURCE
#include "spy/record/sampling.h"

#include "t/tap.h"

#include <stdlib.h>
#include <time.h>

#define SECOND  INT64_C(1000000000)
#define LENGTH  (100 * SECOND)  /* of a recording */
#define AT_ONCE (SECOND / 10)   /* what may be taken beside a tenth of the time */
#define LONG    (SECOND / 1000) /* after a look of that a rest may come */

static int64_t now_ns = SECOND, ran_ns,
               realtime_ns; /* realtime_ns: what of ran_ns was in that priority */
static bool is_realtime;

int clock_gettime(clockid_t clock, struct timespec *to)
{
    const int64_t ns = clock == CLOCK_THREAD_CPUTIME_ID ? ran_ns : now_ns;
    *to = (struct timespec){ns / SECOND, ns % SECOND};
    return 0;
}

int sched_setscheduler(pid_t pid, int policy, const struct sched_param *priority)
{
    (void)pid;
    (void)priority;
    is_realtime = (policy & ~SCHED_RESET_ON_FORK) == SCHED_RR;
    return 0;
}

static void look_for(int64_t ns)
{
    now_ns += ns;
    ran_ns += ns;
    realtime_ns += is_realtime ? ns : 0;
}

/* Looks that take so long each, for a while; returns how many. */
static uint64_t look_on(struct nytp_pace *pace, int64_t length_ns, int64_t look_ns)
{
    uint64_t n = 0;
    for (const int64_t began = now_ns; now_ns - began < length_ns; n++) {
        nytp_pace_look(pace);
        look_for(look_ns);
        nytp_pace_next(pace);
        now_ns = pace->next_ns > now_ns ? pace->next_ns : now_ns;
    }
    return n;
}

/* The share of the time since then that may be taken. */
static int64_t most_since(int64_t began, int64_t look_ns)
{
    return (now_ns - began) / 10 + AT_ONCE + look_ns;
}

/* Whether a recording takes as much as it may, and each sample that was due came or is told. */
static bool keeps_to(uint32_t rate, int64_t look_ns, uint64_t *n, uint64_t *n_due)
{
    ran_ns = realtime_ns = 0;
    const int64_t began = now_ns;
    struct nytp_pace pace = nytp_pace_begin(rate, true);
    *n = look_on(&pace, LENGTH, look_ns);
    nytp_pace_end(&pace);
    *n_due = nytp_pace_due(&pace, *n);
    const int64_t most = most_since(began, look_ns);
    const double due = (double)(now_ns - began) / 1e9 * rate;
    const bool all_come = look_ns < LONG && look_ns * rate < SECOND / 2;
    return realtime_ns <= most && (look_ns < LONG || ran_ns <= most) &&
           (!all_come || *n == *n_due) && (double)*n_due > 0.85 * due &&
           (double)*n_due < 1.15 * due && !is_realtime;
}

static void test_looks(uint32_t rate, int64_t look_ns)
{
    uint64_t n, n_due;
    char name[120];
    const bool is_kept = keeps_to(rate, look_ns, &n, &n_due);
    snprintf(name, sizeof name, "%u a second, of %.1f us: %.1f %% of a processor, %llu of %llu",
             rate, (double)look_ns / 1e3, (double)ran_ns / (double)LENGTH * 100,
             (unsigned long long)n, (unsigned long long)n_due);
    ok(is_kept, name);
}

/* A rate below a tenth is taken as asked for. */
static void test_cheap_looks(void)
{
    uint64_t n, n_due;
    keeps_to(1000, SECOND / 20000, &n, &n_due);
    ok(n == n_due && realtime_ns == ran_ns, "looks that take a twentieth all come");
}

static void test_cheap_looks_before_dear_ones(void)
{
    struct nytp_pace pace = nytp_pace_begin(100, true);
    look_on(&pace, 3600 * SECOND, 1000);
    const int64_t ran = ran_ns, began = now_ns;
    look_on(&pace, LENGTH, SECOND / 2);
    ok(ran_ns - ran <= most_since(began, SECOND / 2),
       "an hour of cheap looks is no credit for dear ones");
}

/* A recording that goes on after a while in which nytp-spy stood still. */
static void test_standing_still(void)
{
    struct nytp_pace pace = nytp_pace_begin(100, true);
    nytp_pace_look(&pace);
    nytp_pace_next(&pace);
    now_ns += 100 * SECOND;
    nytp_pace_resume(&pace);
    nytp_pace_look(&pace);
    look_for(SECOND / 100);
    nytp_pace_next(&pace);
    ok(nytp_pace_due(&pace, pace.n_looks) <= 3 && pace.n_late == 0,
       "looks while it stood still were not due");
    now_ns += 100 * SECOND;
    nytp_pace_look(&pace);
    nytp_pace_next(&pace);
    ok(nytp_pace_due(&pace, pace.n_looks) >= 9990 && pace.n_late == 1 && !pace.has_rested,
       "those for which it came too late were");
}

int main(void)
{
    static const uint32_t rates[] = {1, 100, 1000, 10000};
    static const int64_t looks_ns[] = {1000, 49000, 900000, 1100000, 30000000, 2000000000};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        for (size_t k = 0; k < sizeof looks_ns / sizeof *looks_ns; k++)
            test_looks(rates[i], looks_ns[k]);
    test_cheap_looks();
    test_cheap_looks_before_dear_ones();
    test_standing_still();
    return done_testing();
}
