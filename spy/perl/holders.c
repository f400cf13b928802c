/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Ways to objects; see census.h. From all packages through their variables, subs and the pads
 * of these, breadth first, so that the way that is found is a shortest one. An object that is
 * found on none of them may hold itself: the same search begins at the object then.
 */
#include "census.h"

#include "formats/base/arena.h"

#include <stdlib.h>

enum {
    LARGE = 256, /* elements of what is looked at again if perl has moved them meanwhile */
    LEAST_OBJECTS = 20, /* of a class whose holder is worth the search */
    MAX_NODES = 2000000,
    MAX_CYCLE_NODES = 1 << 15, /* of a search for what holds itself */
    MAX_CYCLES = 64,           /* of these searches */
    MAX_ELEMENTS = 1 << 26,    /* of all arrays, hashes and pads together */
    CHUNK = 4096,              /* elements of an array that are read at once */
    MAX_STEPS = 12,            /* steps shown */
    MAX_PADS = 100,            /* depths of recursion */
    MAX_HOPS = 16,             /* of references to references, followed at once */
    MAX_MAGIC = 16,            /* pieces of one value */
    MAGIC_BYTES = 40,
};

/* How a value is reached from the one before. */
enum step {
    NAMED,    /* from none: it has a name by itself */
    VARIABLE, /* of a sub: it has a name there */
    OF_HASH,
    OF_ARRAY,
    TIED,
    REFERENCE, /* a reference, or another step without a sign */
};

static const char *const signs[] = {
    [OF_HASH] = "{...}", [OF_ARRAY] = "[...]", [TIED] = "(tied)", [REFERENCE] = ""};

/* A value that leads to others: an array, a hash, code, a glob, or a scalar with magic. */
struct node {
    uint64_t address;
    uint32_t parent; /* node; UINT32_MAX for NAMED */
    uint32_t name;   /* of NAMED and VARIABLE: a string */
    enum step step;
};

struct search {
    struct nytp_census *census;
    struct nytp_reader reader, now; /* through kept pages, and past them */
    struct nytp_table seen, wanted;
    struct node *nodes;
    uint32_t n_nodes, capacity, max_nodes, n_found;
    uint64_t n_elements;
    bool was_too_much; /* a bound ended the search */
    bool failed;
};

/* Returns whether n more elements may be looked at. A damaged core file can have the same
 * memory as part of a million arrays, each of the size of all of it. */
static bool may_look_at(struct search *search, uint64_t n)
{
    search->n_elements += n;
    search->was_too_much |= search->n_elements > MAX_ELEMENTS;
    return search->n_elements <= MAX_ELEMENTS && !search->failed;
}

static uint32_t interned(struct search *search, const struct nytp_label *label)
{
    return nytp_strings_intern_mixed(search->census->strings, label->text, label->len);
}

/* ---- the way back ---- */

/* From the last variable on: "@name" and the steps from it; the node that it was found in, or
 * UINT32_MAX. */
static uint32_t add_variable(struct search *search, struct node node, struct nytp_label *way)
{
    enum step steps[MAX_STEPS];
    uint32_t n = 0;
    for (; node.step > VARIABLE; node = search->nodes[node.parent])
        if (node.step != REFERENCE && n < MAX_STEPS)
            steps[n++] = node.step;
    const char *const name = nytp_strings_get(search->census->strings, node.name).ptr;
    if (strcmp(name, "&") == 0) /* the code that closures are made of */
        nytp_label_printf(way, "a closure");
    else
        nytp_label_printf(way, node.step == NAMED || strcmp(name, "@_") == 0 ? "" : "my ");
    nytp_label_add(way, name, strcmp(name, "&") == 0 ? 0 : strlen(name));
    while (n > 0)
        nytp_label_printf(way, "%s", signs[steps[--n]]);
    return node.parent;
}

/* "my @kept[...] in a closure in %App::handlers{...}". */
static uint32_t way_to(struct search *search, struct node node)
{
    struct nytp_label way = {.len = 0};
    for (;;) {
        const uint32_t code = add_variable(search, node, &way);
        if (code == UINT32_MAX)
            return interned(search, &way);
        node = search->nodes[code];
        const char *const name = nytp_strings_get(search->census->strings, node.name).ptr;
        nytp_label_printf(&way, " in ");
        if (node.step > VARIABLE || *name == '$') /* others are names of subs */
            nytp_label_printf(&way, "a closure in ");
    }
}

