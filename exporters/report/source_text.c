/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The text of a source page's lines; see source_text.h.
 */
#include "source_text.h"

#include <stdlib.h>
#include <string.h>

#define MAX_DISK_SOURCE (64 << 20) /* bytes of a file that is read for its source */

static bool has_source(const struct nytp_summary_file *file)
{
    for (uint32_t line = 1; line < file->n_source; line++)
        if (file->source[line].ptr != NULL)
            return true;
    return false;
}

bool nytp_report_source_is_on_disk(const struct nytp_report *report, uint32_t f,
                                   struct stat *st)
{
    const struct nytp_str name = nytp_report_file_name(report, f);
    return !has_source(&report->summary->files[f]) && name.len > 0 && name.ptr[0] == '/' &&
           memchr(name.ptr, '\0', name.len) == NULL && stat(name.ptr, st) == 0 &&
           S_ISREG(st->st_mode) && st->st_size <= MAX_DISK_SOURCE;
}

void nytp_report_disk_open(const struct nytp_report *report, uint32_t f,
                           struct nytp_report_disk *disk)
{
    struct stat st;
    *disk = (struct nytp_report_disk){.stream = NULL};
    if (nytp_report_source_is_on_disk(report, f, &st))
        disk->stream = fopen(nytp_report_file_name(report, f).ptr, "re");
}

void nytp_report_disk_close(struct nytp_report_disk *disk)
{
    if (disk->stream != NULL)
        fclose(disk->stream);
    free(disk->line);
}

bool nytp_report_disk_next(struct nytp_report_disk *disk)
{
    if (disk->stream == NULL)
        return false;
    disk->len = getline(&disk->line, &disk->size, disk->stream);
    if (disk->len >= 0)
        return true;
    fclose(disk->stream);
    disk->stream = NULL;
    return false;
}

struct nytp_str nytp_report_line_text(const struct nytp_report *report, uint32_t f,
                                      uint32_t line, const struct nytp_report_disk *disk)
{
    const struct nytp_summary_file *file = &report->summary->files[f];
    struct nytp_str text = {.ptr = NULL};
    if (line > 0 && line < file->n_source && file->source[line].ptr != NULL)
        text = (struct nytp_str){.ptr = file->source[line].ptr, .len = file->source[line].len};
    else if (disk->stream != NULL && disk->len >= 0)
        text = (struct nytp_str){.ptr = disk->line, .len = (uint32_t)disk->len};
    while (text.len > 0 && (text.ptr[text.len - 1] == '\n' || text.ptr[text.len - 1] == '\r'))
        text.len--;
    return text;
}

static bool begins_with_word(struct nytp_str text, const char *word)
{
    const size_t len = strlen(word);
    return text.len >= len && memcmp(text.ptr, word, len) == 0;
}

bool nytp_report_is_comment(struct nytp_str text, bool *in_pod)
{
    if (text.len > 1 && text.ptr[0] == '=' &&
        ((text.ptr[1] | 32) >= 'a' && (text.ptr[1] | 32) <= 'z')) {
        *in_pod = !begins_with_word(text, "=cut");
        return true;
    }
    if (*in_pod)
        return true;
    uint32_t i = 0;
    while (i < text.len && (text.ptr[i] == ' ' || text.ptr[i] == '\t'))
        i++;
    return i < text.len && text.ptr[i] == '#';
}
