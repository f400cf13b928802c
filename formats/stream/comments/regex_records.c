/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Comments about regular expressions; see regex_records.h. Others are ignored.
 */
#include "regex_records.h"

#include "formats/stream/comments/words.h"

#include <stdio.h>

#define MOST (UINT64_C(1) << 53) /* largest number; sums of many do not wrap */

const char *const nytp_regex_kind_names[NYTP_REGEX_KINDS] = {
    [NYTP_REGEX_MATCH] = "match",     [NYTP_REGEX_SUBST] = "subst",
    [NYTP_REGEX_SPLIT] = "split",     [NYTP_REGEX_TR] = "tr",
    [NYTP_REGEX_COMPILE] = "compile",
};

static bool next_kind(struct nytp_str *rest, enum nytp_regex_kind *kind)
{
    for (int i = 0; i < NYTP_REGEX_KINDS; i++)
        if (nytp_cut_word(rest, nytp_regex_kind_names[i])) {
            *kind = (enum nytp_regex_kind)i;
            return true;
        }
    return false;
}

static bool next_sizes(struct nytp_str *rest, struct nytp_regex_record *record)
{
    if (nytp_cut_word(rest, "-"))
        return true;
    for (;;) {
        struct nytp_regex_size size;
        if (!nytp_cut_number(rest, ':', MOST, &size.calls) || size.calls == 0 ||
            !nytp_cut_number(rest, ':', MOST, &size.ns) ||
            !nytp_cut_number(rest, ':', MOST, &size.max_ns))
            return false;
        const bool is_last = !nytp_cut_number(rest, ',', MOST, &size.bytes);
        if (is_last && !nytp_cut_number(rest, ' ', MOST, &size.bytes))
            return false;
        record->sizes[nytp_regex_size_of(size.bytes / size.calls)] = size;
        if (is_last)
            return true;
    }
}

bool nytp_regex_record_read(const struct nytp_str *comment, struct nytp_regex_record *record)
{
    struct nytp_str rest = nytp_comment_text(comment);
    uint64_t place[2], n[6];
    *record = (struct nytp_regex_record){.fid = 0};
    if (!nytp_cut_word(&rest, NYTP_REGEX_HEAD) || !next_kind(&rest, &record->kind) ||
        !nytp_cut_numbers(&rest, ' ', UINT32_MAX, 2, place) ||
        !nytp_cut_numbers(&rest, ' ', MOST, 6, n) || !next_sizes(&rest, record))
        return false;
    record->fid = (uint32_t)place[0];
    record->line = (uint32_t)place[1];
    record->calls = n[0];
    record->matches = n[1];
    record->compiled = n[2];
    record->ns = n[3];
    record->max_ns = n[4];
    record->max_len = n[5];
    record->pattern = rest;
    return true;
}

void nytp_regex_record_format(const struct nytp_regex_record *record,
                              char text[NYTP_REGEX_LONGEST])
{
    const struct nytp_regex_record *const r = record;
    const uint64_t numbers[] = {r->fid,      r->line, r->calls,  r->matches,
                                r->compiled, r->ns,   r->max_ns, r->max_len};
    int len = snprintf(text, NYTP_REGEX_LONGEST, "%s %s", NYTP_REGEX_HEAD,
                       nytp_regex_kind_names[r->kind]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        len = (int)(nytp_put_number(text + len, (int64_t)numbers[i]) - text);
    char before = ' ';
    for (uint32_t i = 0; i < NYTP_REGEX_SIZES; i++) {
        const struct nytp_regex_size *const size = &record->sizes[i];
        if (size->calls == 0)
            continue;
        len += snprintf(text + len, NYTP_REGEX_LONGEST - (size_t)len, "%c%llu:%llu:%llu:%llu",
                        before, (unsigned long long)size->calls, (unsigned long long)size->ns,
                        (unsigned long long)size->max_ns, (unsigned long long)size->bytes);
        before = ',';
    }
    snprintf(text + len, NYTP_REGEX_LONGEST - (size_t)len, "%s %.*s", before == ' ' ? " -" : "",
             (int)record->pattern.len, record->pattern.ptr);
}