static void take_if_wanted(struct search *search, struct node node)
{
    const uint32_t row = nytp_table_get(&search->wanted, nytp_address_key(node.address, 0));
    if (row == NYTP_TABLE_NONE || search->census->rows[row].holder != 0)
        return;
    search->census->rows[row].holder = way_to(search, node);
    search->n_found++;
}

/* ---- what a value leads to ---- */

static void add_node(struct search *search, struct node node)
{
    if (nytp_table_get(&search->seen, nytp_address_key(node.address, 0)) != NYTP_TABLE_NONE)
        return;
    if (search->n_nodes >= search->max_nodes) {
        search->was_too_much = true;
        return;
    }
    if (!nytp_grow(&search->nodes, &search->capacity, search->n_nodes, sizeof *search->nodes) ||
        !nytp_table_put(&search->seen, nytp_address_key(node.address, 0), search->n_nodes)) {
        search->failed = true;
        return;
    }
    search->nodes[search->n_nodes++] = node;
}

static bool is_reference(const struct nytp_layout *layout, const struct nytp_value *value)
{
    return value->type < layout->svt_PVAV && (value->flags & (uint32_t)layout->svf_rok);
}

/* References are followed at once, and values that lead nowhere are no nodes. Weak references
 * hold nothing. */
static void visit(struct search *search, uint64_t address, enum step step, uint32_t parent,
                  uint32_t name)
{
    const struct nytp_layout *const layout = search->reader.layout;
    struct nytp_value value;
    for (int hops = 0;; hops++) {
        if (address == 0 || !nytp_value_at(&search->reader, address, &value))
            return;
        take_if_wanted(search, (struct node){address, parent, name, step});
        if (!is_reference(layout, &value) || hops == MAX_HOPS)
            break;
        if (value.flags & (uint32_t)layout->svprv_weakref)
            return;
        address = value.u;
    }
    if (is_reference(layout, &value) || value.type >= layout->svt_PVMG)
        add_node(search, (struct node){address, parent, name, step});
}

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

static void visit_named(struct search *search, uint64_t address, const char *sigil,
                        const struct nytp_label *name)
{
    struct nytp_label whole = {.len = 0};
    if (address == 0)
        return;
    nytp_label_printf(&whole, "%s", sigil);
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

/* The variables of one call of a sub; the first is @_. */
static void visit_pad(struct search *search, uint32_t node, uint64_t pad, uint64_t names)
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
        if (i == 0)
            nytp_label_add(&name, "@_", 2);
        if (of != 0 && (i == 0 || pad_name(search, names, i, &name)))
            visit(search, of, VARIABLE, node, interned(search, &name));
    }
}

/* A sub has its variables, also those that it closed over; a constant has its value. */
static void visit_code(struct search *search, uint32_t node, const struct nytp_value *value)
{
    struct nytp_reader *const reader = &search->reader;
    const struct nytp_layout *const layout = reader->layout;
    uint8_t body[512];
    if (!nytp_look(reader, value->body, body, (size_t)layout->cv_size))
        return;
    const uint32_t flags = nytp_u32(body, layout->cv_flags);
    if (flags & (uint32_t)layout->cvf_isxsub) {
        if (flags & (uint32_t)layout->cvf_const)
            visit(search, nytp_u64(body, layout->cv_start), REFERENCE, node, 0);
        return;
    }
    const uint64_t pads = nytp_u64(body, layout->cv_padlist);
    const uint64_t list = nytp_look_u64(reader, pads + (uint64_t)layout->padlist_array);
    const uint64_t last = nytp_look_u64(reader, pads + (uint64_t)layout->padlist_max);
    if (pads == 0 || list == 0)
        return;
    const uint64_t names = nytp_look_u64(reader, list);
    for (uint64_t i = 1; i <= last && i <= MAX_PADS; i++)
        visit_pad(search, node, nytp_look_u64(reader, list + i * 8), names);
}

/* Visits the slots of a glob without a name, as those of sockets. */
static void visit_slots(struct search *search, uint32_t node, const struct nytp_value *value)
{
    const struct nytp_layout *const layout = search->reader.layout;
    const int32_t slots[] = {layout->gp_sv, layout->gp_av, layout->gp_hv, layout->gp_cv,
                             layout->gp_io};
    uint8_t gp[256];
    if (value->u == 0 || !nytp_look(&search->reader, value->u, gp, (size_t)layout->gp_size))
        return;
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
        visit(search, nytp_u64(gp, slots[i]), REFERENCE, node, 0);
}

