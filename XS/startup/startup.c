/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Measures what a program loads; see startup.h.
 *
 * A stretch must end however its file or block ends: by its last statement, die, or exit. So
 * each leaves two destructors on perl's save stack. One is inside the context that the op makes
 * and runs when that context is left. The other is below it, for an op that dies before it
 * makes a context, as for a file that is missing or does not compile (pp_ctl.c, require_file
 * and doeval_compile; pp_hot.c, pp_entersub).
 */
#include "startup.h"

#include "XS/perl/stash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* For a program that requires in a loop; later ones are ignored. */
#define MAX_STRETCHES 1000000

enum kind {
    FILE_LOADED,
    BEGIN_BLOCK,
    HIT
};
static const char *const kind_names[] = {"file", "begin", "hit"};

struct stretch {
    enum kind kind;
    bool is_open;
    uint32_t parent, line;
    int64_t began_ns, ended_ns;
    IV svs;
    char *name, *asker, *path;
    SSize_t misses;
};

/* State of the one interpreter that is watched. */
static struct {
    void *interpreter;
    pid_t pid;
    char *output;
    struct stretch *stretches;
    uint32_t n, size, current;
    Perl_ppaddr_t real_require, real_dofile, real_entersub;
} watch;

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool is_watching(pTHX)
{
    return watch.interpreter == NYTP_THX && watch.stretches[0].is_open &&
           watch.n < MAX_STRETCHES;
}

static uint32_t begin(pTHX_ enum kind kind, const char *name)
{
    if (watch.n == watch.size) {
        const uint32_t size = watch.size > 0 ? 2 * watch.size : 256;
        struct stretch *const more = realloc(watch.stretches, size * sizeof *more);
        if (more == NULL)
            croak("nytp startup: out of memory");
        watch.stretches = more;
        watch.size = size;
    }
    const char *const asker = CopFILE(PL_curcop);
    watch.stretches[watch.n] = (struct stretch){
        .kind = kind,
        .is_open = true,
        .parent = watch.current,
        .line = CopLINE(PL_curcop),
        .svs = PL_sv_count,
        .name = strdup(name),
        .asker = strdup(asker != NULL ? asker : ""),
        .began_ns = now_ns(),
    };
    watch.current = watch.n;
    return watch.n++;
}

static SV *loaded(pTHX_ const char *name)
{
    return nytp_peek(aTHX_ GvHV(PL_incgv), name, strlen(name), false);
}

/* Returns the number of @INC entries before the one that the file's path begins with; all
 * entries if it was not found. */
static SSize_t count_misses(pTHX_ const struct stretch *s)
{
    AV *const inc = GvAV(PL_incgv);
    const SSize_t n = inc != NULL ? AvFILLp(inc) + 1 : 0;
    const size_t len = s->path != NULL ? strlen(s->path) : 0;
    if (*s->name == '/' || *s->name == '.')
        return 0;
    for (SSize_t i = 0; i < n && len > 0; i++) {
        SV *const dir = AvARRAY(inc)[i];
        if (dir != NULL && SvPOK(dir) && SvCUR(dir) < len && s->path[SvCUR(dir)] == '/' &&
            memcmp(s->path, SvPVX(dir), SvCUR(dir)) == 0)
            return i;
    }
    return len > 0 ? 0 : n;
}

static void end(pTHX_ struct stretch *s)
{
    s->ended_ns = now_ns();
    s->svs = PL_sv_count - s->svs;
    s->is_open = false;
    if (s->kind != FILE_LOADED)
        return;
    SV *const path = loaded(aTHX_ s->name);
    if (path != NULL && SvPOK(path))
        s->path = strdup(SvPVX(path));
    s->misses = count_misses(aTHX_ s);
}

/* Ends a stretch, after those that began in it and were left unnoticed. */
static void leave(pTHX_ void *number)
{
    const uint32_t wanted = (uint32_t)PTR2UV(number);
    if (watch.interpreter != NYTP_THX || !watch.stretches[wanted].is_open)
        return;
    for (uint32_t i = watch.current;; i = watch.stretches[i].parent) {
        end(aTHX_ & watch.stretches[i]);
        watch.current = watch.stretches[i].parent;
        if (i == wanted)
            return;
    }
}

static OP *run(pTHX_ Perl_ppaddr_t real, enum kind kind, const char *name)
{
    void *const number = NUM2PTR(void *, (UV)begin(aTHX_ kind, name));
    const PERL_SI *const stack = PL_curstackinfo;
    const I32 depth = cxstack_ix;
    SAVEDESTRUCTOR_X(leave, number);
    OP *const next = real(aTHX);
    if (PL_curstackinfo == stack && cxstack_ix > depth)
        SAVEDESTRUCTOR_X(leave, number);
    else
        leave(aTHX_ number);
    return next;
}

/* Returns the name that the op shall load, or NULL for a version or anything not plain. */
static const char *file_wanted(pTHX)
{
    SV *const wanted = *PL_stack_sp;
    return SvPOK(wanted) && !SvNIOKp(wanted) && !SvVOK(wanted) && !SvGMAGICAL(wanted)
               ? SvPVX(wanted)
               : NULL;
}

