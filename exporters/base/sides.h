/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The two sides of a comparison: each recording of a profile that holds both belongs to one of
 * them.
 */
#ifndef NYTP_SIDES_H
#define NYTP_SIDES_H

enum nytp_diff_side {
    NYTP_DIFF_BASE = 0,
    NYTP_DIFF_NEW,
    NYTP_DIFF_SIDES
};

#endif
