/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The statement profiler: charges time to the running statement and writes its time record when
 * it is left. hooks.c calls it for ops that begin a statement or return into one; life.c and
 * load.c when recording begins, ends, stops and goes on.
 */
#ifndef NYTP_STMTS_H
#define NYTP_STMTS_H

#include "XS/perl/perl_compat.h"

struct nytp_recorder;

void nytp_stmt_begin(pTHX_ struct nytp_recorder *rec, const COP *cop);

/* The op of a statement: runs perl's handler, and begins the statement if it is recorded.
 * Returns the next op. */
OP *nytp_stmt_run(pTHX_ struct nytp_recorder *rec, Perl_ppaddr_t real_op);

/* nytp_stmt_run() for a recorder with on.counts_plain. */
OP *nytp_stmt_count(pTHX_ struct nytp_recorder *rec, Perl_ppaddr_t real_op);

/* The same for an op that may return into an outer statement, with nytp_stmt_return(). */
OP *nytp_stmt_leave(pTHX_ struct nytp_recorder *rec, Perl_ppaddr_t real_op);

/* Control has returned from a sub, block or eval into the statement PL_curcop. Its next record
 * is the rest of an execution counted before. */
void nytp_stmt_return(pTHX_ struct nytp_recorder *rec);

/* Recording ends in this statement: writes its record, unless it is such a rest. */
void nytp_stmt_end(pTHX_ struct nytp_recorder *rec);

void nytp_stmt_drop(struct nytp_recorder *rec);

/* Begins a new profile file at this axis point. No statement is in progress. */
void nytp_stmt_begin_file(struct nytp_recorder *rec, int64_t ticks);

/* Charges the statement in progress from this axis point on. */
void nytp_stmt_restart(struct nytp_recorder *rec, int64_t ticks) NYTP_COLD;

/* Recording stops in this statement, and goes on: then its record is written. */
void nytp_stmt_pause(pTHX_ struct nytp_recorder *rec);
void nytp_stmt_resume(pTHX_ struct nytp_recorder *rec);

#endif
