/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Closures named at run time; see renames.h.
 */
#include "renames.h"

#include "XS/perl/stash.h"
#include "XS/state/state.h"
#include "XS/names/subs.h"

/* The watched functions' own code, for all interpreters of the process. */
static XSUBADDR_t real_set_subname, real_subname;

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
static void rename_sub(pTHX_ XSUBADDR_t real, CV *cv)
{
    struct nytp_recorder *const rec = nytp_recorder_of(aTHX);
    const bool notes = rec != NULL && rec->subs->called != NULL && rec->state != NYTP_OFF;
    if (notes) {
        nytp_excluded_time_begin(rec);
        nytp_name_compiled(aTHX_ rec);
        nytp_excluded_time_end(rec);
    }
    real(aTHX_ cv);
    if (notes)
        note_result(aTHX_ rec);
}

static void on_set_subname(pTHX_ CV *cv)
{
    rename_sub(aTHX_ real_set_subname, cv);
}

static void on_subname(pTHX_ CV *cv)
{
    rename_sub(aTHX_ real_subname, cv);
}

void nytp_renames_watch(pTHX)
{
    nytp_xsub_redirect(aTHX_ "Sub::Util::set_subname", on_set_subname, &real_set_subname);
    nytp_xsub_redirect(aTHX_ "Sub::Name::subname", on_subname, &real_subname);
}
