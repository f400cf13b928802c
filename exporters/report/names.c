/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Names of files and subs on the pages, names of pages, and links between them. See report.h.
 *
 * Pages have the names of nytprofhtml, so that bookmarks and scripts keep working: the path
 * without the library's folder (and without the others if it is long), awkward characters as
 * "-", then the file id. The id makes the name unique also on a disk that ignores case.
 */
#include "report.h"

#include "formats/base/fnv1a.h"
#include "formats/base/strings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE NYTP_REPORT_NONE

#define MAX_STEM 200 /* bytes of a page's name before the file id */

/* ---- names as shown ---- */

/* Returns the length of the longest library folder, with its slash, at the text's start. */
static uint32_t library_len(const struct nytp_report *report, const char *text, uint32_t len)
{
    uint32_t best = 0;
    for (uint32_t i = 0; i < report->options->report.libs.n; i++) {
        const char *lib = report->options->report.libs.at[i];
        size_t lib_len = strlen(lib);
        while (lib_len > 0 && lib[lib_len - 1] == '/')
            lib_len--;
        if (lib_len > best && lib_len + 1 < len && text[lib_len] == '/' &&
            memcmp(text, lib, lib_len) == 0)
            best = (uint32_t)lib_len + 1;
    }
    return best;
}

/* Library folders are dropped at the start and after each "[" (evals and anonymous subs). */
char *nytp_report_shown(const struct nytp_report *report, struct nytp_name name, uint32_t *len)
{
    char *shown = malloc((size_t)name.len + 1);
    if (shown == NULL)
        return NULL;
    *len = 0;
    for (uint32_t i = 0; i < name.len;) {
        if (i == 0 || name.ptr[i - 1] == '[') {
            const uint32_t skip = library_len(report, name.ptr + i, name.len - i);
            i += skip;
        }
        shown[(*len)++] = name.ptr[i++];
    }
    shown[*len] = '\0';
    return shown;
}

void nytp_report_put_any_name(struct nytp_report *report, struct nytp_name name)
{
    uint32_t len;
    const bool plain = memchr(name.ptr, '[', name.len) == NULL;
    char *shown = plain ? NULL : nytp_report_shown(report, name, &len);
    if (shown != NULL)
        nytp_html_text(report->out, shown, len);
    else
        nytp_html_text(report->out, name.ptr, name.len);
    free(shown);
}

void nytp_report_put_file(struct nytp_report *report, uint32_t file)
{
    nytp_html_text(report->out, report->files[file].shown, report->files[file].shown_len);
}

void nytp_report_put_sub(struct nytp_report *report, uint32_t sub)
{
    nytp_report_put_any_name(report, nytp_report_sub_name(report, sub));
}

/* ---- names of pages ---- */

static bool is_awkward(char c)
{
    return strchr("-./\\:|<>\"'*?", c) != NULL; /* includes NUL */
}

/* Returns true if the character at `at` is unfit for a file name: a control character, or a
 * byte that begins no valid UTF-8. */
static bool is_unfit(const char *at, uint32_t left)
{
    const unsigned char c = (unsigned char)*at;
    if (c < ' ' || c == 0x7f)
        return true;
    if (c < 0x80)
        return false;
    const size_t len = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    if ((c & 0xc0) == 0x80) /* part of a character that was tested as a whole */
        return false;
    return len > left || !nytp_utf8_valid(at, len);
}

/* Stores a page's name up to the file id. `to` has room for the text plus 16 bytes. */
static void safe_name(const char *text, uint32_t len, char *to)
{
    uint32_t n = 0;
    bool broken = false; /* continuation bytes after a bad first byte are dropped with it */
    for (uint32_t i = 0; i < len; i++) {
        const bool inside = ((unsigned char)text[i] & 0xc0) == 0x80;
        broken = inside ? broken || i == 0 || (unsigned char)text[i - 1] < 0x80
                        : is_unfit(text + i, len - i);
        if (!is_awkward(text[i]) && !broken)
            to[n++] = text[i];
        else if (n == 0 || to[n - 1] != '-' || text[i] == '\0')
            to[n++] = '-';
    }
    const uint32_t from = n > 0 && to[0] == '-';
    if (n > from && to[n - 1] == '-')
        n--;
    memmove(to, to + from, n - from);
    n -= from;
    if (n > MAX_STEM) {
        n = MAX_STEM;
        while (n > 0 && ((unsigned char)to[n] & 0xc0) == 0x80)
            n--;
        n += (uint32_t)snprintf(to + n, 10, "-%08x", (unsigned)nytp_fnv1a_32(text, len));
    }
    to[n] = '\0';
}

