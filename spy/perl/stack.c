/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The stack of a perl that runs on; see stack.h. Relies on cop.h and pp_hot.c of perl.
 *
 * The program is not stopped. PL_op, PL_curpad, PL_curcop and PL_curstackinfo lie side by side
 * and are read as one: they are the sample. Each running sub has a pad of its own, so PL_curpad
 * tells which sub it is and how deep in recursion. Who called it is in the contexts. These are
 * read before the variables and after them, in the same system call; what is the same both
 * times was there all the time.
 *
 * A sub that takes less time than that is hardly ever there all the time, and who looks again
 * until a whole stack is seen finds those that stay long. So we look again for the same pad.
 * Calls are remembered as they are seen: on a context that was there all the time may lie calls
 * that were seen before, each from a statement of the code below.
 *
 * perl changes the variables one after another when it calls a sub and returns from it. Such a
 * moment, some nanoseconds long, is told by the statement, which is the caller's yet or the
 * callee's still: the op_next of a statement lead to the root of the sub that it is in. A sub
 * that has just begun is shown at its first statement; after one that has just ended we look
 * anew.
 */
#include "stack.h"

#include "formats/base/arena.h"

#include <stdlib.h>
#include <time.h>

enum {
    LOOKS = 30,
    LOOKS_FOR_ONE = 20, /* for the same sample */
    LARGE = 1 << 16,    /* bytes of contexts, which take long to read */
    NEAR = 3,           /* contexts whose pads are looked at */
    MAX_CALLS = 8,      /* that were seen before, on top of each other */
    MOST_CALLS = 1 << 16,
    LATE_NS = 100000, /* a look takes ten microseconds */
    GUESSES = 6,      /* for where the stacks are */
    SLACK = 8,        /* contexts that may be added until they are read */
    MAX_INFOS = 400,
    MAX_CONTEXTS = 1000000, /* of all stacks */
    MAX_INFO = 128,         /* bytes of a PERL_SI */
    HEAD_ROOM = 4096,
};

/* Read at one moment. */
struct moment {
    uint64_t op, curpad, curcop, info, stack_sp;
    unsigned op_type;
    bool is_late;    /* we were not run while we looked */
    bool is_large;   /* so are the stacks, and looking took long */
    bool is_one_cop; /* the statement did not change while we looked */
    bool has_moved;  /* something did: the program runs */
};

/* Contexts of one PERL_SI, of which each may be of a sub or not. */
struct contexts {
    const struct nytp_layout *layout;
    const uint8_t *bytes;
    int32_t n;
};

void nytp_walker_init(struct nytp_walker *walker, struct nytp_names *names,
                      const struct nytp_interpreter *of)
{
    *walker = (struct nytp_walker){.names = names, .of = *of};
}

