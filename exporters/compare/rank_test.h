/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The test of Mann and Whitney: do two lists of times differ by more than chance? It uses only
 * the order of the values, so it assumes no distribution. Also the correction of Benjamini and
 * Hochberg for testing many subs.
 */
#ifndef NYTP_RANK_TEST_H
#define NYTP_RANK_TEST_H

#include <stdbool.h>
#include <stdint.h>

/* With fewer values on each side no outcome can reach p < 0.05 (three and three: 0.1). */
#define NYTP_RANK_TEST_LEAST 4u
/* Lower probabilities are significant. */
#define NYTP_SIGNIFICANT_P 0.05
/* The probability is exact if the shorter list has at most this many values and the other one
 * is not too long for counting. Otherwise it is the normal approximation. */
#define NYTP_RANK_TEST_EXACT 20u

/* Returns the two-sided p: the probability that values from one source differ at least this
 * much. Equal values share their ranks, which p takes into account. Returns -1 if memory is
 * out. */
double nytp_rank_test(const int64_t *x, uint32_t n_x, const int64_t *y, uint32_t n_y);

/* Returns the least possible p for so many values: that of two lists without overlap. */
double nytp_rank_test_least(uint32_t n_x, uint32_t n_y);

/* Returns how many values each side needs so that one of `n` tests can be significant. */
uint32_t nytp_rank_test_needs(uint32_t n);

/* Finds the interval of the factor from x to y with at least 95 % confidence. Of all ratios of
 * two values it excludes as many at both ends as the critical value of the rank test. Returns
 * false if memory is out or a value of x is not above 0. */
bool nytp_rank_interval(const int64_t *x, uint32_t n_x, const int64_t *y, uint32_t n_y,
                        double interval[2]);

/* Replaces each p by its false discovery rate. Returns false if memory is out. */
bool nytp_false_discovery_rates(double *p, uint32_t n);

/* Sorts the values and returns their median, or the mean of the middle two, or 0 if none. */
int64_t nytp_median(int64_t *values, uint32_t n);

/* Returns the median distance of the values from their median. Overwrites them. */
int64_t nytp_median_deviation(int64_t *values, uint32_t n);

#endif