static uint32_t characters(const char *text, uint32_t len)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < len; i++)
        n += ((unsigned char)text[i] & 0xc0) != 0x80;
    return n;
}

/* Copies the text, shortened as nytprofhtml does: if it is longer than names of pages may be,
 * "..." replaces the folders between its first and last slash; if it is still too long, it
 * becomes "TOOLONG". `to` has room for the text and 8 bytes. Returns the length. */
static uint32_t trim_name(const struct nytp_report *report, const char *text, uint32_t len,
                          char *to)
{
    static const char dots[] = ".../", too_long[] = "TOOLONG";
    const uint32_t most =
        report->options->report.name_trim > 0 ? report->options->report.name_trim : 50;
    const char *slash = memchr(text, '/', len);
    const uint32_t head = slash != NULL ? (uint32_t)(slash - text) + 1 : 0;
    uint32_t last = len, n = len;
    memcpy(to, text, len);
    if (characters(to, n) <= most)
        return n;
    while (last > head && text[last - 1] != '/')
        last--;
    if (last > head) {
        memcpy(to + head, dots, sizeof dots - 1);
        memcpy(to + head + sizeof dots - 1, text + last, len - last);
        n = head + (uint32_t)sizeof dots - 1 + len - last;
    }
    if (characters(to, n) <= most)
        return n;
    memcpy(to, too_long, sizeof too_long - 1);
    return sizeof too_long - 1;
}

static bool name_page(struct nytp_report *report, uint32_t f)
{
    struct nytp_report_file *file = &report->files[f];
    const size_t size = (size_t)file->shown_len + MAX_STEM + 40;
    char *trimmed = malloc((size_t)file->shown_len + 8);
    file->stem = malloc(size);
    if (file->stem == NULL || trimmed == NULL) {
        free(trimmed);
        return false;
    }
    const uint32_t len = trim_name(report, file->shown, file->shown_len, trimmed);
    safe_name(trimmed, len, file->stem);
    free(trimmed);
    snprintf(file->stem + strlen(file->stem), 16, "-%u", (unsigned)report->files[f].id);
    return true;
}

/* Names the pages of evals: of those with the most time if there are too many. */
static bool name_evals(struct nytp_report *report)
{
    struct nytp_report_key *keys = nytp_report_keys(report->profile->n_files);
    uint32_t n = 0;
    for (uint32_t f = 1; keys != NULL && f < report->profile->n_files; f++)
        if (nytp_report_is_eval(report, f) && report->files[f].merged_into == NONE)
            keys[n++] =
                (struct nytp_report_key){.time = report->files[f].all_ticks, .index = f};
    uint32_t *evals = nytp_report_sorted(keys, n);
    bool ok = evals != NULL;
    for (uint32_t i = 0; ok && i < n && i < NYTP_REPORT_MAX_EVAL_PAGES; i++)
        ok = name_page(report, evals[i]);
    free(evals);
    return ok;
}

/* In a comparison the profile includes the base's files. */
static bool is_shown(const struct nytp_report *report, uint32_t f)
{
    const struct nytp_report_file *file = &report->files[f];
    return report->options->report.diff == NULL || file->of[NYTP_REPORT_ROWS].n +
                                                           file->of[NYTP_REPORT_CALLS].n +
                                                           file->of[NYTP_REPORT_EVALS].n >
                                                       0;
}

/* Returns the file that shows a file without page; 0 at the end. */
static uint32_t outwards(const struct nytp_report *report, uint32_t f)
{
    const uint32_t into = report->files[f].merged_into;
    return into != NONE ? into : report->profile->files[f].eval_file;
}