void nytp_walker_free(struct nytp_walker *walker)
{
    free(walker->infos);
    free(walker->bytes);
    free(walker->calls);
    nytp_table_free(&walker->calls_by_pad);
    free(walker->stack.frames);
    *walker = (struct nytp_walker){0};
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- contexts ---- */

static const uint8_t *context_at(const struct contexts *contexts, int32_t i)
{
    return contexts->bytes + (size_t)i * (size_t)contexts->layout->cx_size;
}

/* The sub, format or eval whose code a context runs; 0: it is of a block or a loop. */
static uint64_t code_of(const struct contexts *contexts, int32_t i)
{
    const struct nytp_layout *const layout = contexts->layout;
    const uint8_t *const context = context_at(contexts, i);
    const int type = context[layout->cx_type] & layout->cx_typemask;
    if (type == layout->cx_sub || type == layout->cx_format)
        return nytp_u64(context, layout->cx_sub_cv);
    if (type == layout->cx_eval && !(context[layout->cx_type] & layout->cx_tryblock))
        return nytp_u64(context, layout->cx_eval_cv);
    return 0;
}

static uint64_t cop_below(const struct contexts *contexts, int32_t i)
{
    return nytp_u64(context_at(contexts, i), contexts->layout->cx_oldcop);
}

/* The next code below context `i`. */
static int32_t code_below(const struct contexts *contexts, int32_t i)
{
    while (--i >= 0)
        if (code_of(contexts, i) != 0)
            break;
    return i;
}

static enum nytp_frame_kind kind_of(const struct contexts *contexts, int32_t i)
{
    const struct nytp_layout *const layout = contexts->layout;
    const uint8_t *const context = context_at(contexts, i);
    const int type = context[layout->cx_type] & layout->cx_typemask;
    uint16_t bits;
    if (type == layout->cx_sub)
        return NYTP_FRAME_SUB;
    if (type == layout->cx_format)
        return NYTP_FRAME_FORMAT;
    memcpy(&bits, context + layout->cx_u16, sizeof bits);
    return bits >> 7 == layout->op_require ? NYTP_FRAME_REQUIRE : NYTP_FRAME_EVAL;
}

/* Code, its depth of recursion, and the pad that it runs with then (AvARRAY). */
struct running_code {
    uint64_t cv, depth, pad;
};

/* Find the pads, all at once; 0 where there is nothing to read. */
static void find_pads(struct nytp_walker *walker, struct running_code *codes, size_t n)
{
    const struct nytp_layout *const layout = walker->names->perl->layout;
    struct nytp_memory *const memory = walker->names->perl->memory;
    const int32_t way[] = {layout->sv_any, layout->cv_padlist, layout->padlist_array, 0,
                           layout->sv_u};
    struct nytp_piece pieces[NEAR];
    for (size_t i = 0; i < n; i++)
        codes[i].pad = codes[i].cv;
    for (size_t step = 0; step < sizeof way / sizeof *way; step++) {
        for (size_t i = 0; i < n; i++) {
            const uint64_t index = step == 3 ? codes[i].depth * sizeof(uint64_t) : 0;
            pieces[i] = (struct nytp_piece){codes[i].pad + (uint64_t)way[step] + index,
                                            &codes[i].pad, sizeof codes[i].pad};
        }
        size_t done = nytp_memory_pieces(memory, pieces, n);
        for (; done < n; done++)
            codes[done].pad = nytp_memory_u64(memory, pieces[done].from);
    }
}

static uint64_t depth_of(const struct contexts *contexts, int32_t i)
{
    if (kind_of(contexts, i) != NYTP_FRAME_SUB)
        return 1;
    return nytp_u32(context_at(contexts, i), contexts->layout->cx_sub_olddepth) + UINT64_C(1);
}

/* ---- one look ---- */

static uint64_t read_variable(struct nytp_walker *walker, enum nytp_variable which)
{
    return nytp_memory_u64(walker->names->perl->memory, walker->of.at[which]);
}

/* Where the stacks are, from `address` outwards, as a guess for the next look. */
static bool guess(struct nytp_walker *walker, uint64_t address)
{
    const struct nytp_layout *const layout = walker->names->perl->layout;
    const uint64_t size = (uint64_t)layout->cx_size;
    uint64_t n_contexts = 0;
    uint8_t info[MAX_INFO];
    walker->n_bytes = 0;
    for (walker->n_infos = 0; address != 0 && walker->n_infos < MAX_INFOS; walker->n_infos++) {
        if (!nytp_grow(&walker->infos, &walker->infos_capacity, walker->n_infos,
                       sizeof *walker->infos) ||
            !nytp_memory_read(walker->names->perl->memory, address, info,
                              (size_t)layout->si_size))
            return false;
        const int32_t top = (int32_t)nytp_u32(info, layout->si_cxix);
        const int32_t most = (int32_t)nytp_u32(info, layout->si_cxmax);
        const int32_t last = walker->n_infos > 0  ? top
                             : top + SLACK < most ? top + SLACK
                                                  : most;
        if (top < -1 || most < 0 || top > most || n_contexts + (uint64_t)last > MAX_CONTEXTS)
            return false;
        walker->infos[walker->n_infos] =
            (struct nytp_stack_info){address,
                                     nytp_u64(info, layout->si_cxstack),
                                     (uint32_t)(last + 1),
                                     (uint32_t)(n_contexts * size),
                                     top,
                                     top};
        n_contexts += (uint64_t)(last + 1);
        walker->n_bytes = (uint32_t)(n_contexts * size);
        address = nytp_u64(info, layout->si_prev);
    }
    return walker->n_infos > 0 &&
           nytp_reserve(&walker->bytes, &walker->capacity, 2 * n_contexts * size, 1);
}

/* The variables in as few pieces as they allow; most often they are neighbours. */
static size_t add_head(const struct nytp_walker *walker, uint8_t *head, uint64_t *start,
                       struct nytp_piece *pieces)
{
    static const enum nytp_variable wanted[] = {NYTP_PL_op, NYTP_PL_curpad, NYTP_PL_curcop,
                                                NYTP_PL_curstackinfo, NYTP_PL_stack_sp};
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const uint64_t at = walker->of.at[wanted[i]];
        first = at < first ? at : first;
        last = at > last ? at : last;
    }
    *start = first;
    if (last - first > HEAD_ROOM - sizeof(uint64_t))
        return 0;
    *pieces = (struct nytp_piece){first, head, last - first + sizeof(uint64_t)};
    return 1;
}

