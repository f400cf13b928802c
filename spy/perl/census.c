/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Counts an interpreter's values; see census.h. Relies on sv.c: all heads lie in arenas, whose
 * first head tells their length and where the next arena is.
 *
 * Arenas are neighbours, so large pieces of memory are read around one. Bodies are read many at
 * a time, only their first bytes.
 */
#include "census.h"

#include "formats/base/arena.h"

#include <stdlib.h>

enum {
    WINDOW = 1 << 20,
    MAX_ARENAS = 1 << 24,
    MAX_SLOTS = 1 << 16,
    HEAD_BYTES = 64,
    BODY_BYTES = 48, /* stash, magic, cur or fill, len or max, the first word behind */
    BATCH = NYTP_MAX_PIECES,
    MAX_BUFFER = 1 << 30, /* elements or bytes of one value; more is damage */
    MAGIC_BYTES = 48,
};

struct pending { /* a value whose body is to be read */
    struct nytp_value value;
    uint8_t body[BODY_BYTES];
};

struct counting {
    struct nytp_census *census;
    struct nytp_reader reader;
    uint8_t *window;
    uint64_t window_at, window_len;
    struct pending *pending;
    uint32_t n_pending;
    struct nytp_table stashes; /* address -> class */
    nytp_census_progress_fn *progress;
    bool failed;
};

/* What the types are called, and how long their bodies are. */
static const char *word_of(const struct nytp_layout *layout, const struct nytp_value *value,
                           uint32_t *body)
{
#define TYPE(name, word)                                                                       \
    if (value->type == layout->svt_##name) {                                                   \
        *body = (uint32_t)layout->body_##name;                                                 \
        return word;                                                                           \
    }
    const bool is_reference = value->flags & (uint32_t)layout->svf_rok;
    TYPE(IV, is_reference ? "reference" : "integer")
    TYPE(NV, "number")
    TYPE(PV, "string")
    TYPE(INVLIST, "inversion list")
    TYPE(PVIV, is_reference ? "reference" : "string")
    TYPE(PVNV, "string")
    TYPE(PVMG, is_reference ? "reference" : "scalar")
    TYPE(REGEXP, "regexp")
    TYPE(PVGV, "glob")
    TYPE(PVLV, "lvalue")
    TYPE(PVAV, "array")
    TYPE(PVHV, "hash")
    TYPE(PVCV, "code")
    TYPE(PVFM, "format")
    TYPE(PVIO, "handle")
    TYPE(PVOBJ, "object")
#undef TYPE
    *body = 0;
    return "empty"; /* SVt_NULL: undef */
}

static struct nytp_census_row *row_of(struct counting *counting, const char *type,
                                      uint32_t class)
{
    struct nytp_census *const census = counting->census;
    const uint64_t address = (uint64_t)(uintptr_t)type;
    const struct nytp_key key = {(uint32_t)address, (uint32_t)(address >> 32), class, 0};
    const uint32_t at = nytp_table_get(&census->by_kind, key);
    if (at != NYTP_TABLE_NONE)
        return &census->rows[at];
    if (!nytp_grow(&census->rows, &census->capacity, census->n_rows, sizeof *census->rows) ||
        !nytp_table_put(&census->by_kind, key, census->n_rows)) {
        counting->failed = true;
        return NULL;
    }
    census->rows[census->n_rows] = (struct nytp_census_row){.type = type, .class = class};
    return &census->rows[census->n_rows++];
}

static uint32_t class_of(struct counting *counting, uint64_t stash)
{
    struct nytp_label name = {.len = 0};
    const struct nytp_key key = {(uint32_t)stash, (uint32_t)(stash >> 32), 0, 0};
    uint32_t class = nytp_table_get(&counting->stashes, key);
    if (class != NYTP_TABLE_NONE)
        return class;
    if (!nytp_add_stash(&counting->reader, stash, &name))
        nytp_label_add(&name, "(unknown)", 9);
    class = nytp_strings_intern_mixed(counting->census->strings, name.text, name.len);
    if (!nytp_table_put(&counting->stashes, key, class))
        counting->failed = true;
    return class;
}

