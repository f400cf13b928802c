/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * File ids; see files.h.
 */
#include "files.h"

#include "evals.h"
#include "info_queue.h"
#include "XS/output/say.h"
#include "sources.h"
#include "XS/state/state.h"
#include "formats/base/platform.h"
#include "formats/stream/comments/source_records.h"

#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_PIECE_BYTES = 16 * 1024 * 1024,
    LONGEST_TICK_NS = 10000000, /* of the kernel */
};

static const char autosplit_mark[] = " (autosplit into ";

/* ---- names ---- */

/* Takes the parent from a name such as "(eval 7)[x.pl:3]", which perl gives evals on request
 * (perldb=). */
static void parent_from_name(pTHX_ struct nytp_recorder *rec, struct nytp_rec_file *file)
{
    const char *const open = strchr(file->perl_name, '[');
    const char *const colon = strrchr(file->perl_name, ':');
    if (open == NULL || colon == NULL || colon < open)
        return;
    char *const parent = nytp_copy(open + 1, (size_t)(colon - open - 1));
    file->parent = nytp_file_named(aTHX_ rec, parent);
    file->parent_line = (uint32_t)atol(colon + 1);
    Safefree(parent);
}

/* Takes the parent from perl's context stack, where a running eval is, if its origin is
 * unknown. */
static void parent_from_contexts(pTHX_ struct nytp_recorder *rec, struct nytp_rec_file *file)
{
    for (I32 i = cxstack_ix; i >= 0; i--) {
        const PERL_CONTEXT *const cx = &cxstack[i];
        if (CxTYPE(cx) != CXt_EVAL || CxOLD_OP_TYPE(cx) != OP_ENTEREVAL)
            continue;
        file->parent = nytp_file_named(aTHX_ rec, CopFILE(cx->blk_oldcop));
        file->parent_line = CopLINE(cx->blk_oldcop);
        return;
    }
}

/* Finds the file and line that ran a new string eval and puts them into its shown name. An eval
 * that was freed and comes again gets its old file id. */
static void name_eval(pTHX_ struct nytp_recorder *rec, struct nytp_rec_file *file, UV seq)
{
    const struct nytp_eval_origin *const origin = nytp_eval_origin(rec, seq);
    const struct nytp_past_eval *const past = nytp_past_eval(rec, file->perl_name);
    file->is_eval = TRUE;
    if (strchr(file->perl_name, '[') != NULL) {
        parent_from_name(aTHX_ rec, file);
        return;
    }
    if (past != NULL) {
        file->fid = past->fid;
        Copy(past->generation, file->generation, NYTP_KINDS, uint32_t);
        file->parent = nytp_file_numbered(aTHX_ rec, past->parent_fid);
        file->parent_line = past->parent_line;
        rec->files->all[file->fid] = file;
    } else if (origin != NULL) {
        file->parent = origin->file;
        file->parent_line = origin->line;
    } else {
        parent_from_contexts(aTHX_ rec, file);
    }
    if (file->parent == NULL || !rec->options.nameevals)
        return;
    nytp_text_clear(&rec->scratch);
    nytp_text_printf(&rec->scratch, "%s[%s:%lu]", file->perl_name, file->parent->shown_name,
                     (unsigned long)file->parent_line);
    file->shown_name = nytp_copy(rec->scratch.ptr, rec->scratch.len);
}

static struct nytp_rec_file *find_named(const struct nytp_recorder *rec, const char *perl_name,
                                        uint32_t hash)
{
    size_t at = hash;
    struct nytp_rec_file *file;
    while ((file = nytp_index_next(&rec->files->by_name, hash, &at)) != NULL)
        if (file->newer == NULL && strEQ(file->perl_name, perl_name))
            return file;
    return NULL;
}

static struct nytp_rec_file *file_add(pTHX_ struct nytp_recorder *rec, const char *perl_name,
                                      uint32_t hash)
{
    struct nytp_rec_file *file;
    UV seq;
    Newxz(file, 1, struct nytp_rec_file);
    file->perl_name = file->shown_name = nytp_copy_string(perl_name);
    nytp_index_add(&rec->files->by_name, hash, file);
    if (nytp_parse_eval_name(perl_name, &seq))
        name_eval(aTHX_ rec, file, seq);
    else
        file->is_piece = strstr(perl_name, autosplit_mark) != NULL;
    return file;
}

