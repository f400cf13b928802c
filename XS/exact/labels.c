/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Labels; see labels.h.
 *
 * A call that is open when a label changes has spent part of its time under the old label, but
 * the stream records only the sum, at return. So a change records how much time each open call
 * has had since the last change. Only calls that can have run since are visited: calls below
 * one that was open at both changes have not.
 */
#include "labels.h"

#include "XS/output/say.h"
#include "XS/perl/stash.h"
#include "XS/state/state.h"
#include "XS/state/stream.h"
#include "XS/state/sub.h"

#include "formats/base/utf8.h"
#include "formats/stream/comments/label_records.h"

enum {
    MOST_LABELS = 100, /* keys in force at once */
};

struct nytp_rec_label {
    char *key, *value; /* escaped; owned */
};

/* ---- texts ---- */

/* Returns a copy as UTF-8, in a mortal SV. A byte string (an HTTP path, SQL in a program
 * without `use utf8`) may be UTF-8 already. */
static SV *as_utf8(pTHX_ SV *sv)
{
    SV *const copy = sv_newmortal();
    sv_copypv(copy, sv);
    if (!nytp_utf8_valid(SvPVX(copy), SvCUR(copy)))
        sv_utf8_upgrade(copy);
    return copy;
}

/* Returns the text as in the stream, in a mortal SV. May run the program's code (magic). */
static SV *escaped(pTHX_ SV *sv, size_t most, bool is_key)
{
    const SV *const utf8 = as_utf8(aTHX_ sv);
    const char *const bytes = SvPVX(utf8);
    const size_t len = SvCUR(utf8), kept = nytp_utf8_whole(bytes, len, most);
    SV *const text = sv_2mortal(newSVpvs(""));
    for (size_t i = 0; i < kept; i++) {
        const unsigned char c = (unsigned char)bytes[i];
        if (c < 0x20 || c == 0x7f || c == '\\' || (is_key && c == '='))
            sv_catpvf(text, "\\x%02x", (unsigned)c);
        else
            sv_catpvn(text, bytes + i, 1);
    }
    if (kept < len)
        sv_catpvs(text, "...");
    return text;
}

/* ---- the stream ---- */

static void write_text(struct nytp_recorder *rec)
{
    nytp_write_comment(rec->writer, rec->scratch.ptr);
}

static void emit_own(struct nytp_recorder *rec, uint32_t depth, int64_t ticks)
{
    const struct nytp_rec_sub *const sub = rec->calls.frames[depth - 1].sub;
    if (ticks == 0 || strlen(sub->name) != sub->name_len || strchr(sub->name, '\n') != NULL)
        return;
    nytp_text_clear(&rec->scratch);
    nytp_text_printf(&rec->scratch, NYTP_OWN_HEAD " %lu %lld %s", (unsigned long)depth,
                     (long long)ticks, sub->name);
    write_text(rec);
}

static void emit_open_calls(struct nytp_recorder *rec, int64_t now)
{
    int64_t above = 0;
    for (uint32_t i = rec->calls.n; i > 0; i--) {
        struct nytp_rec_frame *const frame = &rec->calls.frames[i - 1];
        const bool is_new = (int32_t)(frame->serial - rec->labels->last_serial) > 0;
        const int64_t incl = now - frame->enter_ticks;
        const int64_t own = incl - frame->callee_ticks - above;
        emit_own(rec, i, own - (is_new ? 0 : frame->labelled_ticks));
        frame->labelled_ticks = own;
        above = incl;
        if (!is_new)
            break;
    }
    rec->labels->last_serial = rec->last.serial;
}

static void emit_label(struct nytp_recorder *rec, const char *key, const char *value,
                       int64_t now)
{
    nytp_text_clear(&rec->scratch);
    nytp_text_printf(&rec->scratch, NYTP_LABEL_HEAD " %lld %s", (long long)now, key);
    if (value != NULL) {
        nytp_text_puts(&rec->scratch, "=");
        nytp_text_puts(&rec->scratch, value);
    }
    write_text(rec);
}

static bool writes_labels(const struct nytp_recorder *rec)
{
    return nytp_file_is_open(rec) && rec->dprof == NULL && !rec->run.is_ended;
}

