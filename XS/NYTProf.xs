/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The functions that perl code can call. This file holds signatures. The C files do the work,
 * and their headers say what each function does.
 *
 *   DB::...                    for programs that are profiled; DB::DB for perl (use_db_sub=1)
 *   Devel::NYTProf::Core       for lib/Devel/NYTProf.pm and DProf.pm: set_text() and set_list()
 *                              (options/settings.h) take options apart, _write_marks() makes the
 *                              profile a tmon.out, _load() follows when options are known, and
 *                              _start() when all have come; perl calls CLONE in a new thread
 *   Devel::NYTProf::Startup    for nytp-startup (startup/startup.h)
 *   Devel::NYTProf::ReadStream, Devel::NYTProf::Data
 *                              for lib/Devel/NYTProf/Data.pm, which reads profiles, and for
 *                              nytprofmerge
 */
#include "XS/control/control.h"
#include "XS/state/dprof.h"
#include "XS/lifecycle/life.h"
#include "XS/lifecycle/load.h"
#include "XS/lifecycle/parts.h"
#include "XS/lifecycle/threads.h"
#include "XS/options/settings.h"
#include "XS/startup/startup.h"

#include "XS/glue/glue.h"

/* DynaLoader looks for these. */
XS_EXTERNAL(boot_Devel__NYTProf) __attribute__((visibility("default")));

MODULE = Devel::NYTProf    PACKAGE = DB

PROTOTYPES: DISABLE

void
set_option(const char *name, const char *value)
  CODE:
    nytp_set_option(aTHX_ name, value);

bool
enable_profile(const char *file = NULL)
  CODE:
    dSAVE_ERRNO;
    RETVAL = nytp_enable(aTHX_ file);
    RESTORE_ERRNO;
  OUTPUT:
    RETVAL

bool
disable_profile()
  CODE:
    dSAVE_ERRNO;
    RETVAL = nytp_disable(aTHX);
    RESTORE_ERRNO;
  OUTPUT:
    RETVAL

bool
rotate_profile(const char *file = NULL)
  CODE:
    dSAVE_ERRNO;
    RETVAL = nytp_rotate(aTHX_ file);
    RESTORE_ERRNO;
  OUTPUT:
    RETVAL

bool
checkpoint_profile()
  CODE:
    struct nytp_recorder *const rec = nytp_recorder_get(aTHX);
    char text[600];
    dSAVE_ERRNO;
    RETVAL = rec != NULL && nytp_checkpoint(aTHX_ rec, text, sizeof text);
    RESTORE_ERRNO;
  OUTPUT:
    RETVAL

void
finish_profile()
  CODE:
    dSAVE_ERRNO;
    nytp_finish_profile(aTHX);
    RESTORE_ERRNO;

void
label(...)
  ALIAS:
    label_profile = 1
  PREINIT:
    SV **pairs;
  CODE:
    /* Fetching an argument or its text may run perl code, which may move perl's stack and free
     * the other arguments: the stack does not own them. */
    Newx(pairs, items + 1, SV *);
    SAVEFREEPV(pairs);
    for (int i = 0; i < items; i++)
        pairs[i] = sv_2mortal(SvREFCNT_inc_simple_NN(ST(i)));
    for (int i = 0; i < items; i++)
        pairs[i] = sv_mortalcopy(pairs[i]);
    dSAVE_ERRNO;
    nytp_label(aTHX_ pairs, (int)items, ix != 0);
    RESTORE_ERRNO;

void
DB(...)
  CODE:
    PERL_UNUSED_VAR(items);
    nytp_statement_by_db(aTHX);

MODULE = Devel::NYTProf    PACKAGE = Devel::NYTProf::Core

BOOT:
    nytp_parts_begin();
    nytp_thread_boot(aTHX);
    newXS("Devel::NYTProf::Core::set_text", nytp_set_text, __FILE__);
    newXS("Devel::NYTProf::Core::set_list", nytp_set_list, __FILE__);

void
CLONE(...)
  CODE:
    PERL_UNUSED_VAR(items);
    nytp_thread_begins(aTHX);
    nytp_control_begin(aTHX);

bool
_enable_exact(const char *file)
  CODE:
    RETVAL = nytp_enable_exact(aTHX_ file);
  OUTPUT:
    RETVAL

void
_finish_exact()
  CODE:
    nytp_finish_exact(aTHX);

void
_load()
  CODE:
    nytp_load(aTHX);
    nytp_control_begin(aTHX);
    nytp_load_forget_errors(aTHX);

void
_start()
  CODE:
    nytp_start(aTHX);
    nytp_control_begin(aTHX);
    nytp_load_forget_errors(aTHX);

void
_write_marks()
  CODE:
    struct nytp_recorder *const rec = nytp_recorder_get(aTHX);
    if (rec != NULL)
        nytp_dprof_choose(rec);

MODULE = Devel::NYTProf    PACKAGE = Devel::NYTProf::Startup

void
_watch(const char *path)
  CODE:
    nytp_startup_watch(aTHX_ path);

void
_stop()
  CODE:
    nytp_startup_stop(aTHX);

MODULE = Devel::NYTProf    PACKAGE = Devel::NYTProf::ReadStream

SV *
_stream(const char *path, SV *callback)
  CODE:
    RETVAL = nytp_glue_stream(aTHX_ path, callback);
    if (RETVAL == NULL)
        XSRETURN_UNDEF;
  OUTPUT:
    RETVAL

MODULE = Devel::NYTProf    PACKAGE = Devel::NYTProf::Data

SV *
_load(const char *path, bool merge, U32 max_siblings, bool partial)
  CODE:
    RETVAL = nytp_glue_load(aTHX_ path, merge, max_siblings, partial);
  OUTPUT:
    RETVAL

int
_merge(int fd, int level, bool partial, AV *paths, AV *notes)
  CODE:
    RETVAL = nytp_glue_merge(aTHX_ fd, level, partial, paths, notes);
  OUTPUT:
    RETVAL
