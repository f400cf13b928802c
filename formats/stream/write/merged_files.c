/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The files of a merged stream; see merged_files.h. Evals of a file that is not defined yet
 * are kept in a list. When the file comes, its evals are written, then the evals that waited
 * for those.
 */
#include "merged_files.h"

#include "formats/base/arena.h"

#include <stdlib.h>
#include <string.h>

#define MAX_FID 0x3fffffu

/* A file id of the current input. Evals in `waiting` count from 1; 0 is none. */
struct nytp_in_file {
    uint32_t fid;       /* in the output; 0 = undefined or not written yet */
    uint32_t waits_as;  /* its index in `waiting`, if it is there */
    uint32_t waited_by; /* first eval that waits for this file */
};

struct nytp_waiting_eval {
    struct nytp_new_fid file; /* as in the input, without the name */
    uint32_t name;            /* string id */
    uint32_t next;            /* eval that waits for the same file */
};

bool nytp_merged_files_init(struct nytp_merged_files *m, struct nytp_writer *writer,
                            struct nytp_strings *strings, struct nytp_error *error)
{
    *m = (struct nytp_merged_files){
        .writer = writer, .strings = strings, .error = error, .n_out = 1};
    return nytp_grow(&m->out, &m->out_capacity, 0, sizeof *m->out);
}

void nytp_merged_files_free(struct nytp_merged_files *m)
{
    nytp_table_free(&m->fid_of_name);
    free(m->out);
    free(m->in);
    free(m->waiting);
}

void nytp_merged_files_next_input(struct nytp_merged_files *m)
{
    m->n_waiting = 0;
    for (uint32_t fid = 1; fid < m->n_out; fid++)
        m->out[fid].in_fid = 0;
    if (m->n_in > 0)
        memset(m->in, 0, m->n_in * sizeof *m->in);
}

static bool reserve_in_file(struct nytp_merged_files *m, uint32_t fid)
{
    if (fid > MAX_FID)
        return nytp_error_set(m->error, NYTP_ERR_LIMIT, "file id %u is above the limit %u",
                              (unsigned)fid, MAX_FID);
    return nytp_reserve_zeroed(&m->in, &m->n_in, (uint64_t)fid + 1, sizeof *m->in) ||
           nytp_out_of_memory(m->error);
}

static uint32_t new_file(struct nytp_merged_files *m)
{
    if (!nytp_grow(&m->out, &m->out_capacity, m->n_out, sizeof *m->out)) {
        nytp_out_of_memory(m->error);
        return 0;
    }
    m->out[m->n_out] = (struct nytp_out_file){0};
    return m->n_out++;
}

/* Finds the output's file for a file of this input: one of the same name. An input may have
 * several files of one name, such as a module loaded again after a change; the output then has
 * several, too. */
static uint32_t find_file(const struct nytp_merged_files *m, uint32_t fid, struct nytp_key *key)
{
    uint32_t known;
    while ((known = nytp_table_get(&m->fid_of_name, *key)) != NYTP_TABLE_NONE &&
           m->out[known].in_fid != 0 && m->out[known].in_fid != fid && key->b == 0 &&
           key->d < NYTP_MOST_TEXTS_OF_NAME)
        key->d++;
    return known;
}

/* Defines a file in the output, unless it has one of its name. `eval_fid` is the output's. */
static bool write_file(struct nytp_merged_files *m, const struct nytp_new_fid *file,
                       uint32_t name, uint32_t eval_fid)
{
    struct nytp_in_file *in = &m->in[file->fid];
    in->waits_as = 0;
    struct nytp_key key = nytp_file_key(m->strings, name);
    if (eval_fid == 0) {
        const uint32_t known = find_file(m, file->fid, &key);
        if (known != NYTP_TABLE_NONE) {
            in->fid = known;
            m->out[known].in_fid = file->fid;
            return true;
        }
    }
    in->fid = new_file(m);
    if (in->fid == 0)
        return false;
    if (eval_fid == 0 && !nytp_table_put(&m->fid_of_name, key, in->fid))
        return nytp_out_of_memory(m->error);
    m->out[in->fid].in_fid = file->fid;
    const struct nytp_name text = nytp_strings_get(m->strings, name);
    struct nytp_new_fid written = *file;
    written.fid = in->fid;
    written.eval_fid = eval_fid;
    if (eval_fid == 0)
        written.eval_line = 0;
    written.name = (struct nytp_str){.ptr = text.ptr, .len = text.len};
    nytp_write_new_fid(m->writer, &written);
    return true;
}

