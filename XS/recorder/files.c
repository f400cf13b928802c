/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * File ids, string evals and source text.
 *
 * perl is not asked to rename evals or to keep source lines for us, since both are visible to
 * the program. That `(eval 7)` was run at FILE:LINE is noted when entereval is about to run
 * it (PL_evalseq tells which number it will get, pp_ctl.c); its text is written the moment its
 * first statement runs, when it has just been compiled. Files are read from disk when their
 * first statement runs. Only what comes from nowhere else is perl asked to keep, while it
 * compiles it: a script on standard input, and what a hook in @INC hands out.
 */
#include "recorder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LARGEST_SOURCE = 64 * 1024 * 1024,
    MAX_EVALS = 1024, /* nested compilations; beyond, texts are not kept */
};

static const char autosplit_mark[] = " (autosplit into ";

/* ---- names ---- */

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

static bool is_program_text(const char *name)
{
    return strEQ(name, "-e") || strEQ(name, "-");
}

/* "(eval 7)[x.pl:3]": perl was told (perldb=) to name evals itself. */
static void parent_from_name(pTHX_ struct nytp_recorder *rec, struct nytp_file *file)
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

/* A miss in the table of origins: the eval may still be running. */
static void parent_from_contexts(pTHX_ struct nytp_recorder *rec, struct nytp_file *file)
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

