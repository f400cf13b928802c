/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The statement profiler: time goes to the statement that was running when it passed. hooks.c
 * calls it for perl's ops that begin a statement and that return into one; life.c and load.c
 * when recording begins, ends, stops and goes on. The time record of a statement is written
 * when the statement is left.
 */
#ifndef NYTP_STMTS_H
#define NYTP_STMTS_H

#include "XS/perl/perl_compat.h"

#include "formats/stream/write/writer.h"

struct nytp_recorder;

/* The statement in progress, beside its place (places.h). */
struct nytp_stmt {
    uint32_t block_line, sub_line; /* only with blocks=1 */
    int64_t since_ticks;           /* where on the axis it began, or the last record */
};

/* The part of the state that stmts.c writes, beside what every event looks at (state.h). */
struct nytp_rec_stmts {
    struct nytp_stmt
        paused; /* had called DB::disable_profile(); since_ticks: how long it ran */
};

void nytp_stmt_begin(pTHX_ struct nytp_recorder *rec, const COP *cop);

/* The op of a statement: run perl's handler, and begin the statement if these are recorded.
 * Returns the next op. */
OP *nytp_stmt_run(pTHX_ struct nytp_recorder *rec, Perl_ppaddr_t real_op);

/* An op that may lead back into an outer statement: the same, and nytp_stmt_return(). */
OP *nytp_stmt_leave(pTHX_ struct nytp_recorder *rec, Perl_ppaddr_t real_op);

/* Control came back from a sub, a block or an eval into the statement PL_curcop: its next
 * record is the rest of an execution that was counted before. */
void nytp_stmt_return(pTHX_ struct nytp_recorder *rec);

/* Recording ends in this statement: its record is written, unless it is such a rest. */
void nytp_stmt_end(pTHX_ struct nytp_recorder *rec);

/* Forget the one in progress. */
void nytp_stmt_drop(struct nytp_recorder *rec);

/* A new profile file, which begins at this axis point: nothing that was written before counts,
 * and no statement is in progress. */
void nytp_stmt_begin_file(struct nytp_recorder *rec, int64_t ticks);

/* The time of the statement in progress counts from this axis point. */
void nytp_stmt_restart(struct nytp_recorder *rec, int64_t ticks);

/* Recording stops in this statement, and goes on: its record comes when it goes on. */
void nytp_stmt_pause(pTHX_ struct nytp_recorder *rec);
void nytp_stmt_resume(pTHX_ struct nytp_recorder *rec);
/* In a child of a fork: the statement in which recording stopped is the parent's to record. */
void nytp_stmt_forget_paused(struct nytp_recorder *rec);

#endif