/* Whether a stack is where it was thought to be; takes where its top is now. */
static bool is_as_guessed(const struct nytp_walker *walker, uint32_t i, const uint8_t *info)
{
    const struct nytp_layout *const layout = walker->names->perl->layout;
    struct nytp_stack_info *const guessed = &walker->infos[i];
    const uint64_t below = i + 1 < walker->n_infos ? walker->infos[i + 1].address : 0;
    const int32_t top = (int32_t)nytp_u32(info, layout->si_cxix);
    const int32_t n = (int32_t)guessed->n_contexts;
    const bool is_resting = i > 0;
    guessed->top = top;
    return nytp_u64(info, layout->si_cxstack) == guessed->contexts && top >= -1 && top < n &&
           (is_resting ? top + 1 == n : top + 64 > n) &&
           (nytp_u64(info, layout->si_prev) == below || walker->n_infos == MAX_INFOS);
}

/* The second reading of the contexts of a stack. */
static uint8_t *second_reading(const struct nytp_walker *walker, uint32_t info)
{
    return walker->bytes + walker->n_bytes + walker->infos[info].at;
}

/* From the outermost stack to the one in use: each PERL_SI, its contexts, and the PERL_SI
 * again. */
static size_t add_stacks(const struct nytp_walker *walker, uint8_t (*infos)[2][MAX_INFO],
                         bool is_second, struct nytp_piece *pieces)
{
    const struct nytp_layout *const layout = walker->names->perl->layout;
    size_t n = 0;
    for (uint32_t i = walker->n_infos; i-- > 0;) {
        const struct nytp_stack_info *const info = &walker->infos[i];
        pieces[n++] = (struct nytp_piece){info->address, infos[i][0], (size_t)layout->si_size};
        if (info->n_contexts > 0)
            pieces[n++] = (struct nytp_piece){info->contexts,
                                              is_second ? second_reading(walker, i)
                                                        : walker->bytes + info->at,
                                              info->n_contexts * (size_t)layout->cx_size};
        pieces[n++] = (struct nytp_piece){info->address, infos[i][1], (size_t)layout->si_size};
    }
    return n;
}

static struct moment moment_in(const struct nytp_walker *walker, const uint8_t *head,
                               uint64_t start)
{
#define VARIABLE(name) nytp_u64(head, (int32_t)(walker->of.at[NYTP_PL_##name] - start))
    return (struct moment){
        .op = VARIABLE(op),
        .curpad = VARIABLE(curpad),
        .curcop = VARIABLE(curcop),
        .info = VARIABLE(curstackinfo),
        .stack_sp = VARIABLE(stack_sp),
    };
#undef VARIABLE
}

static int32_t lowest_top(const struct nytp_layout *layout, uint8_t (*first)[MAX_INFO],
                          uint8_t (*second)[MAX_INFO])
{
    int32_t lowest = INT32_MAX;
    for (int i = 0; i < 4; i++) {
        const uint8_t *const info = i < 2 ? first[i] : second[i - 2];
        const int32_t top = (int32_t)nytp_u32(info, layout->si_cxix);
        lowest = top < lowest ? top : lowest;
    }
    return lowest;
}

static bool is_same_moment(const struct moment *a, const struct moment *b)
{
    return a->op == b->op && a->curpad == b->curpad && a->curcop == b->curcop &&
           a->info == b->info && a->stack_sp == b->stack_sp;
}

