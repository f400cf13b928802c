/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * perl's headers, and differences between the perls we support (5.20 and up). Every entry gives
 * version and reason.
 */
#ifndef NYTP_PERL_COMPAT_H
#define NYTP_PERL_COMPAT_H

#define PERL_NO_GET_CONTEXT
#include "EXTERN.h"
#include "perl.h"
#include "XSUB.h"

/* For rare calls: their code must not share cache lines with the code of each event, which
 * competes with the program for the cache. */
#define NYTP_COLD __attribute__((cold))

/* Inlined whatever gcc thinks, for code of every call. Each call and each saved register is
 * code that displaces perl's own from the caches. */
#define NYTP_INLINED inline __attribute__((always_inline))

/* Never inlined: the rare case of a function that then saves no registers, or code that many
 * share. */
#define NYTP_NOINLINE __attribute__((noinline))

/* On a variable's declaration: no table look-up to find it. */
#define NYTP_HIDDEN __attribute__((visibility("hidden")))

/* The interpreter that a hook runs in; without MULTIPLICITY there is only one. */
#ifdef MULTIPLICITY
#define NYTP_THX aTHX
#else
#define NYTP_THX ((void *)&PL_op)
#endif

/* perl_clone() is making this interpreter, with CLONEf_KEEP_PTR_TABLE, as threads and mod_perl
 * do: the table lives until the interpreter is complete (sv.c, threads.xs; all versions).
 * A COP names its file by a glob; with threads by a string, and globs are the debugger's. */
#ifdef USE_ITHREADS
#define NYTP_IS_BEING_CLONED  (PL_ptr_table != NULL)
#define NYTP_FILES_HAVE_GLOBS false
#else
#define NYTP_IS_BEING_CLONED  false
#define NYTP_FILES_HAVE_GLOBS true
#endif

/* The field is in a union with the name's HEK. CvGV() would make a GV from a HEK (5.22). */
#define NYTP_CV_RAW_GV(cv) (((XPVCV *)SvANY(cv))->xcv_gv_u.xcv_gv)

/* 5.22: siblings are not always op_sibling. */
#ifndef OpSIBLING
#define OpSIBLING(op) ((op)->op_sibling)
#endif

/* 5.34: the context of `try` is an eval's that goto &sub may leave. */
#ifdef CxTRY
#define NYTP_CX_IS_TRY(cx) CxTRY(cx)
#else
#define NYTP_CX_IS_TRY(cx) false
#endif

/* 5.22: in a union. */
#if PERL_VERSION >= 22
#define NYTP_XPVCV_PADLIST(body) (body)->xcv_padlist_u.xcv_padlist
#else
#define NYTP_XPVCV_PADLIST(body) (body)->xcv_padlist
#endif

/* 5.32 to 5.42: cop_features is a COP's last field. Four unused bytes may follow, where
 * pointers have 64 bits. perl zeroes them when it makes an op and never reads them. */
#if PERL_VERSION >= 32 && PERL_VERSION <= 42
#define NYTP_COP_ROOM     (offsetof(COP, cop_features) + sizeof(((COP *)0)->cop_features))
#define NYTP_COP_HAS_ROOM (sizeof(COP) >= NYTP_COP_ROOM + sizeof(U32))
#else
#define NYTP_COP_HAS_ROOM false
#define NYTP_COP_ROOM     0
#endif

/* 5.24: CX_CUR(), the context on top. */
#define NYTP_CX_TOP (&cxstack[cxstack_ix])

#endif
