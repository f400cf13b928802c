/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Parses options as the user writes them; see settings.h. In C, since every start would pay for
 * compiling perl code.
 */
#include "settings.h"

#include "options.h"

/* Our own function is called without perl's op. With -d that op would be the first event, which
 * starts recording before the options are known. */
static void call_set_option(pTHX_ SV *name, SV *value)
{
    dSP;
    const ptrdiff_t depth = SP - PL_stack_base;
    CV *const cv = get_cv("DB::set_option", 0);
    PUSHMARK(SP);
    EXTEND(SP, 2);
    PUSHs(name);
    PUSHs(value);
    PUTBACK;
    if (cv != NULL && CvISXSUB(cv))
        CvXSUB(cv)(aTHX_ cv);
    else
        call_pv("DB::set_option", G_VOID | G_DISCARD);
    PL_stack_sp = PL_stack_base + depth;
}

static void set(pTHX_ SV *name, SV *value)
{
    if (value != NULL || nytp_option_decides(SvPV_nolen(name)))
        call_set_option(aTHX_ name, value != NULL ? value : newSVpvs_flags("", SVs_TEMP));
    else
        PerlIO_printf(PerlIO_stderr(), "Devel::NYTProf: option '%s' has no value\n",
                      SvPV_nolen(name));
}

/* Sets one option, which begins at `at`. Returns the begin of the next. */
static const char *set_part(pTHX_ const char *at, const char *end)
{
    SV *const name = newSVpvs_flags("", SVs_TEMP);
    SV *value = NULL;
    for (; at < end && *at != ':'; at++) {
        if (*at == '=' && value == NULL) {
            value = newSVpvs_flags("", SVs_TEMP);
            continue;
        }
        if (*at == '\\' && ++at == end)
            break;
        sv_catpvn(value != NULL ? value : name, at, 1);
    }
    if (value != NULL || SvCUR(name) > 0)
        set(aTHX_ name, value);
    return at < end ? at + 1 : end;
}

XS_EXTERNAL(nytp_set_text)
{
    dXSARGS;
    PERL_UNUSED_VAR(cv);
    if (items != 1)
        croak("Usage: Devel::NYTProf::Core::set_text(TEXT)");
    STRLEN len;
    SV *const copy = sv_mortalcopy(ST(0)); /* the called code may change the environment */
    const char *at = SvPV(copy, len);
    const char *const end = at + len;
    while (at < end)
        at = set_part(aTHX_ at, end);
    XSRETURN_EMPTY;
}

XS_EXTERNAL(nytp_set_list)
{
    dXSARGS;
    PERL_UNUSED_VAR(cv);
    for (I32 i = 0; i < items; i++) {
        STRLEN len;
        const char *const text = SvPV(ST(i), len);
        const char *const equals = memchr(text, '=', len);
        const STRLEN name_len = equals == NULL ? len : (STRLEN)(equals - text);
        set(aTHX_ newSVpvn_flags(text, name_len, SVs_TEMP),
            equals == NULL ? NULL : newSVpvn_flags(equals + 1, len - name_len - 1, SVs_TEMP));
    }
    XSRETURN_EMPTY;
}