/* False: the guess was wrong, or cannot be read. The stacks are read, then the variables
 * twice, then the stacks once more: reading takes long if we are not run meanwhile. The
 * variables again in the end tell whether the program runs; a loop of few ops may have come
 * round once. */
static bool look(struct nytp_walker *walker, struct moment *moment, struct moment *wanted)
{
    const struct nytp_layout *const layout = walker->names->perl->layout;
    static _Thread_local uint8_t infos[2][MAX_INFOS][2][MAX_INFO], heads[3][HEAD_ROOM];
    static _Thread_local struct nytp_piece pieces[6 * MAX_INFOS + 3];
    uint64_t start;
    size_t n = add_stacks(walker, infos[0], false, pieces);
    if (add_head(walker, heads[0], &start, &pieces[n]) == 0)
        return false;
    n += 1 + add_head(walker, heads[1], &start, &pieces[n + 1]);
    n += add_stacks(walker, infos[1], true, pieces + n);
    n += add_head(walker, heads[2], &start, &pieces[n]);
    const int64_t began_ns = now_ns();
    if (nytp_memory_pieces(walker->names->perl->memory, pieces, n) != n)
        return false;
    const int64_t took_ns = now_ns() - began_ns;
    *moment = moment_in(walker, heads[0], start);
    const struct moment after = moment_in(walker, heads[1], start);
    const struct moment end = moment_in(walker, heads[2], start);
    if (walker->fastest_ns == 0 || took_ns < walker->fastest_ns)
        walker->fastest_ns = took_ns;
    moment->is_late = took_ns > 2 * walker->fastest_ns + LATE_NS +
                                    (int64_t)walker->n_bytes; /* of a stack of a megabyte */
    moment->is_large = walker->n_bytes > LARGE;
    moment->is_one_cop = moment->curcop == after.curcop;
    moment->has_moved = !is_same_moment(moment, &after) || !is_same_moment(moment, &end);
    if (wanted->info == 0 && !moment->is_late)
        *wanted = *moment;
    for (uint32_t i = 0; i < walker->n_infos; i++) {
        if (!is_as_guessed(walker, i, infos[0][i][0]))
            return false;
        walker->infos[i].lowest_top = lowest_top(layout, infos[0][i], infos[1][i]);
    }
    return wanted->info == walker->infos[0].address;
}

/* Until the stacks are where they were guessed to be. While large ones are read, what was
 * wanted is over. */
static bool look_at_once(struct nytp_walker *walker, struct moment *moment,
                         struct moment *wanted, bool is_any_wanted)
{
    for (int i = 0; i < GUESSES; i++) {
        if (is_any_wanted || wanted->is_large || walker->n_bytes > LARGE)
            *wanted = (struct moment){0};
        if (walker->n_infos > 0 && look(walker, moment, wanted))
            return true;
        if (!guess(walker, wanted->info != 0 ? wanted->info
                                             : read_variable(walker, NYTP_PL_curstackinfo)))
            break;
    }
    walker->n_infos = 0;
    return false;
}

static struct contexts contexts_of(const struct nytp_walker *walker, uint32_t info)
{
    const struct nytp_stack_info *const from = &walker->infos[info];
    return (struct contexts){walker->names->perl->layout, walker->bytes + from->at,
                             from->top + 1};
}

/* ---- which code was running ---- */

static unsigned op_type_at(struct nytp_walker *walker, uint64_t op)
{
    const struct nytp_layout *const layout = walker->names->perl->layout;
    uint16_t bits = 0;
    if (op == 0 || !nytp_memory_read(walker->names->perl->memory,
                                     op + (uint64_t)layout->op_type, &bits, sizeof bits))
        return 0;
    return (bits & 0x1ff) < layout->op_max ? bits & 0x1ff : 0;
}

/* Code that runs: of a sub, an eval, a format, or the main program. */
struct code {
    enum nytp_frame_kind kind;
    uint64_t cv;
};

/* Where the innermost code is. */
struct top {
    int32_t context; /* of it, or of that which is below the calls; -1: in a stack below */
    const struct nytp_call *calls[MAX_CALLS]; /* above it, innermost first */
    uint32_t n_calls;
    bool at_start; /* the statement is not the sub's yet */
};

