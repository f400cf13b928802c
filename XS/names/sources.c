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

void nytp_source_write_lines(struct nytp_recorder *rec, uint32_t fid, uint32_t first_line,
                             const char *text, size_t len)
{
    const char *const end = text + len;
    for (uint32_t line = first_line; text < end; line++) {
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

/* ---- #line ---- */

/* Parses "# line 7 "NAME"" as perl does (perlsyn, "Plain Old Comments (Not!)"), in the line
 * ending at `end`. Without a NAME the last one stays. */
static bool read_directive(const char *at, const char *end, struct nytp_named_lines *lines)
{
    const char *const word = "line";
    UV number = 0;
    if (at == end || *at++ != '#')
        return false;
    while (at < end && isBLANK(*at))
        at++;
    if (end - at < 6 || strnNE(at, word, 4) || !isBLANK(at[4]))
        return false;
    for (at += 5; at < end && isBLANK(*at);)
        at++;
    if (at == end || !isDIGIT(*at))
        return false;
    while (at < end && isDIGIT(*at) && number <= UINT32_MAX)
        number = number * 10 + (UV)(*at++ - '0');
    while (at < end && isSPACE(*at))
        at++;
    while (end > at && isSPACE(end[-1]))
        end--;
    const bool is_quoted = end - at >= 2 && *at == '"' && end[-1] == '"';
    if (number == 0 || number > UINT32_MAX)
        return false;
    lines->first = (uint32_t)number;
    if (at < end) {
        lines->name = at + is_quoted;
        lines->name_len = (size_t)(end - at) - 2 * is_quoted;
    }
    return true;
}

bool nytp_next_named_lines(struct nytp_named_lines *lines)
{
    const char *at = lines->text + lines->len;
    bool is_named = false;
    if (lines->len == 0 && ninstr(at, lines->end, "line", &"line"[4]) == NULL)
        return false;
    lines->text = NULL;
    while (at < lines->end) {
        const char *const newline = memchr(at, '\n', (size_t)(lines->end - at));
        const char *const behind = newline == NULL ? lines->end : newline + 1;
        struct nytp_named_lines next = *lines;
        const bool is_directive = read_directive(at, newline == NULL ? behind : newline, &next);
        if (is_directive && is_named)
            break;
        if (is_directive) {
            *lines = next;
            lines->text = behind;
            is_named = lines->name_len > 0;
        }
        at = behind;
    }
    lines->len = lines->text == NULL ? 0 : (size_t)(at - lines->text);
    return is_named;
}

void nytp_source_write_pieces(struct nytp_recorder *rec, const struct nytp_rec_file *file)
{
    for (const struct nytp_piece *piece = file->pieces; piece != NULL; piece = piece->next)
        nytp_source_write_lines(rec, file->fid, piece->line, piece->text, piece->len);
}

size_t nytp_source_free_pieces(struct nytp_rec_file *file)
{
    size_t freed = 0;
    while (file->pieces != NULL) {
        struct nytp_piece *const piece = file->pieces;
        file->pieces = piece->next;
        freed += piece->len;
        free(piece);
    }
    return freed;
}

/* ---- lines kept by perl ---- */

/* Returns where perl stops compiling: at the line __END__ or __DATA__. Cuts nothing if the word
 * also marks a here-document, or if the line is in POD. */
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

/* Returns the kept lines of a source that cannot be read again; element 1 is line 1. */
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

const struct nytp_shared_text *nytp_source_text(const struct nytp_recorder *rec,
                                                const struct nytp_rec_file *file)
{
    UV seq;
    if (file->text != NULL)
        return file->text;
    if (file->is_eval && nytp_parse_eval_name(file->perl_name, &seq))
        return nytp_eval_text(rec, seq);
    return strEQ(file->perl_name, "-e") ? rec->run.e_text : NULL;
}

/* perl appends "\n;" to the text of an eval, and so its line count includes that. */
void nytp_source_write_text(struct nytp_recorder *rec, const struct nytp_rec_file *file,
                            const struct nytp_shared_text *text)
{
    const size_t len = text->len;
    if (!file->is_eval) {
        nytp_source_write_lines(rec, file->fid, 1, text->bytes, len);
        return;
    }
    char *whole;
    Newx(whole, len + 2, char);
    Copy(text->bytes, whole, len, char);
    whole[len] = '\n';
    whole[len + 1] = ';';
    nytp_source_write_lines(rec, file->fid, 1, whole, len + 2);
    Safefree(whole);
}

bool nytp_source_is_wanted(const struct nytp_recorder *rec, const struct nytp_rec_file *file)
{
    return file->is_eval || nytp_is_program_text(file->perl_name) || file->pieces != NULL ||
           rec->options.savesrc;
}
