/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Reads comments that hold labels (label_records.h). Others are ignored.
 */
#include "label_records.h"

#include <string.h>

/* Cuts the next word off *rest, with the blank behind it, if any. */
static struct nytp_str next_word(struct nytp_str *rest)
{
    const char *const blank = rest->len == 0 ? NULL : memchr(rest->ptr, ' ', rest->len);
    const uint32_t len = blank == NULL ? rest->len : (uint32_t)(blank - rest->ptr);
    const struct nytp_str word = {.ptr = rest->ptr, .len = len};
    const uint32_t passed = blank == NULL ? len : len + 1;
    rest->ptr += passed;
    rest->len -= passed;
    return word;
}

static bool is_word(const struct nytp_str *word, const char *text)
{
    return word->len == strlen(text) && memcmp(word->ptr, text, word->len) == 0;
}

/* Reads a decimal number of at most 17 digits, or returns false with `value` untouched. */
static bool read_number(const struct nytp_str *word, int64_t *value)
{
    const bool is_negative = word->len > 0 && word->ptr[0] == '-';
    const uint32_t first = is_negative ? 1 : 0;
    int64_t sum = 0;
    if (word->len == first || word->len > first + 17)
        return false;
    for (uint32_t i = first; i < word->len; i++) {
        if (word->ptr[i] < '0' || word->ptr[i] > '9')
            return false;
        sum = sum * 10 + (word->ptr[i] - '0');
    }
    *value = is_negative ? -sum : sum;
    return true;
}

static const struct nytp_label_record none = {.kind = NYTP_LABEL_NONE};

static struct nytp_label_record read_pair(enum nytp_label_kind kind, int64_t ticks,
                                          struct nytp_str text)
{
    const char *const equals = text.len == 0 ? NULL : memchr(text.ptr, '=', text.len);
    struct nytp_label_record record = {.kind = kind, .ticks = ticks, .key = text};
    if (equals == NULL)
        record.kind = kind == NYTP_LABEL_SET ? NYTP_LABEL_END : NYTP_LABEL_NONE;
    if (equals != NULL) {
        record.key.len = (uint32_t)(equals - text.ptr);
        record.value =
            (struct nytp_str){.ptr = equals + 1, .len = text.len - record.key.len - 1};
    }
    return record.key.len == 0 ? none : record;
}

static struct nytp_label_record read_own(struct nytp_str text)
{
    const struct nytp_str depth_word = next_word(&text), ticks_word = next_word(&text);
    int64_t depth, ticks;
    if (!read_number(&depth_word, &depth) || !read_number(&ticks_word, &ticks) || depth < 1 ||
        depth > INT32_MAX || text.len == 0)
        return none;
    return (struct nytp_label_record){
        .kind = NYTP_LABEL_OWN, .ticks = ticks, .depth = (uint32_t)depth, .value = text};
}

struct nytp_label_record nytp_label_record_read(const struct nytp_str *comment)
{
    struct nytp_str rest = *comment;
    if (rest.len < 5 || memcmp(rest.ptr, "nytp-", 5) != 0)
        return none;
    if (rest.ptr[rest.len - 1] == '\n')
        rest.len--;
    const struct nytp_str head = next_word(&rest);
    if (is_word(&head, NYTP_LABEL_PROFILE_HEAD))
        return read_pair(NYTP_LABEL_PROFILE, 0, rest);
    if (is_word(&head, NYTP_OWN_HEAD))
        return read_own(rest);
    if (!is_word(&head, NYTP_LABEL_HEAD))
        return none;
    const struct nytp_str ticks_word = next_word(&rest);
    int64_t ticks;
    return read_number(&ticks_word, &ticks) ? read_pair(NYTP_LABEL_SET, ticks, rest) : none;
}

bool nytp_labels_next(struct nytp_str *rest, struct nytp_str *key, struct nytp_str *value)
{
    if (rest->len == 0)
        return false;
    const char *const newline = memchr(rest->ptr, '\n', rest->len);
    const uint32_t len = newline == NULL ? rest->len : (uint32_t)(newline - rest->ptr);
    const char *const equals = memchr(rest->ptr, '=', len);
    *key = (struct nytp_str){.ptr = rest->ptr,
                             .len = equals == NULL ? len : (uint32_t)(equals - rest->ptr)};
    const uint32_t before = equals == NULL ? len : key->len + 1;
    *value = (struct nytp_str){.ptr = rest->ptr + before, .len = len - before};
    const uint32_t passed = newline == NULL ? len : len + 1;
    rest->ptr += passed;
    rest->len -= passed;
    return true;
}
