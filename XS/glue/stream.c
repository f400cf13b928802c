/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Passes a profile's records to Perl code; see glue.h.
 *
 * The argument scalars are made once and refilled for every chunk; one that the callback keeps
 * a reference to is replaced.
 */
#define PERL_NO_GET_CONTEXT
#include <EXTERN.h>
#include <perl.h>

#include "formats/stream/format.h"
#include "glue.h"

#define MAX_FIELDS 9     /* of a record */
#define LARGE_TEXT 32768 /* bytes; see is_large() */

/* A reading in progress; perl's save stack frees it. */
struct stream {
    struct nytp_sink sink;
    CV *code[NYTP_TAG_COUNT]; /* NULL: the tag is skipped */
    SV *tag[NYTP_TAG_COUNT];
    SV *field[MAX_FIELDS];
    unsigned n_fields;
    GV *counter; /* the handle whose line number $. shows */
    IV chunk;
    SV *died; /* a callback's exception that had to be caught first */
    struct nytp_source *source;
};

static void free_stream(pTHX_ void *at)
{
    struct stream *s = at;
    nytp_source_free(s->source);
    for (unsigned i = 0; i < MAX_FIELDS; i++)
        SvREFCNT_dec(s->field[i]);
    for (unsigned i = 0; i < NYTP_TAG_COUNT; i++)
        SvREFCNT_dec(s->tag[i]);
    SvREFCNT_dec((SV *)s->counter);
    SvREFCNT_dec(s->died);
    Safefree(s);
}

static SV *field_at(pTHX_ struct stream *s, unsigned position)
{
    SV **slot = &s->field[position];
    if (*slot == NULL || SvREFCNT(*slot) != 1 || SvREADONLY(*slot)) {
        SvREFCNT_dec(*slot);
        *slot = newSV(0);
    }
    return *slot;
}

static void put_UINT(pTHX_ SV *sv, U32 value)
{
    sv_setuv(sv, value);
}

static void put_INT(pTHX_ SV *sv, I32 value)
{
    sv_setiv(sv, value);
}

static void put_NUMBER(pTHX_ SV *sv, NV value)
{
    sv_setnv(sv, value);
}

static void put_TEXT(pTHX_ SV *sv, struct nytp_str text)
{
    sv_setpvn(sv, text.ptr, text.len);
    /* perl takes a length of 0 for a C string's */
    if (text.utf8 && text.len > 0 && is_utf8_string((const U8 *)text.ptr, text.len))
        SvUTF8_on(sv);
    else
        SvUTF8_off(sv);
}

static void put_fields(pTHX_ struct stream *s, const struct nytp_event *e)
{
    switch (e->tag) {
#define NYTP_RECORD(tag, n)                                                                    \
    case NYTP_TAG_##tag:                                                                       \
        s->n_fields = (n);
#define NYTP_FIELD(kind, record, field, position)                                              \
    put_##kind(aTHX_ field_at(aTHX_ s, position), e->u.record.field);
#define NYTP_RECORD_END break;
#include "formats/stream/fields.def"
    case NYTP_TAG_COUNT:
        break;
    }
}

/* Returns false if the code died and `guarded` had that caught. The code has a stack of its
 * own: its `last` or `goto` would jump past the reader, which perl then returns into. */
static bool call_perl(pTHX_ struct stream *s, CV *code, SV *tag, bool guarded)
{
    /* $. may follow a handle that the callback read: take it back */
    PL_last_in_gv = s->counter;
    IoLINES(GvIOp(s->counter)) = s->chunk;
    dSP;
    PUSHSTACKi(PERLSI_UNKNOWN);
    PUSHMARK(SP);
    EXTEND(SP, MAX_FIELDS + 1);
    PUSHs(tag);
    for (unsigned i = 0; i < s->n_fields; i++)
        PUSHs(s->field[i]);
    PUTBACK;
    call_sv((SV *)code, G_VOID | G_DISCARD | (guarded ? G_EVAL : 0));
    POPSTACK;
    if (guarded && SvTRUE(ERRSV)) {
        s->died = newSVsv(ERRSV);
        return false;
    }
    return true;
}

/* Returns whether a record does not fit the source's window: perl would jump past the code that
 * frees its buffer. */
