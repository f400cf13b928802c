/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What the tests in C say, in the Test Anything Protocol.
 */
#ifndef NYTP_TEST_TAP_H
#define NYTP_TEST_TAP_H

#include <stdbool.h>
#include <stdio.h>
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

/* Returns main()'s exit status. */
static inline int done_testing(void)
{
    printf("1..%d\n", n_tests);
    return 0;
}

#endif
