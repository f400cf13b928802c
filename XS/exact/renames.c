/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Closures named at run time; see renames.h.
 */
#include "renames.h"

#include "XS/perl/stash.h"
#include "XS/state/state.h"
#include "XS/names/subs.h"

static void on_set_subname(pTHX_ CV *cv);
static void on_subname(pTHX_ CV *cv);

/* The watched functions, one table per process: interpreters share their code. */
static struct renamer {
    const char *name;
    XSUBADDR_t ours;
    XSUBADDR_t real; /* NULL: not seen yet */
} renamers[] = {
    {"Sub::Util::set_subname", on_set_subname, NULL},
    {"Sub::Name::subname", on_subname, NULL},
};

/* Both functions return the renamed sub. */
static void note_result(pTHX_ struct nytp_recorder *rec)
{
    SV *const result = *PL_stack_sp;
    CV *const cv =
        SvROK(result) && SvTYPE(SvRV(result)) == SVt_PVCV ? (CV *)SvRV(result) : NULL;
    if (cv != NULL && CvROOT(cv) != NULL && !CvISXSUB(cv))
        nytp_sub_of_cv(aTHX_ rec, cv);
}

/* A sub that is no closure is renamed in place, so its old name is noted first. */
static void rename_sub(pTHX_ const struct renamer *renamer, CV *cv)
{
    struct nytp_recorder *const rec = nytp_recorder_of(aTHX);
    const bool notes = rec != NULL && rec->subs->called != NULL && rec->state != NYTP_OFF;
    if (notes) {
        nytp_excluded_time_begin(rec);
        nytp_name_compiled(aTHX_ rec);
        nytp_excluded_time_end(rec);
    }
    renamer->real(aTHX_ cv);
    if (notes)
        note_result(aTHX_ rec);
}

static void on_set_subname(pTHX_ CV *cv)
{
    rename_sub(aTHX_ & renamers[0], cv);
}

static void on_subname(pTHX_ CV *cv)
{
    rename_sub(aTHX_ & renamers[1], cv);
}

void nytp_renames_watch(pTHX)
{
    for (size_t i = 0; i < C_ARRAY_LENGTH(renamers); i++) {
        struct renamer *const renamer = &renamers[i];
        CV *const cv =
            nytp_cv_of_name(aTHX_ renamer->name, strlen(renamer->name), false, PL_defstash);
        if (cv == NULL || !CvISXSUB(cv) || CvXSUB(cv) == renamer->ours)
            continue;
        renamer->real = CvXSUB(cv);
        CvXSUB(cv) = renamer->ours;
    }
}
