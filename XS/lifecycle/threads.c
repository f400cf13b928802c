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

#include "life.h"
#include "profile.h"

#define MY_CXT_KEY "Devel::NYTProf::recorder"
typedef struct {
    struct nytp_recorder *recorder;
} my_cxt_t;

START_MY_CXT

void nytp_thread_boot(pTHX)
{
    if (nytp_recorder_of(aTHX) != NULL)
        return;
    MY_CXT_INIT;
    MY_CXT.recorder = NULL;
}

void nytp_thread_of_process(pTHX_ struct nytp_recorder *rec)
{
    dMY_CXT;
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

/* The module `forks` calls CLONE in an interpreter that has a recorder. */
void nytp_thread_begins(pTHX)
{
    const struct nytp_recorder *const from =
        nytp_recorder_of(aTHX) == NULL ? recorder_of_maker(aTHX) : NULL;
    if (from == NULL)
        return;
    struct nytp_recorder *const rec =
        from->state == NYTP_OFF ? NULL : add_with_options(aTHX_ & from->options);
    set_own(aTHX_ rec);
    if (rec == NULL || !nytp_has_tables(rec))
        return;
    rec->clock = from->clock;
    nytp_parts_thread(rec, from);
}