static void name_eval(pTHX_ struct nytp_recorder *rec, struct nytp_file *file, UV seq)
{
    const struct nytp_eval_origin *const origin =
        rec->origins == NULL ? NULL : &rec->origins[seq % NYTP_ORIGINS];
    const struct nytp_past_eval *const past = nytp_past_eval(rec, file->perl_name);
    file->is_eval = TRUE;
    if (strchr(file->perl_name, '[') != NULL) {
        parent_from_name(aTHX_ rec, file);
        return;
    }
    if (past != NULL) {
        file->fid = past->fid;
        file->generation = past->generation;
        file->parent = nytp_file_numbered(aTHX_ rec, past->parent_fid);
        file->parent_line = past->parent_line;
        rec->files[file->fid] = file;
    } else if (origin != NULL && origin->seq == seq && origin->file != NULL) {
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

static struct nytp_file *file_add(pTHX_ struct nytp_recorder *rec, const char *perl_name,
                                  uint32_t hash)
{
    struct nytp_file *file;
    UV seq;
    Newxz(file, 1, struct nytp_file);
    file->perl_name = file->shown_name = nytp_copy(perl_name, strlen(perl_name));
    nytp_index_add(&rec->files_by_name, hash, file);
    if (nytp_parse_eval_name(perl_name, &seq))
        name_eval(aTHX_ rec, file, seq);
    return file;
}

struct nytp_file *nytp_file_named(pTHX_ struct nytp_recorder *rec, const char *perl_name)
{
    if (perl_name == NULL)
        perl_name = "";
    const uint32_t hash = nytp_hash_bytes(perl_name, strlen(perl_name));
    size_t at = hash;
    struct nytp_file *file;
    while ((file = nytp_index_next(&rec->files_by_name, hash, &at)) != NULL)
        if (strEQ(file->perl_name, perl_name))
            return file;
    return file_add(aTHX_ rec, perl_name, hash);
}

/* ---- source text ---- */

static void write_lines(struct nytp_recorder *rec, uint32_t fid, const char *text, size_t len)
{
    const char *const end = text + len;
    for (uint32_t line = 1; text < end; line++) {
        const char *const newline = memchr(text, '\n', (size_t)(end - text));
        const char *const next = newline == NULL ? end : newline + 1;
        nytp_write_src_line(rec->writer, fid, line, text, (size_t)(next - text));
        text = next;
    }
}

static char *read_whole(const char *path, size_t *len)
{
    struct stat info;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    char *text = NULL;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size <= LARGEST_SOURCE &&
        (text = malloc((size_t)info.st_size + 1)) != NULL) {
        ssize_t n = 0;
        for (*len = 0; *len < (size_t)info.st_size; *len += (size_t)n)
            if ((n = read(fd, text + *len, (size_t)info.st_size - *len)) <= 0)
                break;
        text[*len] = '\0';
    }
    close(fd);
    return text;
}

/* Where perl stops compiling: at the line __END__ or __DATA__. When the same word is the mark
 * of a here-document, or the line is in POD, nothing is cut off. */
static size_t code_length(const char *text, size_t len)
{
    const char *const end = text + len;
    bool in_pod = false;
    for (const char *at = text; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *const next = newline == NULL ? end : newline + 1;
        if (*at == '=' && at + 1 < end && isALPHA(at[1]))
            in_pod = strncmp(at, "=cut", 4) != 0;
        else if (!in_pod && *at == '_' &&
                 (strncmp(at, "__END__", 7) == 0 || strncmp(at, "__DATA__", 8) == 0) &&
                 !isWORDCHAR(at[at[2] == 'E' ? 7 : 8])) {
            const char *const word = at[2] == 'E' ? "__END__" : "__DATA__";
            const char *const earlier = strstr(text, word);
            return earlier < at ? len : (size_t)(next - text);
        }
        at = next;
    }
    return len;
}

/* The lines of a source that cannot be read again, as perl has kept them: element 1 is line 1.
 */
static AV *kept_lines(pTHX_ const struct nytp_file *file)
{
    if (file->lines != NULL || strNE(file->perl_name, "-"))
        return file->lines;
    GV *const gv = gv_fetchfile("-");
    return gv == NULL ? NULL : GvAV(gv);
}

static bool is_written(const struct nytp_recorder *rec, const struct nytp_file *file)
{
    return file->fid != 0 && file->generation == rec->generation;
}

static void write_kept_lines(pTHX_ struct nytp_recorder *rec, const struct nytp_file *file)
{
    AV *const lines = kept_lines(aTHX_ file);
    if (lines == NULL || !is_written(rec, file))
        return;
    for (SSize_t i = 1; i <= av_top_index(lines); i++) {
        SV *const *const line = av_fetch(lines, i, 0);
        STRLEN len = 0;
        const char *const text = line != NULL && SvPOK(*line) ? SvPV_nomg(*line, len) : "";
        nytp_write_src_line(rec->writer, file->fid, (uint32_t)i, text, len);
    }
}

void nytp_program_lines_write(pTHX_ struct nytp_recorder *rec)
{
    write_kept_lines(aTHX_ rec, nytp_file_named(aTHX_ rec, "-"));
}

static SV *eval_text(struct nytp_recorder *rec, UV seq)
{
    for (uint32_t i = rec->n_evals; i-- > 0;)
        if (rec->evals[i].seq == seq)
            return rec->evals[i].text;
    return rec->last_eval.seq == seq ? rec->last_eval.text : NULL;
}

static SV *program_text(pTHX_ struct nytp_recorder *rec, const struct nytp_file *file)
{
    UV seq;
    if (file->text != NULL)
        return file->text;
    if (file->is_eval && nytp_parse_eval_name(file->perl_name, &seq))
        return eval_text(rec, seq);
    PERL_UNUSED_CONTEXT;
    return strEQ(file->perl_name, "-e") ? rec->e_text : NULL;
}

/* perl appends "\n;" to the text of an eval, and the lines count from there. */
static void write_eval_text(pTHX_ struct nytp_recorder *rec, const struct nytp_file *file,
                            SV *sv)
{
    STRLEN len;
    const char *const text = SvPV_nomg(sv, len);
    if (!file->is_eval) {
        write_lines(rec, file->fid, text, len);
        return;
    }
    char *whole;
    Newx(whole, len + 2, char);
    Copy(text, whole, len, char);
    whole[len] = '\n';
    whole[len + 1] = ';';
    write_lines(rec, file->fid, whole, len + 2);
    Safefree(whole);
}

static bool wants_source(const struct nytp_recorder *rec, const struct nytp_file *file)
{
    return file->is_eval || is_program_text(file->perl_name) || rec->options.savesrc;
}

/* ---- file ids ---- */

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

static bool is_relative(const struct nytp_file *file)
{
    return !file->is_eval && file->perl_name[0] != '/' && !is_program_text(file->perl_name) &&
           !(file->flags & NYTP_FID_IS_FAKE);
}

/* Relative names are relative to where the program was when it first ran the file. */
static const char *absolute_name(struct nytp_recorder *rec, struct nytp_file *file)
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

static void write_new_fid(struct nytp_recorder *rec, struct nytp_file *file)
{
    const uint32_t parent_fid =
        file->parent == NULL ? 0 : nytp_file_known_fid(rec, file->parent);
    const char *const name = absolute_name(rec, file);
    nytp_write_new_fid(rec->writer, file->fid, parent_fid,
                       parent_fid == 0 ? 0 : file->parent_line, file->flags, 0, 0, name,
                       strlen(name));
    file->generation = rec->generation;
}

static struct nytp_file *unknown_invoker(pTHX_ struct nytp_recorder *rec)
{
    if (rec->unknown_invoker == NULL) {
        rec->unknown_invoker = nytp_file_named(aTHX_ rec, "/unknown-eval-invoker");
        rec->unknown_invoker->flags = NYTP_FID_IS_FAKE;
    }
    return rec->unknown_invoker;
}

static void number(struct nytp_recorder *rec, struct nytp_file *file)
{
    if (rec->n_fids + 1 >= rec->size_fids) {
        rec->size_fids = rec->size_fids == 0 ? 64 : rec->size_fids * 2;
        Renew(rec->files, rec->size_fids, struct nytp_file *);
    }
    file->fid = ++rec->n_fids;
    rec->files[file->fid] = file;
    nytp_trace(&rec->options, 2, "file %u is %s", file->fid, file->shown_name);
}

static bool ends_in_path(const char *name, const char *path, size_t len)
{
    const size_t name_len = name == NULL ? 0 : strlen(name);
    return name_len > len && name[name_len - len - 1] == '/' &&
           memEQ(name + name_len - len, path, len);
}

/* The file with an id that has exactly this name, or else the first that ends in it. */
static struct nytp_file *numbered_file_of(const struct nytp_recorder *rec, const char *path,
                                          size_t len)
{
    struct nytp_file *found = NULL;
    for (uint32_t fid = 1; fid <= rec->n_fids; fid++) {
        struct nytp_file *const file = rec->files[fid];
        if (file == NULL)
            continue;
        if (strlen(file->perl_name) == len && memEQ(file->perl_name, path, len))
            return file;
        if (found == NULL && (ends_in_path(file->perl_name, path, len) ||
                              ends_in_path(file->absolute_name, path, len)))
            found = file;
    }
    return found;
}

/* AutoSplit writes each sub to a file of its own that calls itself "Foo.pm (autosplit into …)",
 * with the lines of Foo.pm. Such a piece is Foo.pm, if that has an id. */
static struct nytp_file *module_of(const struct nytp_recorder *rec, struct nytp_file *file)
{
    const char *const mark = file->fid != 0 || file->is_eval || file->module != NULL
                                 ? NULL
                                 : strstr(file->perl_name, autosplit_mark);
    if (mark != NULL)
        file->module = numbered_file_of(rec, file->perl_name, (size_t)(mark - file->perl_name));
    return file->module != NULL ? file->module : file;
}

/* Evals without a known place hang below an invented file, which readers expect. */
static void place_eval(pTHX_ struct nytp_recorder *rec, struct nytp_file *file, uint32_t via)
{
    if (!file->is_eval)
        return;
    file->placing = true;
    /* an eval that C code ran may seem to have run itself, or what ran it */
    if (file->parent != NULL && file->parent->placing)
        file->parent = NULL;
    if (file->parent == NULL) {
        file->parent = unknown_invoker(aTHX_ rec);
        file->parent_line = 1;
    }
    struct nytp_file *const parent = module_of(rec, file->parent);
    if (!is_written(rec, parent)) {
        const bool is_new = parent->fid == 0;
        if (is_new)
            parent->flags |= NYTP_FID_IS_EVAL | NYTP_FID_SAVE_SRC;
        nytp_file_fid(aTHX_ rec, parent, is_new ? via : 0);
    }
    file->placing = false;
}

/* The number comes first: an eval has a lower one than its parent, if that has none yet. */
static void introduce(pTHX_ struct nytp_recorder *rec, struct nytp_file *file, uint32_t via)
{
    SV *const sv = program_text(aTHX_ rec, file);
    size_t len = 0;
    char *source = NULL;
    if (file->fid == 0)
        number(rec, file);
    place_eval(aTHX_ rec, file, via);
    if (wants_source(rec, file)) {
        file->flags |= NYTP_FID_SAVE_SRC;
        if (sv == NULL && file->lines == NULL && !file->awaits_lines && !file->is_eval &&
            !is_program_text(file->perl_name))
            source = read_whole(absolute_name(rec, file), &len);
    }
    if (sv != NULL || source != NULL || file->awaits_lines || kept_lines(aTHX_ file) != NULL)
        file->flags |= NYTP_FID_HAS_SRC;
    if (is_program_text(file->perl_name))
        file->flags |= NYTP_FID_IS_EVAL;
    if (is_pmc(file->perl_name))
        file->flags |= NYTP_FID_IS_PMC;
    if (!file->is_eval && strstr(file->perl_name, autosplit_mark) != NULL)
        file->flags |= NYTP_FID_IS_AUTOSPLIT;
    file->flags |= via;
    write_new_fid(rec, file);
    if (sv != NULL)
        write_eval_text(aTHX_ rec, file, sv);
    if (source != NULL)
        write_lines(rec, file->fid, source, code_length(source, len));
    if (file->lines != NULL)
        write_kept_lines(aTHX_ rec, file);
    free(source);
    SvREFCNT_dec(file->text);
    file->text = NULL;
}

uint32_t nytp_file_known_fid(const struct nytp_recorder *rec, struct nytp_file *file)
{
    const struct nytp_file *const module = module_of(rec, file);
    return is_written(rec, module) ? module->fid : 0;
}

uint32_t nytp_file_fid(pTHX_ struct nytp_recorder *rec, struct nytp_file *file, uint32_t via)
{
    file = module_of(rec, file);
    if (is_written(rec, file))
        return file->fid;
    nytp_clock_pause(&rec->clock);
    introduce(aTHX_ rec, file, via);
    nytp_clock_resume(&rec->clock);
    return file->fid;
}

/* ---- source from a hook in @INC ---- */

/* A compilation for which $^P differs from the one around it. */
struct compilation {
    struct nytp_file *file; /* whose lines are kept, or NULL */
    bool had_glob, had_lines;
    bool outer_keeps;
};

/* Whether perl is reading something else than the file of that name. */
static bool reads_elsewhere(pTHX_ const char *name)
{
    struct stat now_read, named;
    dSAVE_ERRNO;
    const int fd = PL_parser->rsfp == NULL ? -1 : PerlIO_fileno(PL_parser->rsfp);
    const bool elsewhere = fd < 0 || fstat(fd, &now_read) != 0 || stat(name, &named) != 0 ||
                           now_read.st_dev != named.st_dev || now_read.st_ino != named.st_ino;
    RESTORE_ERRNO;
    return elsewhere;
}

/* The glob of a file, where perl puts lines; NULL where there is none. */
static GV *glob_of(pTHX_ struct nytp_recorder *rec, const char *name)
{
    nytp_text_clear(&rec->scratch);
    nytp_text_printf(&rec->scratch, "_<%s", name);
    SV *const sv = nytp_peek(aTHX_ PL_defstash, rec->scratch.ptr, rec->scratch.len, false);
    return sv != NULL && isGV_with_GP(sv) ? (GV *)sv : NULL;
}

/* Lines that perl kept because of us are not for the program to see, nor is a glob that only
 * they needed. */
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
    struct nytp_file *const file = this->file;
    const GV *const gv = glob_of(aTHX_ rec, file->perl_name);
    const char *const last_name = CopFILE(&PL_compiling);
    file->awaits_lines = false;
    file->lines = gv == NULL ? NULL : (AV *)SvREFCNT_inc((SV *)GvAV(gv));
    if (!this->had_lines)
        hide_lines(aTHX_ rec, file->perl_name, !this->had_glob);
    if (rec->keeps_source && last_name != NULL && strNE(last_name, file->perl_name))
        hide_lines(aTHX_ rec, last_name, !NYTP_FILES_HAVE_GLOBS); /* #line */
    if (rec->state == NYTP_RECORDING || rec->state == NYTP_PAUSED)
        write_kept_lines(aTHX_ rec, file);
}

