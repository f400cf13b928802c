/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Statements by request; see statements.h.
 *
 * How often a place has sent a statement is counted in the call that it was sent from. When
 * that call ends with fewer than make a loop, they count in its caller, and so on: so the
 * call in which there are enough is the one that the loop is in.
 */
#include "statements.h"

#include "timeline.h"

#include "exporters/base/sql_text.h"
#include "formats/base/arena.h"
#include "formats/base/table.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

enum kind {
    NO_DATABASE,
    DATABASE,
    STATEMENT,
};

/* Calls of one place with one text in one stretch, so far, within one open call. */
struct group {
    uint32_t stretch, node, text, depth;
    uint32_t next; /* of the same depth */
    uint32_t row;
    uint64_t calls;
    int64_t ticks;
};

struct walk {
    const struct nytp_profile *profile;
    struct nytp_statements *to;
    uint8_t *kinds; /* enum kind, by sub */
    uint32_t requests_capacity, repeats_capacity;
    struct nytp_table rows;    /* value -> index of a request */
    struct nytp_table texts;   /* row and text -> 0 */
    struct nytp_table repeats; /* node, loop, text, row -> index */

    /* of a process */
    uint32_t stretch, end_stretch; /* the request that is looked at: of the profile's */
    uint32_t sql, end_sql;
    uint64_t in_stretch; /* statements */
    struct group *groups;
    uint32_t n_groups, groups_capacity, free_group;
    struct nytp_table by_group;
    uint32_t *first; /* by depth */
    uint32_t depths, first_capacity;

    /* the call of the database that is open */
    uint32_t open; /* how many were open when it was; 0: none is */
    enum kind kind;
    int64_t since_ticks;
    uint32_t row, in, text;
};

static bool name_is(struct nytp_name name, const char *text)
{
    return name.len == strlen(text) && memcmp(name.ptr, text, name.len) == 0;
}

static bool starts(struct nytp_name name, const char *text)
{
    const size_t len = strlen(text);
    return name.len >= len && memcmp(name.ptr, text, len) == 0;
}

static enum kind kind_of(const struct nytp_sub *sub)
{
    static const char *const statements[] = {"DBI::db::do", "DBI::db::select",
                                             "DBI::st::execute"};
    static const char *const others[] = {
        "DBI::db::", "DBI::st::", "DBI::dr::", "DBI::common::", "DBI::connect"};
    if (sub->kind == NYTP_SUB_OPCODE)
        return NO_DATABASE;
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        if (starts(sub->name, statements[i]))
            return STATEMENT;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (starts(sub->name, others[i]))
            return DATABASE;
    return NO_DATABASE;
}

/* ---- requests ---- */

static struct nytp_name key_of(const struct nytp_profile *profile)
{
    struct nytp_name key = {"", 0};
    for (uint32_t i = 0; i < profile->n_stretches; i++) {
        const struct nytp_name seen = profile->stretches[i].key;
        if (name_is(seen, "request"))
            return seen;
        if (key.len == 0 && !name_is(seen, "sql"))
            key = seen;
    }
    return key;
}

/* The row of a value; NONE when memory is out. */
static uint32_t row_of(struct walk *w, struct nytp_name value)
{
    struct nytp_statements *const to = w->to;
    const uint32_t id = nytp_strings_intern(to->strings, value.ptr, value.len);
    const struct nytp_key key = {id, 0, 0, 0};
    const uint32_t known = id == NONE ? NONE : nytp_table_get(&w->rows, key);
    if (id == NONE || known != NONE)
        return known;
    if (!nytp_grow(&to->requests, &w->requests_capacity, to->n_requests,
                   sizeof *to->requests) ||
        !nytp_table_put(&w->rows, key, to->n_requests))
        return NONE;
    to->requests[to->n_requests] =
        (struct nytp_request){.value = nytp_strings_get(to->strings, id)};
    return to->n_requests++;
}

