/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * SUB_INFO records: the places of subs; see sub_infos.h.
 */
#include "sub_infos.h"

#include "XS/state/state.h"
#include "begin_blocks.h"
#include "files.h"
#include "info_queue.h"
#include "subs.h"

static void write_info(struct nytp_recorder *rec, struct nytp_rec_sub *sub, uint32_t fid,
                       uint32_t first_line, uint32_t last_line)
{
    nytp_write_sub_info(rec->writer,
                        &(struct nytp_sub_info){
                            .fid = fid,
                            .first_line = first_line,
                            .last_line = last_line,
                            .name = {.ptr = sub->name, .len = (uint32_t)sub->name_len},
                        });
    sub->info_generation[rec->kind] = rec->run.generation;
}

static bool is_written(const struct nytp_recorder *rec, const struct nytp_rec_sub *sub)
{
    return sub->info_generation[rec->kind] == rec->run.generation;
}

/* Adds a sub that was compiled before us. Other subs have better lines already. */
static void add_debugger_sub(pTHX_ struct nytp_recorder *rec, HE *entry)
{
    STRLEN len;
    const char *const name = HePV(entry, len);
    SV *const place = HeVAL(entry);
    const char *const colon = SvPOK(place) ? strrchr(SvPVX(place), ':') : NULL;
    unsigned long first, last;
    if (colon == NULL || sscanf(colon, ":%lu-%lu", &first, &last) != 2)
        return;
    if (first == 0 && strNE(name, "main::BEGIN"))
        return;
    struct nytp_rec_sub *const sub = nytp_sub_named(rec, name, len, NYTP_REC_SUB_PERL);
    if (sub->file != NULL || sub->kind != NYTP_REC_SUB_PERL || sub->is_begin)
        return;
    sub->is_begin = len > 7 && strEQ(name + len - 7, "::BEGIN");
    char *const file = nytp_copy(SvPVX(place), (size_t)(colon - SvPVX(place)));
    sub->file = nytp_file_named(aTHX_ rec, file);
    sub->first_line = (uint32_t)first;
    sub->last_line = (uint32_t)last;
    Safefree(file);
}

/* perl's list for the debugger has subs compiled before us. The program may be iterating over
 * it or have tied it, so its buckets are read. */
static void add_debugger_subs(pTHX_ struct nytp_recorder *rec)
{
    HV *const known = nytp_debugger_subs(aTHX_ rec);
    HE *const *const buckets = known == NULL ? NULL : HvARRAY(known);
    for (STRLEN i = 0; buckets != NULL && i <= HvMAX(known); i++)
        for (HE *entry = buckets[i]; entry != NULL; entry = HeNEXT(entry))
            add_debugger_sub(aTHX_ rec, entry);
}

/* A package and the file in which its xsubs and builtins are shown: that of one of its perl
 * subs. Files are preferred to string evals, files in the stream to others, then the first. */
struct package {
    const char *name;
    size_t len;
    struct nytp_rec_file *file; /* NULL: none yet */
};

/* `packages`: those of called xsubs and builtins, while the end is written. */
static struct package *package_of(const struct nytp_index *packages,
                                  const struct nytp_rec_sub *sub)
{
    size_t at = sub->package_hash;
    struct package *package;
    while ((package = nytp_index_next(packages, sub->package_hash, &at)) != NULL)
        if (package->len == sub->package_len && memEQ(package->name, sub->name, package->len))
            break;
    return package;
}

/* Lower is better. */
static uint32_t rank_of_file(const struct nytp_recorder *rec, struct nytp_rec_file *file)
{
    const uint32_t fid = nytp_file_known_fid(rec, file);
    return (file->is_eval ? 1u << 31 : 0) | (fid == 0 ? INT32_MAX : fid);
}

static bool needs_package(const struct nytp_recorder *rec, const struct nytp_rec_sub *sub)
{
    return sub->called && !is_written(rec, sub) && sub->kind != NYTP_REC_SUB_PERL &&
           sub->kind != NYTP_REC_SUB_PSEUDO;
}

static void ask_for_packages(struct nytp_recorder *rec, struct nytp_index *packages)
{
    for (size_t i = 0; i < rec->info_queue->n; i++) {
        const struct nytp_rec_sub *const sub = rec->info_queue->all[i];
        if (!needs_package(rec, sub) || package_of(packages, sub) != NULL)
            continue;
        struct package *const package = malloc(sizeof *package);
        if (package == NULL)
            return;
        *package = (struct package){sub->name, sub->package_len, NULL};
        if (!nytp_index_add(packages, sub->package_hash, package))
            free(package);
    }
}

