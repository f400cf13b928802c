/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Maps CVs to subs, with their lines.
 *
 * A name is resolved once per compiled body and kept under the address of its root op (xsubs:
 * of the CV). The row is cleared when perl frees the body, and restarted by our op checker when
 * the address is reused. It is valid only while the CV's GV, stash and name hash are those it
 * was resolved from. So no sub inherits a freed CV's name.
 *
 * The checker of leavesub also finds the lines: newATTRSUB (op.c) makes that op at the sub's
 * closing brace, when the tokenizer is on the last line and PL_subline holds the line of `sub`.
 * No bit in $^P is needed for that.
 */
#include "subs.h"

#include "begin_blocks.h"
#include "files.h"
#include "info_queue.h"
#include "XS/perl/optree.h"
#include "XS/output/say.h"
#include "XS/options/specials.h"
#include "XS/perl/stash.h"
#include "XS/state/state.h"

#include "formats/base/utf8.h"

/* ---- subs by name ---- */

/* Appends a file's name, which is bytes, to a sub's name, which is UTF-8. */
static void append_file_name(struct nytp_text *text, const char *name)
{
    if (nytp_utf8_valid(name, strlen(name)))
        nytp_text_puts(text, name);
    else
        nytp_text_append_latin1(text, name, strlen(name));
}

/* Returns the length of the part before the last "::", or 0. */
static uint32_t package_length(const char *name, size_t len)
{
    const char *const bracket = memchr(name, '[', len); /* a file name may hold "::" */
    size_t at = bracket == NULL ? len : (size_t)(bracket - name);
    for (; at >= 2; at--)
        if (name[at - 1] == ':' && name[at - 2] == ':')
            return (uint32_t)(at - 2);
    return 0;
}

static struct nytp_rec_sub *sub_add(struct nytp_recorder *rec, const char *name, size_t len,
                                    enum nytp_rec_sub_kind kind, uint32_t hash)
{
    struct nytp_rec_sub *sub;
    Newxz(sub, 1, struct nytp_rec_sub);
    Newx(sub->encoded, len + NYTP_ENCODED_STR_EXTRA + NYTP_COPY_STEP, uint8_t);
    sub->encoded_len = (uint32_t)nytp_encode_str(sub->encoded, name, len);
    sub->encoded[sub->encoded_len] = '\0';
    sub->name = (char *)sub->encoded + sub->encoded_len - len;
    sub->name_len = (uint32_t)len;
    sub->package_len = package_length(name, len);
    sub->package_hash = nytp_hash_bytes(name, sub->package_len);
    sub->kind = kind;
    sub->may_block = true; /* the first call will show */
    sub->special = kind == NYTP_REC_SUB_XSUB ? nytp_special_of(&rec->options, sub->name)
                                             : NYTP_SUB_ORDINARY;
    NYTP_MAKE_ROOM(rec->subs->all, rec->subs->n + 1, rec->subs->size, struct nytp_rec_sub *);
    sub->id = ++rec->subs->last_id;
    rec->subs->all[++rec->subs->n] = sub;
    nytp_trace(&rec->options, 3, "sub %u is %s", sub->id, sub->name);
    nytp_index_add(&rec->subs->by_name, hash, sub);
    if (nytp_info_is_wanted(rec, sub))
        nytp_info_queue_add(rec, sub);
    return sub;
}

static struct nytp_rec_sub *sub_find(const struct nytp_recorder *rec, const char *name,
                                     size_t len, uint32_t hash)
{
    size_t at = hash;
    struct nytp_rec_sub *sub;
    while ((sub = nytp_index_next(&rec->subs->by_name, hash, &at)) != NULL)
        if (sub->name_len == len && memEQ(sub->name, name, len))
            return sub;
    return NULL;
}

struct nytp_rec_sub *nytp_sub_named(struct nytp_recorder *rec, const char *name, size_t len,
                                    enum nytp_rec_sub_kind kind)
{
    const uint32_t hash = nytp_hash_bytes(name, len);
    struct nytp_rec_sub *const sub = sub_find(rec, name, len, hash);
    return sub != NULL ? sub : sub_add(rec, name, len, kind, hash);
}

/* ---- bodies ---- */

static struct nytp_body *body_find(const struct nytp_recorder *rec, const void *key,
                                   uint32_t hash)
{
    size_t at = hash;
    struct nytp_body *body;
    while ((body = nytp_index_next(&rec->subs->bodies, hash, &at)) != NULL)
        if (body->key == key)
            return body;
    return NULL;
}