/* Visits what a variable is tied to. */
static void visit_magic(struct search *search, uint32_t node, const struct nytp_value *value)
{
    const struct nytp_layout *const layout = search->reader.layout;
    uint8_t magic[MAGIC_BYTES];
    uint64_t at = nytp_look_u64(&search->reader, value->body + (uint64_t)layout->body_magic);
    for (int i = 0; i < MAX_MAGIC && at != 0; i++) {
        if (!nytp_look(&search->reader, at, magic, sizeof magic))
            return;
        const uint8_t type = magic[layout->mg_type];
        if (type == 'P' || type == 'q') /* PERL_MAGIC_tied, PERL_MAGIC_tiedscalar */
            visit(search, nytp_u64(magic, layout->mg_obj), TIED, node, 0);
        at = nytp_u64(magic, layout->mg_moremagic);
    }
}

static void visit_stash(struct search *search, uint64_t stash, int depth);

static void visit_glob(struct search *search, const struct nytp_value *value, int depth)
{
    struct nytp_label name = {.len = 0};
    struct nytp_reader *const reader = &search->reader;
    const struct nytp_layout *const layout = reader->layout;
    uint8_t gp[256];
    if (value->u == 0 || !nytp_add_glob(reader, value->address, &name) ||
        !nytp_look(reader, value->u, gp, (size_t)layout->gp_size))
        return;
    const uint64_t hash = nytp_u64(gp, layout->gp_hv);
    if (name.len > 2 && memcmp(name.text + name.len - 2, "::", 2) == 0) {
        visit_stash(search, hash, depth + 1);
        return;
    }
    visit_named(search, nytp_u64(gp, layout->gp_sv), "$", &name);
    visit_named(search, nytp_u64(gp, layout->gp_av), "@", &name);
    visit_named(search, hash, "%", &name);
    visit_named(search, nytp_u64(gp, layout->gp_cv), "", &name);
}

/* A sub or a constant that needs no glob is a reference in its package. */
static void visit_entry(struct search *search, uint64_t stash, uint64_t hek, uint64_t address)
{
    struct nytp_label name = {.len = 0};
    if (nytp_add_stash(&search->reader, stash, &name)) {
        nytp_label_add(&name, "::", 2);
        if (nytp_add_hek(&search->reader, hek, &name))
            visit_named(search, address, "", &name);
    }
}

static void visit_stash(struct search *search, uint64_t stash, int depth)
{
    struct nytp_elements elements;
    struct nytp_value value;
    uint64_t hek, address;
    if (depth > 50 ||
        nytp_table_get(&search->seen, nytp_address_key(stash, 0)) != NYTP_TABLE_NONE ||
        !nytp_table_put(&search->seen, nytp_address_key(stash, 0), UINT32_MAX - 1) ||
        !nytp_elements_begin(&elements, &search->reader, stash))
        return;
    while (nytp_elements_next(&elements, &hek, &address) && may_look_at(search, 1)) {
        if (!nytp_value_at(&search->reader, address, &value))
            continue;
        if (value.type == search->reader.layout->svt_PVGV)
            visit_glob(search, &value, depth);
        else if (is_reference(search->reader.layout, &value))
            visit_entry(search, stash, hek, value.u);
    }
}

/* Where the elements of an array or the buckets of a hash are, and how many have room. */
struct extent {
    uint64_t from, max;
};

static struct extent extent_of(struct nytp_reader *reader, uint64_t address)
{
    struct nytp_value value;
    const struct nytp_layout *const layout = reader->layout;
    if (!nytp_value_at(reader, address, &value))
        return (struct extent){0, 0};
    const int32_t max = value.type == layout->svt_PVAV ? layout->av_max : layout->hv_max;
    return (struct extent){value.u, nytp_look_u64(reader, value.body + (uint64_t)max)};
}

static void visit_elements(struct search *search, uint32_t node, uint64_t address)
{
    struct nytp_value value;
    if (!nytp_value_at(&search->reader, address, &value))
        return;
    if (value.type == search->reader.layout->svt_PVAV)
        visit_array(search, node, &value);
    else if (value.type == search->reader.layout->svt_PVHV)
        visit_hash(search, node, address);
}

/* Once more if perl has moved the elements while they were looked at, or since the page with
 * where they are was read. */
