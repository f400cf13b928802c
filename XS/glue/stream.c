/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A profile as a stream of calls to Perl code; see stream_glue.h.
 *
 * The argument scalars are made once and filled anew for every chunk; one that the callback
 * has kept a reference to is left to it and replaced.
 */
#define PERL_NO_GET_CONTEXT
#include <EXTERN.h>
#include <perl.h>

#include "../../formats/core/format.h"
#include "error.h"
#include "stream.h"

#define MAX_FIELDS 9
#define LARGE_TEXT 32768

struct stream {
    struct nytp_sink sink;
#ifdef MULTIPLICITY
    tTHX perl;
#endif
    CV *code[NYTP_TAG_COUNT]; /* NULL: the tag is skipped */
    SV *tag[NYTP_TAG_COUNT];
    SV *field[MAX_FIELDS];
    unsigned n_fields; /* of the current chunk */
    GV *counter;       /* the handle whose line number $. shows */
    IV chunk;
    SV *died; /* what a callback died with that had to be caught first */
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

static SV *next_field(pTHX_ struct stream *s)
{
    SV **slot = &s->field[s->n_fields++];
    if (*slot == NULL || SvREFCNT(*slot) != 1 || SvREADONLY(*slot)) {
        SvREFCNT_dec(*slot);
        *slot = newSV(0);
    }
    return *slot;
}

static void put_uint(pTHX_ struct stream *s, U32 value)
{
    sv_setuv(next_field(aTHX_ s), value);
}

static void put_nv(pTHX_ struct stream *s, NV value)
{
    sv_setnv(next_field(aTHX_ s), value);
}

static void put_str(pTHX_ struct stream *s, struct nytp_str text)
{
    SV *sv = next_field(aTHX_ s);
    sv_setpvn(sv, text.ptr, text.len);
    if (text.utf8 && is_utf8_string((const U8 *)text.ptr, text.len))
        SvUTF8_on(sv);
    else
        SvUTF8_off(sv);
}

static void put_calls(pTHX_ struct stream *s, const struct nytp_event *e)
{
    put_uint(aTHX_ s, e->u.sub_callers.fid);
    put_uint(aTHX_ s, e->u.sub_callers.line);
    put_uint(aTHX_ s, e->u.sub_callers.count);
    put_nv(aTHX_ s, e->u.sub_callers.incl_s);
    put_nv(aTHX_ s, e->u.sub_callers.excl_s);
    put_nv(aTHX_ s, e->u.sub_callers.reci_s);
    put_uint(aTHX_ s, e->u.sub_callers.rec_depth);
    put_str(aTHX_ s, e->u.sub_callers.callee);
    put_str(aTHX_ s, e->u.sub_callers.caller);
}

static void put_file(pTHX_ struct stream *s, const struct nytp_event *e)
{
    put_uint(aTHX_ s, e->u.new_fid.fid);
    put_uint(aTHX_ s, e->u.new_fid.eval_fid);
    put_uint(aTHX_ s, e->u.new_fid.eval_line);
    put_uint(aTHX_ s, e->u.new_fid.flags);
    put_uint(aTHX_ s, e->u.new_fid.size);
    put_uint(aTHX_ s, e->u.new_fid.mtime_s);
    put_str(aTHX_ s, e->u.new_fid.name);
}

/* Fields in the order that callbacks have always been given them, which is not the order on
 * disk for SUB_INFO and SUB_CALLERS. */
static void put_fields(pTHX_ struct stream *s, const struct nytp_event *e)
{
    switch (e->tag) {
    case NYTP_TAG_TIME_BLOCK:
    case NYTP_TAG_TIME_LINE:
        sv_setiv(next_field(aTHX_ s), e->u.time.ticks);
        put_uint(aTHX_ s, e->u.time.fid);
        put_uint(aTHX_ s, e->u.time.line);
        if (e->tag == NYTP_TAG_TIME_LINE)
            break;
        put_uint(aTHX_ s, e->u.time.block_line);
        put_uint(aTHX_ s, e->u.time.sub_line);
        break;
    case NYTP_TAG_SUB_ENTRY:
        put_uint(aTHX_ s, e->u.sub_entry.caller_fid);
        put_uint(aTHX_ s, e->u.sub_entry.caller_line);
        break;
    case NYTP_TAG_SUB_RETURN:
        put_uint(aTHX_ s, e->u.sub_return.depth);
        put_nv(aTHX_ s, e->u.sub_return.incl_ticks);
        put_nv(aTHX_ s, e->u.sub_return.excl_ticks);
        put_str(aTHX_ s, e->u.sub_return.name);
        break;
    case NYTP_TAG_SRC_LINE:
        put_uint(aTHX_ s, e->u.src_line.fid);
        put_uint(aTHX_ s, e->u.src_line.line);
        put_str(aTHX_ s, e->u.src_line.text);
        break;
    case NYTP_TAG_SUB_INFO:
        put_uint(aTHX_ s, e->u.sub_info.fid);
        put_uint(aTHX_ s, e->u.sub_info.first_line);
        put_uint(aTHX_ s, e->u.sub_info.last_line);
        put_str(aTHX_ s, e->u.sub_info.name);
        break;
    case NYTP_TAG_SUB_CALLERS:
        put_calls(aTHX_ s, e);
        break;
    case NYTP_TAG_NEW_FID:
        put_file(aTHX_ s, e);
        break;
    case NYTP_TAG_VERSION:
        put_uint(aTHX_ s, e->u.version.major);
        put_uint(aTHX_ s, e->u.version.minor);
        break;
    case NYTP_TAG_ATTRIBUTE:
    case NYTP_TAG_OPTION:
        put_str(aTHX_ s, e->u.pair.key);
        put_str(aTHX_ s, e->u.pair.value);
        break;
    case NYTP_TAG_COMMENT:
        put_str(aTHX_ s, e->u.comment.text);
        break;
    case NYTP_TAG_PID_START:
        put_uint(aTHX_ s, e->u.pid_start.pid);
        put_uint(aTHX_ s, e->u.pid_start.ppid);
        put_nv(aTHX_ s, e->u.pid_start.time_s);
        break;
    case NYTP_TAG_PID_END:
        put_uint(aTHX_ s, e->u.pid_end.pid);
        put_nv(aTHX_ s, e->u.pid_end.time_s);
        break;
    case NYTP_TAG_START_DEFLATE:
    case NYTP_TAG_DISCOUNT:
    case NYTP_TAG_COUNT:
        break;
    }
}

/* Returns false when the code died and `guarded` asked for that to be caught. */
static bool call_perl(pTHX_ struct stream *s, CV *code, SV *tag, bool guarded)
{
    /* reading a handle in the callback makes $. follow that handle: take it back */
    PL_last_in_gv = s->counter;
    IoLINES(GvIOp(s->counter)) = s->chunk;
    dSP;
    PUSHMARK(SP);
    EXTEND(SP, MAX_FIELDS + 1);
    PUSHs(tag);
    for (unsigned i = 0; i < s->n_fields; i++)
        PUSHs(s->field[i]);
    PUTBACK;
    call_sv((SV *)code, G_VOID | G_DISCARD | (guarded ? G_EVAL : 0));
    if (guarded && SvTRUE(ERRSV)) {
        s->died = newSVsv(ERRSV);
        return false;
    }
    return true;
}

/* A record too large for the source's window is in a buffer that the reader would not free if
 * perl jumped out of it. */
static bool is_large(const struct nytp_event *event)
{
    return (event->tag == NYTP_TAG_SRC_LINE && event->u.src_line.text.len > LARGE_TEXT) ||
           (event->tag == NYTP_TAG_SUB_RETURN && event->u.sub_return.name.len > LARGE_TEXT) ||
           (event->tag == NYTP_TAG_SUB_INFO && event->u.sub_info.name.len > LARGE_TEXT) ||
           (event->tag == NYTP_TAG_NEW_FID && event->u.new_fid.name.len > LARGE_TEXT) ||
           (event->tag == NYTP_TAG_SUB_CALLERS &&
            event->u.sub_callers.callee.len + event->u.sub_callers.caller.len > LARGE_TEXT);
}

static bool deliver(struct nytp_sink *sink, const struct nytp_event *event)
{
    struct stream *s = (struct stream *)sink;
    CV *code = s->code[event->tag];
    bool go_on = true;
    if (code != NULL) {
        dTHXa(s->perl);
        s->n_fields = 0;
        put_fields(aTHX_ s, event);
        go_on = call_perl(aTHX_ s, code, s->tag[event->tag], is_large(event));
    }
    s->chunk++;
    return go_on;
}

static CV *code_of(pTHX_ SV *sv)
{
    return SvROK(sv) && SvTYPE(SvRV(sv)) == SVt_PVCV ? (CV *)SvRV(sv) : NULL;
}

/* Which code each tag goes to; croaks on anything that is neither code nor a hash of code. */
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
#ifdef MULTIPLICITY
    s->perl = aTHX;
#endif
    s->counter = new_counter(aTHX);
    sv_2mortal(SvREFCNT_inc(callback)); /* it may replace what it was passed in */
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