struct nytp_rec_file *nytp_file_named(pTHX_ struct nytp_recorder *rec, const char *perl_name)
{
    if (perl_name == NULL)
        perl_name = "";
    const uint32_t hash = nytp_hash_bytes(perl_name, strlen(perl_name));
    struct nytp_rec_file *const file = find_named(rec, perl_name, hash);
    return file != NULL ? file : file_add(aTHX_ rec, perl_name, hash);
}

static struct nytp_rec_file *copy_unplaced(struct nytp_recorder *rec,
                                           const struct nytp_rec_file *from, uint32_t hash)
{
    struct nytp_rec_file *file;
    Newxz(file, 1, struct nytp_rec_file);
    file->perl_name = file->shown_name = nytp_copy_string(from->perl_name);
    if (from->shown_name != from->perl_name)
        file->shown_name = nytp_copy_string(from->shown_name);
    file->absolute_name = nytp_copy_string(from->absolute_name);
    if (from->loaded != NULL) {
        Newx(file->loaded, 1, struct nytp_loaded_file);
        *file->loaded = *from->loaded;
    }
    file->flags = from->flags & NYTP_FID_IS_FAKE;
    file->parent_line = from->parent_line;
    file->is_eval = from->is_eval;
    file->is_piece = from->is_piece;
    if (from->flags & NYTP_FID_IS_FAKE)
        rec->files->unknown_invoker = file;
    nytp_index_add(&rec->files->by_name, hash, file);
    return file;
}

struct nytp_rec_file *nytp_file_inherit(struct nytp_recorder *rec,
                                        const struct nytp_rec_file *from)
{
    struct nytp_rec_file *first = NULL, **at = &first;
    for (bool is_new = true; is_new && from != NULL; from = from->parent) {
        const uint32_t hash = nytp_hash_bytes(from->perl_name, strlen(from->perl_name));
        *at = find_named(rec, from->perl_name, hash);
        is_new = *at == NULL;
        if (is_new)
            *at = copy_unplaced(rec, from, hash);
        at = &(*at)->parent;
    }
    return first;
}

/* ---- file ids ---- */

/* Returns whether perl runs a compiled file instead: Foo.pmc beside Foo.pm, not older. */
static bool is_pmc(const char *name)
{
    const size_t len = strlen(name);
    struct stat pm, pmc;
    if (len < 3 || strNE(name + len - 3, ".pm") || stat(name, &pm) != 0)
        return false;
    char *const longer = nytp_copy(name, len + 1);
    longer[len] = 'c';
    const bool found = stat(longer, &pmc) == 0 && pmc.st_mtime >= pm.st_mtime;
    Safefree(longer);
    return found;
}

static bool is_relative(const struct nytp_rec_file *file)
{
    return !file->is_eval && file->perl_name[0] != '/' &&
           !nytp_is_program_text(file->perl_name) && !(file->flags & NYTP_FID_IS_FAKE);
}

/* Relative names refer to the directory in which the program first ran the file. */
static const char *absolute_name(struct nytp_recorder *rec, struct nytp_rec_file *file)
{
    char *const cwd = file->absolute_name == NULL && is_relative(file) ? getcwd(NULL, 0) : NULL;
    if (cwd != NULL) {
        const char *const name = file->shown_name;
        nytp_text_clear(&rec->scratch);
        nytp_text_printf(&rec->scratch, "%s/%s", strEQ(cwd, "/") ? "" : cwd,
                         strnEQ(name, "./", 2) ? name + 2 : name);
        file->absolute_name = nytp_copy(rec->scratch.ptr, rec->scratch.len);
        free(cwd);
    }
    return file->absolute_name != NULL ? file->absolute_name : file->shown_name;
}

/* ---- files that perl has loaded ---- */

static bool is_file_of(const struct nytp_loaded_file *loaded, const struct stat *st)
{
    return loaded->device == st->st_dev && loaded->inode == st->st_ino &&
           loaded->size == st->st_size && loaded->changed.tv_sec == st->st_ctim.tv_sec &&
           loaded->changed.tv_nsec == st->st_ctim.tv_nsec &&
           loaded->written.tv_sec == st->st_mtim.tv_sec &&
           loaded->written.tv_nsec == st->st_mtim.tv_nsec;
}