static bool add_stretches(struct walk *w)
{
    const struct nytp_profile *const profile = w->profile;
    for (uint32_t i = 0; i < profile->n_stretches; i++) {
        const struct nytp_stretch *const stretch = &profile->stretches[i];
        if (stretch->key.ptr != w->to->key.ptr)
            continue;
        const uint32_t row = row_of(w, stretch->value);
        if (row == NONE)
            return false;
        w->to->requests[row].n++;
        w->to->requests[row].ticks += stretch->end_ticks - stretch->start_ticks;
    }
    return true;
}

/* The next stretch of this key that ends behind `ticks`: its index, or `end`. */
static uint32_t stretch_at(const struct nytp_profile *profile, struct nytp_name key, uint32_t i,
                           uint32_t end, int64_t ticks)
{
    while (i < end && (profile->stretches[i].key.ptr != key.ptr ||
                       profile->stretches[i].end_ticks <= ticks))
        i++;
    return i;
}

/* Which request a call belongs to that begins at `ticks`: the row, and in `in` the stretch. */
static bool find_request(struct walk *w, int64_t ticks)
{
    const struct nytp_profile *const profile = w->profile;
    const uint32_t before = w->in;
    w->stretch = stretch_at(profile, w->to->key, w->stretch, w->end_stretch, ticks);
    const bool is_in = w->to->key.len > 0 && w->stretch < w->end_stretch &&
                       profile->stretches[w->stretch].start_ticks <= ticks;
    w->in = is_in ? w->stretch : NONE;
    if (before != w->in)
        w->in_stretch = 0;
    w->row =
        row_of(w, is_in ? profile->stretches[w->stretch].value : (struct nytp_name){"", 0});
    return w->row != NONE;
}

/* ---- texts ---- */

static struct nytp_name sql_key(const struct nytp_profile *profile)
{
    for (uint32_t i = 0; i < profile->n_stretches; i++)
        if (name_is(profile->stretches[i].key, "sql"))
            return profile->stretches[i].key;
    return (struct nytp_name){NULL, 0};
}

/* Id of the text of the statement that was sent between the two; 0: not known. */
static uint32_t text_between(struct walk *w, struct nytp_name key, int64_t from, int64_t to)
{
    const struct nytp_profile *const profile = w->profile;
    if (key.ptr == NULL)
        return 0;
    w->sql = stretch_at(profile, key, w->sql, w->end_sql, from);
    if (w->sql >= w->end_sql || profile->stretches[w->sql].start_ticks > to)
        return 0;
    const struct nytp_name sql = profile->stretches[w->sql].value;
    char *const text = malloc((size_t)sql.len + 1);
    if (text == NULL)
        return NONE;
    const uint32_t id =
        nytp_strings_intern(w->to->strings, text, nytp_sql_normalize(sql, text));
    free(text);
    w->to->has_texts = true;
    return id;
}

/* ---- what is sent again and again ---- */

static bool more_depths(struct walk *w, uint32_t depth)
{
    while (w->depths <= depth) {
        if (!nytp_grow(&w->first, &w->first_capacity, w->depths, sizeof *w->first))
            return false;
        w->first[w->depths++] = NONE;
    }
    return true;
}

static struct nytp_key key_of_group(const struct group *group)
{
    return (struct nytp_key){group->stretch, group->node, group->text, group->depth};
}

static bool count_in(struct walk *w, struct group group)
{
    const uint32_t known = nytp_table_get(&w->by_group, key_of_group(&group));
    if (known != NONE) {
        w->groups[known].calls += group.calls;
        w->groups[known].ticks += group.ticks;
        return true;
    }
    uint32_t at = w->free_group;
    if (at != NONE)
        w->free_group = w->groups[at].next;
    else if (nytp_grow(&w->groups, &w->groups_capacity, w->n_groups, sizeof *w->groups))
        at = w->n_groups++;
    if (at == NONE || !more_depths(w, group.depth))
        return false;
    group.next = w->first[group.depth];
    w->first[group.depth] = at;
    w->groups[at] = group;
    return nytp_table_put(&w->by_group, key_of_group(&group), at);
}

