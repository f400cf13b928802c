/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Statements by request; see queries.h.
 *
 * How often a place has sent a statement is counted in the call that it was sent from. When
 * that call ends with fewer than make a loop, they count in its caller, and so on: so the
 * call in which there are enough is the one that the loop is in.
 */
#include "queries.h"

#include "timeline.h"

#include "exporters/base/sql_text.h"
#include "formats/base/arena.h"
#include "formats/base/table.h"
#include "formats/model/profile.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* Calls of one place with one text in one stretch, so far, within one open call. */
struct group {
    uint32_t stretch, node, text, depth;
    uint32_t next; /* of the same depth */
    uint32_t row;
    uint64_t calls;
    int64_t ticks;
};

/* The groups of the calls that are open. */
struct groups {
    struct group *all;
    uint32_t n, capacity;
    uint32_t free;            /* one that is not in use, which names the next; or NONE */
    struct nytp_table by_key; /* key_of_group() -> index */
    uint32_t *first;          /* by depth */
    uint32_t depths, first_capacity;
};

struct walk {
    const struct nytp_profile *profile;
    const bool *only; /* recordings, or NULL: all */
    struct nytp_queries *to;
    uint8_t *kinds; /* enum nytp_database_call, by sub */
    uint32_t requests_capacity, repeats_capacity, sent_capacity;
    struct nytp_table rows;    /* value -> index of a request */
    struct nytp_table texts;   /* row and text -> 0 */
    struct nytp_table sent;    /* row, text, node -> index */
    struct nytp_table repeats; /* node, loop, text, row -> index */
    struct nytp_table
        fetches;             /* node of a fetch -> node of the statement before the first one */
    struct nytp_table reads; /* such a node of a statement -> 0 */
    struct nytp_table lists; /* text -> 0: it asked for several values at a time */
    struct groups groups;

    /* of a process */
    uint32_t stretch, end_stretch; /* the request that is looked at: of the profile's */
    uint32_t first_sql, sql, end_sql;
    uint64_t in_stretch; /* statements */
    uint32_t last_sent;  /* node of the statement that was sent last, or NONE */

    /* the call of the database that is open */
    uint32_t open; /* how many were open when it was; 0: none is */
    enum nytp_database_call kind;
    int64_t since_ticks;
    uint32_t row, in;
};

/* ---- requests ---- */

/* The key that requests are told by: `wanted`, or one that is likely to be of requests. */
static struct nytp_name key_of(const struct nytp_profile *profile, struct nytp_name wanted)
{
    const struct nytp_name first = wanted.len > 0 ? wanted : nytp_name_of_text("request");
    struct nytp_name key = {"", 0};
    for (uint32_t i = 0; i < profile->n_stretches; i++) {
        const struct nytp_name seen = profile->stretches[i].key;
        if (nytp_compare_names(seen, first) == 0)
            return seen;
        if (wanted.len == 0 && key.len == 0 &&
            nytp_compare_names(seen, nytp_name_of_text("sql")) != 0)
            key = seen;
    }
    return key;
}