static void note_loaded(struct nytp_rec_file *file, const struct stat *st)
{
    if (file->loaded == NULL)
        Newxz(file->loaded, 1, struct nytp_loaded_file);
    *file->loaded = (struct nytp_loaded_file){.device = st->st_dev,
                                              .inode = st->st_ino,
                                              .size = st->st_size,
                                              .changed = st->st_ctim,
                                              .written = st->st_mtim};
}

/* Makes a new file for a name that gets a new text. */
static struct nytp_rec_file *make_newer(pTHX_ struct nytp_recorder *rec,
                                        struct nytp_rec_file *older)
{
    struct nytp_rec_file *const file =
        file_add(aTHX_ rec, older->perl_name,
                 nytp_hash_bytes(older->perl_name, strlen(older->perl_name)));
    file->older = older;
    file->since_seq = PL_cop_seqmax;
    older->newer = file;
    return file;
}

bool nytp_file_note_loaded(pTHX_ struct nytp_recorder *rec, const char *perl_name)
{
    struct stat now_read, named;
    dSAVE_ERRNO;
    const int fd =
        PL_parser == NULL || PL_parser->rsfp == NULL ? -1 : PerlIO_fileno(PL_parser->rsfp);
    const bool is_it = fd >= 0 && fstat(fd, &now_read) == 0 && S_ISREG(now_read.st_mode) &&
                       stat(perl_name, &named) == 0 && now_read.st_dev == named.st_dev &&
                       now_read.st_ino == named.st_ino;
    if (is_it) {
        struct nytp_rec_file *file = nytp_file_named(aTHX_ rec, perl_name);
        const bool is_same =
            file->loaded == NULL ? file->fid == 0 : is_file_of(file->loaded, &now_read);
        if (!is_same)
            file = make_newer(aTHX_ rec, file);
        note_loaded(file, &now_read);
        absolute_name(rec, file);
    }
    RESTORE_ERRNO;
    return is_it;
}

void nytp_files_begin(pTHX_ struct nytp_recorder *rec)
{
    rec->files->program_s = PL_basetime;
    if (PL_parser != NULL && CopFILE(&PL_compiling) != NULL)
        nytp_file_note_loaded(aTHX_ rec, CopFILE(&PL_compiling));
}

struct nytp_rec_file *nytp_file_of(pTHX_ struct nytp_recorder *rec, const COP *cop)
{
    struct nytp_rec_file *file = nytp_file_named(aTHX_ rec, CopFILE(cop));
    while (cop != &PL_compiling && file->older != NULL &&
           (I32)(cop->cop_seq - file->since_seq) < 0)
        file = file->older;
    return file;
}

/* Returns whether a value of %INC is this name. %INC may be tied, so its buckets are read. */
static bool is_in_inc(pTHX_ const char *name)
{
    HV *const inc = PL_incgv == NULL ? NULL : GvHV(PL_incgv);
    HE *const *const buckets = inc == NULL ? NULL : HvARRAY(inc);
    for (STRLEN i = 0; buckets != NULL && i <= HvMAX(inc); i++)
        for (const HE *entry = buckets[i]; entry != NULL; entry = HeNEXT(entry))
            if (SvPOK(HeVAL(entry)) && strEQ(SvPVX_const(HeVAL(entry)), name))
                return true;
    return false;
}

/* Returns whether the file changed after second `s` of time(), by which the program began. That
 * clock may be a tick behind the one that stamps files (Linux 6.13). */
static bool is_changed_after(struct timespec changed, time_t s)
{
    return changed.tv_sec > s + 1 ||
           (changed.tv_sec == s + 1 && changed.tv_nsec >= LONGEST_TICK_NS);
}

/* For the script and files loaded before we looked: the file on disk is the text perl read, if
 * it has not changed since the program began. */
static void look_at_loaded(pTHX_ struct nytp_recorder *rec, struct nytp_rec_file *file,
                           const char *path)
{
    struct stat st;
    const bool is_script = PL_origfilename != NULL && strEQ(file->perl_name, PL_origfilename);
    if ((is_script || is_in_inc(aTHX_ file->perl_name)) && stat(path, &st) == 0 &&
        S_ISREG(st.st_mode) && !is_changed_after(st.st_mtim, rec->files->program_s) &&
        !is_changed_after(st.st_ctim, rec->files->program_s))
        note_loaded(file, &st);
}

