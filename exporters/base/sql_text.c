/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Subs of DBI by their names, and SQL without its values; see sql_text.h.
 *
 * A tokenizer of our own: what has to be told apart (texts, numbers, names, comments) is nearly
 * the same in all dialects, and a parser of one dialect refuses the others'.
 */
#include "sql_text.h"

#include <string.h>
#include <strings.h>

/* ---- DBI ---- */

static const struct {
    const char *name; /* or its start */
    enum nytp_database_call call;
} calls[] = {
    {"DBI::db::do", NYTP_STATEMENT},     {"DBI::db::select", NYTP_STATEMENT},
    {"DBI::st::execute", NYTP_PREPARED}, {"DBI::st::fetch", NYTP_FETCHING},
    {"DBI::db::", NYTP_DATABASE},        {"DBI::st::", NYTP_DATABASE},
    {"DBI::dr::", NYTP_DATABASE},        {"DBI::common::", NYTP_DATABASE},
    {"DBI::connect", NYTP_DATABASE},
};

static bool starts(struct nytp_name name, const char *text)
{
    const size_t len = strlen(text);
    return name.len >= len && memcmp(name.ptr, text, len) == 0;
}

/* Asked of each call that a time line could have: mostly the first bytes say no. */
enum nytp_database_call nytp_database_call_of(struct nytp_name sub)
{
    if (!starts(sub, "DBI::"))
        return NYTP_NO_DATABASE;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (starts(sub, calls[i].name))
            return calls[i].call;
    return NYTP_NO_DATABASE;
}

bool nytp_is_of_database(struct nytp_name sub)
{
    return nytp_database_call_of(sub) != NYTP_NO_DATABASE;
}

/* ---- texts ---- */

struct reader {
    const char *at, *end;
    char *to, *out; /* begin of what is written, and its end */
    char *in_list;  /* where in the output the list after IN begins; NULL: there is none */
    bool has_list;  /* one had several values */
};

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || (unsigned char)c >= 0x80;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool begins(const struct reader *r, const char *text)
{
    const size_t len = strlen(text);
    return (size_t)(r->end - r->at) >= len && memcmp(r->at, text, len) == 0;
}

/* Blanks as labels have them: how many bytes, or 0. */
static size_t blank(const struct reader *r)
{
    if (*r->at == ' ')
        return 1;
    return begins(r, "\\x09") || begins(r, "\\x0a") || begins(r, "\\x0d") ? 4 : 0;
}

static void skip_to(struct reader *r, const char *text)
{
    while (r->at < r->end && !begins(r, text))
        r->at++;
    r->at += r->at < r->end ? strlen(text) : 0;
}

/* Returns whether something was skipped. */
static bool skip_blanks(struct reader *r)
{
    const char *const from = r->at;
    while (r->at < r->end) {
        const size_t n = blank(r);
        if (begins(r, "--"))
            skip_to(r, "\\x0a");
        else if (begins(r, "/*"))
            skip_to(r, "*/");
        else if (n > 0)
            r->at += n;
        else
            break;
    }
    return r->at > from;
}

/* Up to the quote that ends it; one that is doubled does not. */
static void skip_quoted(struct reader *r)
{
    const char quote = *r->at++;
    while (r->at < r->end) {
        if (*r->at++ != quote)
            continue;
        if (r->at >= r->end || *r->at != quote)
            return;
        r->at++;
    }
}

static void skip_name(struct reader *r)
{
    while (r->at < r->end && is_name(*r->at))
        r->at++;
}

static void skip_number(struct reader *r)
{
    while (r->at < r->end && (is_name(*r->at) || *r->at == '.')) {
        const bool is_exponent = (*r->at | 32) == 'e';
        r->at++;
        if (is_exponent && r->at < r->end && (*r->at == '+' || *r->at == '-'))
            r->at++;
    }
}

/* Returns whether a value stands here, which is skipped. */
static bool skip_value(struct reader *r)
{
    const char next = r->at + 1 < r->end ? r->at[1] : '\0';
    if (*r->at == '\'') {
        skip_quoted(r);
    } else if (is_digit(*r->at) || (*r->at == '.' && is_digit(next))) {
        skip_number(r);
    } else if (*r->at == '?' || ((*r->at == ':' || *r->at == '$' || *r->at == '@') &&
                                 is_name(next) && (r->out == r->to || r->out[-1] != ':'))) {
        r->at++;
        skip_name(r);
    } else {
        return false;
    }
    return true;
}

/* Returns true if the output ends in the word IN. */
static bool ends_in_in(const struct reader *r)
{
    const char *last = r->out;
    while (last > r->to && last[-1] == ' ')
        last--;
    return last - r->to >= 3 && (last[-1] | 32) == 'n' && (last[-2] | 32) == 'i' &&
           !is_name(last[-3]);
}