/* The innermost contexts with code. */
struct near {
    int32_t contexts[NEAR];
    struct running_code codes[NEAR];
    int n;
};

/* The topmost code in the stacks below, which rest meanwhile. */
static struct contexts code_in_stacks_below(const struct nytp_walker *walker, int32_t *code)
{
    struct contexts contexts = {0};
    *code = -1;
    for (uint32_t i = 1; i < walker->n_infos && *code < 0; i++) {
        contexts = contexts_of(walker, i);
        *code = code_below(&contexts, contexts.n);
    }
    return contexts;
}

static struct code code_at(const struct nytp_walker *walker, const struct contexts *contexts,
                           int32_t i)
{
    struct contexts of = *contexts;
    if (i < 0)
        of = code_in_stacks_below(walker, &i);
    return i < 0 ? (struct code){NYTP_FRAME_MAIN, 0}
                 : (struct code){kind_of(&of, i), code_of(&of, i)};
}

static struct running_code running_at(struct nytp_walker *walker,
                                      const struct contexts *contexts, int32_t i)
{
    struct contexts of = *contexts;
    if (i < 0)
        of = code_in_stacks_below(walker, &i);
    return i < 0 ? (struct running_code){read_variable(walker, NYTP_PL_main_cv), 1, 0}
                 : (struct running_code){code_of(&of, i), depth_of(&of, i), 0};
}

static uint64_t root_of_code(struct nytp_walker *walker, uint64_t cv)
{
    const struct nytp_layout *const layout = walker->names->perl->layout;
    struct nytp_memory *const memory = walker->names->perl->memory;
    const uint64_t body = nytp_memory_u64(memory, cv + (uint64_t)layout->sv_any);
    return nytp_memory_u64(memory, body + (uint64_t)layout->cv_root);
}

/* Whether a statement may be one of this code. What is not known, as in a loop without end, is
 * `otherwise`. */
static bool may_be_in(struct nytp_walker *walker, struct code code, uint64_t cop,
                      bool otherwise)
{
    const struct nytp_layout *const layout = walker->names->perl->layout;
    unsigned type = 0;
    const uint64_t root = nytp_root_of(walker->names, cop, &type);
    if (root != 0 &&
        (type == (unsigned)layout->op_leavesub || type == (unsigned)layout->op_leavesublv))
        return code.kind == NYTP_FRAME_SUB && root_of_code(walker, code.cv) == root;
    if (root != 0 &&
        (type == (unsigned)layout->op_leave || type == (unsigned)layout->op_leaveeval))
        return code.kind != NYTP_FRAME_SUB;
    if (root != 0 && type == (unsigned)layout->op_leavewrite)
        return code.kind == NYTP_FRAME_FORMAT;
    return otherwise;
}

/* Whether all calls down from the innermost code were the same before and after the variables
 * were read: then they were meanwhile. */
static bool is_same_below(struct nytp_walker *walker, int32_t code)
{
    for (uint32_t i = 0; i < walker->n_infos; i++) {
        const struct contexts first = contexts_of(walker, i);
        const struct contexts second = {first.layout, second_reading(walker, i), first.n};
        const int32_t end = i == 0 && code >= 0 ? code + 1 : first.n;
        if ((i == 0 ? code : code_below(&first, end)) > walker->infos[i].lowest_top ||
            (i > 0 && walker->infos[i].lowest_top != walker->infos[i].top))
            return false;
        for (int32_t k = 0; k < end; k++)
            if (code_of(&first, k) != code_of(&second, k) ||
                (code_of(&first, k) != 0 && (kind_of(&first, k) != kind_of(&second, k) ||
                                             cop_below(&first, k) != cop_below(&second, k))))
                return false;
    }
    return true;
}

/* ---- calls that were seen before ---- */

static struct nytp_key key_of(uint64_t pad, uint64_t info)
{
    return (struct nytp_key){(uint32_t)pad, (uint32_t)(pad >> 32), (uint32_t)info,
                             (uint32_t)(info >> 32)};
}

static struct nytp_call *find_call(const struct nytp_walker *walker, uint64_t pad)
{
    const struct nytp_key key = key_of(pad, walker->infos[0].address);
    const uint32_t at = nytp_table_get(&walker->calls_by_pad, key);
    return at == NYTP_TABLE_NONE ? NULL : &walker->calls[at];
}

