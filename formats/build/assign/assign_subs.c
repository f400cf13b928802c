/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The first step of the assignment (assignment.h): which subs there are, what kind each is, and
 * which lines and arcs belong to which sub.
 *
 * While a stream is read, everything is named by string id, because a sub may be named long
 * before the record that describes it. Here all names that any record used for a sub are
 * collected, sorted, and numbered; from then on everything refers to subs by index. Calls that
 * never returned get a name as far as one can be found out.
 */
#include "assignment.h"

#include "formats/base/utf8.h"
#include "formats/model/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALL_AT      "(call at "
#define MOST_OF_FILE 200 /* bytes of a file's name in such a name */

static struct nytp_name name(const struct nytp_assignment *s, uint32_t id)
{
    return nytp_strings_get(s->b->strings, id);
}

/* Returns the id of the name for a call of which only its place is known. */
static uint32_t nameless(const struct nytp_assignment *s, const struct nytp_tree_node *n)
{
    if (n->file == 0)
        return s->unreturned_name;
    const struct nytp_name file = nytp_without_folders(name(s, s->b->files.at[n->file].name));
    char text[300];
    const int len = snprintf(text, sizeof text, CALL_AT "%.*s:%lu)",
                             (int)nytp_utf8_whole(file.ptr, file.len, MOST_OF_FILE), file.ptr,
                             (unsigned long)n->line);
    const uint32_t id = nytp_strings_intern(s->b->strings, text, (uint32_t)len);
    return id == UINT32_MAX ? s->unreturned_name : id;
}

/* A frame that never returned has no name in the recording, unless the recorder told it while
 * the call was open. The lines that ran in it tell the name, or the places from which it
 * called, or the caller that its calls name. Its own place tells nothing: when perl code comes
 * back into an xsub, as an event loop is, the statement that called the xsub goes on, and what
 * the xsub calls is called from there. A statement that began there tells: it is a recursion on
 * one line. */
static uint32_t guess_name(const struct nytp_assignment *s, const struct nytp_tree_node *n,
                           const struct nytp_table *caller_of)
{
    const struct nytp_calltree *t = &s->b->stack.tree;
    if (n->recorded_name != 0)
        return n->recorded_name;
    for (uint32_t l = n->first_line; l != 0; l = t->lines[l].next) {
        if (t->lines[l].statements == 0 && t->lines[l].file == n->file &&
            t->lines[l].line == n->line)
            continue;
        const uint32_t sub =
            nytp_line_owners_sub(s->owners, t->lines[l].file, t->lines[l].line);
        if (sub != NYTP_NO_SUB)
            return sub;
    }
    for (uint32_t c = n->first_child; c != NYTP_NO_NODE; c = t->nodes[c].next_sibling) {
        if (n->file != 0 && t->nodes[c].file == n->file && t->nodes[c].line == n->line)
            continue;
        uint32_t sub = nytp_line_owners_sub(s->owners, t->nodes[c].file, t->nodes[c].line);
        if (sub == NYTP_NO_SUB)
            sub = nytp_table_get(caller_of, (struct nytp_key){.a = t->nodes[c].sub});
        if (sub != NYTP_NO_SUB && sub != 0 && sub != s->b->subs.runtime)
            return sub;
    }
    return nameless(s, n);
}

/* Give each call that never returned the best name that can be found for it. */
static bool name_unreturned(struct nytp_assignment *s)
{
    struct nytp_table caller_of = {0}; /* callee -> its only caller, or 0 */
    struct nytp_calltree *t = &s->b->stack.tree;
    bool ok = true;
    for (uint32_t i = 0; ok && i < s->b->arcs.n; i++) {
        const struct nytp_key key = {.a = s->b->arcs.at[i].callee};
        const uint32_t known = nytp_table_get(&caller_of, key);
        const uint32_t caller = s->b->arcs.at[i].caller;
        if (known == NYTP_TABLE_NONE || known != caller)
            ok = nytp_table_put(&caller_of, key, known == NYTP_TABLE_NONE ? caller : 0);
    }
    for (uint32_t i = 1; ok && i < t->n_nodes; i++)
        if (t->nodes[i].sub == NYTP_NO_SUB && t->nodes[i].unreturned)
            t->nodes[i].sub = guess_name(s, &t->nodes[i], &caller_of);
    nytp_table_free(&caller_of);
    return ok;
}

