/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What can be done with a finished profile (model.h): look something up in it, add up its
 * times, check it, free it.
 */
#ifndef NYTP_PROFILE_H
#define NYTP_PROFILE_H

#include "formats/base/error.h"
#include "model.h"

/* Frees the profile and all that hangs off it. Accepts NULL. */
void nytp_profile_free(struct nytp_profile *profile);

/* The value of an attribute or option, borrowed from the profile; NULL when it has none. */
const struct nytp_name *nytp_profile_attribute(const struct nytp_profile *profile,
                                               const char *key);
const struct nytp_name *nytp_profile_option(const struct nytp_profile *profile,
                                            const char *key);

/* A line of a file with its text, borrowed from the profile; NULL when the recording does not
 * hold it. `file` is an index of profile->files, `line` may be any number. */
const struct nytp_source_line *nytp_profile_source(const struct nytp_profile *profile,
                                                   uint32_t file, uint32_t line);

/* Whether every invariant holds that model.h states; if not, *error tells the first that does
 * not. It takes one pass over the arrays. They hold for whatever can be read: what breaks one
 * is a fault of this program. */
bool nytp_profile_adds_up(const struct nytp_profile *profile, struct nytp_error *error);

/* Whether the profile adds up, and no call is from a place that no recorder can have seen; if
 * not, *error tells the first that is. This is `nytp-export --check`. */
bool nytp_profile_check(const struct nytp_profile *profile, struct nytp_error *error);

/* Two times of calls that lie within each other, added up. A sum that does not fit becomes the
 * largest or the smallest number. No other sum of ticks needs this: a builder accepts no more
 * than NYTP_MAX_TOTAL_TICKS of an input, and a merge checks its products. */
static inline int64_t nytp_ticks_sum(int64_t a, int64_t b)
{
    int64_t sum;
    return !__builtin_add_overflow(a, b, &sum) ? sum : b < 0 ? INT64_MIN : INT64_MAX;
}

/* The order of profile->blocks, for qsort(). */
int nytp_compare_blocks(const void *x, const void *y);

/* Neighbouring rows of a table. */
struct nytp_slice {
    uint32_t first, n;
};

/* The rows of n processes, the first of which is this one. */
struct nytp_slice nytp_memory_points_of(const struct nytp_profile *p, uint32_t process,
                                        uint32_t n);
struct nytp_slice nytp_stretches_of(const struct nytp_profile *p, uint32_t process, uint32_t n);
struct nytp_slice nytp_regexes_of(const struct nytp_profile *p, uint32_t process, uint32_t n);
struct nytp_slice nytp_waited_of(const struct nytp_profile *p, uint32_t process, uint32_t n);

/* A selection left out time: what is known of whole processes alone goes, too. */
void nytp_profile_lose_time(struct nytp_profile *p);

/* The end of a process's nodes. */
uint32_t nytp_process_nodes_end(const struct nytp_profile *p, uint32_t process);

#endif
