/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Layouts of floating point numbers; see nv.h. All are decoded from their bits, so the result
 * does not depend on the machine that reads: doubles of either byte order, the 80 bits of x87,
 * the 128 bits of IEEE 754 and PowerPC's pairs of doubles all become a double.
 */
#include "nv.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static uint64_t load_le(const uint8_t *bytes, unsigned n)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < n; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

static uint64_t load_be(const uint8_t *bytes, unsigned n)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < n; i++)
        value = value << 8 | bytes[i];
    return value;
}

static double double_from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double float_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* Converts a wide number: sign and 15 bits of exponent, and the top 64 bits of the significand
 * with its leading 1. Values out of a double's range become zero or infinity. */
static double from_wide(uint32_t sign_exponent, uint64_t significand, bool is_nan)
{
    const uint64_t sign = (uint64_t)(sign_exponent >> 15) << 63;
    const int exponent = (int)(sign_exponent & 0x7fff) - 16383;
    const uint64_t infinity = UINT64_C(0x7ff) << 52;
    if (is_nan)
        return double_from_bits(sign | infinity | UINT64_C(1) << 51);
    if (significand == 0 || exponent < -900)
        return double_from_bits(sign);
    if (exponent > 1023)
        return double_from_bits(sign | infinity);
    const double power = double_from_bits((uint64_t)(exponent - 63 + 1023) << 52);
    const double value = (double)significand * power;
    return sign != 0 ? -value : value;
}

static double decode_float_le(const uint8_t *bytes)
{
    return float_from_bits((uint32_t)load_le(bytes, 4));
}

static double decode_float_be(const uint8_t *bytes)
{
    return float_from_bits((uint32_t)load_be(bytes, 4));
}

/* Written out: compilers turn it into one load. Each return of a call has two of these. */
static double decode_double_le(const uint8_t *bytes)
{
    return double_from_bits((uint64_t)bytes[0] | (uint64_t)bytes[1] << 8 |
                            (uint64_t)bytes[2] << 16 | (uint64_t)bytes[3] << 24 |
                            (uint64_t)bytes[4] << 32 | (uint64_t)bytes[5] << 40 |
                            (uint64_t)bytes[6] << 48 | (uint64_t)bytes[7] << 56);
}

static double decode_double_be(const uint8_t *bytes)
{
    return double_from_bits(load_be(bytes, 8));
}

/* x87 extended: 8 bytes of significand with an explicit leading 1, 2 of sign and exponent,
 * then arbitrary padding. */
static double decode_x87(const uint8_t *bytes)
{
    const uint64_t significand = load_le(bytes, 8);
    const uint32_t sign_exponent = (uint32_t)load_le(bytes + 8, 2);
    const bool is_nan = (sign_exponent & 0x7fff) == 0x7fff && significand << 1 != 0;
    return from_wide(sign_exponent, significand, is_nan);
}

/* IEEE 754 binary128: 112 bits of fraction below an implied 1. `low` only rounds. */
static double from_quad(uint64_t high, uint64_t low)
{
    const uint32_t sign_exponent = (uint32_t)(high >> 48);
    const uint64_t fraction = high << 16 | low >> 48;
    const uint64_t sticky = low << 16 != 0;
    const bool is_nan = (sign_exponent & 0x7fff) == 0x7fff && (fraction | sticky) != 0;
    if ((sign_exponent & 0x7fff) == 0)
        return from_wide(sign_exponent, 0, false);
    return from_wide(sign_exponent, UINT64_C(1) << 63 | fraction >> 1 | (fraction & 1) | sticky,
                     is_nan);
}

static double decode_quad_le(const uint8_t *bytes)
{
    return from_quad(load_le(bytes + 8, 8), load_le(bytes, 8));
}

static double decode_quad_be(const uint8_t *bytes)
{
    return from_quad(load_be(bytes, 8), load_be(bytes + 8, 8));
}

/* PowerPC: the sum of two doubles, the larger one first. */
static double decode_double_double_be(const uint8_t *bytes)
{
    return decode_double_be(bytes) + decode_double_be(bytes + 8);
}

static double decode_double_double_le(const uint8_t *bytes)
{
    return decode_double_le(bytes) + decode_double_le(bytes + 8);
}

/* The likeliest of each size comes first. */
static const struct nytp_nv_layout layouts[] = {
    {"double, little-endian", 8, decode_double_le},
    {"double, big-endian", 8, decode_double_be},
    {"x87 extended", 16, decode_x87},
    {"quad, little-endian", 16, decode_quad_le},
    {"quad, big-endian", 16, decode_quad_be},
    {"double-double, big-endian", 16, decode_double_double_be},
    {"double-double, little-endian", 16, decode_double_double_le},
    {"x87 extended", 12, decode_x87},
    {"float, little-endian", 4, decode_float_le},
    {"float, big-endian", 4, decode_float_be},
};

const struct nytp_nv_layout *nytp_nv_default(uint32_t size)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].size == size)
            return &layouts[i];
    return NULL;
}

const struct nytp_nv_layout *nytp_nv_guess(uint32_t size, const uint8_t *time_bytes)
{
    const double year_1990 = 631152000, year_2100 = 4102444800;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        if (layouts[i].size != size)
            continue;
        const double time_s = layouts[i].decode(time_bytes);
        if (time_s >= year_1990 && time_s < year_2100)
            return &layouts[i];
    }
    return nytp_nv_default(size);
}
