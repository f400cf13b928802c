/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Arithmetic by halves gives what the compiler's own type of 128 bits gives.
 */
#define NYTP_NO_INT128
#include "formats/base/wide.h"
#include "t/tap.h"

static const uint64_t values[] = {
    0, 1, 2, 9, 10, UINT32_MAX - 1, UINT32_MAX, (uint64_t)UINT32_MAX + 1, 1000000000, 10000000000,
    INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX - 1, UINT64_MAX, 0x123456789abcdef0,
};
enum {
    N = sizeof values / sizeof *values
};

#ifdef __SIZEOF_INT128__

static bool same(struct nytp_wide wide, unsigned __int128 native)
{
    return wide.high == (uint64_t)(native >> 64) && wide.low == (uint64_t)native;
}

static bool agree(uint64_t a, uint64_t b, uint64_t c)
{
    const unsigned __int128 product = (unsigned __int128)a * b;
    const struct nytp_wide wide = nytp_wide_mul(a, b);
    if (!same(wide, product) || !same(nytp_wide_add(wide, c), product + c) ||
        !same(nytp_wide_mul_signed((int64_t)a, (int64_t)b),
              (unsigned __int128)((__int128)(int64_t)a * (int64_t)b)))
        return false;
    if (c == 0)
        return true;
    const unsigned __int128 quotient = product / c;
    return same(nytp_wide_div(wide, c), quotient) &&
           nytp_mul_div(a, b, c) == (quotient > UINT64_MAX ? UINT64_MAX : (uint64_t)quotient);
}

#else

static bool agree(uint64_t a, uint64_t b, uint64_t c)
{
    return c == 0 || nytp_wide_mul(a, b).low == a * b;
}

#endif

static bool agree_on_all(void)
{
    for (int a = 0; a < N; a++)
        for (int b = 0; b < N; b++)
            for (int c = 0; c < N; c++)
                if (!agree(values[a], values[b], values[c]))
                    return false;
    uint64_t x = 88172645463325252; /* xorshift */
    for (int i = 0; i < 100000; i++) {
        uint64_t of[3];
        for (int j = 0; j < 3; j++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            of[j] = x >> x % 60;
        }
        if (!agree(of[0], of[1], of[2]))
            return false;
    }
    return true;
}

int main(void)
{
    ok(agree_on_all(), "products, sums, quotients");
    ok(nytp_mul_div_signed(-7, 3, 2) == -10 && nytp_mul_div_signed(7, -3, -2) == 10,
       "signed: rounded towards 0");
    ok(nytp_mul_div_signed(INT64_MIN, 3, 2) == -INT64_MAX &&
           nytp_mul_div_signed(INT64_MAX, INT64_MAX, 1) == INT64_MAX,
       "signed: what is too large is the largest");
    ok(nytp_mul_div_signed(INT64_MAX, INT64_MAX, INT64_MAX) == INT64_MAX, "signed: in between");
    return done_testing();
}
