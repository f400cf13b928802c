/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Names of subs and places; see names.h.
 */
#include "names.h"

#include "formats/base/arena.h"

#include <stdlib.h>

enum {
    MOST_KNOWN = 20000, /* then all is forgotten and learned anew */
    OPS_TO_FIRST = 12,  /* from a sub's start to its first statement */
    OPS_TO_ROOT = 4000, /* from a statement to the end of its sub */
    HAS_PARENTS = 26,   /* perl 5.26 and those after it */
    PAGE = 4096,
    FEW_PAGES = 8,
    BELIEVED_NS = 500000000,
};

struct nytp_remembered {
    uint64_t address, sample;
    enum nytp_named kind;
    bool is_there, may_last;
    int64_t found_ns, read_ns; /* when it was found, and last seen to be the same */
    uint32_t number, line;     /* of a sub: in `subs`; of a place: of the file's name */
    uint64_t root, next;       /* see nytp_root_of(), and op_next, with which that holds */
    unsigned root_type;
    struct nytp_watch *watch; /* cut to what it holds; NULL: look again each time */
};

bool nytp_name_cache_init(struct nytp_names *names, struct nytp_perl *perl)
{
    *names = (struct nytp_names){
        .perl = perl, .words = nytp_words_new(perl->memory), .strings = nytp_strings_new()};
    return names->strings != NULL && names->words != NULL;
}

static void forget_all(struct nytp_names *names)
{
    for (uint32_t i = 0; i < names->n_known; i++)
        free(names->known[i].watch);
    names->n_known = 0;
    nytp_table_free(&names->by_address);
}

void nytp_name_cache_free(struct nytp_names *names)
{
    forget_all(names);
    nytp_table_free(&names->sub_numbers);
    nytp_table_free(&names->evals);
    nytp_strings_free(names->strings);
    nytp_words_free(names->words);
    free(names->subs);
    free(names->known);
    free(names->pieces);
    free(names->bytes);
    free(names->asked);
    *names = (struct nytp_names){0};
}

/* ---- what things are called ---- */

/* The first statement of a sub: perl begins at CvSTART and comes to it in a few ops. */
static void add_first_statement(struct nytp_reader *reader, uint64_t op,
                                struct nytp_label *file, uint32_t *line)
{
    const struct nytp_layout *const layout = reader->layout;
    uint8_t bytes[128];
    *line = 0;
    for (int i = 0; i < OPS_TO_FIRST && op != 0; i++) {
        if (!nytp_look(reader, op, bytes, (size_t)layout->op_type + 4))
            return;
        if (nytp_is_statement(layout, nytp_op_type(layout, bytes))) {
            if (!nytp_statement_at(reader, op, file, line))
                *line = 0;
            return;
        }
        op = nytp_u64(bytes, layout->op_next);
    }
}

/* A sub or a format. */
struct code {
    uint64_t glob, stash, start;
    uint32_t flags;
};

/* Reads no more than that: its references and its depth change with each call. */
static bool look_at_code(struct nytp_reader *reader, uint64_t cv, struct code *code)
{
    const struct nytp_layout *const layout = reader->layout;
    uint32_t flags;
    const uint64_t body = nytp_look_u64(reader, cv + (uint64_t)layout->sv_any);
    if (body == 0 || cv % sizeof(uint64_t) != 0 ||
        !nytp_look(reader, cv + (uint64_t)layout->sv_flags, &flags, sizeof flags) ||
        !nytp_look(reader, body + (uint64_t)layout->cv_flags, &code->flags, sizeof code->flags))
        return false;
    const int32_t type = (int32_t)(flags & (uint32_t)layout->svf_typemask);
    code->glob = nytp_look_u64(reader, body + (uint64_t)layout->cv_gv);
    code->stash = nytp_look_u64(reader, body + (uint64_t)layout->cv_stash);
    code->start = nytp_look_u64(reader, body + (uint64_t)layout->cv_start);
    return type == layout->svt_PVCV || type == layout->svt_PVFM;
}

static bool add_sub_name(struct nytp_reader *reader, const struct code *code,
                         struct nytp_label *name)
{
    const struct nytp_layout *const layout = reader->layout;
    if (!(code->flags & (uint32_t)layout->cvf_named))
        return nytp_add_glob(reader, code->glob, name);
    /* `my sub` and many others have a name and no glob */
    if (!nytp_add_stash(reader, code->stash, name))
        nytp_label_add(name, "__ANON__", 8);
    nytp_label_add(name, "::", 2);
    return nytp_add_hek(reader, code->glob, name);
}

