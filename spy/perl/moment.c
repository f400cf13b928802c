/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A look as a reading; see moment.h, and pp_hot.c of perl for entersub.
 */
#include "moment.h"

#include "values.h"

#include "formats/base/arena.h"

enum {
    NEAR = 3,                 /* calls that were there all the time, whose pads are looked at */
    FURTHER = 512,            /* and of those above, where calls come and go that fast */
    MOST_DOUBTFUL = 64,       /* contexts: bits of a number */
    ROUNDS = 6,               /* of reading, on the way to pads: one if nothing was moved */
    MOST_CHILDREN = 64,       /* of a call, that are gone through */
    OP_GV = 7,                /* in every perl, as OP_NULL is 0 */
    OP_HAS_SIBLING = 1 << 14, /* behind the type: op_moresib */
};

struct nytp_contexts nytp_contexts_of(const struct nytp_walker *walker, uint32_t info)
{
    const struct nytp_stack_info *const from = &walker->look.infos[info];
    return (struct nytp_contexts){walker->names->perl->layout, walker->look.bytes + from->at,
                                  from->top + 1, from->address};
}

/* ---- two readings ---- */

static struct nytp_contexts reading_of(const struct nytp_walker *walker, uint32_t info,
                                       bool is_first)
{
    struct nytp_contexts contexts = nytp_contexts_of(walker, info);
    contexts.bytes = nytp_look_reading(&walker->look, info, is_first, 0);
    return contexts;
}

static int32_t end_of_same(const struct nytp_walker *walker, uint32_t info, int32_t n)
{
    const struct nytp_contexts first = reading_of(walker, info, true);
    const struct nytp_contexts second = reading_of(walker, info, false);
    int32_t i = (int32_t)walker->look.infos[info].n_deep;
    while (i < n && nytp_context_is_same(&first, &second, i))
        i++;
    return i;
}

int32_t nytp_end_of_both(const struct nytp_walker *walker)
{
    const struct nytp_stack_info *const info = &walker->look.infos[0];
    return end_of_same(walker, 0, nytp_lower(info->low_first, info->low_second) + 1);
}

bool nytp_are_same_below(const struct nytp_walker *walker)
{
    for (uint32_t i = 1; i < walker->look.n_infos; i++) {
        const int32_t n = nytp_contexts_of(walker, i).n;
        if (end_of_same(walker, i, n) < n)
            return false;
    }
    return true;
}

/* Notes the contexts whose calls are doubtful. */
static void note_doubtful(struct nytp_walker *walker, int32_t lasting)
{
    const struct nytp_stack_info *const info = &walker->look.infos[0];
    const struct nytp_contexts first = reading_of(walker, 0, true);
    const struct nytp_contexts second = reading_of(walker, 0, false);
    const int32_t end =
        nytp_lower(nytp_lower(info->low_first, info->low_second) + 1, lasting + MOST_DOUBTFUL);
    struct nytp_call a, b;
    walker->doubtful = 0;
    walker->doubtful_from = lasting;
    for (int32_t i = lasting; i < end; i++)
        if (nytp_context_call(&first, i, &a) && nytp_context_call(&second, i, &b) &&
            nytp_is_doubtful(&a, &b))
            walker->doubtful |= UINT64_C(1) << (i - lasting);
}

static bool is_doubtful(const struct nytp_walker *walker, int32_t i)
{
    const int32_t bit = i - walker->doubtful_from;
    return bit >= 0 && bit < MOST_DOUBTFUL && (walker->doubtful >> bit & 1) != 0;
}

/* The first reading is the nearer one to the variables; of a deep stack the second goes
 * further. What the first shows is taken as if it was read the second time. Returns its end. */
static int32_t take_nearest(struct nytp_walker *walker)
{
    const struct nytp_stack_info *const info = &walker->look.infos[0];
    const uint32_t end = (uint32_t)(info->low_first + 1);
    if (end >= info->n_first && info->low_first < info->low_second)
        return info->low_second + 1;
    memcpy(nytp_look_reading(&walker->look, 0, false, info->n_deep),
           nytp_look_reading(&walker->look, 0, true, info->n_deep),
           (end - info->n_deep) * (size_t)walker->names->perl->layout->cx_size);
    return (int32_t)end;
}