static void keep_source(pTHX_ struct nytp_recorder *rec, bool keep)
{
    rec->keeps_source = keep;
    PL_perldb = keep ? PL_perldb | PERLDBf_SAVESRC : PL_perldb & ~(U32)PERLDBf_SAVESRC;
}

static void on_compiled(pTHX_ void *ptr)
{
    struct nytp_recorder *const rec = nytp_recorder;
    struct compilation *const this = ptr;
    nytp_guard(rec);
    nytp_clock_pause(&rec->clock);
    if (this->file != NULL)
        take_lines(aTHX_ rec, this);
    if (rec->keeps_source != this->outer_keeps)
        keep_source(aTHX_ rec, this->outer_keeps);
    Safefree(this);
    nytp_clock_resume(&rec->clock);
    nytp_unguard(rec);
}

/* perl keeps lines of what has an array for them when the file is named. */
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

void nytp_compile(pTHX_ struct nytp_recorder *rec, const OP *op)
{
    const bool is_file = op != NULL && (op->op_type == OP_REQUIRE || op->op_type == OP_DOFILE);
    const char *const name = CopFILE(&PL_compiling);
    struct nytp_file *file = NULL;
    if (is_file && rec->options.savesrc && name != NULL && reads_elsewhere(aTHX_ name))
        file = nytp_file_named(aTHX_ rec, name);
    const bool is_again = file != NULL && (file->lines != NULL || file->awaits_lines);
    if (is_again)
        file = NULL;
    const bool others_keep = !rec->keeps_source && (PL_perldb & PERLDBf_SAVESRC);
    const bool keep = file != NULL && !others_keep;
    if (file == NULL && keep == rec->keeps_source)
        return;
    struct compilation *this;
    Newxz(this, 1, struct compilation);
    this->file = file;
    this->outer_keeps = rec->keeps_source;
    if (keep != rec->keeps_source)
        keep_source(aTHX_ rec, keep);
    if (file != NULL)
        begin_keeping(aTHX_ rec, this);
    else if (name != NULL && !is_again)
        hide_lines(aTHX_ rec, name, false); /* it was named with the bit still set */
    SAVEDESTRUCTOR_X(on_compiled, this);
}

