/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The text of a source page's lines; see source_text.h.
 */
#include "source_text.h"

#include "exporters/base/disk_source.h"

#include <stdlib.h>
#include <string.h>

void nytp_report_disk_open(const struct nytp_report *report, uint32_t f,
                           struct nytp_report_disk *disk)
{
    static const char *const remarks[] = {
        [NYTP_DISK_SOURCE_READ] = "from this machine, as the recording kept none",
        [NYTP_DISK_SOURCE_REFUSED] = "the recording kept none; with <code>--source-files</code> "
                                     "it is read from this machine",
        [NYTP_DISK_SOURCE_CHANGED] =
            "the recording kept none, and the file here was changed since",
    };
    enum nytp_disk_source state;
    *disk = (struct nytp_report_disk){
        .stream = nytp_disk_source_open(report->profile, report->options, f, &state)};
    disk->remark = state == NYTP_DISK_SOURCE_NONE ? NULL : remarks[state];
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

struct nytp_name nytp_report_without_newline(const char *text, uint32_t len)
{
    while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == '\r'))
        len--;
    return (struct nytp_name){text, len};
}

struct nytp_name nytp_report_disk_line(const struct nytp_report_disk *disk)
{
    if (disk->stream == NULL || disk->len < 0)
        return (struct nytp_name){NULL, 0};
    return nytp_report_without_newline(disk->line, (uint32_t)disk->len);
}

static bool begins_with_word(struct nytp_name text, const char *word)
{
    const size_t len = strlen(word);
    return text.len >= len && memcmp(text.ptr, word, len) == 0;
}

bool nytp_report_is_comment(struct nytp_name text, bool *in_pod)
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