/* ---- calls ---- */

static bool add_calls(struct nytp_walker *walker, uint32_t info, int32_t end, int32_t lasting)
{
    struct nytp_contexts contexts = nytp_contexts_of(walker, info);
    struct nytp_reading *const reading = &walker->reading;
    contexts.n = end;
    for (int32_t i = 0; i < end; i++) {
        uint32_t *const n = &reading->calls.n_upper;
        if (!nytp_grow(&walker->calls, &walker->calls_capacity, *n, sizeof *walker->calls))
            return false;
        if (!nytp_context_call(&contexts, i, &walker->calls[*n]))
            continue;
        walker->calls[*n].is_doubtful = info == 0 && is_doubtful(walker, i);
        ++*n;
        reading->n_lasting = i < lasting ? *n : reading->n_lasting;
    }
    return true;
}

bool nytp_moment_calls(struct nytp_walker *walker, int32_t end, int32_t lasting)
{
    struct nytp_reading *const reading = &walker->reading;
    bool ok = true;
    reading->calls.n_upper = reading->n_lasting = reading->n_far = 0;
    for (uint32_t i = walker->look.n_infos; ok && i-- > 1;) {
        const int32_t n = nytp_contexts_of(walker, i).n;
        ok = add_calls(walker, i, n, n);
    }
    ok = ok && add_calls(walker, 0, end, lasting);
    reading->calls.upper = walker->calls;
    reading->stack = walker->look.infos[0].address;
    reading->top = walker->look.infos[0].top;
    return ok;
}

/* ---- pads ---- */

/* The pad of a call, along its pointers as far as this look has read them; asks for the next
 * one where it has not. With `is_guess` as they were when they were last read, asking for all.
 */
static bool follow_to_pad(struct nytp_walker *walker, struct nytp_call *call, bool is_guess)
{
    const struct nytp_layout *const layout = walker->names->perl->layout;
    struct nytp_words *const words = walker->names->words;
    const uint64_t way[] = {
        (uint64_t)layout->sv_any, (uint64_t)layout->cv_padlist, (uint64_t)layout->padlist_array,
        (uint64_t)(uint32_t)call->depth * sizeof(uint64_t), (uint64_t)layout->sv_u};
    uint64_t at = call->code;
    for (size_t step = 0; step < sizeof way / sizeof *way && at != 0; step++) {
        const uint64_t address = at + way[step];
        call->list = at;
        if (is_guess || !nytp_words_has(words, address, &at)) {
            nytp_words_ask(words, address);
            if (!is_guess)
                return false;
            at = nytp_word_guess(words, address);
        }
        if (is_guess && step == 0 && at != 0)
            nytp_words_ask(words, at + (uint64_t)layout->cv_root);
    }
    call->pad = at;
    call->list = at == 0 ? 0 : call->list;
    return true;
}

static uint64_t read_root(struct nytp_walker *walker, uint64_t cv)
{
    const struct nytp_layout *const layout = walker->names->perl->layout;
    struct nytp_words *const words = walker->names->words;
    const uint64_t body = nytp_word(words, cv + (uint64_t)layout->sv_any);
    return nytp_word(words, body + (uint64_t)layout->cv_root);
}

static struct nytp_known_pad *known_pad(struct nytp_walker *walker,
                                        const struct nytp_call *call)
{
    const uint64_t hash =
        (call->code + (uint64_t)(uint32_t)call->depth) * UINT64_C(0x9e3779b97f4a7c15);
    return &walker->pads[(hash >> 40) % NYTP_KNOWN_PADS];
}

/* Returns whether the pad is known and believed unchanged. */
static bool is_known_pad(const struct nytp_walker *walker, const struct nytp_known_pad *known,
                         const struct nytp_call *call)
{
    return call->code != 0 && known->code == call->code && known->depth == call->depth &&
           nytp_is_believed(walker->names, call->code, NYTP_NAMED_SUB);
}

