/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Ways to objects; see holders.h. From all packages through their variables, subs and the pads
 * of these, breadth first, so that the way that is found is a shortest one.
 */
#include "holders.h"

#include "formats/base/arena.h"

#include <stdlib.h>

enum {
    LEAST_OBJECTS = 20, /* of a class whose holder is worth the search */
    MAX_NODES = 2000000,
    MAX_ELEMENTS = 1 << 26, /* of all arrays, hashes and pads together */
    CHUNK = 4096,           /* elements of an array that are read at once */
    MAX_STEPS = 12,         /* that are shown */
    MAX_PADS = 100,         /* depths of recursion */
};

/* How a value is reached from the one before. */
enum step {
    NAMED,
    OF_HASH,
    OF_ARRAY,
    REFERENCE
};

struct node {
    uint64_t address;
    uint32_t parent; /* node; UINT32_MAX for NAMED */
    uint32_t name;   /* of NAMED: a string */
    enum step step;
};

struct search {
    struct nytp_census *census;
    struct nytp_reader reader;
    struct nytp_table seen, wanted;
    struct node *nodes;
    uint32_t n_nodes, capacity, n_found;
    uint64_t n_elements;
    bool failed;
};

/* Whether n more elements may be looked at. A damaged core file can have the same memory as
 * part of a million arrays, each of the size of all of it. */
static bool may_look_at(struct search *search, uint64_t n)
{
    search->n_elements += n;
    return search->n_elements <= MAX_ELEMENTS && !search->failed;
}

static struct nytp_key key_of(uint64_t address)
{
    return (struct nytp_key){(uint32_t)address, (uint32_t)(address >> 32), 0, 0};
}

static void visit(struct search *search, uint64_t address, enum step step, uint32_t parent,
                  uint32_t name)
{
    if (address == 0 || address % 8 != 0 || search->n_nodes >= MAX_NODES ||
        nytp_table_get(&search->seen, key_of(address)) != NYTP_TABLE_NONE)
        return;
    if (!nytp_grow(&search->nodes, &search->capacity, search->n_nodes, sizeof *search->nodes) ||
        !nytp_table_put(&search->seen, key_of(address), search->n_nodes)) {
        search->failed = true;
        return;
    }
    search->nodes[search->n_nodes++] = (struct node){address, parent, name, step};
}

static uint32_t interned(struct search *search, const struct nytp_label *label)
{
    return nytp_strings_intern_mixed(search->census->strings, label->text, label->len);
}

/* ---- what a value leads to ---- */

static void visit_array(struct search *search, uint32_t node, const struct nytp_value *value)
{
    const struct nytp_layout *const layout = search->reader.layout;
    uint64_t elements[CHUNK];
    const int64_t last =
        (int64_t)nytp_look_u64(&search->reader, value->body + (uint64_t)layout->av_fill);
    if (value->u == 0 || last > MAX_ELEMENTS)
        return;
    for (int64_t at = 0; at <= last; at += CHUNK) {
        const size_t n = last + 1 - at < CHUNK ? (size_t)(last + 1 - at) : CHUNK;
        if (!may_look_at(search, n) ||
            !nytp_look(&search->reader, value->u + (uint64_t)at * 8, elements, n * 8))
            return;
        for (size_t i = 0; i < n; i++)
            visit(search, elements[i], OF_ARRAY, node, 0);
    }
}

static void visit_hash(struct search *search, uint32_t node, uint64_t address)
{
    struct nytp_elements elements;
    uint64_t hek, value;
    if (!nytp_elements_begin(&elements, &search->reader, address))
        return;
    while (nytp_elements_next(&elements, &hek, &value) && may_look_at(search, 1))
        visit(search, value, OF_HASH, node, 0);
}

static void visit_named(struct search *search, uint64_t address, char sigil,
                        const struct nytp_label *name)
{
    struct nytp_label whole = {.len = 0};
    if (address == 0)
        return;
    nytp_label_add(&whole, &sigil, 1);
    nytp_label_add(&whole, name->text, name->len);
    visit(search, address, NAMED, UINT32_MAX, interned(search, &whole));
}