static OP *pp_require(pTHX)
{
    const char *const name = is_watching(aTHX) ? file_wanted(aTHX) : NULL;
    if (name == NULL)
        return watch.real_require(aTHX);
    SV *const path = loaded(aTHX_ name);
    if (path != NULL && SvOK(path)) {
        leave(aTHX_ NUM2PTR(void *, (UV)begin(aTHX_ HIT, name)));
        return watch.real_require(aTHX);
    }
    return run(aTHX_ watch.real_require, FILE_LOADED, name);
}

static OP *pp_dofile(pTHX)
{
    const char *const name = is_watching(aTHX) ? file_wanted(aTHX) : NULL;
    return name == NULL ? watch.real_dofile(aTHX)
                        : run(aTHX_ watch.real_dofile, FILE_LOADED, name);
}

static OP *pp_entersub(pTHX)
{
    SV *const sub = *PL_stack_sp;
    if (SvTYPE(sub) != SVt_PVCV || !CvSPECIAL((CV *)sub) || CvISXSUB((CV *)sub) ||
        !is_watching(aTHX))
        return watch.real_entersub(aTHX);
    GV *const gv = CvGV((CV *)sub);
    return run(aTHX_ watch.real_entersub, BEGIN_BLOCK, gv != NULL ? GvNAME(gv) : "BEGIN");
}

static void put_text(FILE *out, const char *text)
{
    fputc('\t', out);
    for (; text != NULL && *text != '\0'; text++)
        if ((unsigned char)*text <= ' ' || *text == 127 || *text == '%')
            fprintf(out, "%%%02X", (unsigned char)*text);
        else
            fputc(*text, out);
}

static void put_stretch(FILE *out, const struct stretch *s)
{
    fprintf(out, "%s\t%lu\t%lu\t%lld\t%lld\t%lld", kind_names[s->kind],
            (unsigned long)(s - watch.stretches), (unsigned long)s->parent,
            (long long)(s->began_ns - watch.stretches[0].began_ns),
            (long long)(s->ended_ns - watch.stretches[0].began_ns), (long long)s->svs);
    put_text(out, s->name);
    put_text(out, s->asker);
    fprintf(out, "\t%lu", (unsigned long)s->line);
    put_text(out, s->path);
    fprintf(out, "\t%ld\n", (long)s->misses);
}

/* Writes the subs of a package and those below. A constant has a reference, not a glob. */
static void put_subs(pTHX_ FILE *out, HV *stash, int depth)
{
    for (STRLEN i = 0; HvARRAY(stash) != NULL && i <= HvMAX(stash); i++)
        for (HE *entry = HvARRAY(stash)[i]; entry != NULL; entry = HeNEXT(entry)) {
            SV *const value = HeVAL(entry);
            const STRLEN len = HeKLEN(entry) > 0 ? (STRLEN)HeKLEN(entry) : 0;
            CV *cv = SvROK(value) ? (CV *)SvRV(value) : NULL;
            if (isGV_with_GP(value)) {
                HV *const below = GvHV((GV *)value);
                if (len > 2 && memcmp(HeKEY(entry) + len - 2, "::", 2) == 0 && below != NULL &&
                    below != PL_defstash && depth < 50)
                    put_subs(aTHX_ out, below, depth + 1);
                cv = GvCVu((GV *)value);
                cv = cv != NULL && !CvNAMED(cv) && CvGV(cv) != (GV *)value ? NULL : cv;
            }
            if (cv == NULL || SvTYPE(cv) != SVt_PVCV || CvISXSUB(cv) || !CvROOT(cv) ||
                CvFILE(cv) == NULL)
                continue;
            fputs("sub", out);
            put_text(out, CvFILE(cv));
            fputc('\n', out);
        }
}

void nytp_startup_stop(pTHX)
{
    if (watch.interpreter == NYTP_THX)
        leave(aTHX_ NULL);
}

static void write_all(pTHX_ void *unused)
{
    PERL_UNUSED_ARG(unused);
    if (watch.interpreter != NYTP_THX || watch.pid != getpid())
        return;
    nytp_startup_stop(aTHX);
    FILE *const out = fopen(watch.output, "w");
    if (out == NULL)
        return;
    for (uint32_t i = 0; i < watch.n; i++)
        put_stretch(out, &watch.stretches[i]);
    put_subs(aTHX_ out, PL_defstash, 0);
    fputs("end\n", out);
    fclose(out);
}

void nytp_startup_watch(pTHX_ const char *path)
{
    if (watch.interpreter != NULL)
        return;
    watch.output = strdup(path);
    watch.pid = getpid();
    watch.real_require = PL_ppaddr[OP_REQUIRE];
    watch.real_dofile = PL_ppaddr[OP_DOFILE];
    watch.real_entersub = PL_ppaddr[OP_ENTERSUB];
    call_atexit(write_all, NULL);
    begin(aTHX_ FILE_LOADED, "");
    watch.interpreter = NYTP_THX;
    PL_ppaddr[OP_REQUIRE] = pp_require;
    PL_ppaddr[OP_DOFILE] = pp_dofile;
    PL_ppaddr[OP_ENTERSUB] = pp_entersub;
}