static uint64_t root_of_code(struct nytp_walker *walker, const struct nytp_call *call)
{
    const struct nytp_known_pad *const known = known_pad(walker, call);
    return is_known_pad(walker, known, call) ? known->root : read_root(walker, call->code);
}

/* Takes the pad that the call had the last time, if that is believed. */
static bool recall_pad(struct nytp_walker *walker, struct nytp_call *call)
{
    const struct nytp_known_pad *const known = known_pad(walker, call);
    if (!is_known_pad(walker, known, call))
        return false;
    call->list = known->list;
    call->pad = known->pad;
    return true;
}

/* Finds the pads of calls, all at once and with all names that were recalled; 0 where there is
 * nothing to read. Changes the order of the list. */
static void find_pads(struct nytp_walker *walker, struct nytp_call **calls, size_t n)
{
    bool is_done = false;
    size_t n_unknown = 0;
    for (size_t i = 0; i < n; i++)
        if (!recall_pad(walker, calls[i]))
            calls[n_unknown++] = calls[i];
    for (size_t i = 0; i < n_unknown; i++)
        follow_to_pad(walker, calls[i], true);
    for (int round = 0; round < ROUNDS && !is_done; round++) {
        nytp_name_cache_look_ahead(walker->names);
        is_done = true;
        for (size_t i = 0; i < n_unknown; i++)
            is_done &= follow_to_pad(walker, calls[i], false);
    }
    for (size_t i = 0; i < n_unknown; i++) {
        if (!follow_to_pad(walker, calls[i], false))
            calls[i]->list = calls[i]->pad = 0;
        else
            *known_pad(walker, calls[i]) =
                (struct nytp_known_pad){calls[i]->code, read_root(walker, calls[i]->code),
                                        calls[i]->list, calls[i]->pad, calls[i]->depth};
    }
}

/* Reads the names that this stack will need. A deep one has too many to be worth it. */
static void recall_names(struct nytp_walker *walker, const struct nytp_spied_moment *wanted)
{
    const struct nytp_reading *const reading = &walker->reading;
    for (uint32_t i = 0; i < reading->calls.n_upper; i++)
        if (nytp_is_checked(walker, i))
            nytp_root_ask(walker->names, walker->calls[i].site);
    if (nytp_look_is_deep(&walker->look))
        return;
    nytp_name_cache_recall(walker->names, wanted->curcop, NYTP_NAMED_PLACE,
                           nytp_is_believed(walker->names, wanted->curcop, NYTP_NAMED_ROOT));
    bool may_last = true;
    for (uint32_t i = 0; i < reading->calls.n_upper; i++) {
        const struct nytp_call *const call = &walker->calls[i];
        nytp_name_cache_recall(walker->names, call->site, NYTP_NAMED_PLACE, may_last);
        may_last = nytp_name_cache_recall(walker->names, call->code, NYTP_NAMED_SUB, true) &&
                   call->kind == NYTP_FRAME_SUB;
    }
}

static uint64_t word_with_line(const struct nytp_walker *walker, uint64_t statement)
{
    return statement == 0 ? 0 : statement + (uint64_t)walker->names->perl->layout->cop_line;
}

/* Finds the pads of the innermost calls, down to NEAR of those that were there all the time, of
 * the main program if it is next, and of the call believed to have the pad. */
