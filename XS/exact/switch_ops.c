/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Switches recording on and off in existing ops; see switch_ops.h.
 *
 * Trees of ops belong to the program (PL_main_root), to running string evals and files
 * (PL_eval_root and the values of it in their contexts), and to subs and formats. Those are
 * found in the arenas of all values, as perl's visit() in sv.c does. Closures share their sub's
 * tree, which is walked once. Half-compiled code belongs to nothing yet and is walked when
 * complete.
 */
#include "switch_ops.h"

#include "XS/perl/optree.h"
#include "XS/perl/ops.h"
#include "XS/state/state.h"
#include "XS/names/subs.h"

#include <stdatomic.h>

/* Modules that loading us loads, as other profilers and debuggers do. They are mostly loaded
 * before any module of the program. Profiles that begin later do not show what happens inside
 * them. */
static const char *const own_files[] = {"/Devel/NYTProf.pm", "/Devel/NYTProf/Core.pm",
                                        "/strict.pm", "/XSLoader.pm"};

static bool ends_with(const char *text, const char *end)
{
    const size_t len = strlen(text), end_len = strlen(end);
    return len >= end_len && strEQ(text + len - end_len, end);
}

/* In a program that ran before us only our files count, and the BEGIN blocks that load us. */
static bool is_own(const struct nytp_recorder *rec, CV *cv)
{
    if (rec->run.is_importing && CvSPECIAL(cv) && CvDEPTH(cv) > 0)
        return true;
    const char *const file = CvFILE(cv);
    const size_t n = rec->run.comes_late ? 2 : C_ARRAY_LENGTH(own_files);
    for (size_t i = 0; file != NULL && i < n; i++)
        if (ends_with(file, own_files[i]))
            return true;
    return false;
}

/* Adds ops that are not kids: the replacement of s///, and the code blocks of a pattern. */
static void add_hidden(struct nytp_optree *walk, const OP *op)
{
    switch (op->op_type) {
    case OP_SUBST:
        nytp_optree_add(walk, cPMOPx(op)->op_pmreplrootu.op_pmreplroot);
        nytp_optree_add(walk, cPMOPx(op)->op_code_list);
        break;
    case OP_MATCH:
    case OP_QR:
        nytp_optree_add(walk, cPMOPx(op)->op_code_list);
        break;
    default:
        break;
    }
}

static void switch_tree(const OP *root, bool on)
{
    struct nytp_optree walk;
    const OP *op;
    nytp_optree_begin(&walk, root);
    while ((op = nytp_optree_next(&walk)) != NULL) {
        nytp_op_turn((OP *)op, on);
        add_hidden(&walk, op);
    }
    nytp_optree_end(&walk);
}

/* Returns whether a root was not walked yet. Closures and blocks of eval share roots. */
static bool is_new_root(struct nytp_index *roots, const OP *root)
{
    if (root == NULL)
        return false;
    const uint32_t hash = nytp_hash_u64(PTR2UV(root));
    size_t at = hash;
    const void *known;
    while ((known = nytp_index_next(roots, hash, &at)) != NULL)
        if (known == root)
            return false;
    nytp_index_add(roots, hash, (void *)root);
    return true;
}

/* Returns whether the CV is a named closure, which belongs in the list of all subs. It may be
 * named before renames.c watched. */
static bool was_named(CV *cv)
{
    const GV *const gv = CvCVGV_RC(cv) && !CvNAMED(cv) ? NYTP_CV_RAW_GV(cv) : NULL;
    return gv != NULL && isGV_with_GP(gv) && strNE(GvNAME(gv), "__ANON__");
}

static void switch_sv(pTHX_ struct nytp_recorder *rec, SV *sv, struct nytp_index *shared,
                      bool on)
{
    if ((SvTYPE(sv) != SVt_PVCV && SvTYPE(sv) != SVt_PVFM) || SvREFCNT(sv) == 0)
        return;
    CV *const cv = (CV *)sv;
    if (CvISXSUB(cv) || CvROOT(cv) == NULL || is_own(rec, cv))
        return;
    if (on && was_named(cv))
        nytp_sub_of_cv(aTHX_ rec, cv);
    if ((CvCLONE(cv) || CvCLONED(cv)) && !is_new_root(shared, CvROOT(cv)))
        return;
    switch_tree(CvROOT(cv), on);
}

static void switch_subs(pTHX_ struct nytp_recorder *rec, struct nytp_index *shared, bool on)
{
    for (SV *arena = PL_sv_arenaroot; arena != NULL; arena = (SV *)SvANY(arena)) {
        SV *const end = &arena[SvREFCNT(arena)];
        for (SV *sv = arena + 1; sv < end; sv++)
            switch_sv(aTHX_ rec, sv, shared, on);
    }
}

static void switch_running_evals(pTHX_ struct nytp_index *shared, bool on)
{
    if (is_new_root(shared, PL_eval_root))
        switch_tree(PL_eval_root, on);
    for (const PERL_SI *si = PL_curstackinfo; si != NULL; si = si->si_prev)
        for (I32 i = si->si_cxix; i >= 0; i--) {
            const PERL_CONTEXT *const cx = &si->si_cxstack[i];
            if (CxTYPE(cx) == CXt_EVAL && is_new_root(shared, cx->blk_eval.old_eval_root))
                switch_tree(cx->blk_eval.old_eval_root, on);
        }
}

/* Threads share most trees, so switching off in one is for all. Counts that. */
static atomic_uint times_off;

void nytp_switch_ops(pTHX_ struct nytp_recorder *rec, bool on)
{
    const unsigned now_off = atomic_load(&times_off);
    if (on && rec->kind == NYTP_SAMPLED)
        return; /* samples need no ops */
    if (on ? rec->switch_ops->is_on && rec->switch_ops->times_off == now_off
           : !rec->switch_ops->is_on)
        return;
    if (!on && atomic_load(&nytp_recorders_count.exact) > 0)
        return; /* another thread's recorder needs them */
    if (!on)
        atomic_fetch_add(&times_off, 1);
    rec->switch_ops->times_off = now_off;
    rec->switch_ops->is_on = on;
    rec->switch_ops->in_compilation = PL_parser != NULL;
    nytp_ops_turn(on);
    if (rec->options.use_db_sub && PL_DBsingle != NULL)
        sv_setiv_mg(PL_DBsingle, on);
    struct nytp_index shared = {0};
    switch_tree(PL_main_root, on);
    switch_running_evals(aTHX_ & shared, on);
    switch_subs(aTHX_ rec, &shared, on);
    nytp_index_free(&shared, NULL);
}

void nytp_switch_ops_compiled(struct nytp_recorder *rec, const OP *root)
{
    if (rec->switch_ops->in_compilation)
        switch_tree(root, rec->switch_ops->is_on);
}

void nytp_switch_ops_main(pTHX_ struct nytp_recorder *rec)
{
    switch_tree(PL_main_root, rec->switch_ops->is_on);
}

/* Both share their trees. */
void nytp_switch_ops_thread(struct nytp_recorder *rec, const struct nytp_recorder *from)
{
    *rec->switch_ops = *from->switch_ops;
}
