/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * How the program loads and steers the recorder: options, the phases of perl, the functions of
 * package DB. What NYTProf.xs calls.
 */
#ifndef NYTP_LOAD_H
#define NYTP_LOAD_H

#include "state.h"

struct nytp_recorder *nytp_recorder_get(pTHX);
void nytp_set_option(pTHX_ const char *name, const char *value);
/* Options are known: arrange that profiling starts in time. Again when more have come. */
void nytp_load(pTHX);
void nytp_start(pTHX);                    /* all options have come */
bool nytp_enable(pTHX_ const char *path); /* whether it was on before; path may be NULL */
bool nytp_disable(pTHX);
void nytp_finish_profile(pTHX);
void nytp_thread_seen(pTHX);
void nytp_statement_by_db(pTHX); /* use_db_sub=1: DB::DB was called */

#endif