static struct nytp_body *body_of(struct nytp_recorder *rec, const void *key)
{
    const uint32_t hash = nytp_hash_u64(PTR2UV(key));
    struct nytp_body *body = body_find(rec, key, hash);
    if (body != NULL)
        return body;
    Newxz(body, 1, struct nytp_body);
    body->key = key;
    nytp_index_add(&rec->subs->bodies, hash, body);
    return body;
}

static inline struct nytp_called *called_row(const struct nytp_recorder *rec, const OP *root)
{
    const uint32_t row = nytp_hash_u64(PTR2UV(root)) % NYTP_CALLED_ROWS;
    return rec->subs->called + (size_t)row * NYTP_CALLED_NAMES;
}

/* The body at this address is freed or has got its name. */
static void forget_called(struct nytp_recorder *rec, const OP *root)
{
    struct nytp_called *const row = called_row(rec, root);
    ++*nytp_body_version(rec, root);
    for (size_t i = 0; i < NYTP_CALLED_NAMES; i++)
        if (row[i].root == root)
            row[i].root = NULL;
}

void nytp_body_freed(pTHX_ struct nytp_recorder *rec, const OP *root)
{
    const uint32_t hash = nytp_hash_u64(PTR2UV(root));
    struct nytp_body *const body = body_find(rec, root, hash);
    if (body == NULL)
        return;
    if (root == rec->subs->compiled.root && rec->subs->compiled.begin != NULL) {
        nytp_excluded_time_begin(rec);
        nytp_name_compiled(aTHX_ rec); /* the block has run: last chance to name it */
        nytp_excluded_time_end(rec);
    }
    *body = (struct nytp_body){.key = root};
    forget_called(rec, root);
}

/* Extends the body's lines to all statements below `root`. */
static void widen_lines(const OP *root, struct nytp_body *body)
{
    struct nytp_optree walk;
    const OP *op;
    nytp_optree_begin(&walk, root);
    while ((op = nytp_optree_next(&walk)) != NULL) {
        if (op->op_type != OP_NEXTSTATE && op->op_type != OP_DBSTATE)
            continue;
        const uint32_t line = CopLINE((const COP *)op);
        if (body->first_line == 0 || line < body->first_line)
            body->first_line = line;
        if (line > body->last_line)
            body->last_line = line;
    }
    nytp_optree_end(&walk);
}

HV *nytp_debugger_subs(pTHX_ const struct nytp_recorder *rec)
{
    return rec->subs->debugger != NULL ? rec->subs->debugger : get_hv("DB::sub", 0);
}

void nytp_debugger_subs_hide(pTHX_ struct nytp_recorder *rec)
{
    rec->subs->debugger = GvHV(PL_DBsub);
    GvHV(PL_DBsub) = NULL;
}

/* For a sub compiled before us: the debugger's list may have its lines, as "file:first-last";
 * otherwise its statements do. */
static void find_lines(pTHX_ struct nytp_recorder *rec, CV *cv, struct nytp_body *body,
                       const char *name, size_t len)
{
    HV *const known = nytp_debugger_subs(aTHX_ rec);
    const SV *const place = nytp_peek(aTHX_ known, name, len, false);
    if (CvFILE(cv) != NULL)
        body->file = nytp_file_named(aTHX_ rec, CvFILE(cv));
    if (place != NULL && SvPOK(place)) {
        const char *const colon = strrchr(SvPVX_const(place), ':');
        unsigned long first, last;
        if (colon != NULL && sscanf(colon, ":%lu-%lu", &first, &last) == 2) {
            body->first_line = (uint32_t)first;
            body->last_line = (uint32_t)last;
            return;
        }
    }
    widen_lines(CvROOT(cv), body);
}

/* A CV's name, without making a GV. */
struct cv_name {
    const void *raw; /* the GV, or the HEK of a sub without one */
    const HV *stash;
    const HEK *name;
};

static struct cv_name name_of_cv(CV *cv)
{
    struct cv_name found = {0};
    if (CvNAMED(cv)) {
        found.name = CvNAME_HEK(cv);
        found.raw = found.name;
        found.stash = CvSTASH(cv);
        return found;
    }
    const GV *const gv = NYTP_CV_RAW_GV(cv);
    found.raw = gv;
    if (gv == NULL || !isGV_with_GP(gv))
        return found;
    found.stash = GvSTASH(gv);
    found.name = GvNAME_HEK(gv);
    return found;
}