static uint64_t capped(uint64_t n)
{
    return n > MAX_BUFFER ? 0 : n;
}

/* The buffer of a string. Several may share one, whose last byte counts the others. */
static uint64_t string_buffer(struct counting *counting, const struct pending *pending)
{
    const struct nytp_value *const value = &pending->value;
    const struct nytp_layout *const layout = counting->reader.layout;
    const uint64_t len = capped(nytp_u64(pending->body, layout->pv_len));
    uint8_t others = 0;
    if (value->flags & (uint32_t)layout->svf_rok)
        return 0;
    if (len > 0 && (value->flags & (uint32_t)layout->svf_iscow) &&
        nytp_look(&counting->reader, value->u + len - 1, &others, 1))
        return len / (others + 1u);
    return len;
}

/* What a value has beside head and body. */
static uint64_t buffer_of(struct counting *counting, const struct pending *pending)
{
    const struct nytp_layout *const layout = counting->reader.layout;
    const struct nytp_value *const value = &pending->value;
    const uint8_t *const body = pending->body;
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
        return string_buffer(counting, pending);
    return 0;
}

static void add(struct counting *counting, const struct pending *pending, bool has_body)
{
    const struct nytp_layout *const layout = counting->reader.layout;
    const struct nytp_value *const value = &pending->value;
    uint32_t body;
    const char *const type = word_of(layout, value, &body);
    const bool has_magic = value->type >= layout->svt_PVMG;
    const bool is_object =
        has_body && has_magic && (value->flags & (uint32_t)layout->svs_object);
    uint64_t bytes = (uint64_t)layout->sv_size + body;
    if (has_body)
        bytes += buffer_of(counting, pending);
    if (has_body && value->type == layout->svt_PVMG &&
        nytp_u64(pending->body, layout->body_magic))
        bytes += MAGIC_BYTES;
    struct nytp_census_row *const row =
        row_of(counting, type,
               is_object ? class_of(counting, nytp_u64(pending->body, layout->body_stash)) : 0);
    if (row == NULL)
        return;
    row->n++;
    row->bytes += bytes;
    if (is_object)
        row->example = value->address;
    counting->census->n++;
    counting->census->bytes += bytes;
}

/* Bodies of plain strings begin behind stash and magic, which they do not have. */
static uint32_t body_skip(const struct nytp_layout *layout, const struct nytp_value *value)
{
    return value->type < layout->svt_PVMG ? (uint32_t)layout->pv_cur : 0;
}

static void read_bodies(struct counting *counting)
{
    struct nytp_piece pieces[BATCH];
    const struct nytp_layout *const layout = counting->reader.layout;
    for (uint32_t i = 0; i < counting->n_pending; i++) {
        struct pending *const pending = &counting->pending[i];
        const uint32_t skip = body_skip(layout, &pending->value);
        pieces[i] =
            (struct nytp_piece){pending->value.body + skip, pending->body + skip, 32 - skip};
    }
    uint32_t done = 0;
    while (done < counting->n_pending) {
        const size_t n = nytp_memory_pieces(counting->reader.perl->memory, pieces + done,
                                            counting->n_pending - done);
        for (size_t i = 0; i < n; i++)
            add(counting, &counting->pending[done + i], true);
        done += (uint32_t)n;
        if (done < counting->n_pending) { /* freed meanwhile */
            counting->census->n_torn++;
            done++;
        }
    }
    counting->n_pending = 0;
}

static void take_head(struct counting *counting, const uint8_t *head, uint64_t address)
{
    const struct nytp_layout *const layout = counting->reader.layout;
    const struct nytp_value value = nytp_value_of(layout, head, address);
    if (value.type == layout->svf_typemask) /* it is free */
        return;
    struct pending *const pending = &counting->pending[counting->n_pending];
    *pending = (struct pending){.value = value};
    if (value.type < layout->svt_PV || value.body == 0) {
        add(counting, pending, false);
        return;
    }
    if (++counting->n_pending == BATCH)
        read_bodies(counting);
}

