/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What is known of string evals by their numbers; see evals.h.
 */
#include "evals.h"

enum {
    MORE_PAST = 4096, /* room for so many, at least, is added at a time */
};

bool nytp_parse_eval_name(const char *name, UV *seq)
{
    static const char opening[] = "(eval ";
    if (strncmp(name, opening, sizeof opening - 1) != 0)
        return false;
    const char *at = name + sizeof opening - 1;
    if (!isDIGIT(*at))
        return false;
    for (*seq = 0; isDIGIT(*at); at++)
        *seq = *seq * 10 + (UV)(*at - '0');
    return *at == ')';
}

/* ---- where they were run ---- */

void nytp_eval_note_origin(struct nytp_recorder *rec, UV seq, struct nytp_file *file,
                           uint32_t line)
{
    if (rec->origins == NULL)
        Newxz(rec->origins, NYTP_ORIGINS, struct nytp_eval_origin);
    rec->origins[seq % NYTP_ORIGINS] = (struct nytp_eval_origin){seq, file, line};
}

const struct nytp_eval_origin *nytp_eval_origin(const struct nytp_recorder *rec, UV seq)
{
    const struct nytp_eval_origin *const origin =
        rec->origins == NULL ? NULL : &rec->origins[seq % NYTP_ORIGINS];
    return origin != NULL && origin->seq == seq && origin->file != NULL ? origin : NULL;
}

/* ---- their texts, while they are compiled ---- */

void nytp_eval_push(pTHX_ struct nytp_recorder *rec, UV seq, SV *text)
{
    if (rec->n_evals >= rec->size_evals) {
        rec->size_evals = rec->size_evals == 0 ? 16 : rec->size_evals * 2;
        Renew(rec->evals, rec->size_evals, struct nytp_eval);
    }
    rec->evals[rec->n_evals++] =
        (struct nytp_eval){seq, newSVpvn_flags(SvPVX_const(text), SvCUR(text), SvUTF8(text))};
}

void nytp_evals_drop(pTHX_ struct nytp_recorder *rec, uint32_t level)
{
    while (rec->n_evals > level)
        SvREFCNT_dec(rec->evals[--rec->n_evals].text);
}

void nytp_eval_pop_compiled(pTHX_ struct nytp_recorder *rec)
{
    SvREFCNT_dec(rec->last_eval.text);
    rec->last_eval = rec->evals[--rec->n_evals];
}

SV *nytp_eval_text(const struct nytp_recorder *rec, UV seq)
{
    for (uint32_t i = rec->n_evals; i-- > 0;)
        if (rec->evals[i].seq == seq)
            return rec->evals[i].text;
    return rec->last_eval.seq == seq ? rec->last_eval.text : NULL;
}

/* ---- those that are over ---- */

/* Not one that perl was told to name with its place. */
static bool is_bare_eval(const char *name, UV *seq)
{
    return nytp_parse_eval_name(name, seq) && strchr(name, '[') == NULL;
}

/* NULL for evals from before we looked. */
static struct nytp_past_eval *room_for(pTHX_ struct nytp_recorder *rec, UV seq)
{
    const UV last = (UV)PL_evalseq, seen = rec->files_by_name.used;
    if (rec->size_past == 0)
        rec->first_past = last > seen ? last - seen : 0;
    if (seq < rec->first_past)
        return NULL;
    const size_t at = (size_t)(seq - rec->first_past);
    if (at >= rec->size_past) {
        const size_t size = (at + 1) * 3 / 2 + MORE_PAST;
        Renew(rec->past_evals, size, struct nytp_past_eval);
        Zero(rec->past_evals + rec->size_past, size - rec->size_past, struct nytp_past_eval);
        rec->size_past = size;
    }
    return &rec->past_evals[at];
}

bool nytp_past_eval_keep(pTHX_ struct nytp_recorder *rec, const char *name,
                         const struct nytp_past_eval *eval)
{
    UV seq;
    if (!is_bare_eval(name, &seq) || seq > (UV)PL_evalseq)
        return false;
    struct nytp_past_eval *const past = room_for(aTHX_ rec, seq);
    if (past != NULL)
        *past = *eval;
    return past != NULL;
}

const struct nytp_past_eval *nytp_past_eval(const struct nytp_recorder *rec, const char *name)
{
    UV seq;
    if (!is_bare_eval(name, &seq) || seq < rec->first_past ||
        seq - rec->first_past >= rec->size_past)
        return NULL;
    const struct nytp_past_eval *const past = &rec->past_evals[seq - rec->first_past];
    return past->fid == 0 ? NULL : past;
}

bool nytp_past_eval_find(const struct nytp_recorder *rec, uint32_t fid, UV *seq)
{
    for (size_t i = 0; i < rec->size_past; i++)
        if (rec->past_evals[i].fid == fid) {
            *seq = rec->first_past + i;
            return true;
        }
    return false;
}

void nytp_evals_free(pTHX_ struct nytp_recorder *rec)
{
    nytp_evals_drop(aTHX_ rec, 0);
    SvREFCNT_dec(rec->last_eval.text);
    Safefree(rec->evals);
    Safefree(rec->origins);
    Safefree(rec->past_evals);
}
