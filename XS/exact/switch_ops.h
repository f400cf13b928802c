/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Recording is switched on and off in the ops that exist already: each gets our handler in the
 * place of perl's, or perl's back. So a program that is not recorded executes perl's own ops
 * and nothing else, and code that was compiled before we were loaded is recorded, too. life.c
 * and load.c switch; ops.h knows which handler belongs to which op.
 */
#ifndef NYTP_SWITCH_OPS_H
#define NYTP_SWITCH_OPS_H

#include "XS/perl/perl_compat.h"

struct nytp_recorder;

/* The part of the state that switch_ops.c writes. */
struct nytp_rec_switch_ops {
    bool is_on;          /* the ops of the program are ours */
    unsigned times_off;  /* and no thread had switched them off since */
    bool in_compilation; /* as of the last switch: something was half compiled */
};

/* The ops of this interpreter, and what is compiled from now on. Takes some 40 ns for each op
 * of the program. May be called in the middle of any op. Where another thread still records,
 * ops stay ours, since threads share them. */
void nytp_switch_ops(pTHX_ struct nytp_recorder *rec, bool on);

/* The tree of ops below `root` has been compiled. Its beginning may be older than the last
 * switch, which did not find it. */
void nytp_switch_ops_compiled(struct nytp_recorder *rec, const OP *root);

/* The same for the program itself. */
void nytp_switch_ops_main(pTHX_ struct nytp_recorder *rec);

/* The interpreter was cloned from the one that `from` records: both have the same trees. */
void nytp_switch_ops_inherit(struct nytp_recorder *rec, const struct nytp_recorder *from);

#endif
