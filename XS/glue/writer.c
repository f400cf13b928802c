/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Writes merged profiles for Perl code; see glue.h.
 */
#define PERL_NO_GET_CONTEXT
#include <EXTERN.h>
#include <perl.h>

#include <errno.h>
#include <unistd.h>

#include "formats/stream/write/merge_streams.h"
#include "glue.h"

/* A merge in progress; perl's save stack frees it. */
struct output {
    int fd;
    int why; /* errno of the failed write */
    struct nytp_merge *merge;
    AV *notes;
};

/* nytp_bytes_fn for the merger's output. */
static bool write_all(void *context, const uint8_t *bytes, size_t len)
{
    struct output *out = context;
    while (len > 0) {
        const ssize_t n = write(out->fd, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            out->why = errno;
            return false;
        }
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

static void note(void *context, const char *text)
{
    struct output *out = context;
    dTHX;
    av_push(out->notes, newSVpv(text, 0));
}

static void free_output(pTHX_ void *at)
{
    struct output *out = at;
    nytp_merge_free(out->merge);
    Safefree(out);
}

/* Croaks with the error of the output, else of the input. */
static void fail(pTHX_ const struct output *out, const char *path,
                 const struct nytp_error *error)
{
    if (out->why != 0)
        croak("cannot write the merged profile: %s", Strerror(out->why));
    croak_sv(nytp_glue_error_text(aTHX_ path, error));
}

int nytp_glue_merge(pTHX_ int fd, int level, bool partial, AV *paths, AV *notes)
{
    struct output *out;
    ENTER;
    Newxz(out, 1, struct output);
    SAVEDESTRUCTOR_X(free_output, out);
    out->fd = fd;
    out->notes = notes;
    out->merge = nytp_merge_new(write_all, note, out, level);
    if (out->merge == NULL)
        croak("out of memory");
    int damaged = 0;
    struct nytp_error error = {0};
    for (SSize_t i = 0; i <= av_len(paths); i++) {
        SV **slot = av_fetch(paths, i, 0);
        const char *path = slot != NULL ? SvPV_nolen(*slot) : "";
        error = (struct nytp_error){0};
        if (nytp_merge_add(out->merge, path, &error))
            continue;
        if (!partial || out->why != 0 || error.status == NYTP_ERR_MEMORY)
            fail(aTHX_ out, path, &error);
        av_push(notes, newSVsv(nytp_glue_error_text(aTHX_ path, &error)));
        damaged++;
    }
    error = (struct nytp_error){0};
    if (!nytp_merge_finish(out->merge, &error))
        fail(aTHX_ out, "merge", &error);
    LEAVE;
    return damaged;
}
