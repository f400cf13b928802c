/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Recorders beside the process's first; see threads.h.
 *
 * perl_clone() copies the list of per-interpreter data (MY_CXT, perlxs). So in CLONE ours still
 * leads to the cloned interpreter's recorder; nothing else shows which that is. The lists of
 * block hooks and of functions for perl_destruct(), and the hook for freed ops, are cloned as
 * well (sv.c). Clones share their ops, so data about these stays valid.
 */
#include "threads.h"

#include "XS/state/dprof.h"
#include "XS/exact/labels.h"
#include "life.h"
#include "XS/exact/switch_ops.h"
#include "profile.h"
#include "XS/perl/safe_point.h"
#include "XS/sampling/sample.h"
#include "XS/names/subs.h"

#define MY_CXT_KEY "Devel::NYTProf::recorder"
typedef struct {
    struct nytp_recorder *recorder;
} my_cxt_t;

START_MY_CXT

void nytp_thread_of_process(pTHX_ struct nytp_recorder *rec)
{
    MY_CXT_INIT;
    MY_CXT.recorder = rec;
    if (atomic_load(&nytp_recorders_count.all) > 1)
        nytp_profile_be_further(aTHX_ rec);
}

/* Returns the recorder of the cloned interpreter, or NULL. */
static struct nytp_recorder *recorder_of_maker(pTHX)
{
    dMY_CXT;
    return MY_CXT.recorder;
}

static void set_own(pTHX_ struct nytp_recorder *rec)
{
    MY_CXT_CLONE;
    MY_CXT.recorder = rec;
}

/* Returns a recorder for this interpreter with these options, or NULL if memory is out. */
static struct nytp_recorder *add_with_options(pTHX_ const struct nytp_options *options)
{
    struct nytp_recorder *const rec = nytp_recorder_add(aTHX);
    if (rec == NULL || nytp_options_copy(&rec->options, options))
        return rec;
    nytp_recorder_remove(rec);
    return NULL;
}

const struct nytp_recorder *nytp_thread_inherit(pTHX)
{
    const struct nytp_recorder *const from = recorder_of_maker(aTHX);
    if (from == NULL)
        return NULL;
    struct nytp_recorder *const rec =
        from->state == NYTP_OFF ? NULL : add_with_options(aTHX_ & from->options);
    set_own(aTHX_ rec);
    if (rec == NULL || !nytp_has_tables(rec))
        return NULL;
    rec->clock = from->clock;
    nytp_switch_ops_inherit(rec, from);
    nytp_names_init(aTHX_ rec);
    nytp_bodies_inherit(rec, from);
    nytp_labels_inherit(rec, from);
    nytp_bytes_inherit(rec, from);
    if (from->dprof != NULL)
        nytp_dprof_choose(aTHX_ rec);
    nytp_kind_set(rec, rec->options.sample > 0 ? NYTP_SAMPLED : NYTP_EXACT);
    nytp_profile_inherit(aTHX_ rec, from);
    nytp_life_inherit(rec, from);
    if (rec->options.sample > 0)
        nytp_safe_point_ask((void *)rec->interpreter); /* no op is redirected */
    nytp_sample_thread_begins(aTHX_ rec);
    return from;
}