static bool ends_in(const struct nytp_label *name, const char *end)
{
    const size_t len = strlen(end);
    return name->len >= len && memcmp(name->text + name->len - len, end, len) == 0;
}

static uint32_t number_of(struct nytp_names *names, const struct nytp_spied_sub *sub)
{
    const struct nytp_key key = {sub->name, sub->file, sub->first_line, sub->is_xsub};
    uint32_t number = nytp_table_get(&names->sub_numbers, key);
    if (number != NYTP_TABLE_NONE)
        return number;
    number = names->n_subs;
    if (!nytp_grow(&names->subs, &names->subs_capacity, number, sizeof *names->subs) ||
        !nytp_table_put(&names->sub_numbers, key, number))
        return UINT32_MAX;
    names->subs[names->n_subs++] = *sub;
    return number;
}

static uint32_t interned(struct nytp_names *names, const struct nytp_label *label)
{
    return nytp_strings_intern_mixed(names->strings, label->text, label->len);
}

/* N of "(eval N)"; 0: the file is no string eval. */
static uint32_t eval_number(const struct nytp_label *file)
{
    uint32_t n = 0, at = 6;
    if (file->len < at || memcmp(file->text, "(eval ", at) != 0)
        return 0;
    for (; at < file->len && file->text[at] >= '0' && file->text[at] <= '9'; at++)
        n = n * 10 + (uint32_t)(file->text[at] - '0');
    return n;
}

/* A program may run string evals without end, and each has a name of its own. Behind the first
 * ones all have that of none, as where a report puts those of one statement together. */
static void fold_eval(struct nytp_names *names, struct nytp_label *file)
{
    const uint32_t n = eval_number(file);
    const struct nytp_key key = {n, 0, 0, 0};
    if (n == 0 || nytp_table_get(&names->evals, key) != NYTP_TABLE_NONE)
        return;
    if (names->n_evals < NYTP_MOST_EVALS && nytp_table_put(&names->evals, key, n)) {
        names->n_evals++;
        return;
    }
    file->len = 0;
    nytp_label_add(file, "(eval 0)", 8);
    names->folded_evals = interned(names, file);
}

/* Returns whether all bytes are the same when read again. Code that has run, such as a BEGIN
 * block, is freed while we read: its glob and its file may be another's by then. */
static bool has_stayed(const struct nytp_reader *reader)
{
    const struct nytp_watch *const watch = reader->watch;
    struct nytp_piece pieces[NYTP_WATCHED_PIECES];
    uint8_t bytes[NYTP_WATCHED_BYTES];
    for (uint16_t i = 0; i < watch->n; i++)
        pieces[i] = (struct nytp_piece){watch->pieces[i].from, bytes + watch->pieces[i].at,
                                        watch->pieces[i].len};
    return nytp_memory_scattered(reader->perl->memory, pieces, watch->n) == watch->n &&
           memcmp(bytes, watch->bytes, watch->len) == 0;
}

static bool find_sub(struct nytp_names *names, struct nytp_reader *reader,
                     struct nytp_remembered *found)
{
    const struct nytp_layout *const layout = reader->layout;
    struct nytp_label name = {.len = 0}, file = {.len = 0};
    struct nytp_spied_sub sub = {0};
    struct code code;
    if (!look_at_code(reader, found->address, &code) || !add_sub_name(reader, &code, &name))
        return false;
    sub.is_xsub = code.flags & (uint32_t)layout->cvf_isxsub;
    if (!sub.is_xsub && code.start == 0)
        return false; /* code being freed, such as a BEGIN block that has ended */
    if (!sub.is_xsub)
        add_first_statement(reader, code.start, &file, &sub.first_line);
    if (!has_stayed(reader))
        return false;
    fold_eval(names, &file);
    sub.is_anonymous = ends_in(&name, "::__ANON__") && !sub.is_xsub;
    sub.is_begin = ends_in(&name, "::BEGIN") && !sub.is_xsub;
    if ((sub.is_anonymous || sub.is_begin) && file.len == 0)
        return false; /* its statements are freed */
    if (sub.is_anonymous) {
        nytp_label_add(&name, "[", 1);
        nytp_label_add(&name, file.text, file.len);
        nytp_label_printf(&name, ":%u]", sub.first_line);
    }
    if (sub.is_begin) /* each is a sub of its own, as for those who record it */
        nytp_label_printf(&name, "@%u", sub.first_line);
    sub.name = interned(names, &name);
    sub.file = interned(names, &file);
    found->number = number_of(names, &sub);
    return found->number != UINT32_MAX;
}

