/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Lets go of string evals that are over. A program that evals without end would otherwise let
 * their files, anonymous subs and arcs pile up here, where perl itself frees each. compile.c
 * asks before each string eval that is not inside another's compilation.
 */
#ifndef NYTP_RELEASE_H
#define NYTP_RELEASE_H

#include "XS/perl/index.h"
#include "XS/perl/perl_compat.h"

struct nytp_recorder;

/* The part of the state that release.c writes. */
struct nytp_rec_release {
    struct nytp_index kept_packages; /* of freed subs: one sub of each */
    size_t due_at;                   /* that many files, subs and arcs: see what can be freed */
};

/* See what of earlier evals can be freed, if half as much again has been added since the last
 * time. Their arcs go into the stream before. When memory is out they stay. */
void nytp_release_if_due(pTHX_ struct nytp_recorder *rec);

void nytp_release_free(struct nytp_recorder *rec);

#endif
