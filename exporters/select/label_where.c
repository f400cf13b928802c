/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Conditions on labels; see label_where.h.
 */
#include "label_where.h"

#include <string.h>

bool nytp_label_where_add(struct nytp_label_where *where, const char *text,
                          struct nytp_error *error)
{
    const size_t key_len = strcspn(text, "=");
    struct nytp_label_condition *const condition = &where->conditions[where->n];
    if (key_len == 0 || text[key_len] == '\0')
        return nytp_error_set(error, NYTP_ERR_FORMAT,
                              "--where takes KEY=~REGEX or KEY=VALUE, not \"%.80s\"", text);
    if (where->n == NYTP_MOST_CONDITIONS)
        return nytp_error_set(error, NYTP_ERR_FORMAT, "--where: at most %d of them",
                              NYTP_MOST_CONDITIONS);
    if (where->strings == NULL && (where->strings = nytp_strings_new()) == NULL)
        return nytp_out_of_memory(error);
    const bool is_regex = text[key_len + 1] == '~';
    *condition = (struct nytp_label_condition){.text = text,
                                               .key_len = (uint32_t)key_len,
                                               .value = is_regex ? NULL : text + key_len + 1};
    where->n++;
    return !is_regex ||
           nytp_patterns_add(&condition->regex, "where", text + key_len + 2, error);
}

void nytp_label_where_free(struct nytp_label_where *where)
{
    for (unsigned i = 0; i < where->n; i++)
        nytp_patterns_free(&where->conditions[i].regex);
    nytp_strings_free(where->strings);
    *where = (struct nytp_label_where){0};
}

static bool holds(struct nytp_label_where *where, const struct nytp_label_condition *condition,
                  struct nytp_str value)
{
    struct nytp_error ignored = {0}; /* a value that takes too long to match does not match */
    if (condition->value != NULL)
        return strlen(condition->value) == value.len &&
               memcmp(condition->value, value.ptr, value.len) == 0;
    const uint32_t id = nytp_strings_intern_mixed(where->strings, value.ptr, value.len);
    return id != UINT32_MAX &&
           nytp_patterns_match(&condition->regex, nytp_strings_get(where->strings, id),
                               &ignored);
}

uint32_t nytp_label_where_match(void *context, struct nytp_str key, struct nytp_str value,
                                uint32_t *of_key)
{
    struct nytp_label_where *const where = context;
    uint32_t hold = 0;
    *of_key = 0;
    for (unsigned i = 0; i < where->n; i++) {
        const struct nytp_label_condition *const condition = &where->conditions[i];
        if (condition->key_len != key.len || memcmp(condition->text, key.ptr, key.len) != 0)
            continue;
        *of_key |= UINT32_C(1) << i;
        if (value.ptr != NULL && holds(where, condition, value))
            hold |= UINT32_C(1) << i;
    }
    return hold;
}
