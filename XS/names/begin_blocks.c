/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * BEGIN blocks that ran unrecorded; see begin_blocks.h.
 *
 * A block is compiled before it has its name, and a `use` has none then. But its CV is marked
 * as special, like those of END blocks, and has its name while it runs and is freed. So
 * nytp_name_compiled() identifies it at the next compilation or when it is freed, whichever
 * comes first.
 */
#include "begin_blocks.h"

#include "files.h"

/* The block compiled last has run or is running, unrecorded. */
void nytp_begin_ran(struct nytp_rec_sub *entry, const struct nytp_body *body)
{
    if (entry == NULL || body->file == NULL)
        return;
    entry->is_begin = true;
    entry->file = body->file;
    entry->first_line = body->first_line;
    entry->last_line = body->last_line;
}

/* The entry is not written any more, even if perl -d had it in its list. */
void nytp_begin_recorded(struct nytp_rec_sub *entry)
{
    entry->is_begin = true;
    entry->file = NULL;
}

/* perl -d:NYTProf is a `use` on line 0 of the program. It puts the program's file into the
 * profile even if all code is named after other files (#line). */
void nytp_begin_blocks_introduce_file(pTHX_ struct nytp_recorder *rec,
                                      const struct nytp_rec_sub *entry)
{
    const bool is_switch = entry->is_begin && entry->file != NULL && entry->last_line == 0;
    if (is_switch && rec->subs->runtime->called)
        nytp_file_fid(aTHX_ rec, entry->file, NYTP_FID_VIA_SUB);
}

/* Writes a SUB_INFO record for each entry whose file the profile knows. */
void nytp_begin_blocks_end_file(struct nytp_recorder *rec)
{
    for (uint32_t i = 1; i <= rec->subs->n; i++) {
        const struct nytp_rec_sub *const entry = rec->subs->all[i];
        if (!entry->is_begin || entry->file == NULL)
            continue;
        const uint32_t fid = nytp_file_known_fid(rec, entry->file);
        if (fid != 0)
            nytp_write_sub_info(
                rec->writer, &(struct nytp_sub_info){
                                 .fid = fid,
                                 .first_line = entry->first_line,
                                 .last_line = entry->last_line,
                                 .name = {.ptr = entry->name, .len = (uint32_t)entry->name_len},
                             });
    }
}