static void take_page_of(struct nytp_report *report, uint32_t f, uint32_t from)
{
    struct nytp_report_file *const file = &report->files[f];
    const bool is_ran_there =
        file->merged_into == NONE && report->files[from].page_line == NONE;
    file->page = report->files[from].page;
    file->page_line =
        is_ran_there ? report->profile->files[f].eval_line : report->files[from].page_line;
}

/* Finds each file's page, visiting it once: files on the way are set on the way back. */
static bool find_pages(struct nytp_report *report)
{
    uint32_t *const way = malloc(report->profile->n_files * sizeof *way);
    if (way == NULL)
        return false;
    for (uint32_t f = 0; f < report->profile->n_files; f++) {
        struct nytp_report_file *const file = &report->files[f];
        file->page = file->stem != NULL ? f : 0;
        file->page_line = NONE;
    }
    report->files[0].page = NONE;
    for (uint32_t f = 1; f < report->profile->n_files; f++) {
        uint32_t n = 0, at = f;
        for (; report->files[at].page == 0; at = outwards(report, at))
            way[n++] = at;
        for (; n > 0; at = way[n])
            take_page_of(report, way[--n], at);
    }
    free(way);
    return true;
}

bool nytp_report_name_files(struct nytp_report *report)
{
    uint32_t n_pages = 0;
    for (uint32_t f = 0; f < report->profile->n_files; f++) {
        struct nytp_report_file *file = &report->files[f];
        file->shown =
            nytp_report_shown(report, nytp_report_file_name(report, f), &file->shown_len);
        if (file->shown == NULL)
            return false;
        if (f > 0 && !nytp_report_is_eval(report, f) && is_shown(report, f) &&
            n_pages++ < NYTP_REPORT_MAX_FILE_PAGES && !name_page(report, f))
            return false;
    }
    return name_evals(report) && find_pages(report);
}

/* ---- links ---- */

const char *const nytp_report_level_words[NYTP_LEVELS] = {"line", "block", "sub"};

/* Returns the file whose page shows a file: itself, the one it was merged into, or the one
 * that ran an eval without page. In the last case *line becomes the line that ran it. NONE if
 * there is none. */
static uint32_t page_of(const struct nytp_report *report, uint32_t file, uint32_t *line)
{
    const struct nytp_report_file *const shown = &report->files[file];
    if (shown->page_line != NONE)
        *line = shown->page_line;
    return shown->page;
}

void nytp_report_page_name(const struct nytp_report *report, uint32_t file,
                           enum nytp_level level, char *name)
{
    snprintf(name, NYTP_REPORT_NAME, "%s-%s.html", report->files[file].stem,
             nytp_report_level_words[level]);
}

enum nytp_level nytp_report_link_level(const struct nytp_report *report, uint32_t file)
{
    return report->levels && !nytp_report_is_eval(report, file) ? NYTP_LEVEL_SUB
                                                                : NYTP_LEVEL_LINE;
}

void nytp_report_put_url(struct nytp_report *report, const char *page, const char *fragment)
{
    if (report->single) {
        nytp_putc(report->out, '#');
        nytp_html_url(report->out, page, strlen(page));
        if (fragment[0] != '\0')
            nytp_putc(report->out, ':');
    } else if (fragment[0] != '\0' && strcmp(page, report->page) == 0) {
        nytp_putc(report->out, '#');
    } else {
        nytp_html_url(report->out, page, strlen(page));
        if (fragment[0] != '\0')
            nytp_putc(report->out, '#');
    }
    nytp_puts(report->out, fragment);
}

static bool put_line_url(struct nytp_report *report, uint32_t file, uint32_t line)
{
    const uint32_t on = page_of(report, file, &line);
    if (on == NONE)
        return false;
    char name[NYTP_REPORT_NAME], fragment[16] = "";
    nytp_report_page_name(report, on, nytp_report_link_level(report, on), name);
    const struct nytp_report_file *shown = &report->files[on];
    if (line > 0 ? line < shown->n_lines : shown->has_line_0)
        snprintf(fragment, sizeof fragment, "%u", (unsigned)line);
    nytp_report_put_url(report, name, fragment);
    return true;
}

