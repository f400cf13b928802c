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
    LONG_BUFFER = 1 << 20, /* bytes; a longer buffer is checked for being mapped */
    MOST_IN_BUCKET = 8,    /* elements a bucket; perl makes more buckets before that */
    LOOKED_AT_KEYS = 2000, /* keys measured; all are taken to be as long */
    LONGEST_KEY = 1 << 16, /* bytes of such a key; more is damage */
    MAGIC_BYTES = 48,
};

/* The name of values of a type, and how long their bodies are. */
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
#define NYTP_TYPE(name, word, body)                                                            \
    if (layout->svt_##name >= 0 && layout->svt_##name < TYPES)                                 \
        counting->types[layout->svt_##name] =                                                  \
            (struct type){word, (uint32_t)layout->body_##name, UINT32_MAX};
    NYTP_TYPES
#undef NYTP_TYPE
    memcpy(counting->references, counting->types, sizeof counting->types);
    const int32_t may_refer[] = {layout->svt_IV, layout->svt_PVIV, layout->svt_PVMG};
    for (size_t i = 0; i < sizeof may_refer / sizeof *may_refer; i++)
        counting->references[may_refer[i]].word = "reference";
}

static uint32_t row_of(struct counting *counting, const char *type, uint32_t class)
{
    struct nytp_census *const census = counting->census;
    const uint64_t address = (uint64_t)(uintptr_t)type;
    const struct nytp_key key = nytp_address_key(address, class);
    const uint32_t at = nytp_table_get(&census->by_kind, key);
    if (at != NYTP_TABLE_NONE)
        return at;
    if (!nytp_grow(&census->rows, &census->capacity, census->n_rows, sizeof *census->rows) ||
        !nytp_table_put(&census->by_kind, key, census->n_rows)) {
        counting->failed = true;
        return UINT32_MAX;
    }
    census->rows[census->n_rows] =
        (struct nytp_census_row){.type = type, .class = class, .stride = 1};
    return census->n_rows++;
}

static uint32_t find_class(struct counting *counting, uint64_t stash)
{
    struct nytp_label name = {.len = 0};
    const struct nytp_key key = nytp_address_key(stash, 0);
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

/* Returns whether the last bytes of a long buffer are mapped: its length may be a freed
 * value's. */
static bool is_there(struct counting *counting, uint64_t from, uint64_t len)
{
    uint8_t last;
    return len <= LONG_BUFFER || nytp_look(&counting->reader, from + len - 1, &last, 1);
}

/* That of an array's elements, or of a hash's buckets. */
static uint64_t pointers(struct counting *counting, uint64_t from, uint64_t n)
{
    const uint64_t len = from == 0 ? 0 : capped(n) * sizeof(uint64_t);
    return is_there(counting, from, len) ? len : 0;
}

static uint64_t hash_buffer(struct counting *counting, const struct nytp_value *value,
                            const uint8_t *body)
{
    const struct nytp_layout *const layout = counting->reader.layout;
    const uint64_t most = (nytp_u64(body, layout->hv_max) + 1) * MOST_IN_BUCKET;
    const uint64_t n = capped(nytp_u64(body, layout->hv_keys));
    const bool has_aux = value->flags & (uint32_t)layout->hv_has_aux;
    return pointers(counting, value->u, nytp_u64(body, layout->hv_max) + 1) +
           (n <= most ? n * (uint64_t)layout->he_size : 0) +
           (has_aux ? (uint64_t)layout->aux_size : 0);
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
    if (!is_there(counting, value->u, len))
        return 0;
    if (is_shared)
        nytp_look(&counting->reader, value->u + len - 1, &others, 1);
    return is_shared ? len / (others + 1u) : len;
}

/* Returns the bytes that a value has beside head and body. */
static uint64_t buffer_of(struct counting *counting, const struct nytp_value *value,
                          const uint8_t *body)
{
    const struct nytp_layout *const layout = counting->reader.layout;
    if (value->type == layout->svt_PVAV)
        return pointers(counting, value->u, nytp_u64(body, layout->av_max) + 1);
    if (value->type == layout->svt_PVHV)
        return hash_buffer(counting, value, body);
    if (value->type == layout->svt_PVGV)
        return (value->flags & (uint32_t)layout->svp_gp) ? (uint64_t)layout->gp_size : 0;
    if (value->type == layout->svt_PV || value->type == layout->svt_PVIV ||
        value->type == layout->svt_PVNV || value->type == layout->svt_PVMG ||
        value->type == layout->svt_PVLV)
        return string_buffer(counting, value, body);
    return 0;
}

/* Every stride-th object is an example; twice as far from each other once there is no room. */
static void note_example(struct nytp_census_row *row, uint64_t address)
{
    if (row->n % row->stride == 0 && row->n_examples == NYTP_EXAMPLES) {
        row->stride *= 2;
        row->n_examples /= 2;
        for (uint32_t i = 0; i < row->n_examples; i++)
            row->examples[i] = row->examples[i * 2];
    }
    if (row->n % row->stride == 0)
        row->examples[row->n_examples++] = address;
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
    if (is_object)
        note_example(&counting->census->rows[row], value->address);
    counting->census->rows[row].n++;
    counting->census->rows[row].bytes += bytes;
    counting->census->n++;
    counting->census->bytes += bytes;
}

/* A value whose body cannot be read was freed meanwhile. */
static void take_head(struct counting *counting, const uint8_t *head, uint64_t address)
{
    const struct nytp_layout *const layout = counting->reader.layout;
    const struct nytp_value value = nytp_value_of(layout, head, address);
    /* Bodies of plain strings begin behind stash and magic, which they do not have. */
    const uint32_t skip = value.type < layout->svt_PVMG ? (uint32_t)layout->pv_cur : 0;
    uint8_t body[BODY_BYTES] = {0};
    if (value.type == layout->svf_typemask) /* the head is free */
        return;
    if (value.type < layout->svt_PV || value.body == 0)
        add(counting, &value, NULL);
    else if (nytp_look(&counting->reader, value.body + skip, body + skip, BODY_BYTES - skip))
        add(counting, &value, body);
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
        if (counting->progress != NULL && n % 1024 == 0)
            counting->progress(counting->census->n);
        if (next == passed)
            return;
        if ((n & (n + 1)) == 0)
            passed = next;
        arena = next;
    }
}

/* The table of all keys of hashes, as it is now. */
struct key_table {
    uint64_t buckets, max, n;
};

static bool read_key_table(struct nytp_reader *now, uint64_t strtab, struct key_table *table)
{
    struct nytp_value value;
    const struct nytp_layout *const layout = now->layout;
    if (!nytp_value_at(now, strtab, &value) || value.type != layout->svt_PVHV)
        return false;
    *table = (struct key_table){
        .buckets = value.u,
        .max = capped(nytp_look_u64(now, value.body + (uint64_t)layout->hv_max)),
        .n = capped(nytp_look_u64(now, value.body + (uint64_t)layout->hv_keys)),
    };
    return true;
}

/* Sets the length of the key in a bucket. Returns false if there is none, or if perl has
 * rebuilt the table meanwhile. The hash is the first member of a HEK. */
static bool key_len(struct nytp_reader *reader, const struct key_table *table, uint64_t bucket,
                    uint32_t *len)
{
    uint8_t element[HEAD_BYTES], key[HEAD_BYTES];
    const struct nytp_layout *const layout = reader->layout;
    const uint64_t at = nytp_look_u64(reader, table->buckets + bucket * sizeof at);
    if (at == 0 || !nytp_look(reader, at, element, (size_t)layout->he_size) ||
        !nytp_look(reader, nytp_u64(element, layout->he_hek), key, (size_t)layout->hek_key))
        return false;
    *len = nytp_u32(key, layout->hek_len);
    return (nytp_u32(key, 0) & table->max) == bucket && *len <= LONGEST_KEY;
}

/* The bytes that all keys have, as some tell. */
static uint64_t keys_len(struct nytp_reader *reader, const struct key_table *table)
{
    uint64_t looked = 0, length = 0;
    uint32_t len;
    for (uint64_t i = 0; i <= table->max && looked < LOOKED_AT_KEYS; i++) {
        if (!key_len(reader, table, i, &len))
            continue;
        looked++;
        length += len;
    }
    return looked == 0 ? 0 : table->n * length / looked;
}

/* Keys of hashes are in one table, each once: its elements, and the texts. A table that was
 * made anew meanwhile is looked at once more. */
static void count_keys(struct counting *counting, struct nytp_reader *now, uint64_t strtab)
{
    struct key_table table, after;
    const struct nytp_layout *const layout = now->layout;
    uint64_t length = 0;
    if (!read_key_table(now, strtab, &table))
        return;
    for (int i = 0; i < 2; i++) {
        nytp_memory_cached_forget(counting->reader.perl->memory);
        length = keys_len(&counting->reader, &table);
        if (!read_key_table(now, strtab, &after) ||
            (after.buckets == table.buckets && after.max == table.max))
            break;
        table = after;
    }
    const uint64_t fixed = (uint64_t)layout->he_size + (uint64_t)layout->hek_key + 2;
    counting->census->key_bytes += table.n * fixed + length + table.max * 8;
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
    struct nytp_reader now = {.perl = perl, .layout = perl->layout};
    *census = (struct nytp_census){.strings = nytp_strings_new()};
    counting.failed = kept.memory == NULL || census->strings == NULL;
    learn_types(&counting);
    if (!counting.failed) {
        census->count_before = perls_count(perl, of, n_of);
        for (uint32_t i = 0; i < n_of; i++) {
            count_arenas(&counting,
                         nytp_memory_u64(perl->memory, of[i].at[NYTP_PL_sv_arenaroot]));
            count_keys(&counting, &now,
                       nytp_memory_u64(perl->memory, of[i].at[NYTP_PL_strtab]));
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