static bool write_waiting_eval(struct nytp_merged_files *m, uint32_t at, uint32_t eval_fid)
{
    const struct nytp_waiting_eval eval = m->waiting[at - 1];
    return write_file(m, &eval.file, eval.name, eval_fid);
}

/* Writes the evals that wait for a file, and the evals that wait for those. The latter join
 * the end of the list as it is written. */
static bool write_those_who_wait(struct nytp_merged_files *m, uint32_t in_fid)
{
    uint32_t last = 0;
    uint32_t at = m->in[in_fid].waited_by;
    m->in[in_fid].waited_by = 0;
    for (uint32_t i = at; i != 0; i = m->waiting[i - 1].next)
        last = i;
    for (; at != 0; at = m->waiting[at - 1].next) {
        const struct nytp_new_fid *file = &m->waiting[at - 1].file;
        if (m->in[file->fid].waits_as != at) /* written, or defined again */
            continue;
        if (!write_waiting_eval(m, at, m->in[file->eval_fid].fid))
            return false;
        struct nytp_in_file *eval = &m->in[file->fid];
        m->waiting[last - 1].next = eval->waited_by;
        eval->waited_by = 0;
        while (m->waiting[last - 1].next != 0)
            last = m->waiting[last - 1].next;
    }
    return true;
}

/* Keeps an eval until the file that ran it is defined, at the head of that file's list. */
static bool queue_eval(struct nytp_merged_files *m, const struct nytp_new_fid *file,
                       uint32_t name)
{
    if (!nytp_grow(&m->waiting, &m->waiting_capacity, m->n_waiting, sizeof *m->waiting))
        return nytp_out_of_memory(m->error);
    m->waiting[m->n_waiting++] = (struct nytp_waiting_eval){
        .file = *file,
        .name = name,
        .next = m->in[file->eval_fid].waited_by,
    };
    m->in[file->eval_fid].waited_by = m->n_waiting;
    m->in[file->fid].fid = 0;
    m->in[file->fid].waits_as = m->n_waiting;
    return true;
}

bool nytp_merged_file_add(struct nytp_merged_files *m, const struct nytp_new_fid *file)
{
    const uint32_t fid = file->fid, eval_fid = file->eval_fid;
    if (!reserve_in_file(m, fid) || !reserve_in_file(m, eval_fid))
        return false;
    const uint32_t name = nytp_strings_intern(m->strings, file->name.ptr, file->name.len);
    if (name == UINT32_MAX)
        return nytp_out_of_memory(m->error);
    const bool is_eval = eval_fid != 0 && eval_fid != fid;
    if (is_eval && m->in[eval_fid].fid == 0)
        return queue_eval(m, file, name);
    return write_file(m, file, name, is_eval ? m->in[eval_fid].fid : 0) &&
           write_those_who_wait(m, fid);
}

bool nytp_merged_fid(struct nytp_merged_files *m, uint32_t fid, uint32_t *out)
{
    *out = 0;
    if (fid == 0 || fid >= m->n_in)
        return true;
    const uint32_t waits_as = m->in[fid].waits_as;
    if (waits_as != 0 &&
        !write_waiting_eval(m, waits_as, 0)) /* its file did not come in time */
        return false;
    *out = m->in[fid].fid;
    return true;
}

bool nytp_merged_file_has_source(struct nytp_merged_files *m, uint32_t fid, uint32_t input)
{
    if (m->out[fid].source_from == 0)
        m->out[fid].source_from = input;
    return m->out[fid].source_from == input;
}