/* Returns the time of a label for axis point `now`. Samples are too coarse an axis, so a
 * sampled profile uses the clock, unless it samples processor time. */
static int64_t of_label(struct nytp_recorder *rec, int64_t now)
{
    const char *const clock = rec->options.sample_clock;
    if (rec->kind == NYTP_SAMPLED && (clock == NULL || strNE(clock, "cpu")))
        return nytp_clock_now(&rec->clock);
    return now;
}

static void emit_change(pTHX_ struct nytp_recorder *rec, const char *key, const char *value)
{
    nytp_now_ticks(aTHX_ rec);
    if (!writes_labels(rec)) /* a fork's child may have just stopped recording */
        return;
    const int64_t now = nytp_axis_now(rec), label_now = of_label(rec, now);
    nytp_clock_pause(&rec->clock);
    if (rec->state == NYTP_RECORDING && rec->on.arcs && rec->on.returns)
        emit_open_calls(rec, now);
    nytp_stream_emit_memory_of_label(rec, nytp_clock_raw(&rec->clock));
    emit_label(rec, key, value, label_now);
    nytp_clock_resume(&rec->clock);
}

/* ---- labels in force ---- */

static struct nytp_rec_label *find(const struct nytp_recorder *rec, const char *key)
{
    for (uint32_t i = 0; i < rec->labels->n; i++)
        if (strEQ(rec->labels->all[i].key, key))
            return &rec->labels->all[i];
    return NULL;
}

static struct nytp_rec_label *add(struct nytp_recorder *rec, const char *key)
{
    if (rec->labels->n >= MOST_LABELS) {
        if (!rec->labels->said_many)
            nytp_say(&rec->options, "more than %d labels at once: the rest is left out",
                     MOST_LABELS);
        rec->labels->said_many = true;
        return NULL;
    }
    Renew(rec->labels->all, rec->labels->n + 1, struct nytp_rec_label);
    struct nytp_rec_label *const label = &rec->labels->all[rec->labels->n++];
    *label = (struct nytp_rec_label){.key = nytp_copy_string(key)};
    return label;
}

static void remove_label(struct nytp_recorder *rec, struct nytp_rec_label *label)
{
    Safefree(label->key);
    Safefree(label->value);
    *label = rec->labels->all[--rec->labels->n];
}

/* Sets a key's value and records that; `value` NULL removes the key. */
static void set(pTHX_ struct nytp_recorder *rec, const char *key, const char *value)
{
    struct nytp_rec_label *label = find(rec, key);
    if (label == NULL && (value == NULL || (label = add(rec, key)) == NULL))
        return;
    nytp_guard(rec);
    if (writes_labels(rec))
        emit_change(aTHX_ rec, key, value);
    if (value == NULL) {
        remove_label(rec, label);
    } else {
        Safefree(label->value);
        label->value = nytp_copy_string(value);
    }
    nytp_unguard(rec);
}

void nytp_label_set(pTHX_ struct nytp_recorder *rec, SV *key, SV *value)
{
    SV *const key_text = escaped(aTHX_ key, NYTP_LABEL_MOST_KEY, true);
    SV *const value_text =
        SvOK(value) ? escaped(aTHX_ value, NYTP_LABEL_MOST_VALUE, false) : NULL;
    if (SvCUR(key_text) > 0 && !rec->on.counts) /* its stretch is of time */
        set(aTHX_ rec, SvPVX(key_text), value_text == NULL ? NULL : SvPVX(value_text));
}

void nytp_label_profile(pTHX_ struct nytp_recorder *rec, SV *key, SV *value)
{
    SV *const key_text = escaped(aTHX_ key, NYTP_LABEL_MOST_KEY, true);
    SV *const value_text = escaped(aTHX_ value, NYTP_LABEL_MOST_VALUE, false);
    if (!writes_labels(rec) || SvCUR(key_text) == 0)
        return;
    nytp_guard(rec);
    nytp_text_clear(&rec->scratch);
    nytp_text_printf(&rec->scratch, NYTP_LABEL_PROFILE_HEAD " %s=%s", SvPVX(key_text),
                     SvPVX(value_text));
    write_text(rec);
    nytp_unguard(rec);
}

