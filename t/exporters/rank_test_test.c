/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The rank test where there are very many runs, and the middle of an even number of values;
 * t/cli/test_diff.py holds its probabilities against all choices counted one by one.
 */
#include "exporters/compare/rank_test.h"

#include "t/tap.h"

enum {
    MANY = 50000, /* a side: twice the sum of ranks does not fit into 32 bits */
};

static double p_of(int64_t step, int64_t from)
{
    static int64_t x[MANY], y[MANY];
    for (int i = 0; i < MANY; i++) {
        x[i] = 2 * i;
        y[i] = from + step * i;
    }
    return nytp_rank_test(x, MANY, y, MANY);
}

/* Lists of so many values, all of the second greater than those of the first. */
static double apart(uint32_t n_x, uint32_t n_y)
{
    int64_t x[1000], y[1000];
    for (uint32_t i = 0; i < n_x; i++)
        x[i] = i;
    for (uint32_t i = 0; i < n_y; i++)
        y[i] = 1000 + i;
    return nytp_rank_test(x, n_x, y, n_y);
}

static bool is_near(double a, double b)
{
    return a > b * 0.999999 && a < b * 1.000001;
}

int main(void)
{
    ok(p_of(2, 1) > 0.95, "many values that alternate are no difference");
    ok(p_of(2, 2 * MANY) < 1e-9, "many that are all greater are one");
    ok(p_of(2, -2 * MANY) < 1e-9, "as are many that are all less");
    int64_t pair[] = {3000, 1000}, four[] = {10, 40, 0, 90};
    ok(nytp_median(pair, 2) == 2000, "the median of two is their mean");
    ok(nytp_median_deviation(four, 4) == 20, "so is that of distances: 15, 15, 25, 65");
    ok(is_near(apart(4, 25), 2.0 / 23751), "four against 25 are counted: 2 of 23,751 choices");
    ok(is_near(apart(25, 4), 2.0 / 23751), "as are 25 against four");
    static const uint32_t sizes[][2] = {{4, 4},   {4, 25},   {20, 20}, {20, 70},
                                        {21, 21}, {4, 1000}, {1000, 5}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        ok(is_near(apart(sizes[i][0], sizes[i][1]),
                   nytp_rank_test_least(sizes[i][0], sizes[i][1])),
           "the least p is that of lists that are apart");
    return done_testing();
}
