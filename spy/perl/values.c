/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * perl's values from outside; see values.h.
 */
#include "values.h"

#include <stdarg.h>
#include <stdio.h>

enum {
    MAX_LINE = 50000000,
    MAX_BUCKETS = 1 << 28,
    MAX_CHAIN = 1000, /* elements of a bucket, of which perl keeps one or two; more is damage */
    MAX_BODY = 512,   /* bytes, of any kind that is read whole */
    TEXT_STEP = 64,
    PAGE = 4096,
};

void nytp_label_add(struct nytp_label *label, const char *bytes, size_t len)
{
    const size_t room = sizeof label->text - 1 - label->len;
    const size_t part = len < room ? len : room;
    memcpy(label->text + label->len, bytes, part);
    label->len += (uint32_t)part;
    label->text[label->len] = '\0';
}

void nytp_label_printf(struct nytp_label *label, const char *format, ...)
{
    char text[80];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    nytp_label_add(label, text, strlen(text));
}

static void note(struct nytp_watch *watch, uint64_t from, const void *bytes, size_t len)
{
    if (watch->n >= NYTP_WATCHED_PIECES || len > (size_t)(NYTP_WATCHED_BYTES - watch->len)) {
        watch->overflowed = true;
        return;
    }
    watch->pieces[watch->n].from = from;
    watch->pieces[watch->n].at = watch->len;
    watch->pieces[watch->n++].len = (uint16_t)len;
    memcpy(watch->bytes + watch->len, bytes, len);
    watch->len = (uint16_t)(watch->len + len);
}

bool nytp_look(struct nytp_reader *reader, uint64_t from, void *to, size_t len)
{
    if (!nytp_memory_read(reader->perl->memory, from, to, len))
        return false;
    if (reader->watch != NULL)
        note(reader->watch, from, to, len);
    return true;
}

uint64_t nytp_look_u64(struct nytp_reader *reader, uint64_t from)
{
    uint64_t value;
    return nytp_look(reader, from, &value, sizeof value) ? value : 0;
}

struct nytp_value nytp_value_of(const struct nytp_layout *layout, const uint8_t *head,
                                uint64_t address)
{
    const uint32_t flags = nytp_u32(head, layout->sv_flags);
    return (struct nytp_value){
        .address = address,
        .body = nytp_u64(head, layout->sv_any),
        .u = nytp_u64(head, layout->sv_u),
        .flags = flags,
        .type = (int32_t)(flags & (uint32_t)layout->svf_typemask),
    };
}

/* All but its references: each object counts for its package. */
static void note_head(struct nytp_reader *reader, uint64_t address, const uint8_t *head)
{
    const size_t end = (size_t)reader->layout->sv_refcnt;
    const size_t behind = end + sizeof(uint32_t);
    note(reader->watch, address, head, end);
    note(reader->watch, address + behind, head + behind,
         (size_t)reader->layout->sv_size - behind);
}

bool nytp_value_at(struct nytp_reader *reader, uint64_t address, struct nytp_value *value)
{
    uint8_t head[MAX_BODY];
    if (address % sizeof(uint64_t) != 0 ||
        !nytp_memory_read(reader->perl->memory, address, head, (size_t)reader->layout->sv_size))
        return false;
    if (reader->watch != NULL)
        note_head(reader, address, head);
    *value = nytp_value_of(reader->layout, head, address);
    return true;
}

bool nytp_add_hek(struct nytp_reader *reader, uint64_t hek, struct nytp_label *to)
{
    char key[NYTP_LONGEST_NAME];
    uint32_t len;
    if (hek == 0 ||
        !nytp_look(reader, hek + (uint64_t)reader->layout->hek_len, &len, sizeof len) ||
        len > INT32_MAX)
        return false;
    len = len < sizeof key ? len : sizeof key;
    if (len > 0 && !nytp_look(reader, hek + (uint64_t)reader->layout->hek_key, key, len))
        return false;
    nytp_label_add(to, key, len);
    return true;
}