static bool hek_is(const HEK *hek, const char *word)
{
    return hek != NULL && (size_t)HEK_LEN(hek) == strlen(word) && strEQ(HEK_KEY(hek), word);
}

/* Devel::NYTProf loads XSLoader before it records. Its blocks get distinct names, so that other
 * blocks keep their lines and numbers. */
static bool is_xsloader(const struct nytp_rec_file *file)
{
    static const char end[] = "/XSLoader.pm";
    const size_t len = file == NULL ? 0 : strlen(file->perl_name);
    return len >= sizeof end - 1 && strEQ(file->perl_name + len - (sizeof end - 1), end);
}

/* A BEGIN block runs once: each is a sub of its own, named by its line, and by a number if the
 * line is taken. */
static struct nytp_rec_sub *sub_of_begin(struct nytp_recorder *rec,
                                         const struct nytp_body *body)
{
    struct nytp_text *const text = &rec->scratch;
    rec->subs->compiled.begin = NULL;
    nytp_begin_recorded(nytp_sub_named(rec, text->ptr, text->len, NYTP_REC_SUB_PERL));
    nytp_text_printf(text, "@%lu%s", (unsigned long)body->first_line,
                     is_xsloader(body->file) ? ".0" : "");
    const bool is_taken =
        sub_find(rec, text->ptr, text->len, nytp_hash_bytes(text->ptr, text->len)) != NULL;
    if (is_taken)
        nytp_text_printf(text, ".%lu", (unsigned long)++rec->subs->begin_seq);
    struct nytp_rec_sub *const sub =
        nytp_sub_named(rec, text->ptr, text->len, NYTP_REC_SUB_PERL);
    sub->is_unique = is_taken && body->file != NULL && body->file->is_eval;
    return sub;
}

static XSUBADDR_t own_xsub; /* NULL: not known yet */

void nytp_sub_mark_own(CV *cv)
{
    own_xsub = CvXSUB(cv);
}

/* Returns the sub for the CV's name and place. */
static struct nytp_rec_sub *resolve(pTHX_ struct nytp_recorder *rec, CV *cv,
                                    struct nytp_body *body, const struct cv_name *found)
{
    struct nytp_text *const text = &rec->scratch;
    const bool is_perl = CvROOT(cv) != NULL && !CvISXSUB(cv);
    nytp_text_clear(text);
    if (CvISXSUB(cv) && CvXSUB(cv) == own_xsub)
        return nytp_sub_named(rec, "DB::finish_profile", 18, NYTP_REC_SUB_XSUB);
    if (found->name == NULL && found->stash == NULL) {
        nytp_text_puts(text, "main::");
    } else {
        nytp_text_append_package(text, found->stash);
        if (found->name != NULL)
            nytp_text_append_hek(text, found->name);
    }
    if (is_perl && body->file == NULL)
        find_lines(aTHX_ rec, cv, body, text->ptr, text->len);
    if (is_perl && hek_is(found->name, "BEGIN"))
        return sub_of_begin(rec, body);
    if (is_perl && hek_is(found->name, "__ANON__") && rec->options.nameanonsubs &&
        body->file != NULL) {
        nytp_text_puts(text, "[");
        append_file_name(text, body->file->shown_name);
        nytp_text_printf(text, ":%lu]", (unsigned long)body->last_line);
        struct nytp_rec_sub *const sub =
            nytp_sub_named(rec, text->ptr, text->len, NYTP_REC_SUB_PERL);
        sub->is_unique = body->file->is_eval;
        return sub;
    }
    return nytp_sub_named(rec, text->ptr, text->len,
                          CvISXSUB(cv) ? NYTP_REC_SUB_XSUB : NYTP_REC_SUB_PERL);
}

static U32 name_hash_of(const struct cv_name *found)
{
    return found->name == NULL ? 0 : HEK_HASH(found->name);
}

/* Returns the row's sub if the CV's name is unchanged, else NULL. */
static struct nytp_rec_sub *sub_of_body(const struct nytp_body *body,
                                        const struct cv_name *found)
{
    return body->gv == found->raw && body->stash == found->stash &&
                   body->name_hash == name_hash_of(found)
               ? body->sub
               : NULL;
}

