/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Source text; see sources.h.
 */
#include "sources.h"

#include "evals.h"

#include "XS/perl/stash.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LARGEST_SOURCE = 64 * 1024 * 1024,
};

bool nytp_is_program_text(const char *name)
{
    return strEQ(name, "-e") || strEQ(name, "-");
}

void nytp_source_write_lines(struct nytp_recorder *rec, uint32_t fid, const char *text,
                             size_t len)
{
    const char *const end = text + len;
    for (uint32_t line = 1; text < end; line++) {
        const char *const newline = memchr(text, '\n', (size_t)(end - text));
        const char *const next = newline == NULL ? end : newline + 1;
        nytp_write_src_line(rec->writer, fid, line, text, (size_t)(next - text));
        text = next;
    }
}

char *nytp_source_read(const char *path, size_t *len)
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
size_t nytp_source_code_length(const char *text, size_t len)
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
AV *nytp_source_kept_lines(pTHX_ const struct nytp_rec_file *file)
{
    if (file->lines != NULL || strNE(file->perl_name, "-"))
        return file->lines;
    SV *const gv = nytp_peek(aTHX_ PL_defstash, STR_WITH_LEN("_<-"), false);
    return gv != NULL && isGV_with_GP(gv) ? GvAV((GV *)gv) : NULL;
}

void nytp_source_write_kept(pTHX_ struct nytp_recorder *rec, const struct nytp_rec_file *file)
{
    AV *const lines = nytp_source_kept_lines(aTHX_ file);
    if (lines == NULL || !nytp_file_is_written(rec, file))
        return;
    for (SSize_t i = 1; i <= av_top_index(lines); i++) {
        SV *const *const line = av_fetch(lines, i, 0);
        STRLEN len = 0;
        const char *const text = line != NULL && SvPOK(*line) ? SvPV_nomg(*line, len) : "";
        nytp_write_src_line(rec->writer, file->fid, (uint32_t)i, text, len);
    }
}

SV *nytp_source_text(pTHX_ struct nytp_recorder *rec, const struct nytp_rec_file *file)
{
    UV seq;
    if (file->text != NULL)
        return file->text;
    if (file->is_eval && nytp_parse_eval_name(file->perl_name, &seq))
        return nytp_eval_text(rec, seq);
    PERL_UNUSED_CONTEXT;
    return strEQ(file->perl_name, "-e") ? rec->compile.e_text : NULL;
}

/* perl appends "\n;" to the text of an eval, and the lines count from there. */
void nytp_source_write_text(pTHX_ struct nytp_recorder *rec, const struct nytp_rec_file *file,
                            SV *sv)
{
    STRLEN len;
    const char *const text = SvPV_nomg(sv, len);
    if (!file->is_eval) {
        nytp_source_write_lines(rec, file->fid, text, len);
        return;
    }
    char *whole;
    Newx(whole, len + 2, char);
    Copy(text, whole, len, char);
    whole[len] = '\n';
    whole[len + 1] = ';';
    nytp_source_write_lines(rec, file->fid, whole, len + 2);
    Safefree(whole);
}

bool nytp_source_is_wanted(const struct nytp_recorder *rec, const struct nytp_rec_file *file)
{
    return file->is_eval || nytp_is_program_text(file->perl_name) || rec->options.savesrc;
}
