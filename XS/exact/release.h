/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Frees string evals that have ended. perl frees their files and anonymous subs; here they
 * would pile up, with their arcs, in a program that evals without end. compile.c calls this
 * before each string eval that is not inside another's compilation.
 */
#ifndef NYTP_RELEASE_H
#define NYTP_RELEASE_H

#include "XS/perl/index.h"
#include "XS/perl/perl_compat.h"

struct nytp_recorder;

struct nytp_rec_release {
    struct nytp_index kept_packages; /* of freed subs: one sub of each */
    size_t due_at;                   /* number of files, subs and arcs that starts a sweep */
};

/* Frees what earlier evals left, after writing their arcs, if half as much again has been added
 * since the last time. If memory is out they stay. */
void nytp_release_if_due(pTHX_ struct nytp_recorder *rec);

#endif