static void remember(struct nytp_walker *walker, const struct nytp_call *call)
{
    const struct nytp_key key = key_of(call->pad, walker->infos[0].address);
    struct nytp_call *const known = find_call(walker, call->pad);
    if (known != NULL) {
        *known = *call;
        return;
    }
    if (walker->n_calls == MOST_CALLS) {
        nytp_table_free(&walker->calls_by_pad);
        walker->n_calls = 0;
    }
    if (nytp_grow(&walker->calls, &walker->calls_capacity, walker->n_calls,
                  sizeof *walker->calls) &&
        nytp_table_put(&walker->calls_by_pad, key, walker->n_calls))
        walker->calls[walker->n_calls++] = *call;
}

/* Whether a context was begun by the code below it. Where one is just begun lies an earlier
 * one; perl before 5.24 leaves its sub there. */
static bool is_called_by(struct nytp_walker *walker, const struct contexts *contexts,
                         const struct near *near, int i)
{
    return i + 1 >= near->n ||
           may_be_in(walker, code_at(walker, contexts, near->contexts[i + 1]),
                     cop_below(contexts, near->contexts[i]), true);
}

/* Remember the innermost call that was there all the time; not those of string evals, whose
 * memory is soon another's. */
static void learn(struct nytp_walker *walker, const struct contexts *contexts,
                  const struct near *near)
{
    if (near->n < 2 || near->codes[0].pad == near->codes[1].pad)
        return;
    const int32_t i = near->contexts[0];
    const enum nytp_frame_kind caller = code_at(walker, contexts, near->contexts[1]).kind;
    if (kind_of(contexts, i) == NYTP_FRAME_SUB &&
        (caller == NYTP_FRAME_SUB || caller == NYTP_FRAME_MAIN) &&
        is_called_by(walker, contexts, near, 0))
        remember(walker, &(struct nytp_call){
                             .pad = near->codes[0].pad,
                             .caller_pad = near->codes[1].pad,
                             .cv = near->codes[0].cv,
                             .cop = cop_below(contexts, i),
                             .depth = near->codes[0].depth,
                         });
}

static int find_near(const struct near *near, uint64_t pad)
{
    int i = near->n - 1;
    while (i >= 0 && near->codes[i].pad != pad)
        i--;
    return i;
}

/* From the code that runs with this pad down to one that was there all the time, by calls that
 * were seen before. */
static bool follow_calls(struct nytp_walker *walker, const struct contexts *contexts,
                         const struct near *near, uint64_t pad, struct top *top)
{
    while (top->n_calls < MAX_CALLS) {
        const struct nytp_call *const call = find_call(walker, pad);
        if (call == NULL)
            return false;
        struct running_code code = {call->cv, call->depth, 0};
        find_pads(walker, &code, 1);
        if (code.pad != pad)
            return false;
        top->calls[top->n_calls++] = call;
        pad = call->caller_pad;
        const int caller = find_near(near, pad);
        if (caller >= 0) {
            top->context = near->contexts[caller];
            return may_be_in(walker, code_at(walker, contexts, top->context), call->cop, true);
        }
    }
    return false;
}

/* ---- which code was running ---- */

/* The code that runs with PL_curpad, in a stack whose contexts were read. */
static bool find_top(struct nytp_walker *walker, const struct moment *wanted, struct top *top)
{
    struct contexts contexts = contexts_of(walker, 0);
    struct near near = {.n = 0};
    contexts.n = walker->infos[0].lowest_top + 1;
    int32_t i = code_below(&contexts, contexts.n);
    *top = (struct top){.context = i};
    if (!is_same_below(walker, i))
        return false;
    for (; near.n < NEAR; i = code_below(&contexts, i)) {
        near.contexts[near.n] = i;
        near.codes[near.n++] = running_at(walker, &contexts, i);
        if (i < 0)
            break;
    }
    find_pads(walker, near.codes, (size_t)near.n);
    learn(walker, &contexts, &near);
    i = find_near(&near, wanted->curpad);
    if (i < 0)
        return follow_calls(walker, &contexts, &near, wanted->curpad, top);
    top->context = near.contexts[i];
    return is_called_by(walker, &contexts, &near, i);
}