/* In formats without caller names the owner of the call's line is the caller. */
static void name_callers(struct nytp_assignment *s)
{
    for (uint32_t i = 0; i < s->b->arcs.n; i++) {
        struct nytp_arc *a = &s->b->arcs.at[i];
        if (a->caller == 0)
            a->caller = nytp_line_owners_runner(s->owners, a->file, a->line);
    }
}

static int by_process_sub_place(const void *x, const void *y)
{
    const struct nytp_loose_line *a = x, *b = y;
    NYTP_RETURN_ORDER(a->process, b->process);
    NYTP_RETURN_ORDER(a->sub, b->sub);
    NYTP_RETURN_ORDER(a->file, b->file);
    return a->line < b->line ? -1 : a->line > b->line;
}

/* Lines of which the context is not known are the root's no longer. */
static bool collect_loose_lines(struct nytp_assignment *s)
{
    const struct nytp_calltree *const t = &s->b->stack.tree;
    for (uint32_t i = 0; i < s->b->processes.n; i++) {
        struct nytp_tree_node *const root = &t->nodes[s->b->processes.at[i].root];
        if (s->b->processes.at[i].has_entries)
            continue;
        for (uint32_t l = root->first_line; l != 0; l = t->lines[l].next) {
            const struct nytp_tree_line *const line = &t->lines[l];
            if (!NYTP_GROW(&s->loose))
                return false;
            s->loose.at[s->loose.n++] = (struct nytp_loose_line){
                .process = i,
                .sub = nytp_line_owners_runner(s->owners, line->file, line->line),
                .file = line->file,
                .line = line->line,
                .ticks = line->ticks,
                .statements = line->statements,
                .after_leave = line->after_leave,
            };
        }
        root->first_line = root->n_lines = 0;
    }
    return true;
}

struct named_sub {
    struct nytp_name name;
    uint32_t id;
};

static int by_name(const void *x, const void *y)
{
    const struct named_sub *a = x, *b = y;
    return nytp_compare_names(a->name, b->name);
}

/* Marks, by 0, the names of subs in arcs, ranges of lines, loose lines and the tree. They get
 * their numbers when all are known. */
static void mark_names(const struct nytp_assignment *s, uint32_t *sub_of_name)
{
    const struct nytp_builder *b = s->b;
    for (uint32_t i = 0; i < b->arcs.n; i++)
        sub_of_name[b->arcs.at[i].caller] = sub_of_name[b->arcs.at[i].callee] = 0;
    for (uint32_t i = 0; i < b->ranges.n; i++)
        sub_of_name[b->ranges.at[i].name] = 0;
    for (uint32_t i = 0; i < s->loose.n; i++)
        sub_of_name[s->loose.at[i].sub] = 0;
    for (uint32_t i = 1; i < b->stack.tree.n_nodes; i++)
        if (b->stack.tree.nodes[i].sub != NYTP_NO_SUB)
            sub_of_name[b->stack.tree.nodes[i].sub] = 0;
}

/* Everything that is named as a sub anywhere, sorted; main::RUNTIME comes first. */
static bool make_subs(struct nytp_assignment *s)
{
    const struct nytp_builder *b = s->b;
    const uint32_t n_names = nytp_strings_count(b->strings);
    s->sub_of_name = malloc(n_names * sizeof *s->sub_of_name);
    if (s->sub_of_name == NULL)
        return false;
    for (uint32_t i = 0; i < n_names; i++)
        s->sub_of_name[i] = NYTP_NO_SUB;
    mark_names(s, s->sub_of_name);

    uint32_t n = 0;
    for (uint32_t i = 0; i < n_names; i++)
        n += s->sub_of_name[i] == 0 && i != b->subs.runtime;
    struct named_sub *list = malloc((n + 1) * sizeof *list);
    s->p->subs = calloc(n + 1, sizeof *s->p->subs);
    if (list == NULL || s->p->subs == NULL) {
        free(list);
        return false;
    }
    n = 0;
    for (uint32_t i = 0; i < n_names; i++)
        if (s->sub_of_name[i] == 0 && i != b->subs.runtime)
            list[n++] = (struct named_sub){name(s, i), i};
    if (n > 0)
        qsort(list, n, sizeof *list, by_name);
    s->p->subs[0].name = name(s, b->subs.runtime);
    s->sub_of_name[b->subs.runtime] = 0;
    for (uint32_t i = 0; i < n; i++) {
        s->p->subs[i + 1].name = list[i].name;
        s->sub_of_name[list[i].id] = i + 1;
    }
    s->p->n_subs = n + 1;
    free(list);
    return true;
}

