/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Compilations: files and string evals. See compile.h.
 *
 * perl is not asked to rename evals or to keep source lines, since the program can see both.
 * When entereval is about to run, we note that `(eval 7)` was run at FILE:LINE; PL_evalseq
 * gives its number (pp_ctl.c). Its text is written when its first statement runs, just after
 * compilation. Files are read from disk when their first statement runs. perl keeps only
 * sources that exist nowhere else, and only while it compiles them: a script on standard input,
 * and code from a hook in @INC.
 */
#include "compile.h"

#include "XS/names/evals.h"
#include "XS/names/files.h"
#include "XS/perl/ops.h"
#include "release.h"
#include "XS/names/sources.h"
#include "XS/names/sub_infos.h"
#include "XS/perl/stash.h"
#include "XS/state/state.h"
#include "XS/names/subs.h"

enum {
    MAX_EVALS = 1024, /* nested compilations; deeper texts are not kept */
};

/* ---- source from a hook in @INC ---- */

/* A compilation for which $^P differs from the one around it. */
struct compilation {
    struct nytp_rec_file *file; /* the file whose lines are kept, or NULL */
    bool had_glob, had_lines;   /* whether its glob, and lines in it, existed before us */
    bool outer_keeps;           /* compile.keeps_source of the outer compilation */
};

/* Returns the glob of a file, where perl puts lines, or NULL. */
static GV *glob_of(pTHX_ struct nytp_recorder *rec, const char *name)
{
    nytp_text_clear(&rec->scratch);
    nytp_text_printf(&rec->scratch, "_<%s", name);
    SV *const sv = nytp_peek(aTHX_ PL_defstash, rec->scratch.ptr, rec->scratch.len, false);
    return sv != NULL && isGV_with_GP(sv) ? (GV *)sv : NULL;
}

/* Hides the lines that perl kept for us, and their glob if only they needed it. */
static void hide_lines(pTHX_ struct nytp_recorder *rec, const char *name, bool with_glob)
{
    GV *const gv = glob_of(aTHX_ rec, name);
    if (gv == NULL)
        return;
    SvREFCNT_dec((SV *)GvHV(gv));
    GvHV(gv) = NULL;
    SvREFCNT_dec((SV *)GvAV(gv));
    GvAV(gv) = NULL;
    if (with_glob) {
        const U32 magic = nytp_magic_off(PL_defstash);
        (void)hv_delete(PL_defstash, rec->scratch.ptr, (I32)rec->scratch.len, G_DISCARD);
        nytp_magic_on(PL_defstash, magic);
    }
}

void nytp_debugger_lines_hide(pTHX_ struct nytp_recorder *rec)
{
    const char *const names[] = {PL_origfilename, CopFILE(PL_curcop)};
    for (size_t i = 0; i < C_ARRAY_LENGTH(names); i++)
        if (names[i] != NULL && strNE(names[i], "-"))
            hide_lines(aTHX_ rec, names[i], !NYTP_FILES_HAVE_GLOBS);
}

static void take_lines(pTHX_ struct nytp_recorder *rec, const struct compilation *this)
{
    struct nytp_rec_file *const file = this->file;
    const GV *const gv = glob_of(aTHX_ rec, file->perl_name);
    const char *const last_name = CopFILE(&PL_compiling);
    file->awaits_lines = false;
    file->lines = gv == NULL ? NULL : (AV *)SvREFCNT_inc((SV *)GvAV(gv));
    if (!this->had_lines)
        hide_lines(aTHX_ rec, file->perl_name, !this->had_glob);
    if (rec->run.keeps_source && last_name != NULL && strNE(last_name, file->perl_name))
        hide_lines(aTHX_ rec, last_name, !NYTP_FILES_HAVE_GLOBS); /* #line */
    if (nytp_file_is_open(rec))
        nytp_source_write_kept(aTHX_ rec, file);
}

static void keep_source(pTHX_ struct nytp_recorder *rec, bool keep)
{
    rec->run.keeps_source = keep;
    PL_perldb = keep ? PL_perldb | PERLDBf_SAVESRC : PL_perldb & ~(U32)PERLDBf_SAVESRC;
}

static void on_compiled(pTHX_ void *ptr)
{
    struct nytp_recorder *const rec = nytp_recorder_of(aTHX);
    struct compilation *const this = ptr;
    nytp_excluded_time_begin(rec);
    if (this->file != NULL)
        take_lines(aTHX_ rec, this);
    if (rec->run.keeps_source != this->outer_keeps)
        keep_source(aTHX_ rec, this->outer_keeps);
    Safefree(this);
    nytp_excluded_time_end(rec);
}

/* perl keeps a file's lines if the file's glob has an array for them when the file is named,
 * which is about to happen. */
static void begin_keeping(pTHX_ struct nytp_recorder *rec, struct compilation *this)
{
    const GV *const gv = glob_of(aTHX_ rec, this->file->perl_name);
    this->had_glob = gv != NULL;
    this->had_lines = gv != NULL && GvAV(gv) != NULL && !this->outer_keeps;
    this->file->awaits_lines = true;
    const U32 magic = nytp_magic_off(PL_defstash);
    gv_fetchfile(this->file->perl_name);
    nytp_magic_on(PL_defstash, magic);
}

/* Returns the file whose lines are to be kept because it is not read from disk, or NULL. If a
 * name gets a new text, the subs of the old one are recorded now: their places are about to
 * change. */
static struct nytp_rec_file *note_loaded(pTHX_ struct nytp_recorder *rec, const char *name)
{
    const bool is_on_disk = nytp_file_note_loaded(aTHX_ rec, name);
    struct nytp_rec_file *const file = nytp_file_named(aTHX_ rec, name);
    if (is_on_disk && file->older != NULL && file->fid == 0 && nytp_file_is_open(rec))
        nytp_sub_infos_write(aTHX_ rec);
    return is_on_disk || !rec->options.savesrc ? NULL : file;
}

