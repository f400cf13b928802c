/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Merges sibling string evals for Devel::NYTProf::Data. formats/model/sibling_evals.h and the
 * manual of the reading API say which evals are siblings. Include perl.h before it.
 */
#ifndef NYTP_DATA_EVALS_H
#define NYTP_DATA_EVALS_H

#include "data.h"

/* Merges files, then subs, then calls. The lowest file id stays and takes over calls, subs and
 * times of lines, not of blocks and subs. Anonymous subs of the same line of merged evals become
 * one. Returns false with data->error set. */
bool nytp_data_merge_evals(pTHX_ struct nytp_data *data, U32 max_siblings);

#endif
