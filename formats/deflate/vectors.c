/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The upper halves of the processor's vector registers; see vectors.h.
 */
#include "vectors.h"

#ifdef __x86_64__

#include <cpuid.h>
#include <stdatomic.h>
#include <stdbool.h>

/* The processor has them and the system saves them. The compiler's own test would query the
 * processor at each start of a program, which takes long on a virtual machine. */
static bool has_upper(void)
{
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_OSXSAVE) && (ecx & bit_AVX);
}

void nytp_vectors_clear_upper(void)
{
    enum {
        UNKNOWN,
        ABSENT,
        PRESENT
    };
    static _Atomic int known = UNKNOWN;
    if (known == UNKNOWN)
        known = has_upper() ? PRESENT : ABSENT;
    if (known == PRESENT)
        __asm__ volatile("vzeroupper");
}

#else

void nytp_vectors_clear_upper(void)
{
}

#endif