/* The memory from `at` on, at least `len` bytes of it; NULL: it cannot be read. */
static const uint8_t *window_at(struct counting *counting, uint64_t at, uint64_t len)
{
    struct nytp_memory *const memory = counting->reader.perl->memory;
    const uint64_t starts[] = {at, at + len > WINDOW ? at + len - WINDOW : at, at};
    const uint64_t lens[] = {WINDOW, WINDOW, len};
    if (at >= counting->window_at && at - counting->window_at <= counting->window_len &&
        counting->window_len - (at - counting->window_at) >= len)
        return counting->window + (at - counting->window_at);
    for (int i = 0; i < 3; i++) {
        if (!nytp_memory_read(memory, starts[i], counting->window, lens[i]))
            continue;
        counting->window_at = starts[i];
        counting->window_len = lens[i];
        return counting->window + (at - starts[i]);
    }
    counting->window_len = 0;
    return NULL;
}

static void count_arenas(struct counting *counting, uint64_t arena)
{
    const struct nytp_layout *const layout = counting->reader.layout;
    const uint64_t size = (uint64_t)layout->sv_size;
    for (int n = 0; arena != 0 && n < MAX_ARENAS && !counting->failed; n++) {
        const uint8_t *const first = window_at(counting, arena, size);
        if (first == NULL)
            return;
        const uint64_t slots = nytp_u32(first, layout->sv_refcnt);
        const uint64_t next = nytp_u64(first, layout->sv_any);
        const uint8_t *const heads =
            slots < 2 || slots > MAX_SLOTS ? NULL : window_at(counting, arena, slots * size);
        if (heads == NULL)
            return;
        for (uint64_t i = 1; i < slots; i++)
            take_head(counting, heads + i * size, arena + i * size);
        counting->census->n_arenas++;
        if (counting->progress != NULL && n % 1024 == 0)
            counting->progress(counting->census->n);
        arena = next;
    }
    read_bodies(counting);
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
        const uint64_t at = nytp_look_u64(reader, table.u + i * 8);
        if (at == 0 || !nytp_look(reader, at, element, (size_t)layout->he_size) ||
            !nytp_look(reader, nytp_u64(element, layout->he_hek) + (uint64_t)layout->hek_len,
                       &len, sizeof len))
            continue;
        looked++;
        length += len;
    }
    const uint64_t fixed = (uint64_t)layout->he_size + (uint64_t)layout->hek_key + 2;
    counting->census->n_keys = n;
    counting->census->key_bytes = n * fixed + (looked == 0 ? 0 : n * length / looked) + max * 8;
}

bool nytp_census_take(struct nytp_census *census, struct nytp_perl *perl,
                      const struct nytp_interpreter *of, nytp_census_progress_fn *progress,
                      struct nytp_error *error)
{
    struct counting counting = {.census = census,
                                .reader = {.perl = perl, .layout = perl->layout},
                                .window = malloc(WINDOW),
                                .pending = calloc(BATCH, sizeof *counting.pending),
                                .progress = progress};
    *census = (struct nytp_census){.strings = nytp_strings_new()};
    counting.failed =
        counting.window == NULL || counting.pending == NULL || census->strings == NULL;
    if (!counting.failed) {
        census->count_before = (int64_t)nytp_memory_u64(perl->memory, of->at[NYTP_PL_sv_count]);
        count_arenas(&counting, nytp_memory_u64(perl->memory, of->at[NYTP_PL_sv_arenaroot]));
        count_keys(&counting, nytp_memory_u64(perl->memory, of->at[NYTP_PL_strtab]));
        census->count_after = (int64_t)nytp_memory_u64(perl->memory, of->at[NYTP_PL_sv_count]);
    }
    free(counting.window);
    free(counting.pending);
    nytp_table_free(&counting.stashes);
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