/* Returns the text that perl read from disk, `len` bytes for free(), or NULL if it is not there
 * any more, or never was. */
static char *read_loaded(pTHX_ struct nytp_recorder *rec, struct nytp_rec_file *file,
                         size_t *len)
{
    const char *const path = absolute_name(rec, file);
    struct stat st;
    if (file->loaded == NULL)
        look_at_loaded(aTHX_ rec, file, path);
    if (file->loaded != NULL && file->loaded->has_sum && !rec->options.savesrc)
        return NULL; /* the sum is all that is recorded */
    if (rec->on.counts && !rec->options.savesrc)
        return NULL; /* a sum takes as long as many statements */
    if (file->loaded == NULL || stat(path, &st) != 0 || !is_file_of(file->loaded, &st))
        return NULL;
    return nytp_source_read(path, len);
}

static void write_new_fid(struct nytp_recorder *rec, struct nytp_rec_file *file)
{
    const uint32_t parent_fid =
        file->parent == NULL ? 0 : nytp_file_known_fid(rec, file->parent);
    const char *const name = absolute_name(rec, file);
    const struct nytp_loaded_file *const recorded = rec->options.savesrc ? NULL : file->loaded;
    nytp_write_new_fid(rec->writer,
                       &(struct nytp_new_fid){
                           .fid = file->fid,
                           .eval_fid = parent_fid,
                           .eval_line = parent_fid == 0 ? 0 : file->parent_line,
                           .flags = file->flags,
                           .size = recorded == NULL ? 0 : (uint32_t)recorded->size,
                           .mtime_s = recorded == NULL ? 0 : (uint32_t)recorded->written.tv_sec,
                           .name = {.ptr = name, .len = (uint32_t)strlen(name)},
                       });
    file->generation[rec->kind] = rec->run.generation;
}

static struct nytp_rec_file *unknown_invoker(pTHX_ struct nytp_recorder *rec)
{
    if (rec->files->unknown_invoker == NULL) {
        rec->files->unknown_invoker = nytp_file_named(aTHX_ rec, "/unknown-eval-invoker");
        rec->files->unknown_invoker->flags = NYTP_FID_IS_FAKE;
    }
    return rec->files->unknown_invoker;
}

static void number(struct nytp_recorder *rec, struct nytp_rec_file *file)
{
    NYTP_MAKE_ROOM(rec->files->all, rec->files->n + 1, rec->files->size,
                   struct nytp_rec_file *);
    file->fid = ++rec->files->n;
    rec->files->all[file->fid] = file;
    nytp_trace(&rec->options, 2, "file %u is %s", file->fid, file->shown_name);
}

/* Returns the length in bytes of the whole path parts that two names share at their ends. */
static size_t common_end(const char *a, size_t a_len, const char *b, size_t b_len)
{
    const size_t most = a_len < b_len ? a_len : b_len;
    size_t whole = 0;
    for (size_t n = 1; n <= most && a[a_len - n] == b[b_len - n]; n++)
        if ((n == a_len || a[a_len - n - 1] == '/') && (n == b_len || b[b_len - n - 1] == '/'))
            whole = n;
    return whole;
}

/* Returns the file with an id that has exactly this path, or else the first whose name shares
 * the longest end with it, of at least `least` bytes. */
static struct nytp_rec_file *numbered_file_of(const struct nytp_recorder *rec, const char *path,
                                              size_t len, size_t least)
{
    struct nytp_rec_file *found = NULL;
    for (uint32_t fid = 1; fid <= rec->files->n; fid++) {
        struct nytp_rec_file *const file = rec->files->all[fid];
        if (file == NULL)
            continue;
        if (strlen(file->perl_name) == len && memEQ(file->perl_name, path, len))
            return file;
        const char *const name =
            file->absolute_name != NULL ? file->absolute_name : file->perl_name;
        const size_t common = common_end(name, strlen(name), path, len);
        if (common >= least) {
            found = file;
            least = common + 1;
        }
    }
    return found;
}

/* AutoSplit writes each sub to a file that calls itself "blib/lib/Foo/Bar.pm (autosplit into
 * blib/lib/auto/Foo/Bar/sub.al)", with the module's line numbers. The paths are those of the
 * build: the part before the module's name, Foo/Bar.pm, may have changed. Both paths end in the
 * name itself. */
