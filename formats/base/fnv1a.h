/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * FNV-1a, for hashes that are seen from outside (a colour, a file name, an id) or only
 * distinguish texts. The one of 64 bits continues a hash; begin with its START.
 */
#ifndef NYTP_FNV1A_H
#define NYTP_FNV1A_H

#include <stddef.h>
#include <stdint.h>

#define NYTP_FNV1A_64_START UINT64_C(14695981039346656037)

static inline uint32_t nytp_fnv1a_32(const char *bytes, size_t len)
{
    uint32_t hash = UINT32_C(2166136261);
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * UINT32_C(16777619);
    return hash;
}

static inline uint64_t nytp_fnv1a_64(uint64_t hash, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
    return hash;
}

#endif