/* ---- string evals ---- */

/* Under -T and -t a value that was tainted once has magic for it, which does nothing to the
 * text. */
static bool has_only_taint_magic(const SV *sv)
{
    for (const MAGIC *magic = SvMAGIC(sv); magic != NULL; magic = magic->mg_moremagic)
        if (magic->mg_type != PERL_MAGIC_taint)
            return false;
    return true;
}

/* The text that entereval is about to compile, if looking at it has no effect. */
static SV *eval_argument(pTHX)
{
    SV *const *const top = PL_stack_sp;
    SV *const sv = PL_op->op_private & OPpEVAL_HAS_HH ? top[-1] : top[0];
    if (SvGMAGICAL(sv))
        return SvPOKp(sv) && has_only_taint_magic(sv) ? sv : NULL;
    return SvPOK(sv) ? sv : NULL;
}

static void note_origin(pTHX_ struct nytp_recorder *rec, UV seq)
{
    if (rec->origins == NULL)
        Newxz(rec->origins, NYTP_ORIGINS, struct nytp_eval_origin);
    struct nytp_eval_origin *const origin = &rec->origins[seq % NYTP_ORIGINS];
    origin->seq = seq;
    origin->file = nytp_file_named(aTHX_ rec, CopFILE(PL_curcop));
    origin->line = CopLINE(PL_curcop);
}