static struct nytp_rec_file *module_named(const struct nytp_recorder *rec, const char *name)
{
    const char *const mark = strstr(name, autosplit_mark);
    const char *const piece = mark + sizeof autosplit_mark - 1;
    const char *const sub = strrchr(piece, '/');
    const size_t len = (size_t)(mark - name);
    size_t least = strlen(".pm");
    if (sub != NULL && len > least)
        least += common_end(name, len - least, piece, (size_t)(sub - piece));
    return numbered_file_of(rec, name, len, least);
}

/* Returns the module of such a piece, if that has an id, else the file. */
static struct nytp_rec_file *module_of(const struct nytp_recorder *rec,
                                       struct nytp_rec_file *file)
{
    if (file->is_piece && file->fid == 0 && file->module == NULL)
        file->module = module_named(rec, file->perl_name);
    return file->module != NULL ? file->module : file;
}

/* Records the parent of an eval before the eval. Evals without a known place get an invented
 * parent, which readers expect. */
static void place_eval(pTHX_ struct nytp_recorder *rec, struct nytp_rec_file *file,
                       uint32_t via)
{
    if (!file->is_eval)
        return;
    file->placing = true;
    /* an eval run by C code may seem to have run itself or its parent */
    if (file->parent != NULL && file->parent->placing)
        file->parent = NULL;
    if (file->parent == NULL) {
        file->parent = unknown_invoker(aTHX_ rec);
        file->parent_line = 1;
    }
    struct nytp_rec_file *const parent = module_of(rec, file->parent);
    if (!nytp_file_is_written(rec, parent)) {
        const bool is_new = parent->fid == 0;
        if (is_new)
            parent->flags |= NYTP_FID_IS_EVAL | NYTP_FID_SAVE_SRC;
        nytp_file_fid(aTHX_ rec, parent, is_new ? via : 0);
    }
    file->placing = false;
}

/* Records the checksum instead of the source, so that a reader can identify the file. */
static void write_sum(struct nytp_recorder *rec, const struct nytp_rec_file *file,
                      const char *source, size_t len)
{
    struct nytp_loaded_file *const loaded = file->loaded;
    struct nytp_source_record record = {.fid = file->fid};
    char text[NYTP_SOURCE_LONGEST];
    if (source != NULL && !loaded->has_sum && len == (size_t)loaded->size) {
        nytp_blake2b(source, len, loaded->sum);
        loaded->has_sum = true;
    }
    if (!loaded->has_sum)
        return;
    Copy(loaded->sum, record.sum, NYTP_BLAKE2B_BYTES, uint8_t);
    nytp_source_record_format(&record, text);
    nytp_write_comment(rec->writer, text);
}

/* ---- #line ---- */

static void add_piece(pTHX_ struct nytp_recorder *rec, const struct nytp_named_lines *lines)
{
    if (lines->len == 0 || lines->len > MOST_PIECE_BYTES - rec->files->piece_bytes)
        return;
    char *const name = nytp_copy(lines->name, lines->name_len);
    struct nytp_rec_file *const file = nytp_file_named(aTHX_ rec, name);
    const bool has_text = file->fid != 0 || file->is_eval || file->is_piece ||
                          file->lines != NULL || nytp_is_program_text(name);
    struct nytp_piece *const piece = has_text ? NULL : malloc(sizeof *piece + lines->len);
    Safefree(name);
    if (piece == NULL)
        return;
    piece->next = file->pieces;
    piece->line = lines->first;
    piece->len = lines->len;
    Copy(lines->text, piece->text, lines->len, char);
    file->pieces = piece;
    rec->files->piece_bytes += lines->len;
}

void nytp_file_take_pieces(pTHX_ struct nytp_recorder *rec, const char *text, size_t len)
{
    struct nytp_named_lines lines = {.text = text, .end = text + len};
    while (nytp_next_named_lines(&lines))
        add_piece(aTHX_ rec, &lines);
}

/* ---- records ---- */

/* Records a file: its NEW_FID record, then its source if wanted. The number is given first: an
 * eval has a lower one than a parent that has none yet. */