static void visit_list(struct search *search, uint32_t node, uint64_t address)
{
    const struct extent known = extent_of(&search->reader, address);
    visit_elements(search, node, address);
    if (known.max < LARGE)
        return;
    const struct extent now = extent_of(&search->now, address);
    if (now.from == known.from && now.max == known.max)
        return;
    nytp_memory_cached_forget(search->reader.perl->memory);
    visit_elements(search, node, address);
}

static void expand(struct search *search, uint32_t node)
{
    struct nytp_value value;
    const struct nytp_layout *const layout = search->reader.layout;
    if (!nytp_value_at(&search->reader, search->nodes[node].address, &value))
        return;
    if (is_reference(layout, &value))
        visit(search, value.address, REFERENCE, node, 0);
    else if (value.type == layout->svt_PVAV || value.type == layout->svt_PVHV)
        visit_list(search, node, value.address);
    else if (value.type == layout->svt_PVCV)
        visit_code(search, node, &value);
    else if (value.type == layout->svt_PVGV)
        visit_slots(search, node, &value);
    if (value.type >= layout->svt_PVMG)
        visit_magic(search, node, &value);
}

/* Until all that is wanted is found, or all was seen. */
static void follow(struct search *search, uint32_t n_wanted, nytp_census_progress_fn *progress)
{
    for (uint32_t i = 0; i < search->n_nodes && search->n_found < n_wanted && !search->failed;
         i++) {
        expand(search, i);
        if (progress != NULL && i % 65536 == 0)
            progress(i);
    }
}

/* Objects that no variable leads to, as nothing frees a circle of references. */
static void find_cycles(struct search *search, nytp_census_progress_fn *progress)
{
    struct nytp_label itself = {.len = 0};
    nytp_label_add(&itself, "itself", 6);
    search->max_nodes = MAX_CYCLE_NODES;
    for (uint32_t i = 0, n = 0; i < search->census->n_rows && n < MAX_CYCLES; i++) {
        const struct nytp_census_row *const row = &search->census->rows[i];
        const uint64_t example = row->examples[row->n_examples / 2];
        if (row->class == 0 || row->n < LEAST_OBJECTS || row->holder != 0)
            continue;
        nytp_table_free(&search->seen);
        nytp_table_free(&search->wanted);
        search->n_nodes = search->n_found = 0;
        search->failed |= !nytp_table_put(&search->wanted, nytp_address_key(example, 0), i);
        add_node(search, (struct node){example, UINT32_MAX, interned(search, &itself), NAMED});
        follow(search, 1, progress);
        n++;
    }
}

bool nytp_find_holders(struct nytp_census *census, struct nytp_perl *perl,
                       const struct nytp_interpreter *of, uint32_t n_of,
                       nytp_census_progress_fn *progress)
{
    struct nytp_perl kept = *perl; /* whose pages are kept */
    kept.memory = nytp_memory_cached(perl->memory);
    struct search search = {.census = census,
                            .reader = {.perl = &kept, .layout = perl->layout},
                            .now = {.perl = perl, .layout = perl->layout},
                            .max_nodes = MAX_NODES};
    search.failed = kept.memory == NULL;
    struct nytp_label main_program = {.len = 0};
    uint32_t n_wanted = 0;
    for (uint32_t i = 0; i < census->n_rows; i++) {
        const struct nytp_census_row *const row = &census->rows[i];
        if (row->class == 0 || row->n < LEAST_OBJECTS)
            continue;
        n_wanted++;
        for (uint32_t k = 0; k < row->n_examples; k++)
            search.failed |=
                !nytp_table_put(&search.wanted, nytp_address_key(row->examples[k], 0), i);
    }
    if (n_wanted > 0 && !search.failed) {
        nytp_label_add(&main_program, "the main program", 16);
        for (uint32_t i = 0; i < n_of; i++) {
            visit_stash(&search, nytp_memory_u64(perl->memory, of[i].at[NYTP_PL_defstash]), 0);
            visit_named(&search, nytp_memory_u64(perl->memory, of[i].at[NYTP_PL_main_cv]), "",
                        &main_program);
        }
        follow(&search, n_wanted, progress);
        census->holders_given_up = search.was_too_much && search.n_found < n_wanted;
        find_cycles(&search, progress);
    }
    nytp_memory_cached_free(kept.memory);
    free(search.nodes);
    nytp_table_free(&search.seen);
    nytp_table_free(&search.wanted);
    return !search.failed;
}