/* Returns the kind of a sub, judged by its name and by whether its lines are known. */
static enum nytp_sub_kind kind_of(const struct nytp_assignment *s, const struct nytp_sub *sub,
                                  uint32_t id, bool has_range)
{
    if (id == s->unreturned_name || strncmp(sub->name.ptr, CALL_AT, sizeof CALL_AT - 1) == 0)
        return NYTP_SUB_UNRETURNED;
    if (nytp_name_ends(sub->name, "::RUNTIME"))
        return NYTP_SUB_RUNTIME;
    if (nytp_is_opcode_name(sub->name))
        return NYTP_SUB_OPCODE;
    if (nytp_table_get(&s->b->subs.xsubs, (struct nytp_key){.a = id}) != NYTP_TABLE_NONE)
        return NYTP_SUB_XSUB;
    if (has_range && sub->last_line == 0 && !nytp_name_ends(sub->name, "::BEGIN"))
        return NYTP_SUB_XSUB;
    return NYTP_SUB_PERL;
}

/* Kind, file and lines of every sub. */
static void describe_subs(struct nytp_assignment *s)
{
    const struct nytp_builder *b = s->b;
    for (uint32_t i = 0; i < b->ranges.n; i++) {
        const struct nytp_built_range *r = &b->ranges.at[i];
        struct nytp_sub *sub = &s->p->subs[s->sub_of_name[r->name]];
        const bool better =
            sub->file == 0 || (sub->last_line == 0 && r->last_line > 0) ||
            (b->files.at[r->file].model.fid < b->files.at[sub->file].model.fid &&
             (r->last_line > 0 || sub->last_line == 0));
        if (!better)
            continue;
        sub->file = r->file;
        sub->first_line = r->first_line;
        sub->last_line = r->last_line;
    }
    const uint32_t n_names = nytp_strings_count(b->strings);
    for (uint32_t i = 0; i < n_names; i++) {
        if (s->sub_of_name[i] == NYTP_NO_SUB)
            continue;
        struct nytp_sub *sub = &s->p->subs[s->sub_of_name[i]];
        sub->kind = kind_of(s, sub, i, sub->file != 0);
        if (sub->kind ==
            NYTP_SUB_XSUB) /* an accessor replaced by an xsub keeps a stale range */
            sub->first_line = sub->last_line = 0;
    }
    struct nytp_sub *root = &s->p->subs[0];
    root->kind = NYTP_SUB_RUNTIME;
    root->file = nytp_line_owners_script(s->owners);
    root->first_line = root->last_line = root->file != 0 ? 1 : 0;
}

/* From here on arcs, loose lines and raw nodes name subs by index. */
static void number_subs(struct nytp_assignment *s)
{
    struct nytp_builder *b = s->b;
    for (uint32_t i = 0; i < b->arcs.n; i++) {
        b->arcs.at[i].caller = s->sub_of_name[b->arcs.at[i].caller];
        b->arcs.at[i].callee = s->sub_of_name[b->arcs.at[i].callee];
    }
    for (uint32_t i = 0; i < s->loose.n; i++)
        s->loose.at[i].sub = s->sub_of_name[s->loose.at[i].sub];
    if (s->loose.n > 0)
        qsort(s->loose.at, s->loose.n, sizeof *s->loose.at, by_process_sub_place);
}

bool nytp_assign_subs(struct nytp_assignment *s)
{
    s->unreturned_name = nytp_strings_intern(s->b->strings, "[unreturned]", 12);
    if (s->unreturned_name == UINT32_MAX || !name_unreturned(s))
        return false;
    name_callers(s);
    if (!collect_loose_lines(s) || !make_subs(s))
        return false;
    describe_subs(s);
    number_subs(s);
    return true;
}
