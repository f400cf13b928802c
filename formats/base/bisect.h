/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The one binary search.
 */
#ifndef NYTP_BISECT_H
#define NYTP_BISECT_H

/* Moves `low` to the first row from `low` to `high` (not included) for which `is_before`, an
 * expression of the row's number `at`, is false, or to `high` if there is none. The rows for
 * which it is true come first. */
#define NYTP_BISECT(low, high, at, is_before)                                                  \
    do {                                                                                       \
        uint32_t nytp_end = (high);                                                            \
        while ((low) < nytp_end) {                                                             \
            const uint32_t at = (low) + (nytp_end - (low)) / 2;                                \
            if (is_before)                                                                     \
                (low) = at + 1;                                                                \
            else                                                                               \
                nytp_end = at;                                                                 \
        }                                                                                      \
    } while (0)

#endif
