/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Lets go of string evals that are over. A program that evals without end would otherwise let
 * their files, anonymous subs and arcs pile up here, where perl itself frees each.
 *
 * The rows of bodies (subs.c) are what is alive. An anonymous sub of an eval to which no row
 * leads, and no open call, is over: its arcs are final and go into the stream at once. A named
 * sub may get a new body any time. Files: an eval to whose nytp_rec_file nothing leads is
 * freed, but its number is remembered, in 16 bytes, because statements of it may yet run; the
 * nytp_rec_file is then made again.
 *
 * The sweep looks at everything, so it comes when half as much again has been added.
 */
#include "release.h"

#include "arcs.h"
#include "evals.h"
#include "files.h"
#include "infos.h"
#include "subs.h"

enum {
    FIRST_RELEASE = 4096, /* as many new files, subs and arcs come before a sweep is worth it */
};

/* ---- what is in use ---- */

/* Xsubs and builtins are shown in the file of a perl sub of their package: one has to stay. */
static bool is_kept_for_package(struct nytp_recorder *rec, struct nytp_rec_sub *sub)
{
    const uint32_t hash = nytp_hash_bytes(sub->name, sub->package_len);
    size_t at = hash;
    const struct nytp_rec_sub *kept;
    while ((kept = nytp_index_next(&rec->release.kept_packages, hash, &at)) != NULL)
        if (kept->package_len == sub->package_len &&
            memEQ(kept->name, sub->name, sub->package_len))
            return kept == sub;
    return nytp_index_add(&rec->release.kept_packages, hash, sub);
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

static void mark_subs(struct nytp_recorder *rec)
{
    for (uint32_t i = 1; i <= rec->subs.n; i++)
        rec->subs.all[i]->in_use = !rec->subs.all[i]->is_unique;
    for (size_t i = 0; i < rec->subs.bodies.size; i++) {
        const struct nytp_body *const body = rec->subs.bodies.entries[i].item;
        if (body != NULL && body->sub != NULL)
            body->sub->in_use = true;
    }
    for (uint32_t i = 0; i < rec->n_frames; i++)
        rec->frames[i].sub->in_use = rec->frames[i].caller->in_use = true;
    for (uint32_t i = 1; i <= rec->subs.n; i++)
        if (!rec->subs.all[i]->in_use)
            rec->subs.all[i]->in_use = is_kept_for_package(rec, rec->subs.all[i]);
}

static void use_file(struct nytp_rec_file *file)
{
    for (; file != NULL && !file->in_use; file = file->parent)
        file->in_use = true;
}

static void mark_files(struct nytp_recorder *rec)
{
    for (size_t i = 0; i < rec->files.by_name.size; i++) {
        struct nytp_rec_file *const file = rec->files.by_name.entries[i].item;
        if (file != NULL)
            file->in_use = false;
    }
    for (uint32_t i = 1; i <= rec->subs.n; i++)
        use_file(rec->subs.all[i]->file);
    for (size_t i = 0; i < rec->subs.bodies.size; i++)
        if (rec->subs.bodies.entries[i].item != NULL)
            use_file(((const struct nytp_body *)rec->subs.bodies.entries[i].item)->file);
    for (uint32_t i = 0; i < rec->n_frames; i++)
        if (rec->frames[i].fid != 0)
            use_file(rec->files.all[rec->frames[i].fid]);
    for (size_t i = 0; rec->evals.origins != NULL && i < NYTP_ORIGINS; i++)
        use_file(rec->evals.origins[i].file);
}

/* ---- subs ---- */

/* Where a sub that was called is, is told before its arcs are. */
static void tell_places(pTHX_ struct nytp_recorder *rec)
{
    for (uint32_t i = 1; i <= rec->subs.n; i++) {
        const struct nytp_rec_sub *const sub = rec->subs.all[i];
        if (!sub->in_use && sub->called && sub->file != NULL)
            nytp_file_fid(aTHX_ rec, sub->file, NYTP_FID_VIA_SUB);
    }
    nytp_infos_write_known(rec);
}

static bool sub_stays(void *context, void *item)
{
    PERL_UNUSED_ARG(context);
    return ((const struct nytp_rec_sub *)item)->in_use;
}

/* ---- files ---- */

static bool remember(pTHX_ struct nytp_recorder *rec, const struct nytp_rec_file *file)
{
    const struct nytp_past_eval past = {
        .fid = file->fid,
        .generation = file->generation,
        .parent_fid = file->parent == NULL           ? 0
                      : file->parent->module == NULL ? file->parent->fid
                                                     : file->parent->module->fid,
        .parent_line = file->parent_line,
    };
    return nytp_past_eval_keep(aTHX_ rec, file->perl_name, &past);
}

static void remember_files(pTHX_ struct nytp_recorder *rec)
{
    for (size_t i = 0; i < rec->files.by_name.size; i++) {
        struct nytp_rec_file *const file = rec->files.by_name.entries[i].item;
        if (file == NULL || file->in_use)
            continue;
        if (!file->is_eval || (file->fid != 0 && !remember(aTHX_ rec, file)))
            use_file(file);
    }
}

static bool file_stays(void *context, void *item)
{
    struct nytp_recorder *const rec = context;
    struct nytp_rec_file *const file = item;
    if (file->in_use)
        return true;
    if (file->fid != 0)
        rec->files.all[file->fid] = NULL;
    nytp_file_free(file);
    return false;
}

void nytp_release(pTHX_ struct nytp_recorder *rec)
{
    const bool is_open = rec->state == NYTP_RECORDING || rec->state == NYTP_PAUSED;
    if (rec->life.forked)
        return; /* the profile is the parent's yet */
    nytp_guard(rec);
    nytp_clock_pause(&rec->clock);
    nytp_name_compiled(aTHX_ rec);
    nytp_index_filter(&rec->subs.bodies, body_stays, NULL);
    mark_subs(rec);
    if (is_open)
        tell_places(aTHX_ rec);
    if (nytp_arcs_release(rec) && nytp_index_filter(&rec->subs.by_name, sub_stays, NULL)) {
        nytp_infos_forget_unused(rec);
        nytp_subs_release(rec);
    }
    mark_files(rec);
    remember_files(aTHX_ rec);
    nytp_index_filter(&rec->files.by_name, file_stays, rec);
    const size_t kept = rec->files.by_name.used + rec->subs.n + rec->arcs.used;
    rec->release.due_at =
        kept + FIRST_RELEASE + (kept + rec->subs.bodies.used + rec->n_frames) / 2;
    nytp_clock_resume(&rec->clock);
    nytp_unguard(rec);
}