static void drop_evals(pTHX_ struct nytp_recorder *rec, uint32_t level)
{
    while (rec->n_evals > level)
        SvREFCNT_dec(rec->evals[--rec->n_evals].text);
}

/* What was compiled and has statements that may run much later keeps its text till then. */
static void compiled(pTHX_ struct nytp_recorder *rec, UV seq, uint32_t level)
{
    char name[40];
    nytp_name_compiled(aTHX_ rec);
    drop_evals(aTHX_ rec, level + 1);
    if (rec->n_evals != level + 1)
        return;
    SvREFCNT_dec(rec->last_eval.text);
    rec->last_eval = rec->evals[level];
    rec->n_evals = level;
    my_snprintf(name, sizeof name, "(eval %" UVuf ")", seq);
    const uint32_t hash = nytp_hash_bytes(name, strlen(name));
    size_t at = hash;
    struct nytp_file *file;
    while ((file = nytp_index_next(&rec->files_by_name, hash, &at)) != NULL)
        if (strEQ(file->perl_name, name) && file->fid == 0 && file->text == NULL)
            file->text = SvREFCNT_inc(rec->last_eval.text);
}

static void push_eval(pTHX_ struct nytp_recorder *rec, UV seq, SV *text)
{
    if (rec->n_evals >= rec->size_evals) {
        rec->size_evals = rec->size_evals == 0 ? 16 : rec->size_evals * 2;
        Renew(rec->evals, rec->size_evals, struct nytp_eval);
    }
    rec->evals[rec->n_evals++] =
        (struct nytp_eval){seq, newSVpvn_flags(SvPVX_const(text), SvCUR(text), SvUTF8(text))};
}