/* In a list there are only values and commas, else it is none. */
static void end_list(struct reader *r)
{
    uint32_t n_values = 0;
    for (const char *c = r->in_list + 1; c < r->out; c++) {
        if (*c != '?' && *c != ',' && *c != ' ')
            return;
        n_values += *c == '?';
    }
    if (n_values == 0)
        return;
    r->has_list |= n_values > 1;
    r->out = r->in_list + 1;
    *r->out++ = '?';
}

static void copy_character(struct reader *r)
{
    if (*r->at == '(')
        r->in_list = ends_in_in(r) ? r->out : NULL;
    if (*r->at == ')' && r->in_list != NULL) {
        end_list(r);
        r->in_list = NULL;
    }
    *r->out++ = *r->at++;
}

static void copy_from(struct reader *r, const char *from)
{
    memmove(r->out, from, (size_t)(r->at - from));
    r->out += r->at - from;
}

size_t nytp_sql_normalize(struct nytp_name sql, char *to, bool *has_list)
{
    struct reader r = {.at = sql.ptr, .end = sql.ptr + sql.len, .to = to, .out = to};
    while (r.at < r.end) {
        const char *const from = r.at;
        if (skip_blanks(&r)) {
            if (r.out > to && r.at < r.end)
                *r.out++ = ' ';
        } else if (skip_value(&r)) {
            *r.out++ = '?';
        } else if (*r.at == '"' || *r.at == '`') {
            skip_quoted(&r);
            copy_from(&r, from);
        } else if (is_name(*r.at)) {
            skip_name(&r);
            copy_from(&r, from);
        } else {
            copy_character(&r);
        }
    }
    *has_list |= r.has_list;
    return (size_t)(r.out - to);
}

/* ---- what could be one ---- */

/* Returns whether the text goes on with a word, whatever its case. */
static bool word_is(const char *at, const char *end, const char *word)
{
    const size_t len = strlen(word);
    return (size_t)(end - at) >= len && strncasecmp(at, word, len) == 0 &&
           (at + len == end || !is_name(at[len]));
}

static bool first_word_is(struct nytp_name text, const char *const *words)
{
    const char *at = text.ptr, *const end = text.ptr + text.len;
    while (at < end && (*at == ' ' || *at == '('))
        at++;
    for (; *words != NULL; words++)
        if (word_is(at, end, *words))
            return true;
    return false;
}

/* Where one of the words begins; NULL: nowhere. Names in quotes are passed over. */
static const char *find_word(struct nytp_name text, const char *const *words)
{
    struct reader r = {.at = text.ptr, .end = text.ptr + text.len};
    while (r.at < r.end) {
        const char *const from = r.at;
        if (*r.at == '"' || *r.at == '`')
            skip_quoted(&r);
        else if (is_name(*r.at))
            skip_name(&r);
        else
            r.at++;
        for (const char *const *word = words; *word != NULL && is_name(*from); word++)
            if (word_is(from, r.end, *word))
                return from;
    }
    return NULL;
}

static bool holds(struct nytp_name text, const char *part)
{
    const size_t len = strlen(part);
    for (size_t i = 0; i + len <= text.len; i++)
        if (memcmp(text.ptr + i, part, len) == 0)
            return true;
    return false;
}

/* "id > ?": behind a value that is given. */
static bool compares_order(struct nytp_name text)
{
    const char *at = text.ptr, *const end = text.ptr + text.len;
    while (at < end) {
        if (*at != '<' && *at != '>') {
            at++;
            continue;
        }
        const char first = *at++;
        if (at < end && first == '<' && *at == '>')
            at++; /* that is "not equal" */
        else {
            at += at < end && *at == '=';
            at += at < end && *at == ' ';
            if (at < end && *at == '?')
                return true;
        }
    }
    return false;
}

static bool is_page(struct nytp_name text)
{
    static const char *const limits[] = {"limit", "fetch", "top", "rownum", NULL};
    static const char *const offsets[] = {"offset", NULL};
    const char *const limit = find_word(text, limits);
    if (limit == NULL)
        return false;
    const struct nytp_name rest = {limit, (uint32_t)(text.ptr + text.len - limit)};
    return find_word(text, offsets) != NULL || compares_order(text) || holds(rest, "?,");
}

bool nytp_sql_could_be_one(struct nytp_name text, enum nytp_sql_sent sent, bool has_list)
{
    static const char *const adding[] = {"insert", "replace", "merge", "upsert", NULL};
    static const char *const commands[] = {
        "begin",   "start",   "commit", "end",    "rollback", "abort",  "savepoint",
        "release", "set",     "reset",  "pragma", "use",      "lock",   "unlock",
        "prepare", "explain", "vacuum", "create", "alter",    "drop",   "truncate",
        "analyze", "copy",    "listen", "notify", "attach",   "detach", NULL};
    if (first_word_is(text, adding))
        return sent == NYTP_SQL_WHOLE && !holds(text, "),") && !holds(text, ") ,");
    return !has_list && !first_word_is(text, commands) && !is_page(text);
}