/* The innermost code, for when it is known that nothing moves, or that it is compiled: the pad
 * is that of the new code then. */
static bool find_innermost(struct nytp_walker *walker, struct top *top)
{
    const struct contexts contexts = contexts_of(walker, 0);
    *top = (struct top){.context = code_below(&contexts, contexts.n)};
    return is_same_below(walker, top->context);
}

/* The statement that called the sub which is being left, whose context is there yet. */
static uint64_t cop_of_ended(const struct contexts *contexts, int32_t below)
{
    const struct nytp_layout *const layout = contexts->layout;
    for (int32_t i = below + 1; i < contexts->n; i++) {
        const int type = context_at(contexts, i)[layout->cx_type] & layout->cx_typemask;
        if (type == layout->cx_sub)
            return cop_below(contexts, i);
    }
    return 0;
}

/* Whether the statement is one of the code that runs, or one that has called it just now. */
static bool is_statement_of(struct nytp_walker *walker, struct moment *wanted, bool is_resting,
                            struct top *top)
{
    const struct contexts contexts = contexts_of(walker, 0);
    const struct nytp_call *const call = top->n_calls > 0 ? top->calls[0] : NULL;
    const struct code code = call != NULL ? (struct code){NYTP_FRAME_SUB, call->cv}
                                          : code_at(walker, &contexts, top->context);
    const uint64_t callers = call != NULL        ? call->cop
                             : top->context >= 0 ? cop_below(&contexts, top->context)
                                                 : 0;
    const bool is_callers = wanted->curcop == callers;
    if (wanted->curcop == walker->of.at[NYTP_PL_compiling])
        return code.kind != NYTP_FRAME_SUB;
    if (code.kind != NYTP_FRAME_SUB && is_callers) { /* compiled, but it has not begun */
        if (call != NULL)
            return false;
        top->context = code_below(&contexts, top->context);
        return may_be_in(walker, code_at(walker, &contexts, top->context), wanted->curcop,
                         wanted->is_one_cop);
    }
    if (may_be_in(walker, code, wanted->curcop, wanted->is_one_cop && !is_callers))
        return true;
    const uint64_t ended = is_resting ? cop_of_ended(&contexts, top->context) : 0;
    if (ended != 0 && may_be_in(walker, code, ended, true)) {
        wanted->curcop = ended;
        return true;
    }
    top->at_start = code.kind == NYTP_FRAME_SUB && (is_callers || is_resting);
    return top->at_start;
}

/* ---- frames ---- */

static bool add_frame(struct nytp_walker *walker, enum nytp_frame_kind kind, uint64_t cv,
                      uint64_t cop)
{
    struct nytp_stack *const stack = &walker->stack;
    if (!nytp_grow(&stack->frames, &stack->capacity, stack->n, sizeof *stack->frames))
        return false;
    stack->frames[stack->n++] =
        (struct nytp_frame){.kind = kind, .sub = UINT32_MAX, .cv = cv, .cop = cop};
    return (cop == 0 || nytp_name_cache_expect_place(walker->names, cop)) &&
           ((kind != NYTP_FRAME_SUB && kind != NYTP_FRAME_FORMAT) ||
            nytp_name_cache_expect_sub(walker->names, cv));
}

/* The calls of one stack from context `i` down; *cop goes in as the innermost statement and
 * comes out as that which the stack was begun from. */
static bool add_contexts(struct nytp_walker *walker, const struct contexts *contexts, int32_t i,
                         uint64_t *cop)
{
    for (; i >= 0; i = code_below(contexts, i)) {
        if (!add_frame(walker, kind_of(contexts, i), code_of(contexts, i), *cop))
            return false;
        *cop = cop_below(contexts, i);
    }
    return true;
}

