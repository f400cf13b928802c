/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What perl code can call. Signatures only: the work is in the C files beside.
 */
#include "recorder/dprof.h"
#include "recorder/load.h"

#include "glue/data.h"
#include "glue/stream.h"
#include "glue/writer.h"

/* What DynaLoader looks for; nothing else leaves the object. */
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
    RETVAL = nytp_enable(aTHX_ file);
  OUTPUT:
    RETVAL

bool
disable_profile()
  CODE:
    RETVAL = nytp_disable(aTHX);
  OUTPUT:
    RETVAL

void
finish_profile()
  CODE:
    nytp_finish_profile(aTHX);

void
DB(...)
  CODE:
    PERL_UNUSED_VAR(items);
    nytp_statement_by_db(aTHX);

MODULE = Devel::NYTProf    PACKAGE = Devel::NYTProf::Core

void
CLONE(...)
  CODE:
    PERL_UNUSED_VAR(items);
    nytp_thread_seen(aTHX);

void
_load()
  CODE:
    nytp_load(aTHX);

void
_start()
  CODE:
    nytp_start(aTHX);

void
_write_marks()
  CODE:
    struct nytp_recorder *const rec = nytp_recorder_get(aTHX);
    if (rec != NULL)
        nytp_dprof_choose(aTHX_ rec);

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