void nytp_report_put_page_url(struct nytp_report *report, uint32_t file, enum nytp_level level)
{
    char name[NYTP_REPORT_NAME];
    nytp_report_page_name(report, file, level, name);
    nytp_report_put_url(report, name, "");
}

void nytp_report_put_page_anchor(struct nytp_report *report, uint32_t file,
                                 enum nytp_level level)
{
    nytp_puts(report->out, "<a href=");
    nytp_report_put_page_url(report, file, level);
    nytp_putc(report->out, '>');
}

bool nytp_report_put_line_anchor(struct nytp_report *report, uint32_t file, uint32_t line)
{
    if (report->files[file].page == NONE)
        return false;
    nytp_puts(report->out, "<a href=");
    put_line_url(report, file, line);
    nytp_putc(report->out, '>');
    return true;
}

void nytp_report_put_level_link(struct nytp_report *report, uint32_t file,
                                enum nytp_level level)
{
    nytp_report_put_page_anchor(report, file, level);
    nytp_printf(report->out, "%s</a>", nytp_report_level_words[level]);
}

void nytp_report_put_file_link(struct nytp_report *report, uint32_t file)
{
    nytp_report_put_page_anchor(report, file, nytp_report_link_level(report, file));
    nytp_report_put_file(report, file);
    nytp_puts(report->out, "</a>");
}

void nytp_report_put_place(struct nytp_report *report, uint32_t file, uint32_t line)
{
    const bool linked = nytp_report_put_line_anchor(report, file, line);
    nytp_report_put_file(report, file);
    nytp_printf(report->out, " line %lu", (unsigned long)line);
    if (linked)
        nytp_puts(report->out, "</a>");
}

char *nytp_report_foreign_id(struct nytp_name name)
{
    char *id = nytp_package_len(name) > 0 ? calloc(1, (size_t)name.len + 1) : NULL;
    for (uint32_t i = 0; id != NULL && i < name.len; i++) {
        const unsigned char c = (unsigned char)name.ptr[i];
        const bool word = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
        id[i] = word ? (char)c : '_';
    }
    return id;
}

bool nytp_report_put_sub_url(struct nytp_report *report, uint32_t sub)
{
    const uint32_t file = report->subs[sub].file;
    if (file == NONE)
        return false;
    if (!nytp_report_is_foreign(report, sub))
        return put_line_url(report, file, report->profile->subs[sub].first_line);
    uint32_t line = 0;
    const uint32_t on = page_of(report, file, &line);
    if (on == NONE)
        return false;
    if (line != 0) /* the eval that uses it has no page: links to where that ran */
        return put_line_url(report, on, line);
    char name[NYTP_REPORT_NAME];
    nytp_report_page_name(report, on, nytp_report_link_level(report, on), name);
    const bool has_id =
        nytp_report_sub_ran(report, sub) && report->profile->subs[sub].kind < NYTP_SUB_RUNTIME;
    char *id = has_id ? nytp_report_foreign_id(nytp_report_sub_name(report, sub)) : NULL;
    nytp_report_put_url(report, name, id != NULL ? id : "");
    free(id);
    return true;
}

bool nytp_report_put_sub_anchor(struct nytp_report *report, uint32_t sub)
{
    const uint32_t file = report->subs[sub].file;
    if (file == NONE || report->files[file].page == NONE)
        return false;
    nytp_puts(report->out, "<a href=");
    nytp_report_put_sub_url(report, sub);
    nytp_putc(report->out, '>');
    return true;
}

void nytp_report_put_linked_name(struct nytp_report *report, uint32_t sub,
                                 struct nytp_name name)
{
    const bool linked = sub != NONE && nytp_report_put_sub_anchor(report, sub);
    const uint32_t package_len = nytp_package_len(name);
    if (package_len > 0) {
        nytp_puts(report->out, "<i>");
        nytp_html_text(report->out, name.ptr, package_len);
        nytp_puts(report->out, "</i>");
    }
    nytp_report_put_any_name(
        report, (struct nytp_name){name.ptr + package_len, name.len - package_len});
    if (linked)
        nytp_puts(report->out, "</a>");
}
