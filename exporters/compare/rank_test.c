/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Ranks and their probabilities; see rank_test.h.
 *
 * If both lists come from one source, each choice of n_x of all values is equally likely to be
 * the first list. So the choices are counted for every sum of ranks, one value after another:
 * ways[k][s] is the number of ways in which k of the values so far have the sum s. Equal
 * values share the mean of their ranks, so all ranks are doubled to stay whole numbers.
 */
#include "rank_test.h"

#include "formats/model/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_STEPS = 3000000, /* 20 values against 65, 10 against 160, 4 against 430 */
};

struct ranked {
    int64_t value;
    bool of_x;
    double double_rank;
};

static int by_value(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    return (a->value > b->value) - (a->value < b->value);
}

/* Returns the sum of size^3 - size over all groups of equal values. */
static double assign_ranks(struct ranked *all, uint32_t n)
{
    double ties = 0;
    qsort(all, n, sizeof *all, by_value);
    for (uint32_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && all[end].value == all[first].value;)
            end++;
        for (uint32_t i = first; i < end; i++)
            all[i].double_rank = (double)first + 1 + end;
        const double size = end - first;
        ties += size * size * size - size;
    }
    return ties;
}

/* Returns the share of all choices whose sum is at least as far from the mean as `sum`. */
static double exact_probability(const struct ranked *all, uint32_t n, uint32_t n_x, double sum)
{
    const size_t n_sums = (size_t)n_x * 2 * n + 1;
    double *ways = calloc((n_x + 1) * n_sums, sizeof *ways);
    if (ways == NULL)
        return -1;
    ways[0] = 1;
    for (uint32_t i = 0; i < n; i++) {
        const size_t rank = (size_t)all[i].double_rank;
        for (uint32_t k = i + 1 < n_x ? i + 1 : n_x; k >= 1; k--)
            for (size_t s = rank; s < n_sums; s++)
                ways[k * n_sums + s] += ways[(k - 1) * n_sums + s - rank];
    }
    const double mean = (double)n_x * (n + 1);
    const double distance = fabs(sum - mean);
    double far = 0, total = 0;
    for (size_t s = 0; s < n_sums; s++) {
        const double count = ways[n_x * n_sums + s];
        total += count;
        if (fabs((double)s - mean) >= distance)
            far += count;
    }
    free(ways);
    return far / total;
}

/* The same by the normal distribution, corrected for continuity and ties. */
static double normal_probability(double n, double n_x, double sum, double ties)
{
    const double n_y = n - n_x;
    const double mean = n_x * (n + 1);
    const double variance = n_x * n_y / 12 * (n + 1 - ties / (n * (n - 1)));
    if (variance <= 0)
        return 1;
    double distance = fabs(sum - mean) / 2 - 0.5;
    if (distance < 0)
        distance = 0;
    return erfc(distance / sqrt(variance) / sqrt(2));
}

/* Counting is exact; it is used if it takes at most a few milliseconds. */
static bool is_exact(uint32_t n_x, uint32_t n_y)
{
    const double shorter = n_x < n_y ? n_x : n_y, n = (double)n_x + n_y;
    return shorter <= NYTP_RANK_TEST_EXACT && shorter * n * shorter * n <= MOST_STEPS;
}

double nytp_rank_test(const int64_t *x, uint32_t n_x, const int64_t *y, uint32_t n_y)
{
    if (n_x > n_y)
        return nytp_rank_test(y, n_y, x, n_x);
    const uint32_t n = n_x + n_y;
    struct ranked *all = malloc(((size_t)n + 1) * sizeof *all);
    if (all == NULL)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        all[i] = (struct ranked){.value = i < n_x ? x[i] : y[i - n_x], .of_x = i < n_x};
    const double ties = assign_ranks(all, n);
    double sum = 0; /* whole; beyond 2^32 for some ten thousand values */
    for (uint32_t i = 0; i < n; i++)
        sum += all[i].of_x ? all[i].double_rank : 0;
    const double p = is_exact(n_x, n_y) ? exact_probability(all, n, n_x, sum)
                                        : normal_probability(n, n_x, sum, ties);
    free(all);
    return p;
}

double nytp_rank_test_least(uint32_t n_x, uint32_t n_y)
{
    const double n = (double)n_x + n_y;
    if (!is_exact(n_x, n_y))
        return normal_probability(n, n_x, n_x * (n + 1) + (double)n_x * n_y, 0);
    double choices = 1; /* of n_x values among all */
    for (uint32_t i = 1; i <= n_x && choices < 1e300; i++)
        choices *= (double)(n_y + i) / i;
    return choices < 2 ? 1 : 2 / choices;
}

uint32_t nytp_rank_test_needs(uint32_t n)
{
    uint32_t values = NYTP_RANK_TEST_LEAST;
    while (nytp_rank_test_least(values, values) * n >= NYTP_SIGNIFICANT_P)
        values++;
    return values;
}

static int by_ratio(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

bool nytp_rank_interval(const int64_t *x, uint32_t n_x, const int64_t *y, uint32_t n_y,
                        double interval[2])
{
    const size_t n = (size_t)n_x * n_y;
    double *ratios = malloc((n + 1) * sizeof *ratios);
    bool ok = ratios != NULL && n > 0;
    for (uint32_t i = 0; ok && i < n_x; i++)
        for (uint32_t k = 0; (ok = x[i] > 0) && k < n_y; k++)
            ratios[(size_t)i * n_y + k] = (double)y[k] / (double)x[i];
    if (ok) {
        const double deviation = sqrt((double)n * (n_x + n_y + 1.0) / 12);
        const double from_end = floor((double)n / 2 - 1.96 * deviation);
        const size_t at = from_end >= 1 ? (size_t)from_end - 1 : 0;
        qsort(ratios, n, sizeof *ratios, by_ratio);
        interval[0] = ratios[at];
        interval[1] = ratios[n - 1 - at];
    }
    free(ratios);
    return ok;
}

struct discovery {
    double p;
    uint32_t index;
};

static int by_p(const void *left, const void *right)
{
    const struct discovery *a = left, *b = right;
    NYTP_RETURN_ORDER(a->p, b->p);
    return (a->index > b->index) - (a->index < b->index);
}

bool nytp_false_discovery_rates(double *p, uint32_t n)
{
    struct discovery *order = malloc(((size_t)n + 1) * sizeof *order);
    if (order == NULL)
        return false;
    for (uint32_t i = 0; i < n; i++)
        order[i] = (struct discovery){p[i], i};
    if (n > 0)
        qsort(order, n, sizeof *order, by_p);
    double least = 1;
    for (uint32_t i = n; i-- > 0;) {
        const double rate = order[i].p * n / (i + 1);
        least = rate < least ? rate : least;
        p[order[i].index] = least;
    }
    free(order);
    return true;
}

static int by_number(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

int64_t nytp_median(int64_t *values, uint32_t n)
{
    if (n == 0)
        return 0;
    qsort(values, n, sizeof *values, by_number);
    const int64_t low = values[(n - 1) / 2], high = values[n / 2];
    return low + (high - low) / 2;
}

int64_t nytp_median_deviation(int64_t *values, uint32_t n)
{
    const int64_t median = nytp_median(values, n);
    for (uint32_t i = 0; i < n; i++)
        values[i] = values[i] < median ? median - values[i] : values[i] - median;
    return nytp_median(values, n);
}
