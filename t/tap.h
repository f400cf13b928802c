/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What the tests in C say, in the Test Anything Protocol.
 */
#ifndef NYTP_TEST_TAP_H
#define NYTP_TEST_TAP_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int n_tests;

static inline bool ok(bool passed, const char *name)
{
    printf("%sok %d - %s\n", passed ? "" : "not ", ++n_tests, name);
    return passed;
}

static inline void is_text(const char *got, const char *expected, const char *name)
{
    if (!ok(strcmp(got, expected) == 0, name))
        fprintf(stderr, "# %s\n# got:\n%s\n# expected:\n%s\n", name, got, expected);
}

/* Whether this runs in valgrind or under sanitizers, where all takes many times as long. */
static inline bool is_slow(void)
{
    return getenv("NYTP_TEST_QUICK") != NULL;
}

/* Returns how often to do again what is the same each time: n, or a twentieth where it is slow. */
static inline int rounds(int n)
{
    return is_slow() ? n / 20 : n;
}

/* Returns main()'s exit status. */
static inline int done_testing(void)
{
    printf("1..%d\n", n_tests);
    return 0;
}

#endif