/* Files and lines, when names has looked. */
static bool name_frames(struct nytp_walker *walker, bool at_start)
{
    struct nytp_names *const names = walker->names;
    for (uint32_t i = 0; i < walker->stack.n; i++) {
        struct nytp_frame *const frame = &walker->stack.frames[i];
        const bool has_name = frame->kind == NYTP_FRAME_SUB || frame->kind == NYTP_FRAME_FORMAT;
        if (has_name && (frame->sub = nytp_sub_at(names, frame->cv)) == UINT32_MAX)
            return false;
        if (!nytp_place_at(names, frame->cop, &frame->file, &frame->line))
            return false;
        if (i == 0 && at_start && has_name && names->subs[frame->sub].first_line > 0) {
            frame->file = names->subs[frame->sub].file;
            frame->line = names->subs[frame->sub].first_line;
        }
    }
    return true;
}

/* What entersub calls still lies above the arguments: a sub, a glob or a reference. */
static uint64_t callee_of(struct nytp_walker *walker, uint64_t stack_sp)
{
    struct nytp_reader reader = {walker->names->perl, walker->names->perl->layout, NULL};
    const struct nytp_layout *const layout = reader.layout;
    struct nytp_value value;
    uint64_t at = nytp_look_u64(&reader, stack_sp + sizeof(uint64_t));
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

static uint32_t xsub_at(struct nytp_walker *walker, uint64_t cv)
{
    const uint32_t sub = cv == 0 ? UINT32_MAX : nytp_sub_at(walker->names, cv);
    return sub != UINT32_MAX && walker->names->subs[sub].is_xsub ? sub : UINT32_MAX;
}

static bool take_frames(struct nytp_walker *walker, const struct moment *moment,
                        const struct top *top)
{
    const struct nytp_layout *const layout = walker->names->perl->layout;
    const bool is_call = moment->op_type == (unsigned)layout->op_entersub;
    const uint64_t callee = is_call ? callee_of(walker, moment->stack_sp) : 0;
    uint64_t cop = moment->curcop;
    walker->stack.n = 0;
    walker->stack.builtin = moment->op_type;
    nytp_name_cache_begin(walker->names);
    if (callee != 0 && !nytp_name_cache_expect_sub(walker->names, callee))
        return false;
    for (uint32_t i = 0; i < top->n_calls; i++) {
        if (!add_frame(walker, NYTP_FRAME_SUB, top->calls[i]->cv, cop))
            return false;
        cop = top->calls[i]->cop;
    }
    for (uint32_t i = 0; i < walker->n_infos; i++) {
        const struct contexts contexts = contexts_of(walker, i);
        const int32_t code = i == 0 ? top->context : code_below(&contexts, contexts.n);
        if ((i > 0 && !may_be_in(walker, code_at(walker, &contexts, code), cop, true)) ||
            !add_contexts(walker, &contexts, code, &cop))
            return false;
    }
    if (!add_frame(walker, NYTP_FRAME_MAIN, 0, cop))
        return false;
    nytp_name_cache_look(walker->names);
    walker->stack.xsub = xsub_at(walker, callee);
    return name_frames(walker, top->at_start);
}

/* The sample is of the first moment that was seen, whatever runs then: who takes the first that
 * can be seen whole, takes what stays long. */
enum nytp_sampled nytp_sample(struct nytp_walker *walker)
{
    struct moment wanted = {0}, moment = {0};
    struct top top;
    for (int i = 0; i < LOOKS; i++) {
        const struct moment before = moment;
        if (i == 1)
            walker->n_retried++;
        if (!look_at_once(walker, &moment, &wanted, i >= LOOKS_FOR_ONE) || moment.is_late)
            continue;
        const bool is_compiling = wanted.curcop == walker->of.at[NYTP_PL_compiling];
        const bool is_same = is_same_moment(&wanted, &moment);
        const bool is_resting = is_same && (is_compiling || is_same_moment(&before, &moment));
        walker->has_moved = wanted.has_moved;
        wanted.op_type = op_type_at(walker, wanted.op);
        wanted.is_one_cop &= is_same;
        if ((is_compiling || !find_top(walker, &wanted, &top)) &&
            (!is_resting || !find_innermost(walker, &top)))
            continue;
        if (!is_statement_of(walker, &wanted, is_resting, &top))
            wanted = (struct moment){0}; /* between two subs */
        else if (take_frames(walker, &wanted, &top))
            return NYTP_WHOLE;
    }
    return read_variable(walker, NYTP_PL_curstackinfo) == 0 ? NYTP_GONE : NYTP_TORN;
}
