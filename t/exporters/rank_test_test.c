/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The rank test where there are very many runs, and the middle of an even number of values;
 * t/cli/test_diff.py holds its probabilities against all choices counted one by one.
 */
#include "exporters/compare/rank_test.h"

#include <stdio.h>

enum {
    MANY = 50000, /* a side: twice the sum of ranks does not fit into 32 bits */
};

static int n_tests;

static void ok(bool passed, const char *name)
{
    printf("%sok %d - %s\n", passed ? "" : "not ", ++n_tests, name);
}

static double p_of(int64_t step, int64_t from)
{
    static int64_t x[MANY], y[MANY];
    for (int i = 0; i < MANY; i++) {
        x[i] = 2 * i;
        y[i] = from + step * i;
    }
    return nytp_rank_test(x, MANY, y, MANY);
}

int main(void)
{
    ok(p_of(2, 1) > 0.95, "many values that alternate are no difference");
    ok(p_of(2, 2 * MANY) < 1e-9, "many that are all greater are one");
    ok(p_of(2, -2 * MANY) < 1e-9, "as are many that are all less");
    int64_t pair[] = {3000, 1000}, four[] = {10, 40, 0, 90};
    ok(nytp_median(pair, 2) == 2000, "the median of two is their mean");
    ok(nytp_median_deviation(four, 4) == 20, "so is that of distances: 15, 15, 25, 65");
    printf("1..%d\n", n_tests);
    return 0;
}
