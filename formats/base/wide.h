/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Arithmetic of 128 bits, as far as products of two 64-bit numbers need it. Compilers for
 * 64-bit machines have such a type. Elsewhere, or with NYTP_NO_INT128, it is done in halves.
 */
#ifndef NYTP_WIDE_H
#define NYTP_WIDE_H

#include <stdint.h>

#if defined(__SIZEOF_INT128__) && !defined(NYTP_NO_INT128)
#define NYTP_HAS_INT128 1
#else
#define NYTP_HAS_INT128 0
#endif

struct nytp_wide {
    uint64_t high, low;
};

static inline struct nytp_wide nytp_wide_mul(uint64_t a, uint64_t b)
{
#if NYTP_HAS_INT128
    const unsigned __int128 product = (unsigned __int128)a * b;
    return (struct nytp_wide){(uint64_t)(product >> 64), (uint64_t)product};
#else
    const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    const uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (uint32_t)middle;
    return (struct nytp_wide){a1 * b1 + (middle >> 32) + (other >> 32), a * b};
#endif
}

/* The same for signed numbers, in two's complement. */
static inline struct nytp_wide nytp_wide_mul_signed(int64_t a, int64_t b)
{
#if NYTP_HAS_INT128
    const __int128 product = (__int128)a * b;
    return (struct nytp_wide){(uint64_t)(product >> 64), (uint64_t)product};
#else
    struct nytp_wide product = nytp_wide_mul((uint64_t)a, (uint64_t)b);
    product.high -= (a < 0 ? (uint64_t)b : 0) + (b < 0 ? (uint64_t)a : 0);
    return product;
#endif
}

static inline struct nytp_wide nytp_wide_add(struct nytp_wide sum, uint64_t more)
{
    sum.low += more;
    sum.high += sum.low < more;
    return sum;
}

/* Rounds down. The divisor must not be 0. */
static inline struct nytp_wide nytp_wide_div(struct nytp_wide value, uint64_t divisor)
{
#if NYTP_HAS_INT128
    const unsigned __int128 whole = (unsigned __int128)value.high << 64 | value.low;
    return (struct nytp_wide){(uint64_t)(whole / divisor >> 64), (uint64_t)(whole / divisor)};
#else
    struct nytp_wide quotient = {value.high / divisor, 0};
    uint64_t rest = value.high % divisor;
    for (int bit = 63; bit >= 0; bit--) {
        const uint64_t carry = rest >> 63;
        rest = rest << 1 | (value.low >> bit & 1);
        if (carry != 0 || rest >= divisor) {
            rest -= divisor;
            quotient.low |= UINT64_C(1) << bit;
        }
    }
    return quotient;
#endif
}

/* Returns a * b / divisor rounded down, or UINT64_MAX if that is too large. */
static inline uint64_t nytp_mul_div(uint64_t a, uint64_t b, uint64_t divisor)
{
    const struct nytp_wide product = nytp_wide_mul(a, b);
    if (product.high == 0)
        return product.low / divisor;
    const struct nytp_wide quotient = nytp_wide_div(product, divisor);
    return quotient.high == 0 ? quotient.low : UINT64_MAX;
}

/* Returns a * b / divisor rounded towards 0. Its size is at most INT64_MAX. */
static inline int64_t nytp_mul_div_signed(int64_t a, int64_t b, int64_t divisor)
{
    const uint64_t size =
        nytp_mul_div(a < 0 ? -(uint64_t)a : (uint64_t)a, b < 0 ? -(uint64_t)b : (uint64_t)b,
                     divisor < 0 ? -(uint64_t)divisor : (uint64_t)divisor);
    const int64_t result = size > INT64_MAX ? INT64_MAX : (int64_t)size;
    return ((a < 0) ^ (b < 0) ^ (divisor < 0)) ? -result : result;
}

#endif