/* Resolves a CV seen for the first time or renamed. `key` is its body's. */
static NYTP_COLD struct nytp_rec_sub *find_anew(pTHX_ struct nytp_recorder *rec, CV *cv,
                                                const void *key, const struct cv_name *found)
{
    struct nytp_body *const body = body_of(rec, key);
    if (key == rec->subs->compiled.root)
        nytp_name_compiled(aTHX_ rec); /* `cv` may be another name for the body */
    struct nytp_rec_sub *const sub = resolve(aTHX_ rec, cv, body, found);
    body->sub = sub;
    body->gv = found->raw;
    body->stash = found->stash;
    body->name_hash = name_hash_of(found);
    if (key != cv && sub->kind == NYTP_REC_SUB_PERL) {
        if (sub->file != NULL && sub->file != body->file && body->file != NULL &&
            body->file->older != NULL) {
            sub->info_generation[rec->kind] = 0; /* it has lines in each text of the file */
            nytp_info_queue_add(rec, sub);
        }
        sub->file = body->file;
        sub->first_line = body->first_line;
        sub->last_line = body->last_line;
        if (sub->is_queued && sub->is_scanned)
            nytp_info_queue_look_again(rec);
    } else if (key == cv && sub->kind == NYTP_REC_SUB_PERL && CvISXSUB(cv)) {
        sub->kind = NYTP_REC_SUB_XSUB; /* replaced by an xsub of the same name */
    }
    return sub;
}

static struct nytp_rec_sub *sub_of_key(pTHX_ struct nytp_recorder *rec, CV *cv, const void *key)
{
    const struct nytp_body *const body = body_find(rec, key, nytp_hash_u64(PTR2UV(key)));
    const struct cv_name found = name_of_cv(cv);
    struct nytp_rec_sub *sub = body == NULL ? NULL : sub_of_body(body, &found);
    if (LIKELY(sub != NULL))
        return sub;
    nytp_excluded_time_begin(rec);
    sub = find_anew(aTHX_ rec, cv, key, &found);
    nytp_excluded_time_end(rec);
    return sub;
}

/* A GV that holds its CV names it for good, so comparing the pointer is enough. A GV that the
 * CV holds (anonymous and renamed subs) may be replaced by another at the same address. */
static inline bool is_called_as(const struct nytp_called *called, CV *cv)
{
    if (!CvCVGV_RC(cv))
        return true;
    const struct cv_name found = name_of_cv(cv);
    return called->stash == found.stash && called->name_hash == name_hash_of(&found);
}

static struct nytp_rec_sub *sub_of_new_call(pTHX_ struct nytp_recorder *rec, CV *cv,
                                            struct nytp_called *called)
{
    const struct cv_name found = name_of_cv(cv);
    struct nytp_rec_sub *const sub = sub_of_key(aTHX_ rec, cv, CvROOT(cv));
    *called = (struct nytp_called){
        .root = CvROOT(cv),
        .gv = NYTP_CV_RAW_GV(cv),
        .stash = found.stash,
        .name_hash = name_hash_of(&found),
        .sub = sub,
    };
    return sub;
}

struct nytp_rec_sub *nytp_sub_of_cv(pTHX_ struct nytp_recorder *rec, CV *cv)
{
    const bool is_perl = CvROOT(cv) != NULL && !CvISXSUB(cv);
    if (UNLIKELY(!is_perl))
        return sub_of_key(aTHX_ rec, cv, cv);
    const OP *const root = CvROOT(cv);
    const void *const gv = NYTP_CV_RAW_GV(cv);
    struct nytp_called *const called =
        called_row(rec, root) + nytp_hash_u64(PTR2UV(gv)) % NYTP_CALLED_NAMES;
    if (LIKELY(called->root == root && called->gv == gv && is_called_as(called, cv)))
        return called->sub;
    return sub_of_new_call(aTHX_ rec, cv, called);
}

/* The row has no name, like the CV. */
void nytp_sub_introduce(struct nytp_recorder *rec, const CV *cv, struct nytp_rec_sub *sub)
{
    const void *const key = CvISXSUB(cv) ? (const void *)cv : CvROOT(cv);
    body_of(rec, key)->sub = sub;
}

static struct nytp_rec_sub *begin_entry(pTHX_ struct nytp_recorder *rec)
{
    struct nytp_text *const text = &rec->scratch;
    nytp_text_clear(text);
    nytp_text_append_package(text, PL_curstash);
    nytp_text_puts(text, "BEGIN");
    return nytp_sub_named(rec, text->ptr, text->len, NYTP_REC_SUB_PERL);
}

