/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Says the numbers of fields.def for one perl. It is compiled to assembly, with that perl's
 * headers and never run, so that a cross compiler does for another machine's perl: each number
 * is a line "nytp_layout NAME VALUE" there. `layouts` calls the compiler.
 *
 * A perl's options can be set otherwise than its config.h has them: NYTP_THREADS (0 or 1),
 * NYTP_NV16 (long doubles or __float128: sixteen bytes, whatever is in them), DEBUGGING.
 */
#define PERL_NO_GET_CONTEXT
#include "config.h"
#undef USE_ITHREADS
#undef USE_THREADS
#undef MULTIPLICITY
#undef PERL_IMPLICIT_CONTEXT
#if NYTP_THREADS
#define USE_ITHREADS
#define MULTIPLICITY
#endif
#ifdef NYTP_NV16
#undef NVTYPE
#define NVTYPE long double
#undef NVSIZE
#define NVSIZE 16
#define USE_LONG_DOUBLE
#endif

#include "EXTERN.h"
#include "perl.h"

#ifdef MULTIPLICITY
#define VARIABLE_AT(name) (long)offsetof(struct interpreter, I##name)
#else
#define VARIABLE_AT(name) -1L
#endif

#ifdef USE_ITHREADS
#define NYTP_COP_FILE_IS_GV 0
#else
#define NYTP_COP_FILE_IS_GV 1
#endif

#ifdef SVphv_HasAUX
#define NYTP_HV_HAS_AUX SVphv_HasAUX
#else
#define NYTP_HV_HAS_AUX SVf_OOK
#endif

#if PERL_VERSION >= 24 /* contexts.c finds it there */
_Static_assert(offsetof(PERL_CONTEXT, blk_sub.cv) ==
                   offsetof(PERL_CONTEXT, blk_sub.prevcomppad) + sizeof(PAD *),
               "the caller's pad lies before the code of a sub");
#endif

#if PERL_VERSION >= 36 /* the second part of a hash's body follows the first */
#define NYTP_HV_AUX_IN_BODY offsetof(struct xpvhv_with_aux, xhv_aux)
#else
#define NYTP_HV_AUX_IN_BODY -1
#endif

#if PERL_VERSION >= 22 /* names of lexicals are no values any more */
#define NYTP_CV_PADLIST     offsetof(XPVCV, xcv_padlist_u)
#define NYTP_PADNAMES_ARRAY offsetof(PADNAMELIST, xpadnl_alloc)
#define NYTP_PADNAMES_FILL  offsetof(PADNAMELIST, xpadnl_fill)
#define NYTP_PADNAME_PV     offsetof(PADNAME, xpadn_pv)
#else
#define NYTP_CV_PADLIST     offsetof(XPVCV, xcv_padlist)
#define NYTP_PADNAMES_ARRAY -1
#define NYTP_PADNAMES_FILL  -1
#define NYTP_PADNAME_PV     -1
#endif

#if PERL_VERSION >= 22 && NVSIZE <= IVSIZE /* the number is in the head */
#define NYTP_NV_BODY 0
#else
#define NYTP_NV_BODY sizeof(NV)
#endif

#if PERL_VERSION >= 38
#define NYTP_OBJ_BODY sizeof(XPVOBJ)
#else
#define SVt_PVOBJ     -1
#define NYTP_OBJ_BODY 0
#endif

#if defined(__x86_64__)
#define ARCH "x86_64"
#elif defined(__aarch64__)
#define ARCH "aarch64"
#else
#error this machine is not known to nytp-spy
#endif

#if defined(DEBUGGING) && NVSIZE == 16
#define OPTION "debugging_nv16"
#elif defined(DEBUGGING)
#define OPTION "debugging"
#elif NVSIZE == 16
#define OPTION "nv16"
#else
#define OPTION "plain"
#endif

#define TEXT(x)    TEXT_OF(x)
#define TEXT_OF(x) #x

void nytp_probe(void);
void nytp_probe(void)
{
    __asm__("\nnytp_row " TEXT(PERL_VERSION) " " ARCH " " OPTION);
#define NYTP_VARIABLE(name)     __asm__("\nnytp_layout " #name " %c0" : : "i"(VARIABLE_AT(name)));
#define NYTP_FIELD(name, value) __asm__("\nnytp_layout " #name " %c0" : : "i"((long)(value)));
#include "fields.def"
}