static bool add_repeat(struct walk *w, const struct group *group, uint32_t loop)
{
    struct nytp_statements *const to = w->to;
    const struct nytp_key key = {group->node, loop, group->text, 0};
    uint32_t at = nytp_table_get(&w->repeats, key);
    if (at == NONE) {
        at = to->n_repeats;
        if (!nytp_grow(&to->repeats, &w->repeats_capacity, at, sizeof *to->repeats) ||
            !nytp_table_put(&w->repeats, key, at))
            return false;
        to->repeats[to->n_repeats++] =
            (struct nytp_repeat){.node = group->node,
                                 .loop = loop,
                                 .text = nytp_strings_get(to->strings, group->text)};
    }
    struct nytp_repeat *const repeat = &to->repeats[at];
    repeat->loops++;
    repeat->calls += group->calls;
    repeat->ticks += group->ticks;
    if (group->calls <= repeat->most)
        return true;
    repeat->most = group->calls;
    repeat->request = to->requests[group->row].value;
    return true;
}

/* A call ends, below which `depth` are open, and which `node` is of. */
static bool end_groups(struct walk *w, uint32_t depth, uint32_t node)
{
    bool ok = true;
    while (ok && depth < w->depths && w->first[depth] != NONE) {
        const uint32_t at = w->first[depth];
        struct group group = w->groups[at];
        nytp_table_remove(&w->by_group, key_of_group(&group));
        w->first[depth] = group.next;
        w->groups[at].next = w->free_group;
        w->free_group = at;
        if (group.calls >= NYTP_MANY_STATEMENTS) {
            ok = (w->to->key.len > 0 && group.stretch == NONE) || add_repeat(w, &group, node);
        } else if (depth > 1) {
            group.depth--;
            ok = count_in(w, group);
        }
    }
    return ok;
}

/* ---- the time line ---- */

static bool begin_call(struct walk *w, const struct nytp_timeline *line, enum kind kind)
{
    w->open = line->n_open;
    w->kind = kind;
    w->since_ticks = line->at_ticks;
    return find_request(w, line->at_ticks);
}

static bool add_statement(struct walk *w, const struct nytp_timeline *line,
                          struct nytp_name sql)
{
    struct nytp_request *const request = &w->to->requests[w->row];
    const uint32_t text = text_between(w, sql, w->since_ticks, line->at_ticks);
    const struct group group = {
        .stretch = w->in,
        .node = line->node,
        .text = text,
        .depth = line->n_open,
        .row = w->row,
        .calls = 1,
        .ticks = line->at_ticks - w->since_ticks,
    };
    const struct nytp_key seen = {w->row, text, text == 0 ? line->node : 0, 1};
    if (text == NONE)
        return false;
    w->to->n++;
    request->statements++;
    if (++w->in_stretch > request->most)
        request->most = w->in_stretch;
    if (nytp_table_get(&w->texts, seen) == NONE) {
        request->texts++;
        if (!nytp_table_put(&w->texts, seen, 0))
            return false;
    }
    return count_in(w, group);
}

static bool end_call(struct walk *w, const struct nytp_timeline *line, struct nytp_name sql)
{
    const int64_t ticks = line->at_ticks - w->since_ticks;
    w->open = 0;
    w->to->requests[w->row].database_ticks += ticks;
    w->to->database_ticks += ticks;
    return w->kind != STATEMENT || add_statement(w, line, sql);
}

static bool see_event(struct walk *w, const struct nytp_timeline *line, struct nytp_name sql)
{
    const enum kind kind = w->kinds[w->profile->nodes[line->node].sub];
    if (line->opens)
        return w->open > 0 || kind == NO_DATABASE || begin_call(w, line, kind);
    if (w->open > 0)
        return line->n_open + 1 > w->open || end_call(w, line, sql);
    return end_groups(w, line->n_open + 1, line->node);
}

