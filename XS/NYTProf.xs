/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What perl code can call. Signatures only: the work is in the C files beside.
 */
#include "recorder.h"

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
    nytp_finish(aTHX);

void
DB(...)
  CODE:
    PERL_UNUSED_VAR(items);
    nytp_statement_by_db(aTHX);

MODULE = Devel::NYTProf    PACKAGE = Devel::NYTProf::Core

void
_load()
  CODE:
    nytp_load(aTHX);

void
_start()
  CODE:
    nytp_start(aTHX);