/* ---- DBI statements ---- */

/* DBI keeps the text in the hash that its handle is tied to; an inner handle is that hash
 * itself. Reading it there runs no code of DBI. */
static SV *text_of_handle(pTHX_ SV *handle)
{
    if (!SvROK(handle) || SvTYPE(SvRV(handle)) != SVt_PVHV)
        return NULL;
    const MAGIC *const tie = mg_find(SvRV(handle), PERL_MAGIC_tied);
    SV *const inner = tie == NULL ? handle : tie->mg_obj;
    if (inner == NULL || !SvROK(inner) || SvTYPE(SvRV(inner)) != SVt_PVHV)
        return NULL;
    return (SV *)nytp_peek(aTHX_(HV *) SvRV(inner), "Statement", 9, false);
}

static void on_sql_left(pTHX_ void *unused)
{
    struct nytp_recorder *const rec = nytp_recorder_of(aTHX);
    PERL_UNUSED_VAR(unused);
    if (rec == NULL || !rec->labels->in_sql)
        return;
    dSAVE_ERRNO;
    rec->labels->in_sql = false;
    set(aTHX_ rec, "sql", NULL);
    RESTORE_ERRNO;
}

void nytp_label_sql(pTHX_ struct nytp_recorder *rec, const struct nytp_rec_sub *method,
                    SV *const *arguments, SSize_t n)
{
    /* A statement handle is followed by values to bind, which must not be read. */
    const SSize_t at = strnEQ(method->name, "DBI::st::", 9) ? 0 : 1;
    if (rec->labels->in_sql || n <= at)
        return;
    SV *const given = arguments[at];
    SV *const text = SvROK(given) ? text_of_handle(aTHX_ given) : at == 1 ? given : NULL;
    if (text == NULL || !SvPOK(text) || SvGMAGICAL(text))
        return;
    dSAVE_ERRNO;
    rec->labels->in_sql = true;
    SAVEDESTRUCTOR_X(on_sql_left, NULL);
    set(aTHX_ rec, "sql", SvPVX(escaped(aTHX_ text, NYTP_LABEL_MOST_VALUE, false)));
    RESTORE_ERRNO;
}

static void emit_all(struct nytp_recorder *rec)
{
    const int64_t now = of_label(rec, nytp_axis_now(rec));
    for (uint32_t i = 0; i < rec->labels->n; i++)
        emit_label(rec, rec->labels->all[i].key, rec->labels->all[i].value, now);
}

void nytp_labels_begin_file(struct nytp_recorder *rec)
{
    for (uint32_t i = 0; i < rec->calls.n; i++)
        rec->calls.frames[i].labelled_ticks = 0;
    rec->labels->last_serial = rec->last.serial;
    emit_all(rec);
}

/* The file is suspended: every label ends in it; one that goes on becomes two stretches. */
void nytp_labels_end(struct nytp_recorder *rec)
{
    const int64_t now = nytp_axis_now(rec), label_now = of_label(rec, now);
    if (rec->labels->n > 0 && rec->on.arcs && rec->on.returns)
        emit_open_calls(rec, now);
    for (uint32_t i = 0; i < rec->labels->n; i++)
        emit_label(rec, rec->labels->all[i].key, NULL, label_now);
}

/* Open calls were recorded when the labels ended. */
void nytp_labels_resume(struct nytp_recorder *rec)
{
    rec->labels->last_serial = rec->last.serial;
    emit_all(rec);
}

void nytp_labels_thread(struct nytp_recorder *rec, const struct nytp_recorder *from)
{
    for (uint32_t i = 0; i < from->labels->n; i++) {
        const struct nytp_rec_label *const label = &from->labels->all[i];
        add(rec, label->key)->value = nytp_copy_string(label->value);
    }
}

void nytp_labels_free(struct nytp_recorder *rec)
{
    while (rec->labels->n > 0)
        remove_label(rec, &rec->labels->all[rec->labels->n - 1]);
    Safefree(rec->labels->all);
}