static bool walk_process(struct walk *w, uint32_t process, struct nytp_name sql)
{
    const struct nytp_profile *const profile = w->profile;
    uint32_t first = 0, end;
    while (first < profile->n_stretches && profile->stretches[first].process < process)
        first++;
    for (end = first; end < profile->n_stretches && profile->stretches[end].process == process;)
        end++;
    w->stretch = w->sql = first;
    w->end_stretch = w->end_sql = end;
    w->in_stretch = 0;
    w->in = NONE;
    w->open = 0;
    struct nytp_timeline line;
    bool ok = true;
    nytp_timeline_begin(&line, profile, process);
    while (ok && nytp_timeline_next(&line))
        ok = see_event(w, &line, sql);
    ok = ok && !line.no_memory;
    nytp_timeline_end(&line);
    return ok;
}

/* ---- order ---- */

static int by_database(const void *x, const void *y)
{
    const struct nytp_request *const a = x, *const b = y;
    if ((a->n == 0) != (b->n == 0))
        return a->n == 0 ? 1 : -1;
    if (a->database_ticks != b->database_ticks)
        return a->database_ticks < b->database_ticks ? 1 : -1;
    return nytp_compare_names(a->value, b->value);
}

static int by_calls(const void *x, const void *y)
{
    const struct nytp_repeat *const a = x, *const b = y;
    if (a->calls != b->calls)
        return a->calls < b->calls ? 1 : -1;
    const int order = nytp_compare_names(a->text, b->text);
    if (order != 0)
        return order;
    return a->node != b->node ? (a->node < b->node ? -1 : 1)
                              : (a->loop > b->loop) - (a->loop < b->loop);
}

bool nytp_statements_init(struct nytp_statements *statements,
                          const struct nytp_profile *profile)
{
    *statements =
        (struct nytp_statements){.key = key_of(profile), .strings = nytp_strings_new()};
    struct walk w = {
        .profile = profile,
        .to = statements,
        .kinds = malloc((size_t)profile->n_subs + 1),
        .free_group = NONE,
    };
    const struct nytp_name sql = sql_key(profile);
    bool ok = statements->strings != NULL && w.kinds != NULL;
    for (uint32_t i = 0; ok && i < profile->n_subs; i++)
        w.kinds[i] = (uint8_t)kind_of(&profile->subs[i]);
    ok = ok && (statements->key.len == 0 || add_stretches(&w));
    for (uint32_t i = 0; ok && i < profile->n_processes; i++)
        ok = !nytp_process_has_timeline(profile, i) || walk_process(&w, i, sql);
    if (ok && statements->n_requests > 0)
        qsort(statements->requests, statements->n_requests, sizeof *statements->requests,
              by_database);
    if (ok && statements->n_repeats > 0)
        qsort(statements->repeats, statements->n_repeats, sizeof *statements->repeats,
              by_calls);
    free(w.kinds);
    free(w.groups);
    free(w.first);
    nytp_table_free(&w.rows);
    nytp_table_free(&w.texts);
    nytp_table_free(&w.repeats);
    nytp_table_free(&w.by_group);
    return ok;
}

void nytp_statements_free(struct nytp_statements *statements)
{
    free(statements->requests);
    free(statements->repeats);
    nytp_strings_free(statements->strings);
}

void nytp_repeat_place(const struct nytp_profile *profile, const struct nytp_repeat *repeat,
                       uint32_t *file, uint32_t *line)
{
    uint32_t node = repeat->node;
    while (profile->nodes[node].parent != repeat->loop && profile->nodes[node].parent != node)
        node = profile->nodes[node].parent;
    *file = profile->nodes[node].file;
    *line = profile->nodes[node].line;
}
