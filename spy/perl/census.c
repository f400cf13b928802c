/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Counts an interpreter's values; see census.h. Relies on sv.c: all heads lie in arenas, whose
 * first head tells their length and where the next arena is.
 *
 * Arenas are neighbours, and so are the bodies of values of a type: all is read through pages
 * that are kept, many at a time.
 */
#include "census.h"

#include "formats/base/arena.h"

#include <stdlib.h>

enum {
    MAX_ARENAS = 1 << 24,
    MAX_SLOTS = 1 << 16,
    HEADS = 4096, /* bytes of them that are looked at together */
    HEAD_BYTES = 64,
    BODY_BYTES = 32, /* stash, magic, cur or fill, len or max */
    TYPES = 256,
    MAX_BUFFER = 1 << 30,  /* elements of one value; more is damage */
    LONG_STRING = 1 << 30, /* of one that is longer it is looked whether it is there */
    MAGIC_BYTES = 48,
};

/* What values of a type are called, and how long their bodies are. */
struct type {
    const char *word;
    uint32_t body, row; /* of those that are no objects; UINT32_MAX: none yet */
};

struct counting {
    struct nytp_census *census;
    struct nytp_reader reader;
    struct type types[TYPES], references[TYPES];
    struct nytp_table classes; /* address of a stash -> class */
    uint64_t last_stash;       /* objects of a class come together */
    uint32_t last_class;
    nytp_census_progress_fn *progress;
    bool failed;
};