/* Names of a pad's variables; those before perl 5.22 are values themselves. */
static bool pad_name(struct search *search, uint64_t names, uint64_t i, struct nytp_label *to)
{
    struct nytp_reader *const reader = &search->reader;
    const struct nytp_layout *const layout = reader->layout;
    struct nytp_value value;
    if (layout->padname_pv >= 0) {
        const uint64_t list = nytp_look_u64(reader, names + (uint64_t)layout->padnames_array);
        const uint64_t fill = nytp_look_u64(reader, names + (uint64_t)layout->padnames_fill);
        const uint64_t name = i <= fill && list != 0 ? nytp_look_u64(reader, list + i * 8) : 0;
        return name != 0 &&
               nytp_add_text(reader, nytp_look_u64(reader, name + (uint64_t)layout->padname_pv),
                             to) &&
               to->len > 0;
    }
    if (!nytp_value_at(reader, names, &value) || value.type != layout->svt_PVAV ||
        value.u == 0 || i > nytp_look_u64(reader, value.body + (uint64_t)layout->av_fill))
        return false;
    return nytp_value_at(reader, nytp_look_u64(reader, value.u + i * 8), &value) &&
           value.type >= layout->svt_PV && nytp_add_text(reader, value.u, to) && to->len > 0;
}

/* The variables of one call of a sub. */
static void visit_pad(struct search *search, uint64_t pad, uint64_t names,
                      const struct nytp_label *sub)
{
    struct nytp_value value;
    struct nytp_reader *const reader = &search->reader;
    if (!nytp_value_at(reader, pad, &value) || value.type != reader->layout->svt_PVAV)
        return;
    const uint64_t last = nytp_look_u64(reader, value.body + (uint64_t)reader->layout->av_fill);
    for (uint64_t i = 0, of; i <= last && may_look_at(search, 1); i++) {
        struct nytp_label name = {.len = 0};
        if (!nytp_look(reader, value.u + i * 8, &of, sizeof of))
            return;
        if (of == 0 || !pad_name(search, names, i, &name) || name.text[0] == '&')
            continue;
        nytp_label_add(&name, " in ", 4);
        nytp_label_add(&name, sub->text, sub->len);
        visit(search, of, NAMED, UINT32_MAX, interned(search, &name));
    }
}

static void visit_code(struct search *search, uint64_t cv, const struct nytp_label *sub)
{
    struct nytp_value value;
    struct nytp_reader *const reader = &search->reader;
    const struct nytp_layout *const layout = reader->layout;
    uint8_t body[512];
    if (!nytp_value_at(reader, cv, &value) || value.type != layout->svt_PVCV ||
        !nytp_look(reader, value.body, body, (size_t)layout->cv_size) ||
        (nytp_u32(body, layout->cv_flags) & (uint32_t)layout->cvf_isxsub))
        return;
    const uint64_t pads = nytp_u64(body, layout->cv_padlist);
    const uint64_t list = nytp_look_u64(reader, pads + (uint64_t)layout->padlist_array);
    const uint64_t last = nytp_look_u64(reader, pads + (uint64_t)layout->padlist_max);
    if (pads == 0 || list == 0)
        return;
    const uint64_t names = nytp_look_u64(reader, list);
    for (uint64_t i = 1; i <= last && i <= MAX_PADS; i++)
        visit_pad(search, nytp_look_u64(reader, list + i * 8), names, sub);
}

static void visit_stash(struct search *search, uint64_t stash, int depth);

static void visit_glob(struct search *search, uint64_t glob, int depth)
{
    struct nytp_value value;
    struct nytp_label name = {.len = 0};
    struct nytp_reader *const reader = &search->reader;
    const struct nytp_layout *const layout = reader->layout;
    uint8_t gp[256];
    if (!nytp_value_at(reader, glob, &value) || value.type != layout->svt_PVGV ||
        value.u == 0 || !nytp_add_glob(reader, glob, &name) ||
        !nytp_look(reader, value.u, gp, (size_t)layout->gp_size))
        return;
    const uint64_t hash = nytp_u64(gp, layout->gp_hv);
    if (name.len > 2 && memcmp(name.text + name.len - 2, "::", 2) == 0) {
        visit_stash(search, hash, depth + 1);
        return;
    }
    visit_named(search, nytp_u64(gp, layout->gp_sv), '$', &name);
    visit_named(search, nytp_u64(gp, layout->gp_av), '@', &name);
    visit_named(search, hash, '%', &name);
    visit_code(search, nytp_u64(gp, layout->gp_cv), &name);
}