static bool find_place(struct nytp_names *names, struct nytp_reader *reader,
                       struct nytp_remembered *found)
{
    struct nytp_label file = {.len = 0};
    if (!nytp_statement_at(reader, found->address, &file, &found->line) || file.len == 0 ||
        !has_stayed(reader))
        return false;
    fold_eval(names, &file);
    found->number = interned(names, &file);
    return found->number != UINT32_MAX;
}

bool nytp_is_of_eval(const struct nytp_names *names, uint32_t file)
{
    static const char begin[] = "(eval ";
    const struct nytp_name name = nytp_strings_get(names->strings, file);
    return name.len > sizeof begin - 1 && memcmp(name.ptr, begin, sizeof begin - 1) == 0;
}

static bool is_lasting_sub(const struct nytp_names *names, const struct nytp_remembered *found)
{
    const struct nytp_spied_sub *const sub = &names->subs[found->number];
    return !sub->is_begin && !sub->is_anonymous &&
           (sub->is_xsub || (sub->first_line > 0 && !nytp_is_of_eval(names, sub->file)));
}

static void is_found_now(const struct nytp_names *names, struct nytp_remembered *entry)
{
    entry->found_ns = entry->read_ns = names->now_ns;
}

bool nytp_may_be_believed(const struct nytp_names *names, int64_t found_ns, int64_t read_ns)
{
    const int64_t known_ns = read_ns - found_ns;
    return names->now_ns > 0 &&
           names->now_ns - read_ns <= (known_ns < BELIEVED_NS ? known_ns : BELIEVED_NS);
}

static bool is_believed(const struct nytp_names *names, const struct nytp_remembered *entry)
{
    return entry->may_last && entry->is_there &&
           nytp_may_be_believed(names, entry->found_ns, entry->read_ns);
}

/* A watch as long as what it holds; NULL: it cannot be kept. */
static struct nytp_watch *kept(const struct nytp_watch *watch)
{
    if (watch->overflowed || watch->n == 0)
        return NULL;
    const size_t size = offsetof(struct nytp_watch, bytes) + watch->len;
    struct nytp_watch *const copy = malloc(size);
    if (copy != NULL)
        memcpy(copy, watch, size);
    return copy;
}

static void find(struct nytp_names *names, struct nytp_remembered *found)
{
    struct nytp_watch watch = {.n = 0};
    struct nytp_reader reader = {names->perl, names->perl->layout, &watch};
    free(found->watch);
    found->is_there = found->kind == NYTP_NAMED_SUB ? find_sub(names, &reader, found)
                                                    : find_place(names, &reader, found);
    found->watch = found->is_there ? kept(&watch) : NULL;
    found->may_last = found->is_there &&
                      (found->kind == NYTP_NAMED_SUB ? is_lasting_sub(names, found)
                                                     : !nytp_is_of_eval(names, found->number));
    found->sample = names->sample;
    is_found_now(names, found);
}

/* ---- remembered ---- */

/* NULL: nothing is known of it. */
static struct nytp_remembered *known(struct nytp_names *names, uint64_t address,
                                     enum nytp_named kind)
{
    uint32_t *const recent = &names->recent[(address / 8 + kind * 7) % NYTP_RECENT];
    if (*recent < names->n_known && names->known[*recent].address == address &&
        names->known[*recent].kind == kind)
        return &names->known[*recent];
    const uint32_t at = nytp_table_get(&names->by_address, nytp_address_key(address, kind));
    if (at == NYTP_TABLE_NONE)
        return NULL;
    *recent = at;
    return &names->known[at];
}

static struct nytp_remembered *remembered(struct nytp_names *names, uint64_t address,
                                          enum nytp_named kind)
{
    struct nytp_remembered *const there = known(names, address, kind);
    if (there != NULL)
        return there;
    if (!nytp_grow(&names->known, &names->known_capacity, names->n_known,
                   sizeof *names->known) ||
        !nytp_table_put(&names->by_address, nytp_address_key(address, kind), names->n_known))
        return NULL;
    struct nytp_remembered *const entry = &names->known[names->n_known++];
    *entry = (struct nytp_remembered){.address = address, .kind = kind};
    return entry;
}

static void forget_asked(struct nytp_names *names)
{
    names->n_pieces = names->n_asked = names->n_bytes = 0;
}

void nytp_name_cache_begin(struct nytp_names *names)
{
    names->sample++;
    forget_asked(names);
    if (names->n_known > MOST_KNOWN)
        forget_all(names);
}