static void learn_types(struct counting *counting)
{
    const struct nytp_layout *const layout = counting->reader.layout;
    for (int i = 0; i < TYPES; i++)
        counting->types[i] = (struct type){"empty", 0, UINT32_MAX}; /* SVt_NULL: undef */
#define TYPE(name, word_)                                                                      \
    if (layout->svt_##name >= 0 && layout->svt_##name < TYPES)                                 \
        counting->types[layout->svt_##name] =                                                  \
            (struct type){word_, (uint32_t)layout->body_##name, UINT32_MAX};
    TYPE(PVOBJ, "object")
    TYPE(PVIO, "handle")
    TYPE(PVFM, "format")
    TYPE(PVCV, "code")
    TYPE(PVHV, "hash")
    TYPE(PVAV, "array")
    TYPE(PVLV, "lvalue")
    TYPE(PVGV, "glob")
    TYPE(REGEXP, "regexp")
    TYPE(PVMG, "scalar")
    TYPE(PVNV, "string")
    TYPE(PVIV, "string")
    TYPE(INVLIST, "inversion list")
    TYPE(PV, "string")
    TYPE(NV, "number")
    TYPE(IV, "integer")
#undef TYPE
    memcpy(counting->references, counting->types, sizeof counting->types);
    const int32_t may_refer[] = {layout->svt_IV, layout->svt_PVIV, layout->svt_PVMG};
    for (size_t i = 0; i < sizeof may_refer / sizeof *may_refer; i++)
        counting->references[may_refer[i]].word = "reference";
}

static uint32_t row_of(struct counting *counting, const char *type, uint32_t class)
{
    struct nytp_census *const census = counting->census;
    const uint64_t address = (uint64_t)(uintptr_t)type;
    const struct nytp_key key = {(uint32_t)address, (uint32_t)(address >> 32), class, 0};
    const uint32_t at = nytp_table_get(&census->by_kind, key);
    if (at != NYTP_TABLE_NONE)
        return at;
    if (!nytp_grow(&census->rows, &census->capacity, census->n_rows, sizeof *census->rows) ||
        !nytp_table_put(&census->by_kind, key, census->n_rows)) {
        counting->failed = true;
        return UINT32_MAX;
    }
    census->rows[census->n_rows] = (struct nytp_census_row){.type = type, .class = class};
    return census->n_rows++;
}

static uint32_t find_class(struct counting *counting, uint64_t stash)
{
    struct nytp_label name = {.len = 0};
    const struct nytp_key key = {(uint32_t)stash, (uint32_t)(stash >> 32), 0, 0};
    uint32_t class = nytp_table_get(&counting->classes, key);
    if (class != NYTP_TABLE_NONE)
        return class;
    if (!nytp_add_stash(&counting->reader, stash, &name))
        nytp_label_add(&name, "(unknown)", 9);
    class = nytp_strings_intern_mixed(counting->census->strings, name.text, name.len);
    if (!nytp_table_put(&counting->classes, key, class))
        counting->failed = true;
    return class;
}

static uint32_t class_of(struct counting *counting, uint64_t stash)
{
    if (stash != counting->last_stash) {
        counting->last_class = find_class(counting, stash);
        counting->last_stash = stash;
    }
    return counting->last_class;
}

static uint64_t capped(uint64_t n)
{
    return n > MAX_BUFFER ? 0 : n;
}

/* The buffer of a string, which is there to its last byte. Several may share one; then that
 * byte counts the others. */
static uint64_t string_buffer(struct counting *counting, const struct nytp_value *value,
                              const uint8_t *body)
{
    const struct nytp_layout *const layout = counting->reader.layout;
    const uint64_t len = nytp_u64(body, layout->pv_len);
    const bool is_shared = value->flags & (uint32_t)layout->svf_iscow;
    uint8_t others = 0;
    if (len == 0 || (value->flags & (uint32_t)layout->svf_rok))
        return 0;
    if (is_shared || len > LONG_STRING) {
        const bool is_there = nytp_look(&counting->reader, value->u + len - 1, &others, 1);
        if (!is_there && len > LONG_STRING)
            return 0;
    }
    return is_shared ? len / (others + 1u) : len;
}

/* What a value has beside head and body. */
static uint64_t buffer_of(struct counting *counting, const struct nytp_value *value,
                          const uint8_t *body)
{
    const struct nytp_layout *const layout = counting->reader.layout;
    if (value->type == layout->svt_PVAV)
        return value->u == 0 ? 0 : capped(nytp_u64(body, layout->av_max) + 1) * 8;
    if (value->type == layout->svt_PVHV) {
        const bool has_aux = value->flags & (uint32_t)layout->hv_has_aux;
        return capped(value->u == 0 ? 0 : nytp_u64(body, layout->hv_max) + 1) * 8 +
               capped(nytp_u64(body, layout->hv_keys)) * (uint64_t)layout->he_size +
               (has_aux ? (uint64_t)layout->aux_size : 0);
    }
    if (value->type == layout->svt_PVGV)
        return (value->flags & (uint32_t)layout->svp_gp) ? (uint64_t)layout->gp_size : 0;
    if (value->type == layout->svt_PV || value->type == layout->svt_PVIV ||
        value->type == layout->svt_PVNV || value->type == layout->svt_PVMG ||
        value->type == layout->svt_PVLV)
        return string_buffer(counting, value, body);
    return 0;
}

static void add(struct counting *counting, const struct nytp_value *value, const uint8_t *body)
{
    const struct nytp_layout *const layout = counting->reader.layout;
    const bool is_reference = value->flags & (uint32_t)layout->svf_rok;
    struct type *const type =
        &(is_reference ? counting->references : counting->types)[value->type];
    const bool is_object = body != NULL && value->type >= layout->svt_PVMG &&
                           (value->flags & (uint32_t)layout->svs_object);
    uint64_t bytes = (uint64_t)layout->sv_size + type->body;
    uint32_t row;
    if (body != NULL)
        bytes += buffer_of(counting, value, body);
    if (body != NULL && value->type == layout->svt_PVMG && nytp_u64(body, layout->body_magic))
        bytes += MAGIC_BYTES;
    if (is_object)
        row = row_of(counting, type->word,
                     class_of(counting, nytp_u64(body, layout->body_stash)));
    else
        row = type->row = type->row != UINT32_MAX ? type->row : row_of(counting, type->word, 0);
    if (row == UINT32_MAX)
        return;
    counting->census->rows[row].n++;
    counting->census->rows[row].bytes += bytes;
    if (is_object)
        counting->census->rows[row].example = value->address;
    counting->census->n++;
    counting->census->bytes += bytes;
}

static void take_head(struct counting *counting, const uint8_t *head, uint64_t address)
{
    const struct nytp_layout *const layout = counting->reader.layout;
    const struct nytp_value value = nytp_value_of(layout, head, address);
    /* Bodies of plain strings begin behind stash and magic, which they do not have. */
    const uint32_t skip = value.type < layout->svt_PVMG ? (uint32_t)layout->pv_cur : 0;
    uint8_t body[BODY_BYTES] = {0};
    if (value.type == layout->svf_typemask) /* it is free */
        return;
    if (value.type < layout->svt_PV || value.body == 0)
        add(counting, &value, NULL);
    else if (nytp_look(&counting->reader, value.body + skip, body + skip, BODY_BYTES - skip))
        add(counting, &value, body);
    else
        counting->census->n_torn++; /* freed meanwhile */
}

static void count_arenas(struct counting *counting, uint64_t arena)
{
    const struct nytp_layout *const layout = counting->reader.layout;
    const uint64_t size = (uint64_t)layout->sv_size;
    uint8_t heads[HEADS];
    uint64_t passed = 0; /* an arena, of late; who comes by it again is in a circle */
    for (int n = 0; arena != 0 && n < MAX_ARENAS && !counting->failed; n++) {
        if (!nytp_look(&counting->reader, arena, heads, size))
            return;
        const uint64_t next = nytp_u64(heads, layout->sv_any);
        const uint64_t slots = nytp_u32(heads, layout->sv_refcnt);
        if (slots < 2 || slots > MAX_SLOTS)
            return;
        for (uint64_t i = 1, some; i < slots; i += some) {
            some = slots - i < HEADS / size ? slots - i : HEADS / size;
            if (!nytp_look(&counting->reader, arena + i * size, heads, some * size))
                return;
            for (uint64_t k = 0; k < some; k++)
                take_head(counting, heads + k * size, arena + (i + k) * size);
        }
        counting->census->n_arenas++;
        if (counting->progress != NULL && n % 1024 == 0)
            counting->progress(counting->census->n);
        if (next == passed)
            return;
        if ((n & (n + 1)) == 0)
            passed = next;
        arena = next;
    }
}

/* Keys of hashes are in one table, each once: its elements, and the texts. */
static void count_keys(struct counting *counting, uint64_t strtab)
{
    struct nytp_value table;
    struct nytp_reader *const reader = &counting->reader;
    const struct nytp_layout *const layout = reader->layout;
    if (!nytp_value_at(reader, strtab, &table) || table.type != layout->svt_PVHV)
        return;
    const uint64_t n = capped(nytp_look_u64(reader, table.body + (uint64_t)layout->hv_keys));
    const uint64_t max = capped(nytp_look_u64(reader, table.body + (uint64_t)layout->hv_max));
    uint64_t looked = 0, length = 0;
    uint32_t len;
    /* A part of the buckets tells how long keys are. */
    for (uint64_t i = 0; i <= max && looked < 2000; i++) {
        uint8_t element[HEAD_BYTES];
        uint64_t at;
        if (!nytp_look(reader, table.u + i * 8, &at, sizeof at))
            break;
        if (at == 0 || !nytp_look(reader, at, element, (size_t)layout->he_size) ||
            !nytp_look(reader, nytp_u64(element, layout->he_hek) + (uint64_t)layout->hek_len,
                       &len, sizeof len))
            continue;
        looked++;
        length += len;
    }
    const uint64_t fixed = (uint64_t)layout->he_size + (uint64_t)layout->hek_key + 2;
    counting->census->n_keys += n;
    counting->census->key_bytes +=
        n * fixed + (looked == 0 ? 0 : n * length / looked) + max * 8;
}

static int64_t perls_count(struct nytp_perl *perl, const struct nytp_interpreter *of,
                           uint32_t n_of)
{
    int64_t n = 0;
    for (uint32_t i = 0; i < n_of; i++)
        n += (int64_t)nytp_memory_u64(perl->memory, of[i].at[NYTP_PL_sv_count]);
    return n;
}

bool nytp_census_take(struct nytp_census *census, struct nytp_perl *perl,
                      const struct nytp_interpreter *of, uint32_t n_of,
                      nytp_census_progress_fn *progress, struct nytp_error *error)
{
    struct nytp_perl kept = *perl; /* whose pages are kept */
    kept.memory = nytp_memory_cached(perl->memory);
    struct counting counting = {.census = census,
                                .reader = {.perl = &kept, .layout = perl->layout},
                                .progress = progress};
    *census = (struct nytp_census){.strings = nytp_strings_new()};
    counting.failed = kept.memory == NULL || census->strings == NULL;
    learn_types(&counting);
    if (!counting.failed) {
        census->count_before = perls_count(perl, of, n_of);
        for (uint32_t i = 0; i < n_of; i++) {
            count_arenas(&counting,
                         nytp_memory_u64(perl->memory, of[i].at[NYTP_PL_sv_arenaroot]));
            count_keys(&counting, nytp_memory_u64(perl->memory, of[i].at[NYTP_PL_strtab]));
        }
        census->count_after = perls_count(perl, of, n_of);
    }
    nytp_memory_cached_free(kept.memory);
    nytp_table_free(&counting.classes);
    if (counting.failed)
        return nytp_out_of_memory(error);
    return census->n > 0 ||
           nytp_error_set(error, NYTP_ERR_FORMAT, "there are no values to count");
}

void nytp_census_free(struct nytp_census *census)
{
    nytp_strings_free(census->strings);
    nytp_table_free(&census->by_kind);
    free(census->rows);
    *census = (struct nytp_census){0};
}