/* entereval itself may die: of tainted text, of an op that Safe does not let through. */
static void on_eval_died(pTHX_ void *unused)
{
    PERL_UNUSED_ARG(unused);
    keep_source(aTHX_ nytp_recorder, true);
}

OP *nytp_eval_string(pTHX_ struct nytp_recorder *rec)
{
    SV *const text = eval_argument(aTHX);
    const UV seq = (UV)PL_evalseq + 1;
    nytp_guard(rec);
    if (PL_parser == NULL)
        drop_evals(aTHX_ rec, 0); /* what died in the middle of a compilation */
    const uint32_t level = rec->n_evals;
    const bool keeps_text = text != NULL && level < MAX_EVALS;
    if (level == 0)
        nytp_release_if_due(aTHX_ rec);
    note_origin(aTHX_ rec, seq);
    if (keeps_text)
        push_eval(aTHX_ rec, seq, text);
    const bool keeps_source = rec->keeps_source; /* a BEGIN block runs the eval */
    if (keeps_source) {
        keep_source(aTHX_ rec, false);
        SAVEDESTRUCTOR_X(on_eval_died, NULL);
    }
    nytp_unguard(rec);
    OP *const next = nytp_real_op(aTHX_ OP_ENTEREVAL);
    if (keeps_source)
        keep_source(aTHX_ rec, true);
    if (!keeps_text)
        return next;
    nytp_guard(rec);
    compiled(aTHX_ rec, seq, level);
    nytp_unguard(rec);
    return next;
}

void nytp_program_text_keep(pTHX_ struct nytp_recorder *rec)
{
    if (rec->e_text == NULL && PL_e_script != NULL && SvPOK(PL_e_script))
        rec->e_text = newSVsv(PL_e_script);
}

static void free_file(void *item)
{
    dTHX;
    struct nytp_file *const file = item;
    if (file->shown_name != file->perl_name)
        Safefree(file->shown_name);
    Safefree(file->perl_name);
    Safefree(file->absolute_name);
    SvREFCNT_dec(file->text);
    SvREFCNT_dec((SV *)file->lines);
    Safefree(file);
}

void nytp_files_free(pTHX_ struct nytp_recorder *rec)
{
    drop_evals(aTHX_ rec, 0);
    SvREFCNT_dec(rec->last_eval.text);
    SvREFCNT_dec(rec->e_text);
    nytp_index_free(&rec->files_by_name, free_file);
    Safefree(rec->files);
    Safefree(rec->evals);
    Safefree(rec->origins);
    Safefree(rec->past_evals);
}
