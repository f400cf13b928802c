/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Comparison functions, as qsort() takes them, that look at several fields in turn.
 */
#ifndef NYTP_ORDER_H
#define NYTP_ORDER_H

/* Returns from the function if the values differ: the one with the lesser `x` comes first. */
#define NYTP_RETURN_ORDER(x, y)                                                                \
    do {                                                                                       \
        if ((x) != (y))                                                                        \
            return (x) < (y) ? -1 : 1;                                                         \
    } while (0)

#endif
