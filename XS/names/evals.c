/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Data of string evals by number; see evals.h.
 */
#include "evals.h"

#include "XS/state/state.h"

enum {
    MORE_PAST = 4096, /* rows added at a time, at least */
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

/* ---- origins ---- */

void nytp_eval_note_origin(struct nytp_recorder *rec, UV seq, struct nytp_rec_file *file,
                           uint32_t line)
{
    if (rec->evals->origins == NULL)
        Newxz(rec->evals->origins, NYTP_ORIGINS, struct nytp_eval_origin);
    rec->evals->origins[seq % NYTP_ORIGINS] = (struct nytp_eval_origin){seq, file, line};
}

const struct nytp_eval_origin *nytp_eval_origin(const struct nytp_recorder *rec, UV seq)
{
    const struct nytp_eval_origin *const origin =
        rec->evals->origins == NULL ? NULL : &rec->evals->origins[seq % NYTP_ORIGINS];
    return origin != NULL && origin->seq == seq && origin->file != NULL ? origin : NULL;
}

/* ---- texts during compilation ---- */

void nytp_eval_push(struct nytp_recorder *rec, UV seq, const SV *text)
{
    NYTP_MAKE_ROOM(rec->evals->open, rec->evals->n_open, rec->evals->size_open,
                   struct nytp_eval);
    rec->evals->open[rec->evals->n_open++] =
        (struct nytp_eval){seq, nytp_shared_text_new(SvPVX_const(text), SvCUR(text))};
}

void nytp_evals_drop(struct nytp_recorder *rec, uint32_t level)
{
    while (rec->evals->n_open > level)
        nytp_shared_text_drop(rec->evals->open[--rec->evals->n_open].text);
}

void nytp_eval_pop_compiled(struct nytp_recorder *rec)
{
    nytp_shared_text_drop(rec->evals->last.text);
    rec->evals->last = rec->evals->open[--rec->evals->n_open];
}

const struct nytp_shared_text *nytp_eval_text(const struct nytp_recorder *rec, UV seq)
{
    for (uint32_t i = rec->evals->n_open; i-- > 0;)
        if (rec->evals->open[i].seq == seq)
            return rec->evals->open[i].text;
    return rec->evals->last.seq == seq ? rec->evals->last.text : NULL;
}

/* ---- past evals ---- */

/* Returns false for an eval whose place perl has put into its name. */
static bool is_bare_eval(const char *name, UV *seq)
{
    return nytp_parse_eval_name(name, seq) && strchr(name, '[') == NULL;
}

/* Returns the position of `seq` in the sorted part. */
static size_t place_by_seq(const struct nytp_rec_evals *evals, UV seq)
{
    size_t from = 0, to = evals->n_sorted;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (evals->past[middle].seq < seq)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static struct nytp_past_eval *find_by_seq(const struct nytp_rec_evals *evals, UV seq)
{
    const size_t at = place_by_seq(evals, seq);
    return at < evals->n_sorted && evals->past[at].seq == seq ? &evals->past[at] : NULL;
}

static void note_seq(struct nytp_rec_evals *evals, uint32_t fid, uint32_t seq)
{
    if (fid >= evals->size_seqs) {
        const uint32_t size = fid + fid / 2 + MORE_PAST;
        Renew(evals->seqs, size, uint32_t);
        Zero(evals->seqs + evals->size_seqs, size - evals->size_seqs, uint32_t);
        evals->size_seqs = size;
    }
    evals->seqs[fid] = seq;
}

bool nytp_past_eval_add(pTHX_ struct nytp_recorder *rec, const char *name,
                        const struct nytp_past_eval *eval)
{
    struct nytp_rec_evals *const evals = rec->evals;
    UV seq;
    if (!is_bare_eval(name, &seq) || seq > (UV)PL_evalseq)
        return false;
    struct nytp_past_eval *past = find_by_seq(evals, seq);
    if (past == NULL) {
        if (evals->n_past == evals->size_past) {
            evals->size_past = evals->n_past * 3 / 2 + MORE_PAST;
            Renew(evals->past, evals->size_past, struct nytp_past_eval);
        }
        past = &evals->past[evals->n_past++];
    }
    *past = *eval;
    past->seq = (uint32_t)seq;
    note_seq(evals, past->fid, past->seq);
    return true;
}

static int by_seq(const void *a, const void *b)
{
    const uint32_t first = ((const struct nytp_past_eval *)a)->seq;
    const uint32_t second = ((const struct nytp_past_eval *)b)->seq;
    return first < second ? -1 : first > second;
}

/* New entries mostly belong at the end. They are sorted together with the old ones behind the
 * first new position. */
void nytp_past_evals_sort(struct nytp_recorder *rec)
{
    struct nytp_rec_evals *const evals = rec->evals;
    size_t from = evals->n_sorted;
    if (from == evals->n_past)
        return;
    for (size_t i = evals->n_sorted; i < evals->n_past; i++) {
        const size_t place = place_by_seq(evals, evals->past[i].seq);
        from = place < from ? place : from;
    }
    qsort(evals->past + from, evals->n_past - from, sizeof *evals->past, by_seq);
    evals->n_sorted = evals->n_past;
}

const struct nytp_past_eval *nytp_past_eval(const struct nytp_recorder *rec, const char *name)
{
    UV seq;
    return is_bare_eval(name, &seq) ? find_by_seq(rec->evals, seq) : NULL;
}

bool nytp_past_eval_find(const struct nytp_recorder *rec, uint32_t fid, UV *seq)
{
    *seq = fid < rec->evals->size_seqs ? rec->evals->seqs[fid] : 0;
    return *seq != 0;
}

void nytp_evals_free(struct nytp_recorder *rec)
{
    nytp_evals_drop(rec, 0);
    nytp_shared_text_drop(rec->evals->last.text);
    Safefree(rec->evals->open);
    Safefree(rec->evals->origins);
    Safefree(rec->evals->past);
    Safefree(rec->evals->seqs);
}
