/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Comments about regular expressions; see regex_records.h. Others are ignored.
 */
#include "regex_records.h"

#include <stdio.h>
#include <string.h>

#define MOST (UINT64_C(1) << 53) /* largest number; sums of many do not wrap */

const char *const nytp_regex_kind_names[NYTP_REGEX_KINDS] = {
    [NYTP_REGEX_MATCH] = "match",     [NYTP_REGEX_SUBST] = "subst",
    [NYTP_REGEX_SPLIT] = "split",     [NYTP_REGEX_TR] = "tr",
    [NYTP_REGEX_COMPILE] = "compile",
};

/* Cuts a number and the character `end` behind it off *rest. */
static bool next_number(struct nytp_str *rest, char end, uint64_t *value)
{
    uint64_t sum = 0;
    uint32_t i = 0;
    for (; i < rest->len && rest->ptr[i] >= '0' && rest->ptr[i] <= '9' && sum < MOST; i++)
        sum = sum * 10 + (uint64_t)(rest->ptr[i] - '0');
    if (i == 0 || i >= rest->len || rest->ptr[i] != end || sum >= MOST)
        return false;
    *value = sum;
    rest->ptr += i + 1;
    rest->len -= i + 1;
    return true;
}

static bool next_word(struct nytp_str *rest, const char *word)
{
    const size_t len = strlen(word);
    if (rest->len <= len || memcmp(rest->ptr, word, len) != 0 || rest->ptr[len] != ' ')
        return false;
    rest->ptr += len + 1;
    rest->len -= (uint32_t)len + 1;
    return true;
}

static bool next_kind(struct nytp_str *rest, enum nytp_regex_kind *kind)
{
    for (int i = 0; i < NYTP_REGEX_KINDS; i++)
        if (next_word(rest, nytp_regex_kind_names[i])) {
            *kind = (enum nytp_regex_kind)i;
            return true;
        }
    return false;
}

static bool next_sizes(struct nytp_str *rest, struct nytp_regex_record *record)
{
    if (next_word(rest, "-"))
        return true;
    for (;;) {
        struct nytp_regex_size size;
        if (!next_number(rest, ':', &size.calls) || !next_number(rest, ':', &size.ns) ||
            !next_number(rest, ':', &size.max_ns) || size.calls == 0)
            return false;
        const bool is_last = !next_number(rest, ',', &size.bytes);
        if (is_last && !next_number(rest, ' ', &size.bytes))
            return false;
        record->sizes[nytp_regex_size_of(size.bytes / size.calls)] = size;
        if (is_last)
            return true;
    }
}

bool nytp_regex_record_read(const struct nytp_str *comment, struct nytp_regex_record *record)
{
    struct nytp_str rest = *comment;
    uint64_t fid, line;
    if (rest.len > 0 && rest.ptr[rest.len - 1] == '\n')
        rest.len--;
    *record = (struct nytp_regex_record){.fid = 0};
    if (!next_word(&rest, NYTP_REGEX_HEAD) || !next_kind(&rest, &record->kind) ||
        !next_number(&rest, ' ', &fid) || !next_number(&rest, ' ', &line) ||
        !next_number(&rest, ' ', &record->calls) ||
        !next_number(&rest, ' ', &record->matches) ||
        !next_number(&rest, ' ', &record->compiled) || !next_number(&rest, ' ', &record->ns) ||
        !next_number(&rest, ' ', &record->max_ns) ||
        !next_number(&rest, ' ', &record->max_len) || !next_sizes(&rest, record) ||
        fid > UINT32_MAX || line > UINT32_MAX)
        return false;
    record->fid = (uint32_t)fid;
    record->line = (uint32_t)line;
    record->pattern = rest;
    return true;
}

void nytp_regex_record_format(const struct nytp_regex_record *record,
                              char text[NYTP_REGEX_LONGEST])
{
    const uint64_t numbers[] = {record->fid,     record->line,     record->calls,
                                record->matches, record->compiled, record->ns,
                                record->max_ns,  record->max_len};
    int len = snprintf(text, NYTP_REGEX_LONGEST, "%s %s", NYTP_REGEX_HEAD,
                       nytp_regex_kind_names[record->kind]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        len += snprintf(text + len, NYTP_REGEX_LONGEST - (size_t)len, " %llu",
                        (unsigned long long)numbers[i]);
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