void nytp_sub_compiled(pTHX_ struct nytp_recorder *rec, const OP *root)
{
    nytp_name_compiled(aTHX_ rec);
    struct nytp_body *const body = body_of(rec, root);
    body->file = nytp_file_named(aTHX_ rec, CopFILE(PL_curcop));
    body->first_line = (uint32_t)PL_subline;
    body->last_line = CopLINE(PL_curcop);
    if (body->first_line == 0)
        widen_lines(root, body); /* 5.38: code that sets a class's fields has no `sub` */
    if (body->first_line == 0)
        body->first_line = body->last_line;
    body->sub = NULL;
    forget_called(rec, root);
    rec->subs->compiled.root = root;
    rec->subs->compiled.cv = PL_compcv;
    if (!CvANON(PL_compcv) && PL_subname != NULL && SvPOK(PL_subname)) {
        rec->subs->compiled.name = newSVsv(PL_subname);
        rec->memory.svs++; /* not the program's */
    }
    if (CvSPECIAL(PL_compcv))
        rec->subs->compiled.begin = begin_entry(aTHX_ rec);
}

/* Formats have no name here, but their statements may run long after the eval that made
 * them. */
void nytp_format_compiled(pTHX_ struct nytp_recorder *rec, const OP *root)
{
    struct nytp_body *const body = body_of(rec, root);
    body->file = nytp_file_named(aTHX_ rec, CopFILE(PL_curcop));
    body->sub = NULL;
}

/* Returns the CV that got the body: the one being compiled or, if the sub was declared before,
 * the one of that name. A CV may be freed and its address reused, but then its root differs. */
static CV *owner_of(pTHX_ const OP *root, CV *cv, SV *name)
{
    if (SvTYPE((SV *)cv) == SVt_PVCV && !CvISXSUB(cv) && CvROOT(cv) == root)
        return cv;
    CV *const named = name == NULL ? NULL
                                   : nytp_cv_of_name(aTHX_ SvPVX(name), SvCUR(name),
                                                     SvUTF8(name), PL_curstash);
    return named != NULL && !CvISXSUB(named) && CvROOT(named) == root ? named : NULL;
}

void nytp_name_compiled(pTHX_ struct nytp_recorder *rec)
{
    const struct nytp_compiled compiled = rec->subs->compiled;
    const OP *const root = compiled.root;
    if (root == NULL)
        return;
    rec->subs->compiled.root = NULL;
    CV *const cv = owner_of(aTHX_ root, compiled.cv, compiled.name);
    if (cv != NULL && hek_is(name_of_cv(cv).name, "BEGIN"))
        nytp_begin_ran(compiled.begin, body_of(rec, root));
    else if (cv != NULL && body_of(rec, root)->sub == NULL)
        nytp_sub_of_cv(aTHX_ rec, cv);
    const IV before = (IV)PL_sv_count;
    SvREFCNT_dec(compiled.name);
    rec->memory.svs += (IV)PL_sv_count - before;
    Zero(&rec->subs->compiled, 1, struct nytp_compiled);
}

/* ---- subs named without a CV ---- */

struct nytp_rec_sub *nytp_sub_of_symbol(pTHX_ struct nytp_recorder *rec, const SV *sv)
{
    struct nytp_text *const text = &rec->scratch;
    const char *const name = SvPVX_const(sv);
    const size_t len = SvCUR(sv);
    nytp_text_clear(text);
    if (len > 2 && strnEQ(name, "::", 2))
        nytp_text_puts(text, "main");
    else if (package_length(name, len) == 0)
        nytp_text_append_package(text, CopSTASH(PL_curcop));
    if (SvUTF8(sv))
        nytp_text_append(text, name, len);
    else
        nytp_text_append_latin1(text, name, len);
    return nytp_sub_named(rec, text->ptr, text->len, NYTP_REC_SUB_PERL);
}

struct nytp_rec_sub *nytp_sub_of_gv(struct nytp_recorder *rec, const GV *gv)
{
    struct nytp_text *const text = &rec->scratch;
    nytp_text_clear(text);
    nytp_text_append_package(text, GvSTASH(gv));
    nytp_text_append_hek(text, GvNAME_HEK(gv));
    return nytp_sub_named(rec, text->ptr, text->len, NYTP_REC_SUB_PERL);
}