void nytp_compile(pTHX_ struct nytp_recorder *rec, const OP *op)
{
    const bool is_file = op != NULL && (op->op_type == OP_REQUIRE || op->op_type == OP_DOFILE);
    const char *const name = CopFILE(&PL_compiling);
    struct nytp_rec_file *file = NULL;
    if (is_file && name != NULL)
        file = note_loaded(aTHX_ rec, name);
    const bool is_again = file != NULL && (file->lines != NULL || file->awaits_lines);
    if (is_again)
        file = NULL;
    const bool others_keep = !rec->run.keeps_source && (PL_perldb & PERLDBf_SAVESRC);
    const bool keep = file != NULL && !others_keep;
    if (file == NULL && keep == rec->run.keeps_source)
        return;
    struct compilation *this;
    Newxz(this, 1, struct compilation);
    this->file = file;
    this->outer_keeps = rec->run.keeps_source;
    if (keep != rec->run.keeps_source)
        keep_source(aTHX_ rec, keep);
    if (file != NULL)
        begin_keeping(aTHX_ rec, this);
    else if (name != NULL && !is_again)
        hide_lines(aTHX_ rec, name, false); /* the file was named while the bit was still set */
    SAVEDESTRUCTOR_X(on_compiled, this);
}

/* ---- string evals ---- */

/* Under -T and -t a value that was once tainted has magic, which does not change the text. */
static bool has_only_taint_magic(const SV *sv)
{
    for (const MAGIC *magic = SvMAGIC(sv); magic != NULL; magic = magic->mg_moremagic)
        if (magic->mg_type != PERL_MAGIC_taint)
            return false;
    return true;
}

/* Returns the text that entereval will compile, or NULL if reading it has side effects. */
static SV *eval_argument(pTHX)
{
    SV *const *const top = PL_stack_sp;
    SV *const sv = PL_op->op_private & OPpEVAL_HAS_HH ? top[-1] : top[0];
    if (SvGMAGICAL(sv))
        return SvPOKp(sv) && has_only_taint_magic(sv) ? sv : NULL;
    return SvPOK(sv) ? sv : NULL;
}

/* Eval number `seq` has been compiled. If statements of it have not run yet (those of a sub may
 * run much later), its file keeps the text until they do. */
static void compiled(pTHX_ struct nytp_recorder *rec, UV seq, uint32_t level)
{
    char name[40];
    nytp_name_compiled(aTHX_ rec);
    nytp_evals_drop(rec, level + 1);
    if (rec->evals->n_open != level + 1)
        return;
    nytp_eval_pop_compiled(rec);
    my_snprintf(name, sizeof name, "(eval %" UVuf ")", seq);
    const uint32_t hash = nytp_hash_bytes(name, strlen(name));
    size_t at = hash;
    struct nytp_rec_file *file;
    while ((file = nytp_index_next(&rec->files->by_name, hash, &at)) != NULL)
        if (strEQ(file->perl_name, name) && file->fid == 0 && file->text == NULL)
            file->text = nytp_shared_text_own(rec->evals->last.text);
}

/* Runs if entereval itself dies: of tainted text, or of an op that Safe forbids. */
static void on_eval_died(pTHX_ void *unused)
{
    PERL_UNUSED_ARG(unused);
    keep_source(aTHX_ nytp_recorder_of(aTHX), true);
}

OP *nytp_eval_string(pTHX_ struct nytp_recorder *rec)
{
    SV *const text = eval_argument(aTHX);
    const UV seq = (UV)PL_evalseq + 1;
    nytp_excluded_time_begin(rec);
    if (PL_parser == NULL)
        nytp_evals_drop(rec, 0); /* forget evals that died during compilation */
    const uint32_t level = rec->evals->n_open;
    const bool keeps_text = text != NULL && level < MAX_EVALS;
    if (level == 0)
        nytp_release_if_due(aTHX_ rec);
    nytp_eval_note_origin(rec, seq, nytp_file_named(aTHX_ rec, CopFILE(PL_curcop)),
                          CopLINE(PL_curcop));
    if (keeps_text) {
        nytp_eval_push(rec, seq, text);
        nytp_file_take_pieces(aTHX_ rec, SvPVX_const(text), SvCUR(text));
    }
    const bool keeps_source = rec->run.keeps_source; /* a BEGIN block runs the eval */
    if (keeps_source) {
        keep_source(aTHX_ rec, false);
        SAVEDESTRUCTOR_X(on_eval_died, NULL);
    }
    nytp_excluded_time_end(rec);
    OP *const next = nytp_real_op(aTHX_ OP_ENTEREVAL);
    if (keeps_source)
        keep_source(aTHX_ rec, true);
    if (!keeps_text)
        return next;
    nytp_excluded_time_begin(rec);
    compiled(aTHX_ rec, seq, level);
    nytp_excluded_time_end(rec);
    return next;
}

void nytp_program_text_copy(pTHX_ struct nytp_recorder *rec)
{
    if (rec->run.e_text == NULL && PL_e_script != NULL && SvPOK(PL_e_script))
        rec->run.e_text = nytp_shared_text_new(SvPVX_const(PL_e_script), SvCUR(PL_e_script));
}

/* Writes the source of a script from standard input. */
void nytp_compile_end_file(struct nytp_recorder *rec)
{
    dTHX;
    if (!rec->run.without_perl)
        nytp_source_write_kept(aTHX_ rec, nytp_file_named(aTHX_ rec, "-"));
}

void nytp_compile_free(struct nytp_recorder *rec)
{
    nytp_shared_text_drop(rec->run.e_text);
}