/* The row of a value; NONE when memory is out. */
static uint32_t row_of(struct walk *w, struct nytp_name value)
{
    struct nytp_queries *const to = w->to;
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

/* Returns whether a process is looked at. */
static bool is_of(const struct walk *w, uint32_t process)
{
    return w->only == NULL || w->only[w->profile->processes[process].recording];
}

static bool add_stretches(struct walk *w)
{
    const struct nytp_profile *const profile = w->profile;
    for (uint32_t i = 0; i < profile->n_stretches; i++) {
        const struct nytp_stretch *const stretch = &profile->stretches[i];
        if (stretch->key.ptr != w->to->key.ptr || !is_of(w, stretch->process))
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

/* Finds the request of a call that begins at `ticks`: the row, and in `in` the stretch. */
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
        if (nytp_compare_names(profile->stretches[i].key, nytp_name_of_text("sql")) == 0)
            return profile->stretches[i].key;
    return (struct nytp_name){NULL, 0};
}

/* The stretch before the one that is looked at, if it ends at `ticks`: a call may be too short
 * for the clock. Else UINT32_MAX. */
static uint32_t stretch_before(const struct walk *w, struct nytp_name key, int64_t ticks)
{
    const struct nytp_stretch *const all = w->profile->stretches;
    for (uint32_t i = w->sql; i-- > w->first_sql;)
        if (all[i].key.ptr == key.ptr)
            return all[i].end_ticks == ticks ? i : NONE;
    return NONE;
}

/* Id of the text of the statement that was sent between the two; 0: not known. */
static uint32_t text_between(struct walk *w, struct nytp_name key, int64_t from, int64_t to)
{
    const struct nytp_profile *const profile = w->profile;
    if (key.ptr == NULL)
        return 0;
    w->sql = stretch_at(profile, key, w->sql, w->end_sql, from);
    const bool is_within = w->sql < w->end_sql && profile->stretches[w->sql].start_ticks <= to;
    const uint32_t stretch = is_within ? w->sql : stretch_before(w, key, from);
    if (stretch == NONE)
        return 0;
    const struct nytp_name sql = profile->stretches[stretch].value;
    char *const text = malloc((size_t)sql.len + 1);
    if (text == NULL)
        return NONE;
    bool has_list = false;
    const uint32_t id =
        nytp_strings_intern(w->to->strings, text, nytp_sql_normalize(sql, text, &has_list));
    free(text);
    w->to->has_texts = true;
    return !has_list || nytp_table_put(&w->lists, (struct nytp_key){id, 0, 0, 0}, 0) ? id
                                                                                     : NONE;
}

/* ---- what is sent again and again ---- */

static bool more_depths(struct groups *groups, uint32_t depth)
{
    while (groups->depths <= depth) {
        if (!nytp_grow(&groups->first, &groups->first_capacity, groups->depths,
                       sizeof *groups->first))
            return false;
        groups->first[groups->depths++] = NONE;
    }
    return true;
}

static struct nytp_key key_of_group(const struct group *group)
{
    return (struct nytp_key){group->stretch, group->node, group->text, group->depth};
}

static bool count_in(struct groups *groups, struct group group)
{
    const uint32_t known = nytp_table_get(&groups->by_key, key_of_group(&group));
    if (known != NONE) {
        groups->all[known].calls += group.calls;
        groups->all[known].ticks += group.ticks;
        return true;
    }
    uint32_t at = groups->free;
    if (at != NONE)
        groups->free = groups->all[at].next;
    else if (nytp_grow(&groups->all, &groups->capacity, groups->n, sizeof *groups->all))
        at = groups->n++;
    if (at == NONE || !more_depths(groups, group.depth))
        return false;
    group.next = groups->first[group.depth];
    groups->first[group.depth] = at;
    groups->all[at] = group;
    return nytp_table_put(&groups->by_key, key_of_group(&group), at);
}

/* Fill in the places of a repeat, whose nodes are there. */
static void place_repeat(const struct nytp_profile *profile, struct nytp_repeat *repeat)
{
    const struct nytp_node *const nodes = profile->nodes;
    const struct nytp_node *const node = &nodes[repeat->node];
    uint32_t through = repeat->node;
    while (nodes[through].parent != repeat->loop && nodes[through].parent != through)
        through = nodes[through].parent;
    repeat->callee = node->sub;
    repeat->caller = nodes[node->parent].sub;
    repeat->file = node->file;
    repeat->line = node->line;
    repeat->loop_sub = nodes[repeat->loop].sub;
    repeat->loop_file = nodes[through].file;
    repeat->loop_line = nodes[through].line;
}

static bool add_repeat(struct walk *w, const struct group *group, uint32_t loop)
{
    struct nytp_queries *const to = w->to;
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
        place_repeat(w->profile, &to->repeats[at]);
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

/* A call asks for rows: those of the statement that was sent before the first call from this
 * place. A loop that reads rows of one statement and sends another with each stays apart so. */
static bool add_fetch(struct walk *w, uint32_t node)
{
    const struct nytp_key fetch = {node, 0, 0, 0}, sent = {w->last_sent, 0, 0, 0};
    if (w->last_sent == NONE || nytp_table_get(&w->fetches, fetch) != NONE)
        return true;
    return nytp_table_put(&w->fetches, fetch, w->last_sent) &&
           nytp_table_put(&w->reads, sent, 0);
}

/* Returns whether one statement for all could do where a group's was sent. */
static bool could_be_one(const struct walk *w, const struct group *group)
{
    const struct nytp_key node = {group->node, 0, 0, 0}, text = {group->text, 0, 0, 0};
    const bool is_prepared = w->kinds[w->profile->nodes[group->node].sub] == NYTP_PREPARED;
    if (group->text == 0)
        return !is_prepared || nytp_table_get(&w->reads, node) != NONE;
    return nytp_sql_could_be_one(nytp_strings_get(w->to->strings, group->text),
                                 is_prepared ? NYTP_SQL_PREPARED : NYTP_SQL_WHOLE,
                                 nytp_table_get(&w->lists, text) != NONE);
}

/* A call ends, below which `depth` are open, and which `node` is of. */
static bool end_groups(struct walk *w, uint32_t depth, uint32_t node)
{
    struct groups *const groups = &w->groups;
    bool ok = true;
    while (ok && depth < groups->depths && groups->first[depth] != NONE) {
        const uint32_t at = groups->first[depth];
        struct group group = groups->all[at];
        nytp_table_remove(&groups->by_key, key_of_group(&group));
        groups->first[depth] = group.next;
        groups->all[at].next = groups->free;
        groups->free = at;
        if (group.calls >= NYTP_MANY_QUERIES) {
            ok = (w->to->key.len > 0 && group.stretch == NONE) || !could_be_one(w, &group) ||
                 add_repeat(w, &group, node);
        } else if (depth > 1) {
            group.depth--;
            ok = count_in(groups, group);
        }
    }
    return ok;
}

/* ---- who sends what ---- */

static void find_sites(const struct nytp_profile *profile, struct nytp_sent *sent)
{
    const struct nytp_node *const nodes = profile->nodes;
    sent->callee = nodes[sent->node].sub;
    for (uint32_t at = sent->node; sent->n_sites < NYTP_SENT_SITES && nodes[at].parent != at;
         at = nodes[at].parent)
        sent->sites[sent->n_sites++] = (struct nytp_call_site){nodes[nodes[at].parent].sub,
                                                               nodes[at].file, nodes[at].line};
}

static bool add_sent(struct walk *w, const struct group *group)
{
    struct nytp_queries *const to = w->to;
    const struct nytp_key key = {group->row, group->text, group->node, 0};
    uint32_t at = nytp_table_get(&w->sent, key);
    if (at == NONE) {
        at = to->n_sent;
        if (!nytp_grow(&to->sent, &w->sent_capacity, at, sizeof *to->sent) ||
            !nytp_table_put(&w->sent, key, at))
            return false;
        to->sent[to->n_sent++] =
            (struct nytp_sent){.text = nytp_strings_get(to->strings, group->text),
                               .node = group->node,
                               .request = group->row};
        find_sites(w->profile, &to->sent[at]);
    }
    to->sent[at].calls += group->calls;
    to->sent[at].ticks += group->ticks;
    return true;
}

/* ---- the time line ---- */

static bool begin_call(struct walk *w, const struct nytp_timeline *line,
                       enum nytp_database_call kind)
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
    request->queries++;
    if (++w->in_stretch > request->most)
        request->most = w->in_stretch;
    if (nytp_table_get(&w->texts, seen) == NONE) {
        request->texts++;
        if (!nytp_table_put(&w->texts, seen, 0))
            return false;
    }
    return add_sent(w, &group) && count_in(&w->groups, group);
}

static bool end_call(struct walk *w, const struct nytp_timeline *line, struct nytp_name sql)
{
    const int64_t ticks = line->at_ticks - w->since_ticks;
    w->open = 0;
    w->to->requests[w->row].database_ticks += ticks;
    w->to->database_ticks += ticks;
    if (w->kind == NYTP_FETCHING)
        return add_fetch(w, line->node);
    if (w->kind < NYTP_PREPARED)
        return true;
    w->last_sent = line->node;
    return add_statement(w, line, sql);
}

static bool see_event(struct walk *w, const struct nytp_timeline *line, struct nytp_name sql)
{
    const enum nytp_database_call kind = w->kinds[w->profile->nodes[line->node].sub];
    if (line->opens)
        return w->open > 0 || kind == NYTP_NO_DATABASE || begin_call(w, line, kind);
    if (w->open > 0)
        return line->n_open + 1 > w->open || end_call(w, line, sql);
    return end_groups(w, line->n_open + 1, line->node);
}

static bool walk_process(struct walk *w, uint32_t process, struct nytp_name sql)
{
    const struct nytp_profile *const profile = w->profile;
    const struct nytp_slice of = nytp_stretches_of(profile, process, 1);
    w->stretch = w->sql = w->first_sql = of.first;
    w->end_stretch = w->end_sql = of.first + of.n;
    w->in_stretch = 0;
    w->last_sent = NONE;
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
    NYTP_RETURN_ORDER(a->n == 0, b->n == 0);
    NYTP_RETURN_ORDER(b->database_ticks, a->database_ticks);
    return nytp_compare_names(a->value, b->value);
}

static int compare_places(const struct nytp_repeat *a, const struct nytp_repeat *b)
{
    const uint32_t of_a[] = {a->callee,   a->caller,    a->file,     a->line,
                             a->loop_sub, a->loop_file, a->loop_line};
    const uint32_t of_b[] = {b->callee,   b->caller,    b->file,     b->line,
                             b->loop_sub, b->loop_file, b->loop_line};
    for (size_t i = 0; i < sizeof of_a / sizeof *of_a; i++)
        NYTP_RETURN_ORDER(of_a[i], of_b[i]);
    return nytp_compare_names(a->text, b->text);
}

static int by_place(const void *x, const void *y)
{
    const struct nytp_repeat *const a = x, *const b = y;
    const int order = compare_places(a, b);
    return order != 0 ? order : (a->node > b->node) - (a->node < b->node);
}

static int by_calls(const void *x, const void *y)
{
    const struct nytp_repeat *const a = x, *const b = y;
    NYTP_RETURN_ORDER(b->calls, a->calls);
    return compare_places(a, b);
}

/* Joins equal repeats of several processes, or below several callers. */
static void join_repeats(struct nytp_queries *queries)
{
    struct nytp_repeat *const all = queries->repeats;
    uint32_t kept = 0;
    if (queries->n_repeats == 0)
        return;
    qsort(all, queries->n_repeats, sizeof *all, by_place);
    for (uint32_t i = 0; i < queries->n_repeats; i++) {
        if (kept == 0 || compare_places(&all[kept - 1], &all[i]) != 0) {
            all[kept++] = all[i];
            continue;
        }
        struct nytp_repeat *const to = &all[kept - 1];
        to->loops += all[i].loops;
        to->calls += all[i].calls;
        to->ticks += all[i].ticks;
        if (all[i].most > to->most) {
            to->most = all[i].most;
            to->request = all[i].request;
        }
    }
    queries->n_repeats = kept;
    qsort(all, kept, sizeof *all, by_calls);
}

static int compare_ways(const struct nytp_sent *a, const struct nytp_sent *b)
{
    NYTP_RETURN_ORDER(a->request, b->request);
    NYTP_RETURN_ORDER(a->callee, b->callee);
    NYTP_RETURN_ORDER(a->n_sites, b->n_sites);
    const int order = memcmp(a->sites, b->sites, sizeof a->sites);
    return order != 0 ? order : nytp_compare_names(a->text, b->text);
}

static int by_way(const void *x, const void *y)
{
    const struct nytp_sent *const a = x, *const b = y;
    const int order = compare_ways(a, b);
    return order != 0 ? order : (a->node > b->node) - (a->node < b->node);
}

static int by_request_and_time(const void *x, const void *y)
{
    const struct nytp_sent *const a = x, *const b = y;
    NYTP_RETURN_ORDER(a->request, b->request);
    NYTP_RETURN_ORDER(b->ticks, a->ticks);
    const int order = nytp_compare_names(a->text, b->text);
    return order != 0 ? order : by_way(a, b);
}

/* Joins equal groups of several processes; then gives each request its own. */
static void join_sent(struct nytp_queries *queries)
{
    struct nytp_sent *const all = queries->sent;
    uint32_t kept = 0;
    if (queries->n_sent == 0)
        return;
    qsort(all, queries->n_sent, sizeof *all, by_way);
    for (uint32_t i = 0; i < queries->n_sent; i++) {
        if (kept == 0 || compare_ways(&all[kept - 1], &all[i]) != 0) {
            all[kept++] = all[i];
            continue;
        }
        all[kept - 1].calls += all[i].calls;
        all[kept - 1].ticks += all[i].ticks;
    }
    queries->n_sent = kept;
    qsort(all, kept, sizeof *all, by_request_and_time);
    for (uint32_t i = kept; i-- > 0;) {
        struct nytp_request *const request = &queries->requests[all[i].request];
        request->first_sent = i;
        request->n_sent++;
    }
}

bool nytp_queries_is_repeated(const struct nytp_queries *queries, const struct nytp_sent *sent)
{
    const struct nytp_call_site site = sent->sites[0];
    for (uint32_t i = 0; i < queries->n_repeats; i++) {
        const struct nytp_repeat *const repeat = &queries->repeats[i];
        if (sent->calls >= NYTP_MANY_QUERIES && repeat->callee == sent->callee &&
            repeat->caller == site.sub && repeat->file == site.file &&
            repeat->line == site.line && nytp_compare_names(repeat->text, sent->text) == 0)
            return true;
    }
    return false;
}

bool nytp_queries_init(struct nytp_queries *queries, const struct nytp_profile *profile)
{
    return nytp_queries_init_of(queries, profile, NULL, (struct nytp_name){"", 0});
}

bool nytp_queries_init_of(struct nytp_queries *queries, const struct nytp_profile *profile,
                          const bool *only, struct nytp_name key)
{
    *queries =
        (struct nytp_queries){.key = key_of(profile, key), .strings = nytp_strings_new()};
    struct walk w = {
        .profile = profile,
        .only = only,
        .to = queries,
        .kinds = malloc((size_t)profile->n_subs + 1),
        .groups.free = NONE,
    };
    const struct nytp_name sql = sql_key(profile);
    bool ok = queries->strings != NULL && w.kinds != NULL;
    for (uint32_t i = 0; ok && i < profile->n_subs; i++)
        w.kinds[i] = profile->subs[i].kind == NYTP_SUB_OPCODE
                         ? NYTP_NO_DATABASE
                         : (uint8_t)nytp_database_call_of(profile->subs[i].name);
    ok = ok && (queries->key.len == 0 || add_stretches(&w));
    for (uint32_t i = 0; ok && i < profile->n_processes; i++)
        ok =
            !is_of(&w, i) || !nytp_process_has_timeline(profile, i) || walk_process(&w, i, sql);
    if (ok)
        join_sent(queries);
    if (ok && queries->n_requests > 0)
        qsort(queries->requests, queries->n_requests, sizeof *queries->requests, by_database);
    if (ok)
        join_repeats(queries);
    free(w.kinds);
    free(w.groups.all);
    free(w.groups.first);
    nytp_table_free(&w.rows);
    nytp_table_free(&w.texts);
    nytp_table_free(&w.sent);
    nytp_table_free(&w.repeats);
    nytp_table_free(&w.fetches);
    nytp_table_free(&w.reads);
    nytp_table_free(&w.lists);
    nytp_table_free(&w.groups.by_key);
    return ok;
}

void nytp_queries_free(struct nytp_queries *queries)
{
    free(queries->requests);
    free(queries->repeats);
    free(queries->sent);
    nytp_strings_free(queries->strings);
}
