/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Switches recording on and off in existing ops: each gets our handler, or perl's back. So a
 * program that is not recorded executes only perl's ops, and code compiled before we were
 * loaded is recorded, too. life.c and load.c switch; ops.h knows the handler of each op.
 */
#ifndef NYTP_SWITCH_OPS_H
#define NYTP_SWITCH_OPS_H

#include "XS/perl/perl_compat.h"

struct nytp_recorder;

struct nytp_rec_switch_ops {
    bool is_on;          /* the program's ops have our handlers */
    unsigned times_off;  /* number of times threads switched off, at that time */
    bool in_compilation; /* at the last switch something was half compiled */
};

/* Switches this interpreter's ops, and those compiled from now on. Takes some 40 ns for each op
 * of the program. May be called inside any op. Ops stay ours while another thread records,
 * since threads share them. */
void nytp_switch_ops(pTHX_ struct nytp_recorder *rec, bool on);

/* Switches a compiled tree of ops. Its beginning may be older than the last switch. */
void nytp_switch_ops_compiled(struct nytp_recorder *rec, const OP *root);

/* The same for the main program. */
void nytp_switch_ops_main(pTHX_ struct nytp_recorder *rec);

#endif
