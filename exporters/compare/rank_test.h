/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Whether two lists of times differ by more than chance: the test of Mann and Whitney, which
 * looks at the order of the values alone and needs no assumption on how times are spread; and
 * the correction of Benjamini and Hochberg for asking the same question of many subs.
 */
#ifndef NYTP_RANK_TEST_H
#define NYTP_RANK_TEST_H

#include <stdbool.h>
#include <stdint.h>

/* Below four values on each side no outcome can reach p < 0.05 (three and three: 0.1). */
#define NYTP_RANK_TEST_LEAST 4u
/* What is less likely than this is not taken for chance. */
#define NYTP_SIGNIFICANT_P 0.05
/* Up to this many values in the shorter list the probability is exact, unless the other one is
 * so long that counting takes too long; else it is the normal approximation. */
#define NYTP_RANK_TEST_EXACT 20u

/* How likely values that come from one source are to fall apart at least as far as these do,
 * in either direction: the two-sided p. Equal values share their ranks, and the probability
 * takes account of that. -1 when memory is out. */
double nytp_rank_test(const int64_t *x, uint32_t n_x, const int64_t *y, uint32_t n_y);

/* The least p that so many values can reach: that of two lists that do not overlap, as
 * nytp_rank_test() finds it. */
double nytp_rank_test_least(uint32_t n_x, uint32_t n_y);

/* How many values each side must have so that one of `n` questions can be answered although all
 * are asked: so that the least p, corrected for them, is significant. */
uint32_t nytp_rank_test_needs(uint32_t n);

/* Between which factors the values of y are those of x, in 95 of 100 cases or more: of all
 * ratios of two values those so far from both ends as the rank test's critical value is. False
 * when memory is out, or where a value of x is not above 0. */
bool nytp_rank_interval(const int64_t *x, uint32_t n_x, const int64_t *y, uint32_t n_y,
                        double interval[2]);

/* Replace each p by the least rate of false discoveries at which it would still be one. False
 * when memory is out. */
bool nytp_false_discovery_rates(double *p, uint32_t n);

/* The middle value; of an even number of values the mean of the two in the middle. Sorts
 * `values`; 0 when there is none. */
int64_t nytp_median(int64_t *values, uint32_t n);

/* The median distance of the values from their median; `values` is overwritten. */
int64_t nytp_median_deviation(int64_t *values, uint32_t n);

#endif
