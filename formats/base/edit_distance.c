/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Counts the letters that have to change; see edit_distance.h.
 */
#include "edit_distance.h"

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned nytp_edit_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    if (a_len > NYTP_EDIT_LONGEST || b_len > NYTP_EDIT_LONGEST)
        return NYTP_EDIT_LONGEST;
    unsigned rows[NYTP_EDIT_LONGEST + 1][NYTP_EDIT_LONGEST + 1];
    for (size_t i = 0; i <= a_len; i++)
        for (size_t j = 0; j <= b_len; j++) {
            if (i == 0 || j == 0) {
                rows[i][j] = (unsigned)(i + j);
                continue;
            }
            unsigned best = rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            best = least(best, rows[i - 1][j] + 1);
            best = least(best, rows[i][j - 1] + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = least(best, rows[i - 2][j - 2] + 1);
            rows[i][j] = best;
        }
    return rows[a_len][b_len];
}
