/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Frees string evals that have ended; see release.h.
 *
 * The rows of bodies (subs.c) show what is alive. An anonymous sub of an eval without a row and
 * without an open call cannot be called again: its arcs are final and are written at once. A
 * named sub may get a new body any time. Arcs of calls made by the eval itself go with its
 * file. An eval's nytp_rec_file is freed when nothing refers to it. Its number is kept, in 20
 * bytes: if statements of it run later, the nytp_rec_file is made again.
 *
 * A sweep visits everything, so it runs only when half as much again has been added.
 */
#include "release.h"

#include "arcs.h"
#include "XS/names/evals.h"
#include "XS/names/files.h"
#include "XS/names/sub_infos.h"
#include "XS/state/state.h"
#include "XS/names/subs.h"
#include "blocks.h"

enum {
    FIRST_RELEASE = 4096, /* new files, subs and arcs that make a sweep worthwhile */
};

/* ---- things in use ---- */

/* Xsubs and builtins are shown in a file of a perl sub of their package: one has to stay. */
static bool is_kept_for_package(struct nytp_recorder *rec, struct nytp_rec_sub *sub)
{
    const uint32_t hash = sub->package_hash;
    size_t at = hash;
    const struct nytp_rec_sub *kept;
    while ((kept = nytp_index_next(&rec->release->kept_packages, hash, &at)) != NULL)
        if (kept->package_len == sub->package_len &&
            memEQ(kept->name, sub->name, sub->package_len))
            return kept == sub;
    return nytp_index_add(&rec->release->kept_packages, hash, sub);
}

static void use_subs_of_frames(const struct nytp_rec_frame *frames, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        frames[i].sub->in_use = frames[i].caller->in_use = true;
}

static void use_subs_of_blocks(const struct nytp_rec_blocks *blocks)
{
    for (uint32_t i = 1; i < blocks->n_calls; i++)
        blocks->calls[i].sub->in_use = true;
}

/* Arcs of a suspended profile have to wait. */
static void use_subs_of_arcs(const struct nytp_index *arcs)
{
    for (size_t i = 0; i < arcs->size; i++) {
        const struct nytp_rec_arc *const arc = arcs->entries[i].item;
        if (arc != NULL)
            arc->caller_sub->in_use = arc->callee_sub->in_use = true;
    }
}

static void mark_subs(struct nytp_recorder *rec)
{
    for (uint32_t i = 1; i <= rec->subs->n; i++)
        rec->subs->all[i]->in_use = !rec->subs->all[i]->is_unique;
    for (size_t i = 0; i < rec->subs->bodies.size; i++) {
        const struct nytp_body *const body = rec->subs->bodies.entries[i].item;
        if (body != NULL && body->sub != NULL)
            body->sub->in_use = true;
    }
    use_subs_of_frames(rec->calls.frames, rec->calls.n);
    use_subs_of_frames(rec->suspended.frames, rec->suspended.n);
    use_subs_of_arcs(&rec->suspended.arcs);
    use_subs_of_blocks(rec->blocks);
    for (uint32_t i = 1; i <= rec->subs->n; i++)
        if (!rec->subs->all[i]->in_use)
            rec->subs->all[i]->in_use = is_kept_for_package(rec, rec->subs->all[i]);
}

static void use_file(struct nytp_rec_file *file)
{
    for (; file != NULL && !file->in_use; file = file->parent)
        file->in_use = true;
}

static void use_files_of_frames(struct nytp_recorder *rec, const struct nytp_rec_frame *frames,
                                uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (frames[i].fid != 0)
            use_file(rec->files->all[frames[i].fid]);
}

static void mark_files(struct nytp_recorder *rec)
{
    for (size_t i = 0; i < rec->files->by_name.size; i++) {
        struct nytp_rec_file *const file = rec->files->by_name.entries[i].item;
        if (file != NULL)
            file->in_use = false;
    }
    for (uint32_t i = 1; i <= rec->subs->n; i++)
        if (rec->subs->all[i]->in_use)
            use_file(rec->subs->all[i]->file);
    for (size_t i = 0; i < rec->subs->bodies.size; i++)
        if (rec->subs->bodies.entries[i].item != NULL)
            use_file(((const struct nytp_body *)rec->subs->bodies.entries[i].item)->file);
    use_files_of_frames(rec, rec->calls.frames, rec->calls.n);
    use_files_of_frames(rec, rec->suspended.frames, rec->suspended.n);
    for (size_t i = 0; rec->evals->origins != NULL && i < NYTP_ORIGINS; i++)
        use_file(rec->evals->origins[i].file);
}

/* ---- subs ---- */

/* Records where called subs are, before their arcs are written. */
static void emit_places(pTHX_ struct nytp_recorder *rec)
{
    for (uint32_t i = 1; i <= rec->subs->n; i++) {
        const struct nytp_rec_sub *const sub = rec->subs->all[i];
        if (!sub->in_use && sub->called && sub->file != NULL)
            nytp_file_fid(aTHX_ rec, sub->file, NYTP_FID_VIA_SUB);
    }
    nytp_sub_infos_write(aTHX_ rec);
}

/* ---- files ---- */

static bool remember(pTHX_ struct nytp_recorder *rec, const struct nytp_rec_file *file)
{
    struct nytp_past_eval past = {
        .fid = file->fid,
        .parent_fid = file->parent == NULL           ? 0
                      : file->parent->module == NULL ? file->parent->fid
                                                     : file->parent->module->fid,
        .parent_line = file->parent_line,
    };
    Copy(file->generation, past.generation, NYTP_KINDS, uint32_t);
    return nytp_past_eval_add(aTHX_ rec, file->perl_name, &past);
}

static void remember_files(pTHX_ struct nytp_recorder *rec)
{
    for (size_t i = 0; i < rec->files->by_name.size; i++) {
        struct nytp_rec_file *const file = rec->files->by_name.entries[i].item;
        if (file == NULL || file->in_use)
            continue;
        if (!file->is_eval || (file->fid != 0 && !remember(aTHX_ rec, file)))
            use_file(file);
    }
    nytp_past_evals_sort(rec);
}

static NYTP_COLD void release(pTHX_ struct nytp_recorder *rec)
{
    const bool is_open = nytp_file_is_open(rec);
    if (rec->run.forked)
        return; /* the profile still belongs to the parent */
    nytp_excluded_time_begin(rec);
    nytp_name_compiled(aTHX_ rec);
    nytp_bodies_sweep(rec);
    nytp_blocks_sweep(rec);
    mark_subs(rec);
    if (is_open)
        emit_places(aTHX_ rec);
    mark_files(rec);
    if (nytp_arcs_release(rec) && nytp_subs_release(rec)) {
        remember_files(aTHX_ rec);
        nytp_files_release(rec);
    }
    const size_t kept = rec->files->by_name.used + rec->subs->n + rec->calls.arcs.used;
    rec->release->due_at =
        kept + FIRST_RELEASE + (kept + rec->subs->bodies.used + rec->calls.n) / 2;
    nytp_excluded_time_end(rec);
}

void nytp_release_if_due(pTHX_ struct nytp_recorder *rec)
{
    if (rec->files->by_name.used + rec->subs->n + rec->calls.arcs.used >= rec->release->due_at)
        release(aTHX_ rec);
}

void nytp_release_free(struct nytp_recorder *rec)
{
    nytp_index_free(&rec->release->kept_packages, NULL);
}