static void collect_packages(struct nytp_recorder *rec, struct nytp_index *packages)
{
    ask_for_packages(rec, packages);
    for (uint32_t i = 1; packages->used > 0 && i <= rec->subs->n; i++) {
        const struct nytp_rec_sub *const sub = rec->subs->all[i];
        if (sub->kind != NYTP_REC_SUB_PERL || sub->file == NULL)
            continue;
        struct package *const package = package_of(packages, sub);
        if (package != NULL && (package->file == NULL || rank_of_file(rec, sub->file) <
                                                             rank_of_file(rec, package->file)))
            package->file = sub->file;
    }
}

static uint32_t fid_of_package(pTHX_ struct nytp_recorder *rec,
                               const struct nytp_index *packages,
                               const struct nytp_rec_sub *sub)
{
    const struct package *const package = package_of(packages, sub);
    return package == NULL || package->file == NULL
               ? 0
               : nytp_file_fid(aTHX_ rec, package->file, NYTP_FID_VIA_SUB);
}

static void write_closing_info(pTHX_ struct nytp_recorder *rec,
                               const struct nytp_index *packages, struct nytp_rec_sub *sub)
{
    if (!sub->called)
        return;
    if (sub == rec->subs->runtime || sub == rec->subs->null_caller) {
        struct nytp_rec_file *const program = nytp_file_named(aTHX_ rec, PL_origfilename);
        if (sub == rec->subs->runtime && nytp_file_known_fid(rec, program) != 0)
            write_info(rec, sub, program->fid, 1, 1);
        return;
    }
    uint32_t fid = fid_of_package(aTHX_ rec, packages, sub);
    if (fid == 0 && sub->package_len == 4 && strnEQ(sub->name, "main", 4)) {
        fid = nytp_file_known_fid(rec, nytp_file_named(aTHX_ rec, PL_origfilename));
    }
    if (fid != 0 && nytp_sub_is_foreign(sub))
        write_info(rec, sub, fid, 0, 0);
}

/* Returns the id of the sub's file if the stream has it, else 0. */
static uint32_t known_fid(const struct nytp_recorder *rec, const struct nytp_rec_sub *sub)
{
    return sub->kind == NYTP_REC_SUB_PERL && sub->file != NULL
               ? nytp_file_known_fid(rec, sub->file)
               : 0;
}

static bool stays_queued(struct nytp_recorder *rec, struct nytp_rec_sub *sub)
{
    if (is_written(rec, sub) || sub->is_begin || !nytp_info_is_wanted(rec, sub))
        return false;
    const uint32_t fid = known_fid(rec, sub);
    if (fid != 0)
        write_info(rec, sub, fid, sub->first_line, sub->last_line);
    else if (sub->file != NULL)
        nytp_file_await(rec, sub->file);
    return fid == 0;
}

/* Records the files of called subs; for builtins and xsubs their package's file. */
static void emit_files(pTHX_ struct nytp_recorder *rec, struct nytp_index *packages)
{
    for (size_t i = 0; i < rec->info_queue->n; i++) {
        const struct nytp_rec_sub *const sub = rec->info_queue->all[i];
        if (sub->called && sub->kind == NYTP_REC_SUB_PERL && sub->file != NULL)
            nytp_file_fid(aTHX_ rec, sub->file, NYTP_FID_VIA_SUB);
    }
    nytp_begin_blocks_introduce_file(aTHX_ rec,
                                     nytp_sub_named(rec, "main::BEGIN", 11, NYTP_REC_SUB_PERL));
    collect_packages(rec, packages);
    for (size_t i = 0; i < rec->info_queue->n; i++) {
        const struct nytp_rec_sub *const sub = rec->info_queue->all[i];
        if (needs_package(rec, sub))
            fid_of_package(aTHX_ rec, packages, sub);
    }
}

void nytp_sub_infos_write(pTHX_ struct nytp_recorder *rec)
{
    nytp_name_compiled(aTHX_ rec);
    if (rec->infos_wait)
        nytp_info_queue_scan(rec, stays_queued);
}

static void write_all(pTHX_ struct nytp_recorder *rec)
{
    struct nytp_index packages = {0};
    add_debugger_subs(aTHX_ rec);
    emit_files(aTHX_ rec, &packages);
    nytp_info_queue_filter(rec, stays_queued);
    for (size_t i = 0; i < rec->info_queue->n; i++)
        if (rec->info_queue->all[i]->kind != NYTP_REC_SUB_PERL)
            write_closing_info(aTHX_ rec, &packages, rec->info_queue->all[i]);
    nytp_index_free(&packages, free);
}

void nytp_sub_infos_end_file(struct nytp_recorder *rec)
{
    dTHX;
    if (rec->run.without_perl) {
        nytp_info_queue_filter(rec, stays_queued);
        return;
    }
    nytp_name_compiled(aTHX_ rec);
    write_all(aTHX_ rec);
}