static void find_near_pads(struct nytp_walker *walker, const struct nytp_spied_moment *wanted)
{
    struct nytp_reading *const reading = &walker->reading;
    struct nytp_call main = {.code = walker->look.main_cv, .depth = 1}, guess = {0};
    struct nytp_call *near[FURTHER + 2];
    const uint32_t n = reading->calls.n_upper;
    const uint32_t lowest = reading->n_lasting > NEAR ? reading->n_lasting - NEAR : 0;
    const struct nytp_seen_call *const seen =
        nytp_seen_with(walker->memory, wanted->curpad, reading->stack);
    size_t n_near = 0;
    reading->n_far = n > FURTHER && n - FURTHER > lowest ? n - FURTHER : lowest;
    for (uint32_t i = n; i-- > reading->n_far;) {
        near[n_near++] = &walker->calls[i];
        nytp_root_ask(walker->names, walker->calls[i].site);
        if (i > 0 && nytp_is_eval(&walker->calls[i - 1]))
            nytp_words_ask(walker->names->words, word_with_line(walker, walker->calls[i].site));
    }
    if (reading->n_far == 0)
        near[n_near++] = &main;
    if (seen != NULL) {
        guess = (struct nytp_call){.code = seen->call.code, .depth = seen->call.depth};
        near[n_near++] = &guess;
    }
    find_pads(walker, near, n_near);
    reading->main_pad = main.pad;
    reading->main_list = main.list;
}

bool nytp_moment_nearest(struct nytp_walker *walker, int32_t lasting,
                         const struct nytp_spied_moment *wanted)
{
    note_doubtful(walker, lasting);
    if (!nytp_moment_calls(walker, take_nearest(walker), lasting))
        return false;
    nytp_root_ask(walker->names, wanted->curcop);
    recall_names(walker, wanted);
    find_near_pads(walker, wanted);
    return true;
}

/* ---- answers ---- */

static bool is_sub(const struct nytp_layout *layout, unsigned root_type)
{
    return root_type == (unsigned)layout->op_leavesub ||
           root_type == (unsigned)layout->op_leavesublv;
}

bool nytp_is_in_some_sub(struct nytp_walker *walker, uint64_t statement)
{
    unsigned type = 0;
    return nytp_root_of(walker->names, statement, &type) != 0 &&
           is_sub(walker->names->perl->layout, type);
}

bool nytp_may_be_in(struct nytp_walker *walker, uint64_t statement,
                    const struct nytp_call *call, bool otherwise)
{
    const struct nytp_layout *const layout = walker->names->perl->layout;
    const enum nytp_frame_kind kind = call == NULL ? NYTP_FRAME_MAIN : call->kind;
    unsigned type = 0;
    const uint64_t root = nytp_root_of(walker->names, statement, &type);
    if (root != 0 && is_sub(layout, type))
        return kind == NYTP_FRAME_SUB && root_of_code(walker, call) == root;
    if (root != 0 && type == (unsigned)layout->op_leave)
        return kind == NYTP_FRAME_MAIN;
    if (root != 0 && type == (unsigned)layout->op_leaveeval)
        return kind == NYTP_FRAME_EVAL || kind == NYTP_FRAME_REQUIRE;
    if (root != 0 && type == (unsigned)layout->op_leavewrite)
        return kind == NYTP_FRAME_FORMAT;
    return otherwise;
}

static bool is_in(const struct nytp_reading *reading, uint64_t statement,
                  const struct nytp_call *call, bool otherwise)
{
    return nytp_may_be_in(reading->perl, statement, call, otherwise);
}

static bool has_pad(const struct nytp_reading *reading, const struct nytp_call *call)
{
    struct nytp_call now = *call, *calls[] = {&now};
    if (!recall_pad(reading->perl, &now))
        find_pads(reading->perl, calls, 1);
    return now.pad == call->pad;
}

static uint64_t site_at(const struct nytp_reading *reading, int32_t place)
{
    const struct nytp_walker *const walker = reading->perl;
    const struct nytp_look *const look = &walker->look;
    const uint32_t info = look->infos[0].address != reading->stack && look->n_infos > 1;
    const struct nytp_contexts contexts = nytp_contexts_of(walker, info);
    return place >= 0 && place < (int32_t)look->infos[info].n_contexts
               ? nytp_context_site(&contexts, place)
               : 0;
}

static uint32_t line_of(const struct nytp_reading *reading, uint64_t statement)
{
    const struct nytp_walker *const walker = reading->perl;
    return (uint32_t)nytp_word(walker->names->words, word_with_line(walker, statement));
}

