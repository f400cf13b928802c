/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Counts the SVs, perl's values, that the program makes and frees (option memory=1). perl keeps
 * the number of SVs; its change from one event to the next is recorded, as comments
 * (formats/stream/comments/svs_records.h).
 *
 * Bytes (bytes.h) are recorded at the same events. Without the option this costs nothing: if
 * SVs are counted no event is plain; if only bytes are sampled (svs=0), none is while some
 * wait.
 */
#ifndef NYTP_SVS_H
#define NYTP_SVS_H

#include "XS/perl/perl_compat.h"

struct nytp_recorder;

/* Counts from now on. */
void nytp_svs_restart(struct nytp_recorder *rec);

/* Records changes and allocations up to now. Call it only if rec->on.memory. */
void nytp_memory_emit(struct nytp_recorder *rec);

#endif
