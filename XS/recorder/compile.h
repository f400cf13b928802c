/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What perl compiles: files, string evals, the program itself.
 */
#ifndef NYTP_COMPILE_H
#define NYTP_COMPILE_H

#include "state.h"

OP *nytp_eval_string(pTHX_ struct nytp_recorder *rec);            /* entereval */
void nytp_compile(pTHX_ struct nytp_recorder *rec, const OP *op); /* require, do, eval */
/* What perl -d kept of the line before the script, and of the module that calls this. */
void nytp_debugger_lines_hide(pTHX_ struct nytp_recorder *rec);
void nytp_program_lines_write(pTHX_ struct nytp_recorder *rec);
void nytp_program_text_keep(pTHX_ struct nytp_recorder *rec);

#endif