/* Everything that the answer was read from is to be read again. */
static bool ask(struct nytp_names *names, const struct nytp_remembered *entry)
{
    const struct nytp_watch *const watch = entry->watch;
    if (!nytp_grow(&names->asked, &names->asked_capacity, names->n_asked,
                   sizeof *names->asked) ||
        !nytp_reserve(&names->pieces, &names->pieces_capacity, names->n_pieces + watch->n,
                      sizeof *names->pieces) ||
        !nytp_reserve(&names->bytes, &names->bytes_capacity, names->n_bytes + watch->len, 1))
        return false;
    names->asked[names->n_asked++] = (uint32_t)(entry - names->known);
    for (uint16_t i = 0; i < watch->n; i++)
        names->pieces[names->n_pieces++] =
            (struct nytp_piece){watch->pieces[i].from, NULL, watch->pieces[i].len};
    names->n_bytes += watch->len;
    return true;
}

uint32_t nytp_name_cache_expect(struct nytp_names *names, uint64_t address,
                                enum nytp_named kind, bool may_last)
{
    struct nytp_remembered *const entry = remembered(names, address, kind);
    if (entry == NULL)
        return UINT32_MAX;
    const uint32_t number = (uint32_t)(entry - names->known);
    if (entry->sample == names->sample)
        return number;
    const bool is_needed = !may_last || !is_believed(names, entry);
    if (is_needed && entry->watch == NULL) {
        find(names, entry);
        return number;
    }
    entry->sample = names->sample;
    return !is_needed || ask(names, entry) ? number : UINT32_MAX;
}

bool nytp_name_cache_recall(struct nytp_names *names, uint64_t address, enum nytp_named kind,
                            bool may_last)
{
    struct nytp_remembered *const entry = known(names, address, kind);
    if (entry == NULL)
        return false;
    if (entry->watch != NULL && entry->sample != names->sample &&
        ((may_last && is_believed(names, entry)) || ask(names, entry)))
        entry->sample = names->sample;
    return entry->may_last;
}

bool nytp_is_believed(struct nytp_names *names, uint64_t address, enum nytp_named as)
{
    const struct nytp_remembered *const entry = known(names, address, as);
    return entry != NULL && is_believed(names, entry);
}

/* Where the pieces go to. */
static void lay_out(struct nytp_names *names)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < names->n_pieces; i++) {
        names->pieces[i].to = names->bytes + at;
        at += (uint32_t)names->pieces[i].len;
    }
}

/* Finds anew whatever is not as remembered. */
static void compare(struct nytp_names *names, size_t n_read)
{
    uint32_t piece = 0, at = 0;
    for (uint32_t i = 0; i < names->n_asked; i++) {
        struct nytp_remembered *const entry = &names->known[names->asked[i]];
        const struct nytp_watch *const watch = entry->watch;
        const uint16_t len = watch->len;
        piece += watch->n;
        if (piece > n_read || memcmp(names->bytes + at, watch->bytes, len) != 0)
            find(names, entry);
        else
            entry->read_ns = names->now_ns;
        at += len;
    }
    forget_asked(names);
}

void nytp_name_cache_look(struct nytp_names *names)
{
    if (names->n_asked == 0)
        return;
    lay_out(names);
    compare(names, nytp_memory_scattered(names->perl->memory, names->pieces, names->n_pieces));
}

void nytp_name_cache_look_ahead(struct nytp_names *names)
{
    lay_out(names);
    if (nytp_words_read(names->words, names->pieces, names->n_pieces))
        compare(names, names->n_pieces);
    else
        nytp_name_cache_begin(names);
}

bool nytp_sub_may_last(const struct nytp_names *names, uint32_t expected)
{
    return expected < names->n_known && names->known[expected].may_last;
}

uint32_t nytp_sub_at(const struct nytp_names *names, uint32_t expected)
{
    return expected < names->n_known && names->known[expected].is_there
               ? names->known[expected].number
               : UINT32_MAX;
}

bool nytp_place_at(const struct nytp_names *names, uint32_t expected, uint32_t *file,
                   uint32_t *line)
{
    if (expected >= names->n_known || !names->known[expected].is_there)
        return false;
    *file = names->known[expected].number;
    *line = names->known[expected].line;
    return true;
}

/* ---- which code a statement is in ---- */

/* Pages of memory: ops that follow each other mostly lie in a few. */
struct pages {
    uint64_t addresses[FEW_PAGES]; /* 0: none */
    uint8_t bytes[FEW_PAGES][PAGE], op[64];
    unsigned next; /* to make room */
};