static void introduce(pTHX_ struct nytp_recorder *rec, struct nytp_rec_file *file, uint32_t via)
{
    const struct nytp_shared_text *const text = nytp_source_text(rec, file);
    size_t len = 0;
    char *source = NULL;
    if (file->fid == 0)
        number(rec, file);
    place_eval(aTHX_ rec, file, via);
    if (text == NULL && file->lines == NULL && !file->awaits_lines && !file->is_eval &&
        !nytp_is_program_text(file->perl_name))
        source = read_loaded(aTHX_ rec, file, &len);
    if (source != NULL)
        rec->files->piece_bytes -= nytp_source_free_pieces(file);
    const bool is_wanted = nytp_source_is_wanted(rec, file);
    if (is_wanted)
        file->flags |= NYTP_FID_SAVE_SRC;
    if (text != NULL || (source != NULL && is_wanted) || file->pieces != NULL ||
        file->awaits_lines || nytp_source_kept_lines(aTHX_ file) != NULL)
        file->flags |= NYTP_FID_HAS_SRC;
    if (nytp_is_program_text(file->perl_name))
        file->flags |= NYTP_FID_IS_EVAL;
    if (is_pmc(file->perl_name))
        file->flags |= NYTP_FID_IS_PMC;
    if (file->is_piece)
        file->flags |= NYTP_FID_IS_AUTOSPLIT;
    file->flags |= via;
    write_new_fid(rec, file);
    if (file->is_awaited)
        nytp_info_queue_look_again(rec);
    if (text != NULL)
        nytp_source_write_text(rec, file, text);
    if (source != NULL && is_wanted) {
        nytp_file_take_pieces(aTHX_ rec, source, len);
        nytp_source_write_lines(rec, file->fid, 1, source,
                                nytp_source_code_length(source, len));
    } else if (!is_wanted && file->loaded != NULL) {
        write_sum(rec, file, source, len);
    }
    nytp_source_write_pieces(rec, file);
    rec->files->piece_bytes -= nytp_source_free_pieces(file);
    if (file->lines != NULL)
        nytp_source_write_kept(aTHX_ rec, file);
    free(source);
    nytp_shared_text_drop(file->text);
    file->text = NULL;
}

uint32_t nytp_file_known_fid(const struct nytp_recorder *rec, struct nytp_rec_file *file)
{
    const struct nytp_rec_file *const module = module_of(rec, file);
    return nytp_file_is_written(rec, module) ? module->fid : 0;
}

void nytp_file_await(const struct nytp_recorder *rec, struct nytp_rec_file *file)
{
    module_of(rec, file)->is_awaited = true;
}

uint32_t nytp_file_fid(pTHX_ struct nytp_recorder *rec, struct nytp_rec_file *file,
                       uint32_t via)
{
    file = module_of(rec, file);
    if (nytp_file_is_written(rec, file))
        return file->fid;
    nytp_clock_pause(&rec->clock);
    introduce(aTHX_ rec, file, via);
    nytp_clock_resume(&rec->clock);
    return file->fid;
}

struct nytp_rec_file *nytp_file_numbered(pTHX_ struct nytp_recorder *rec, uint32_t fid)
{
    char name[40];
    UV seq;
    if (fid == 0 || rec->files->all[fid] != NULL)
        return fid == 0 ? NULL : rec->files->all[fid];
    if (!nytp_past_eval_find(rec, fid, &seq))
        return NULL;
    my_snprintf(name, sizeof name, "(eval %" UVuf ")", seq);
    return nytp_file_named(aTHX_ rec, name);
}

static void free_file(void *item)
{
    dTHX;
    struct nytp_rec_file *const file = item;
    if (file->shown_name != file->perl_name)
        Safefree(file->shown_name);
    Safefree(file->perl_name);
    Safefree(file->absolute_name);
    Safefree(file->loaded);
    (void)nytp_source_free_pieces(file);
    nytp_shared_text_drop(file->text);
    SvREFCNT_dec((SV *)file->lines);
    Safefree(file);
}

/* For nytp_index_filter(): returns false if the file was freed. */
static bool file_stays(void *context, void *item)
{
    dTHX;
    struct nytp_recorder *const rec = context;
    struct nytp_rec_file *const file = item;
    if (file->in_use)
        return true;
    if (file->fid != 0)
        rec->files->all[file->fid] = NULL;
    free_file(file);
    return false;
}

void nytp_files_release(struct nytp_recorder *rec)
{
    nytp_index_filter(&rec->files->by_name, file_stays, rec);
}

void nytp_files_free(struct nytp_recorder *rec)
{
    nytp_index_free(&rec->files->by_name, free_file);
    Safefree(rec->files->all);
}
