/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Look-ups without side effects; see stash.h.
 */
#include "stash.h"

SV *nytp_peek(pTHX_ HV *hash, const char *key, size_t len, bool is_utf8)
{
    if (hash == NULL || SvTYPE((const SV *)hash) != SVt_PVHV) /* freed */
        return NULL;
    const I32 key_len = is_utf8 ? -(I32)len : (I32)len;
    const U32 magic = nytp_magic_off(hash);
    /* hv_fetch() alone dies of a missing key in a locked hash. */
    SV *const *const place =
        hv_exists(hash, key, key_len) ? hv_fetch(hash, key, key_len, FALSE) : NULL;
    nytp_magic_on(hash, magic);
    return place == NULL ? NULL : *place;
}

CV *nytp_cv_of_name(pTHX_ const char *name, size_t len, bool is_utf8, HV *stash)
{
    const char *const end = name + len, *sep;
    if (memmem(name, len, "::", 2) != NULL)
        stash = PL_defstash;
    while ((sep = memmem(name, (size_t)(end - name), "::", 2)) != NULL) {
        if (sep > name) {
            const SV *const inner =
                nytp_peek(aTHX_ stash, name, (size_t)(sep + 2 - name), is_utf8);
            stash = inner != NULL && isGV_with_GP(inner) ? GvHV((const GV *)inner) : NULL;
        }
        name = sep + 2;
    }
    SV *const sv = nytp_peek(aTHX_ stash, name, (size_t)(end - name), is_utf8);
    if (sv != NULL && SvROK(sv) && SvTYPE(SvRV(sv)) == SVt_PVCV)
        return (CV *)SvRV(sv);
    return sv != NULL && isGV_with_GP(sv) ? GvCVu((GV *)sv) : NULL;
}

void nytp_xsub_redirect(pTHX_ const char *name, XSUBADDR_t ours, XSUBADDR_t *real)
{
    CV *const cv = nytp_cv_of_name(aTHX_ name, strlen(name), false, PL_defstash);
    if (cv == NULL || !CvISXSUB(cv) || CvXSUB(cv) == ours)
        return;
    *real = CvXSUB(cv);
    CvXSUB(cv) = ours;
}