bool nytp_add_text(struct nytp_reader *reader, uint64_t from, struct nytp_label *to)
{
    char part[TEXT_STEP];
    const uint32_t before = to->len;
    while (from != 0 && to->len - before < NYTP_LONGEST_NAME - 1) {
        const size_t in_page = PAGE - from % PAGE;
        const size_t len = in_page < sizeof part ? in_page : sizeof part;
        if (!nytp_memory_read(reader->perl->memory, from, part, len))
            return false;
        const char *const end = memchr(part, '\0', len);
        if (reader->watch != NULL) /* the next bytes may change: another value's */
            note(reader->watch, from, part, end == NULL ? len : (size_t)(end - part) + 1);
        nytp_label_add(to, part, end == NULL ? len : (size_t)(end - part));
        if (end != NULL || to->len == sizeof to->text - 1)
            return true;
        from += len;
    }
    return from != 0;
}

/* Where the second part of a hash's body is; 0: it has none. */
static uint64_t aux_of(struct nytp_reader *reader, const struct nytp_value *hash)
{
    const struct nytp_layout *const layout = reader->layout;
    if (!(hash->flags & (uint32_t)layout->hv_has_aux))
        return 0;
    if (layout->hv_aux_in_body >= 0)
        return hash->body + (uint64_t)layout->hv_aux_in_body;
    const uint64_t max = nytp_look_u64(reader, hash->body + (uint64_t)layout->hv_max);
    return hash->u == 0 || max > MAX_BUCKETS ? 0 : hash->u + (max + 1) * sizeof(uint64_t);
}

bool nytp_add_stash(struct nytp_reader *reader, uint64_t stash, struct nytp_label *to)
{
    struct nytp_value hash;
    const struct nytp_layout *const layout = reader->layout;
    if (stash == 0 || !nytp_value_at(reader, stash, &hash) || hash.type != layout->svt_PVHV)
        return false;
    const uint64_t aux = aux_of(reader, &hash);
    uint32_t n_names;
    if (aux == 0 ||
        !nytp_look(reader, aux + (uint64_t)layout->aux_name_count, &n_names, sizeof n_names))
        return false;
    uint64_t name = nytp_look_u64(reader, aux + (uint64_t)layout->aux_name);
    if (n_names != 0) /* of several names the first is in use */
        name = nytp_look_u64(reader, name);
    return nytp_add_hek(reader, name, to);
}

bool nytp_add_glob(struct nytp_reader *reader, uint64_t glob, struct nytp_label *to)
{
    struct nytp_value head;
    const struct nytp_layout *const layout = reader->layout;
    if (glob == 0 || !nytp_value_at(reader, glob, &head) || head.type != layout->svt_PVGV)
        return false;
    const uint64_t stash = nytp_look_u64(reader, head.body + (uint64_t)layout->gv_stash);
    const uint64_t name = nytp_look_u64(reader, head.body + (uint64_t)layout->gv_namehek);
    if (!nytp_add_stash(reader, stash, to))
        nytp_label_add(to, "__ANON__", 8); /* the package is gone */
    nytp_label_add(to, "::", 2);
    return nytp_add_hek(reader, name, to);
}

bool nytp_is_statement(const struct nytp_layout *layout, unsigned op_type)
{
    return op_type == (unsigned)layout->op_nextstate || op_type == (unsigned)layout->op_dbstate;
}

unsigned nytp_op_type(const struct nytp_layout *layout, const uint8_t *op)
{
    uint16_t bits;
    memcpy(&bits, op + layout->op_type, sizeof bits);
    return bits & 0x1ff;
}

/* The glob of a file is named "_<" and the file's name. */
static bool add_file(struct nytp_reader *reader, uint64_t file, struct nytp_label *to)
{
    struct nytp_value glob;
    struct nytp_label name = {.len = 0};
    if (!reader->layout->cop_file_is_gv)
        return nytp_add_text(reader, file, to);
    if (file == 0 || !nytp_value_at(reader, file, &glob) ||
        glob.type != reader->layout->svt_PVGV ||
        !nytp_add_hek(reader,
                      nytp_look_u64(reader, glob.body + (uint64_t)reader->layout->gv_namehek),
                      &name))
        return false;
    const uint32_t skip = name.len >= 2 && memcmp(name.text, "_<", 2) == 0 ? 2 : 0;
    nytp_label_add(to, name.text + skip, name.len - skip);
    return true;
}

