/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Lines of source; see source_lines.h.
 */
#define _GNU_SOURCE
#include "source_lines.h"

#include "formats/base/arena.h"
#include "spy/target/process.h"
#include "spy/target/source_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LONGEST = 4096,
    MOST_BYTES = 1 << 30 /* bytes read before giving up */
};

static struct nytp_key key_of(uint32_t file, uint32_t line)
{
    return (struct nytp_key){file, line, 0, 0};
}

/* Line 0 is code made by perl itself, as for -M. */
void nytp_source_lines_want(struct nytp_source_lines *lines, uint32_t file, uint32_t line)
{
    const struct nytp_key key = key_of(file, line);
    if (line == 0 || nytp_table_get(&lines->by_place, key) != NYTP_TABLE_NONE ||
        !nytp_grow(&lines->lines, &lines->capacity, lines->n, sizeof *lines->lines) ||
        !nytp_table_put(&lines->by_place, key, lines->n))
        return;
    lines->lines[lines->n++] = (struct nytp_wanted_line){.file = file, .line = line};
}

static struct nytp_wanted_line *find(const struct nytp_source_lines *lines, uint32_t file,
                                     uint32_t line)
{
    const uint32_t at = nytp_table_get(&lines->by_place, key_of(file, line));
    return at == NYTP_TABLE_NONE ? NULL : &lines->lines[at];
}

/* Marks all wanted lines of the file of line `first` with `state`. Returns the last one. */
static uint32_t mark_file(struct nytp_source_lines *lines, uint32_t first,
                          enum nytp_line_state state)
{
    const uint32_t file = lines->lines[first].file;
    uint32_t last = 0;
    for (uint32_t i = first; i < lines->n; i++) {
        if (lines->lines[i].file != file)
            continue;
        last = lines->lines[i].line > last ? lines->lines[i].line : last;
        lines->lines[i].state = state;
    }
    return last;
}

static void read_lines(struct nytp_source_lines *lines, FILE *source, uint32_t file,
                       uint32_t last)
{
    char *text = NULL;
    size_t size = 0;
    ssize_t len;
    for (uint32_t at = 1; at <= last && (len = getline(&text, &size, source)) > 0; at++) {
        struct nytp_wanted_line *const line = find(lines, file, at);
        lines->bytes += (uint64_t)len;
        if (line == NULL)
            continue;
        text[strcspn(text, "\n")] = '\0';
        line->text = strndup(text, LONGEST);
        line->state = line->text == NULL ? NYTP_LINE_NONE : NYTP_LINE_READ;
    }
    free(text);
}

static bool is_first_of_file(struct nytp_source_lines *lines, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (lines->lines[k].file == lines->lines[i].file)
            return false;
    return true;
}

void nytp_source_lines_read(struct nytp_source_lines *lines, const struct nytp_strings *strings,
                            pid_t pid)
{
    const double program_s = lines->n == 0 ? 0 : nytp_program_start(pid);
    for (uint32_t i = 0; i < lines->n; i++) {
        if (!is_first_of_file(lines, i))
            continue;
        const uint32_t file = lines->lines[i].file;
        enum nytp_source_file state = NYTP_SOURCE_FILE_NONE;
        const bool is_too_much = lines->bytes > MOST_BYTES;
        FILE *const source =
            is_too_much ? NULL
                        : nytp_source_file_open(pid, nytp_strings_get(strings, file).ptr,
                                                program_s, &state);
        const uint32_t last =
            mark_file(lines, i,
                      is_too_much || state == NYTP_SOURCE_FILE_SLOW ? NYTP_LINE_TOO_MUCH
                      : state == NYTP_SOURCE_FILE_CHANGED           ? NYTP_LINE_CHANGED
                                                                    : NYTP_LINE_NONE);
        if (source == NULL)
            continue;
        read_lines(lines, source, file, last);
        fclose(source);
    }
}

const struct nytp_wanted_line *nytp_source_line(const struct nytp_source_lines *lines,
                                                uint32_t file, uint32_t line)
{
    return find(lines, file, line);
}

void nytp_source_lines_free(struct nytp_source_lines *lines)
{
    for (uint32_t i = 0; i < lines->n; i++)
        free(lines->lines[i].text);
    free(lines->lines);
    nytp_table_free(&lines->by_place);
    *lines = (struct nytp_source_lines){0};
}