static const uint8_t *page_at(struct nytp_memory *memory, struct pages *pages, uint64_t address)
{
    for (unsigned i = 0; i < FEW_PAGES; i++)
        if (pages->addresses[i] == address)
            return pages->bytes[i];
    const unsigned i = pages->next++ % FEW_PAGES;
    pages->addresses[i] = 0;
    if (!nytp_memory_read(memory, address, pages->bytes[i], PAGE))
        return NULL;
    pages->addresses[i] = address;
    return pages->bytes[i];
}

/* An op's beginning, up to its type; NULL: it cannot be read. */
static const uint8_t *op_in(struct nytp_names *names, struct pages *pages, uint64_t op)
{
    struct nytp_memory *const memory = names->perl->memory;
    const size_t len = (size_t)names->perl->layout->op_type + 4;
    const uint64_t at = op % PAGE;
    if (len > sizeof pages->op)
        return NULL;
    if (at + len > PAGE)
        return nytp_memory_read(memory, op, pages->op, len) ? pages->op : NULL;
    const uint8_t *const page = page_at(memory, pages, op - at);
    return page == NULL ? NULL : page + at;
}

/* The op that comes after one on the way to the root of its sub. Right behind op_next lies a
 * pointer to the next op of the same block, or from the last one to the op around them all.
 * Older perls have op_next alone, which leads past every branch and out of every loop but one
 * without end. */
static uint64_t op_after(const struct nytp_layout *layout, const uint8_t *op)
{
    return nytp_u64(op, layout->op_next + (layout->version >= HAS_PARENTS ? 8 : 0));
}

/* To the op that has none behind it, the root. */
static void find_root(struct nytp_names *names, struct nytp_remembered *found)
{
    const struct nytp_layout *const layout = names->perl->layout;
    struct pages pages;
    memset(pages.addresses, 0, sizeof pages.addresses);
    pages.next = 0;
    uint64_t op = found->address;
    for (int i = 0; i < OPS_TO_ROOT; i++) {
        const uint8_t *const bytes = op_in(names, &pages, op);
        if (bytes == NULL)
            return;
        const uint64_t next = op_after(layout, bytes);
        if (next == 0) {
            found->root = op;
            found->root_type = nytp_op_type(layout, bytes);
            return;
        }
        op = next;
    }
}

static uint64_t type_of_root(const struct nytp_names *names,
                             const struct nytp_remembered *entry)
{
    return entry->root + (uint64_t)names->perl->layout->op_type;
}

/* Code that is compiled anew in the same memory has the same statements. Its root, which was
 * another op meanwhile or is none any more, is where it was or somewhere else. */
static bool is_same_root(struct nytp_names *names, const struct nytp_remembered *entry)
{
    return entry->root == 0 ||
           (nytp_word(names->words, type_of_root(names, entry)) & 0x1ff) == entry->root_type;
}

void nytp_root_ask(struct nytp_names *names, uint64_t cop)
{
    const struct nytp_remembered *const entry = known(names, cop, NYTP_NAMED_ROOT);
    if (cop == 0 || (entry != NULL && is_believed(names, entry)))
        return;
    nytp_words_ask(names->words, cop + (uint64_t)names->perl->layout->op_next);
    if (entry != NULL && entry->root != 0)
        nytp_words_ask(names->words, type_of_root(names, entry));
}

/* The statement is of a sub in a file or of the main program, as far as that is known. */
static bool is_lasting_statement(struct nytp_names *names, const struct nytp_remembered *root)
{
    const struct nytp_layout *const layout = names->perl->layout;
    const struct nytp_remembered *const place = known(names, root->address, NYTP_NAMED_PLACE);
    return (root->root_type == (unsigned)layout->op_leavesub ||
            root->root_type == (unsigned)layout->op_leave ||
            root->root_type == (unsigned)layout->op_leavesublv) &&
           place != NULL && place->may_last;
}

uint64_t nytp_root_of(struct nytp_names *names, uint64_t cop, unsigned *type)
{
    struct nytp_remembered *const entry = remembered(names, cop, NYTP_NAMED_ROOT);
    *type = entry != NULL ? entry->root_type : 0;
    if (entry != NULL && is_believed(names, entry))
        return entry->root;
    const uint64_t next = nytp_word(names->words, cop + (uint64_t)names->perl->layout->op_next);
    if (entry == NULL || next == 0)
        return 0;
    entry->read_ns = names->now_ns;
    if (!entry->is_there || entry->next != next || !is_same_root(names, entry)) {
        *entry = (struct nytp_remembered){
            .address = cop, .kind = NYTP_NAMED_ROOT, .is_there = true, .next = next};
        find_root(names, entry);
        is_found_now(names, entry);
    }
    entry->may_last = is_lasting_statement(names, entry);
    *type = entry->root_type;
    return entry->root;
}