struct nytp_rec_sub *nytp_running_sub(pTHX_ struct nytp_recorder *rec, I32 n_entered)
{
    for (const PERL_SI *si = PL_curstackinfo; si != NULL; si = si->si_prev, n_entered = 0) {
        for (I32 i = si->si_cxix - n_entered; i >= 0; i--) {
            const PERL_CONTEXT *const cx = &si->si_cxstack[i];
            if (CxTYPE(cx) == CXt_FORMAT && cx->blk_format.gv != NULL)
                return nytp_sub_of_gv(rec, cx->blk_format.gv);
            if (CxTYPE(cx) == CXt_SUB && name_of_cv(cx->blk_sub.cv).name != NULL)
                return nytp_sub_of_cv(aTHX_ rec, cx->blk_sub.cv);
        }
        if (si->si_type == PERLSI_SIGNAL && rec->guards.unsafe_signals)
            break; /* the interrupted context may be half made */
    }
    return PL_main_start != NULL ? rec->subs->runtime : rec->subs->null_caller;
}

void nytp_names_init(struct nytp_recorder *rec)
{
    rec->subs->runtime = nytp_sub_named(rec, "main::RUNTIME", 13, NYTP_REC_SUB_PSEUDO);
    rec->subs->null_caller = nytp_sub_named(rec, "main::NULL", 10, NYTP_REC_SUB_PSEUDO);
}

/* The file describes every sub anew. */
void nytp_subs_begin_file(struct nytp_recorder *rec)
{
    for (uint32_t i = 1; i <= rec->subs->n; i++) {
        rec->subs->all[i]->mark_id = 0;
        nytp_info_queue_add(rec, rec->subs->all[i]);
    }
}

/* Shared ops keep their known lines. */
void nytp_subs_thread(struct nytp_recorder *rec, const struct nytp_recorder *from)
{
    nytp_names_init(rec);
    for (size_t i = 0; i < from->subs->bodies.size; i++) {
        const struct nytp_body *const known = from->subs->bodies.entries[i].item;
        if (known == NULL || known->file == NULL)
            continue;
        struct nytp_body *const body = body_of(rec, known->key);
        body->file = nytp_file_inherit(rec, known->file);
        body->first_line = known->first_line;
        body->last_line = known->last_line;
    }
}

bool nytp_called_begin(struct nytp_recorder *rec)
{
    if (rec->subs->called == NULL)
        rec->subs->called = calloc(NYTP_CALLED, sizeof *rec->subs->called);
    return rec->subs->called != NULL;
}

static bool body_stays(void *context, void *item)
{
    PERL_UNUSED_ARG(context);
    struct nytp_body *const body = item;
    if (body->file != NULL || body->sub != NULL)
        return true;
    Safefree(body);
    return false;
}

void nytp_bodies_sweep(struct nytp_recorder *rec)
{
    nytp_index_filter(&rec->subs->bodies, body_stays, NULL);
}

static bool sub_stays(void *context, void *item)
{
    PERL_UNUSED_ARG(context);
    return ((const struct nytp_rec_sub *)item)->in_use;
}

static bool info_stays(struct nytp_recorder *rec, struct nytp_rec_sub *sub)
{
    PERL_UNUSED_ARG(rec);
    return sub->in_use;
}

bool nytp_subs_release(struct nytp_recorder *rec)
{
    uint32_t n = 0;
    if (!nytp_index_filter(&rec->subs->by_name, sub_stays, NULL))
        return false;
    nytp_info_queue_filter(rec, info_stays);
    nytp_info_queue_look_again(rec);
    for (uint32_t i = 1; i <= rec->subs->n; i++) {
        struct nytp_rec_sub *const sub = rec->subs->all[i];
        if (sub->in_use) {
            rec->subs->all[++n] = sub;
            continue;
        }
        Safefree(sub->encoded);
        Safefree(sub);
    }
    rec->subs->n = n;
    Zero(rec->subs->called, NYTP_CALLED, struct nytp_called);
    return true;
}

void nytp_subs_free(struct nytp_recorder *rec)
{
    dTHX;
    for (uint32_t i = 1; i <= rec->subs->n; i++) {
        Safefree(rec->subs->all[i]->encoded);
        Safefree(rec->subs->all[i]);
    }
    nytp_index_free(&rec->subs->bodies, nytp_free);
    nytp_index_free(&rec->subs->by_name, NULL);
    SvREFCNT_dec(rec->subs->compiled.name);
    Safefree(rec->subs->all);
    free(rec->subs->called);
}