static bool is_large(const struct nytp_event *event)
{
    size_t len = 0;
    switch (event->tag) {
#define len_UINT(value)                           0
#define len_INT(value)                            0
#define len_NUMBER(value)                         0
#define len_TEXT(value)                           (value).len
#define NYTP_RECORD(tag, n)                       case NYTP_TAG_##tag:
#define NYTP_FIELD(kind, record, field, position) len += len_##kind(event->u.record.field);
#define NYTP_RECORD_END                           break;
#include "formats/stream/fields.def"
    case NYTP_TAG_COUNT:
        break;
    }
    return len > LARGE_TEXT;
}

static bool deliver(struct nytp_sink *sink, const struct nytp_event *event)
{
    struct stream *s = (struct stream *)sink;
    CV *code = s->code[event->tag];
    bool go_on = true;
    if (code != NULL) {
        dTHX;
        put_fields(aTHX_ s, event);
        go_on = call_perl(aTHX_ s, code, s->tag[event->tag], is_large(event));
    }
    s->chunk++;
    return go_on;
}

/* The code lives until the reader returns, also if a callback removes or replaces it. */
static CV *code_of(pTHX_ SV *sv)
{
    if (!SvROK(sv) || SvTYPE(SvRV(sv)) != SVt_PVCV)
        return NULL;
    return (CV *)sv_2mortal(SvREFCNT_inc_simple_NN(SvRV(sv)));
}

/* Sets the code for each tag and returns that for "all_loaded". Croaks on anything but code or
 * a hash of code. */
static CV *choose_code(pTHX_ struct stream *s, SV *callback)
{
    CV *const all = code_of(aTHX_ callback);
    const bool is_hash = SvROK(callback) && SvTYPE(SvRV(callback)) == SVt_PVHV;
    if (all == NULL && !is_hash)
        croak("Not a CODE or HASH reference");
    for (unsigned tag = 0; tag < NYTP_TAG_COUNT; tag++) {
        const char *name = nytp_tag_name((enum nytp_tag)tag);
        s->tag[tag] = newSVpv(name, 0);
        SvREADONLY_on(s->tag[tag]);
        s->code[tag] = all;
        if (all != NULL)
            continue;
        SV **slot = hv_fetch((HV *)SvRV(callback), name, strlen(name), 0);
        if (slot == NULL || !SvOK(*slot))
            continue;
        s->code[tag] = code_of(aTHX_ * slot);
        if (s->code[tag] == NULL)
            croak("Callback for %s is not a CODE reference", name);
    }
    if (all != NULL)
        return NULL;
    SV **slot = hv_fetchs((HV *)SvRV(callback), "all_loaded", 0);
    return slot != NULL ? code_of(aTHX_ * slot) : NULL;
}

static GV *new_counter(pTHX)
{
    GV *gv = (GV *)newSV(0);
    gv_init_pvn(gv, gv_stashpvs("Devel::NYTProf::ReadStream", GV_ADD), "chunk", 5, 0);
    GvIOp(gv) = newIO();
    return gv;
}

SV *nytp_glue_stream(pTHX_ const char *path, SV *callback)
{
    struct nytp_error error = {0};
    struct stream *s;
    ENTER;
    SAVETMPS;
    Newxz(s, 1, struct stream);
    SAVEDESTRUCTOR_X(free_stream, s);
    SAVESPTR(PL_last_in_gv);
    s->sink.event = deliver;
    s->counter = new_counter(aTHX);
    sv_2mortal(SvREFCNT_inc(callback)); /* the callback may replace its own variable */
    CV *const last = choose_code(aTHX_ s, callback);
    const struct nytp_read_options options = {0};
    s->source = nytp_source_open(path, &error);
    SV *failure = NULL;
    const bool ok = s->source != NULL && nytp_read(s->source, &options, &s->sink, &error);
    if (s->died != NULL)
        croak_sv(sv_2mortal(newSVsv(s->died)));
    if (!ok)
        failure = newSVsv(nytp_glue_error_text(aTHX_ path, &error));
    if (failure == NULL && last != NULL) {
        s->n_fields = 0;
        call_perl(aTHX_ s, last, sv_2mortal(newSVpvs("all_loaded")), false);
    }
    FREETMPS;
    LEAVE;
    return failure;
}