/* The first statement of a code block in a regular expression is no op that runs, and is where
 * the program is yet: perl keeps the type that it had in op_targ, right before op_type. */
static bool was_statement(const struct nytp_layout *layout, const uint8_t *op)
{
    const uint64_t targ = nytp_u64(op, layout->op_type - (int32_t)sizeof(uint64_t));
    return nytp_op_type(layout, op) == 0 && targ < (uint64_t)layout->op_max &&
           nytp_is_statement(layout, (unsigned)targ);
}

bool nytp_is_compiling(const struct nytp_perl *perl, uint64_t cop)
{
    for (uint32_t i = 0; i < perl->n_interpreters; i++)
        if (perl->interpreters[i].at[NYTP_PL_compiling] == cop)
            return true;
    return false;
}

bool nytp_statement_at(struct nytp_reader *reader, uint64_t cop, struct nytp_label *file,
                       uint32_t *line)
{
    uint8_t bytes[MAX_BODY];
    const struct nytp_layout *const layout = reader->layout;
    if (cop == 0 || cop % sizeof(uint64_t) != 0 ||
        !nytp_memory_read(reader->perl->memory, cop, bytes, (size_t)layout->cop_size))
        return false;
    const unsigned type = nytp_op_type(layout, bytes);
    const bool is_statement = nytp_is_statement(layout, type) || was_statement(layout, bytes);
    *line = nytp_u32(bytes, layout->cop_line);
    if (!is_statement && (type != 0 || !nytp_is_compiling(reader->perl, cop)))
        return false;
    if (reader->watch != NULL && is_statement)
        note(reader->watch, cop, bytes, (size_t)layout->cop_size);
    else if (reader->watch != NULL)
        reader->watch->overflowed = true; /* the line goes on with what is compiled */
    return *line <= MAX_LINE && add_file(reader, nytp_u64(bytes, layout->cop_file), file);
}

bool nytp_elements_begin(struct nytp_elements *elements, struct nytp_reader *reader,
                         uint64_t hash)
{
    struct nytp_value value;
    *elements = (struct nytp_elements){.reader = reader};
    if (!nytp_value_at(reader, hash, &value) || value.type != reader->layout->svt_PVHV)
        return false;
    const uint64_t max = nytp_look_u64(reader, value.body + (uint64_t)reader->layout->hv_max);
    if (max > MAX_BUCKETS)
        return false;
    elements->array = value.u;
    elements->n_buckets = value.u == 0 ? 0 : max + 1;
    return true;
}

/* The first element of the next bucket that has one. */
static bool next_chain(struct nytp_elements *elements)
{
    elements->next = 0;
    elements->in_chain = 0;
    while (elements->next == 0) {
        const uint64_t at = elements->array + elements->bucket * sizeof(uint64_t);
        if (elements->bucket++ >= elements->n_buckets ||
            !nytp_look(elements->reader, at, &elements->next, sizeof elements->next))
            return false;
    }
    return true;
}

/* An element that cannot be read was freed meanwhile; then the next bucket's follows. */
bool nytp_elements_next(struct nytp_elements *elements, uint64_t *hek, uint64_t *value)
{
    const struct nytp_layout *const layout = elements->reader->layout;
    uint8_t element[64];
    if (elements->next == 0 && !next_chain(elements))
        return false;
    while (!nytp_look(elements->reader, elements->next, element, (size_t)layout->he_size))
        if (!next_chain(elements))
            return false;
    if (elements->in_chain++ >= MAX_CHAIN)
        return false;
    *hek = nytp_u64(element, layout->he_hek);
    *value = nytp_u64(element, layout->he_val);
    elements->next = nytp_u64(element, 0); /* hent_next is the first member */
    return true;
}