const struct nytp_perl_facts nytp_spied_facts = {has_pad, is_in, site_at, line_of};

/* ---- the op that runs ---- */

static uint64_t type_in(uint64_t bits)
{
    return bits & 0x1ff;
}

/* The function of an op stands before op_targ, and that before its type. */
static uint64_t function_of(const struct nytp_layout *layout, uint64_t op)
{
    return op + (uint64_t)layout->op_type - 2 * sizeof(uint64_t);
}

/* Where all ops of a type have their function from; 0: not known. */
static uint64_t function_of_type(const struct nytp_walker *walker, uint64_t type)
{
    const uint64_t functions = walker->names->perl->op_functions;
    return functions == 0 ? 0 : functions + type * sizeof(uint64_t);
}

static struct nytp_known_op *known_op(struct nytp_walker *walker, uint64_t op)
{
    return &walker->ops[op / sizeof(uint64_t) % NYTP_KNOWN_OPS];
}

/* Returns whether the op is known and its statement unchanged. */
static bool is_known_op(struct nytp_walker *walker, const struct nytp_spied_moment *moment)
{
    const struct nytp_known_op *const known = known_op(walker, moment->op);
    return known->op == moment->op && known->cop == moment->curcop &&
           nytp_may_be_believed(walker->names, known->found_ns, known->read_ns) &&
           nytp_is_believed(walker->names, moment->curcop, NYTP_NAMED_ROOT);
}

/* Returns the word behind the fields that all ops have: the first child, a glob, or a place in
 * the pad. */
static uint64_t first_of(const struct nytp_walker *walker, uint64_t op)
{
    return nytp_word(walker->names->words,
                     op + (uint64_t)walker->names->perl->layout->op_type + sizeof(uint64_t));
}

static uint64_t bits_of(const struct nytp_walker *walker, uint64_t op)
{
    return nytp_word(walker->names->words, op + (uint64_t)walker->names->perl->layout->op_type);
}

/* The next child of the same op. Since perl 5.26 the last one points to its parent instead. */
static uint64_t sibling_of(const struct nytp_walker *walker, uint64_t op)
{
    const struct nytp_layout *const layout = walker->names->perl->layout;
    if (layout->version >= 26 && (bits_of(walker, op) & OP_HAS_SIBLING) == 0)
        return 0;
    return nytp_word(walker->names->words, op + (uint64_t)layout->op_next + sizeof(uint64_t));
}

/* The glob, or its place in the pad, that an entersub names, as the last of its children; 0: it
 * calls a method or a variable. The children mostly lie in a list of their own. */
static uint64_t find_named(const struct nytp_walker *walker, uint64_t call)
{
    uint64_t at = first_of(walker, call);
    for (int i = 0; at != 0; i++) {
        const uint64_t sibling = sibling_of(walker, at);
        if (i == MOST_CHILDREN)
            return 0;
        if (sibling == 0 && i > 0)
            break;
        at = sibling != 0 ? sibling : first_of(walker, at);
    }
    const uint64_t glob =
        at == 0 || type_in(bits_of(walker, at)) != 0 ? 0 : first_of(walker, at);
    return glob == 0 || type_in(bits_of(walker, glob)) != OP_GV ? 0 : first_of(walker, glob);
}

static void remember_op(struct nytp_walker *walker, const struct nytp_spied_moment *moment,
                        unsigned type)
{
    struct nytp_known_op *const known = known_op(walker, moment->op);
    const int64_t now = walker->names->now_ns;
    if (known->op != moment->op || known->cop != moment->curcop || known->type != type)
        *known = (struct nytp_known_op){moment->op, moment->curcop, now, now, type, 0, false};
    known->read_ns = now;
}

/* Where the glob stands that a known call names; 0: it is not in a pad. */
static uint64_t place_of_named(const struct nytp_walker *walker,
                               const struct nytp_spied_moment *moment, uint64_t named)
{
    const bool has_pad = named != 0 && walker->names->perl->layout->has_threads;
    return has_pad ? moment->curpad + named * sizeof(uint64_t) : 0;
}