static void visit_stash(struct search *search, uint64_t stash, int depth)
{
    struct nytp_elements elements;
    uint64_t hek, value;
    if (depth > 50 || nytp_table_get(&search->seen, key_of(stash)) != NYTP_TABLE_NONE ||
        !nytp_table_put(&search->seen, key_of(stash), UINT32_MAX - 1) ||
        !nytp_elements_begin(&elements, &search->reader, stash))
        return;
    while (nytp_elements_next(&elements, &hek, &value) && may_look_at(search, 1))
        visit_glob(search, value, depth);
}

static void expand(struct search *search, uint32_t node)
{
    struct nytp_value value;
    const struct nytp_layout *const layout = search->reader.layout;
    const uint64_t address = search->nodes[node].address;
    if (!nytp_value_at(&search->reader, address, &value))
        return;
    if (value.type == layout->svt_PVAV)
        visit_array(search, node, &value);
    else if (value.type == layout->svt_PVHV)
        visit_hash(search, node, address);
    else if (value.type < layout->svt_PVAV && (value.flags & (uint32_t)layout->svf_rok))
        visit(search, value.u, REFERENCE, node, 0);
    else if (value.type == layout->svt_PVCV) { /* a closure has what it closed over */
        struct nytp_label name = {.len = 0};
        nytp_label_add(&name, "a closure", 9);
        visit_code(search, address, &name);
    }
}

/* ---- the way back ---- */

static uint32_t way_to(struct search *search, uint32_t node)
{
    struct nytp_label way = {.len = 0};
    uint32_t steps[MAX_STEPS], n = 0;
    for (; search->nodes[node].step != NAMED; node = search->nodes[node].parent) {
        const enum step step = search->nodes[node].step;
        if (step != REFERENCE && n < MAX_STEPS)
            steps[n++] = step;
    }
    const struct nytp_name root =
        nytp_strings_get(search->census->strings, search->nodes[node].name);
    const char *const in = strstr(root.ptr, " in ");
    const size_t len = in == NULL ? root.len : (size_t)(in - root.ptr);
    nytp_label_add(&way, in == NULL ? "" : "my ", in == NULL ? 0 : 3);
    nytp_label_add(&way, root.ptr, len);
    while (n > 0)
        nytp_label_add(&way, steps[--n] == OF_HASH ? "{...}" : "[...]", 5);
    if (in != NULL)
        nytp_label_add(&way, in, root.len - len);
    return interned(search, &way);
}

static void take_if_wanted(struct search *search, uint32_t node)
{
    const uint32_t row = nytp_table_get(&search->wanted, key_of(search->nodes[node].address));
    if (row == NYTP_TABLE_NONE || search->census->rows[row].holder != 0)
        return;
    search->census->rows[row].holder = way_to(search, node);
    search->n_found++;
}

bool nytp_find_holders(struct nytp_census *census, struct nytp_perl *perl,
                       const struct nytp_interpreter *of, nytp_census_progress_fn *progress)
{
    struct nytp_perl kept = *perl; /* whose pages are kept */
    kept.memory = nytp_memory_cached(perl->memory);
    struct search search = {.census = census,
                            .reader = {.perl = &kept, .layout = perl->layout}};
    search.failed = kept.memory == NULL;
    struct nytp_label main_program = {.len = 0};
    uint32_t n_wanted = 0;
    for (uint32_t i = 0; i < census->n_rows; i++) {
        if (census->rows[i].class == 0 || census->rows[i].n < LEAST_OBJECTS)
            continue;
        n_wanted++;
        search.failed |= !nytp_table_put(&search.wanted, key_of(census->rows[i].example), i);
    }
    nytp_label_add(&main_program, "the main program", 16);
    if (n_wanted > 0 && !search.failed)
        visit_stash(&search, nytp_memory_u64(perl->memory, of->at[NYTP_PL_defstash]), 0);
    if (n_wanted > 0 && !search.failed)
        visit_code(&search, nytp_memory_u64(perl->memory, of->at[NYTP_PL_main_cv]),
                   &main_program);
    for (uint32_t i = 0; i < search.n_nodes && search.n_found < n_wanted && !search.failed;
         i++) {
        take_if_wanted(&search, i);
        expand(&search, i);
        if (progress != NULL && i % 65536 == 0)
            progress(i);
    }
    nytp_memory_cached_free(kept.memory);
    free(search.nodes);
    nytp_table_free(&search.seen);
    nytp_table_free(&search.wanted);
    return !search.failed;
}