void nytp_op_type_ask(struct nytp_walker *walker, const struct nytp_spied_moment *moment)
{
    const struct nytp_layout *const layout = walker->names->perl->layout;
    struct nytp_words *const words = walker->names->words;
    const uint64_t op = moment->op;
    if (op == 0)
        return;
    if (is_known_op(walker, moment)) {
        const uint64_t place = place_of_named(walker, moment, known_op(walker, op)->named);
        if (place != 0)
            nytp_words_ask(words, place);
        return;
    }
    nytp_words_ask(words, op + (uint64_t)layout->op_type);
    nytp_words_ask(words, function_of(layout, op));
}

/* Returns whether an op does what those of its type do, or what a module has it do: code of
 * some file. The function of a type hardly ever changes. */
static bool is_function(const struct nytp_walker *walker, uint64_t function, uint64_t of_type)
{
    struct nytp_words *const words = walker->names->words;
    return function == nytp_word_guess(words, of_type) ||
           function == nytp_word(words, of_type) ||
           nytp_mapping_at(&walker->names->perl->target->mappings, function) != NULL;
}

/* A call has a function of its own in some programs, and its callee is looked at by itself. */
static unsigned read_op_type(struct nytp_walker *walker, uint64_t op)
{
    const struct nytp_layout *const layout = walker->names->perl->layout;
    struct nytp_words *const words = walker->names->words;
    const uint64_t type =
        op == 0 ? 0 : type_in(nytp_word(words, op + (uint64_t)layout->op_type));
    const uint64_t of_type = function_of_type(walker, type);
    if (type >= (uint64_t)layout->op_max)
        return 0;
    return type == (uint64_t)layout->op_entersub || of_type == 0 ||
                   is_function(walker, nytp_word(words, function_of(layout, op)), of_type)
               ? (unsigned)type
               : 0;
}

unsigned nytp_op_type_at(struct nytp_walker *walker, const struct nytp_spied_moment *moment)
{
    if (moment->op != 0 && is_known_op(walker, moment))
        return known_op(walker, moment->op)->type;
    const unsigned type = read_op_type(walker, moment->op);
    remember_op(walker, moment, type);
    return type;
}

/* The call's op names its sub, mostly. An xsub of a microsecond has returned when we read the
 * stack. But an eval may be over too, with its ops and its pad. */
static uint64_t value_called(struct nytp_walker *walker, struct nytp_reader *reader,
                             const struct nytp_spied_moment *moment, bool lasts)
{
    struct nytp_known_op *const known = known_op(walker, moment->op);
    const bool is_known = lasts && known->op == moment->op && known->cop == moment->curcop;
    if (is_known && !known->has_named) {
        known->named = find_named(walker, moment->op);
        known->has_named = true;
    }
    const uint64_t named = is_known ? known->named : 0;
    const uint64_t place = place_of_named(walker, moment, named);
    if (named == 0)
        return nytp_look_u64(reader, moment->stack_sp + sizeof(uint64_t));
    return place != 0 ? nytp_word(walker->names->words, place) : named;
}

uint64_t nytp_callee_of(struct nytp_walker *walker, const struct nytp_spied_moment *moment,
                        bool lasts)
{
    struct nytp_reader reader = {.perl = walker->names->perl,
                                 .layout = walker->names->perl->layout};
    const struct nytp_layout *const layout = reader.layout;
    struct nytp_value value;
    uint64_t at = value_called(walker, &reader, moment, lasts);
    for (int i = 0; i < 2 && at != 0 && nytp_value_at(&reader, at, &value); i++) {
        if (value.type == layout->svt_PVCV)
            return at;
        if (value.type == layout->svt_PVGV)
            at = nytp_look_u64(&reader, value.u + (uint64_t)layout->gp_cv);
        else if (value.flags & (uint32_t)layout->svf_rok)
            at = value.u;
        else
            return 0;
    }
    return nytp_value_at(&reader, at, &value) && value.type == layout->svt_PVCV ? at : 0;
}
