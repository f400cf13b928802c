/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The stack of a perl that runs on; see stack.h. Relies on cop.h and pp_hot.c of perl.
 *
 * The program is not stopped. Each running sub has a pad of its own, so PL_curpad tells which
 * sub it is and how deep in recursion. Who called it is in the contexts, which are read twice
 * right after the variables (look.h): what is the same in both readings was there.
 *
 * A sub that takes less time than that is hardly ever there all the time, and who looks again
 * until a whole stack is seen finds those that stay long. So calls that one reading alone shows
 * count where they were seen before, or now for the third time in a row, or go on with a
 * recursion. A call that has returned by then is one of those that were seen before: of the
 * innermost code that is there and has made it, or, if that has returned as well, the one that
 * lay where the top of the stack was. Else we look again for the same pad.
 *
 * perl changes the variables one after another when it calls a sub and returns from it. Such a
 * moment, some nanoseconds long, is told by the statement, which is the caller's yet or the
 * callee's still: the ops behind and around a statement lead to the root of the sub that it is
 * in. A sub that has just begun is shown at its first statement; after one that has just ended
 * we look anew.
 */
#include "stack.h"

#include "formats/base/arena.h"

#include <stdlib.h>

enum {
    LOOKS = 16,
    LOOKS_FOR_ONE = 6,  /* for the same moment: what five do not find, fifteen more hardly do */
    LOOKS_DEEP = 4,     /* for the same moment of a deep stack, which is another soon */
    NEAR = 3,           /* contexts that were there all the time, whose pads are looked at */
    FURTHER = 512,      /* and of those above, where calls come and go that fast */
    MAX_CALLS = 8,      /* that were seen before, on top of each other */
    MAX_BLOCKS = 8,     /* contexts that a call has above its own */
    MAX_ABOVE = 8,      /* the top, at which a call lay that has returned meanwhile */
    ROUNDS = 6,         /* of reading, on the way to pads: one if nothing was moved */
    RESTS = 3,          /* looks in which nothing moved: it is no eval that is compiled */
    SUB_RE = 0x40,      /* CXp_SUB_RE in each perl, 5.20 to 5.44 */
    SUB_RE_FAKE = 0x80, /* CXp_SUB_RE_FAKE */
    CLEARS_LEFT = 24, /* perl 5.24 and after it: contexts of calls that are over have no code */
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
    *walker = (struct nytp_walker){.names = names, .look = {.perl = names->perl, .of = *of}};
}

void nytp_walker_free(struct nytp_walker *walker)
{
    nytp_look_free(&walker->look);
    nytp_seen_calls_free(&walker->calls);
    free(walker->stack.frames);
    *walker = (struct nytp_walker){0};
}

/* ---- contexts ---- */

static const uint8_t *context_at(const struct contexts *contexts, int32_t i)
{
    return contexts->bytes + (size_t)i * (size_t)contexts->layout->cx_size;
}

/* The sub, format or eval whose code a context runs; 0: it is of a block or a loop. The code
 * block of a regular expression is a block of the sub around it, which its context has, too. */
static uint64_t code_of(const struct contexts *contexts, int32_t i)
{
    const struct nytp_layout *const layout = contexts->layout;
    const uint8_t *const context = context_at(contexts, i);
    const int type = context[layout->cx_type] & layout->cx_typemask;
    if (type == layout->cx_sub && (context[layout->cx_type] & SUB_RE_FAKE))
        return 0;
    if (type == layout->cx_sub || type == layout->cx_format)
        return nytp_u64(context, layout->cx_sub_cv);
    if (type == layout->cx_eval && !(context[layout->cx_type] & layout->cx_tryblock))
        return nytp_u64(context, layout->cx_eval_cv);
    return 0;
}

/* A code block of a regular expression with a pad of its own, as of qr//. It is no frame, as
 * for those who record it: whom it calls, the sub that matches does. */
static bool is_in_regex(const struct contexts *contexts, int32_t i)
{
    const struct nytp_layout *const layout = contexts->layout;
    const int flags = context_at(contexts, i)[layout->cx_type];
    return (flags & layout->cx_typemask) == layout->cx_sub && (flags & SUB_RE);
}

static uint64_t cop_below(const struct contexts *contexts, int32_t i)
{
    return nytp_u64(context_at(contexts, i), contexts->layout->cx_oldcop);
}

static bool clears_left(const struct contexts *contexts)
{
    return contexts->layout->version >= CLEARS_LEFT;
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

/* The pad of code, along its pointers as far as this look has read them; asks for the next one
 * where it has not. With `is_guess` as they were when they were last read, asking for all. */
static bool follow_to_pad(struct nytp_walker *walker, struct running_code *code, bool is_guess)
{
    const struct nytp_layout *const layout = walker->names->perl->layout;
    struct nytp_words *const words = walker->names->words;
    const uint64_t way[] = {(uint64_t)layout->sv_any, (uint64_t)layout->cv_padlist,
                            (uint64_t)layout->padlist_array, code->depth * sizeof(uint64_t),
                            (uint64_t)layout->sv_u};
    uint64_t at = code->cv;
    for (size_t step = 0; step < sizeof way / sizeof *way && at != 0; step++) {
        const uint64_t address = at + way[step];
        if (is_guess || !nytp_words_has(words, address, &at)) {
            nytp_words_ask(words, address);
            if (!is_guess)
                return false;
            at = nytp_word_guess(words, address);
        }
        if (is_guess && step == 0 && at != 0)
            nytp_words_ask(words, at + (uint64_t)layout->cv_root);
    }
    code->pad = at;
    return true;
}

/* Find the pads, all at once and with all names that were recalled; 0 where there is nothing to
 * read. */
static void find_pads(struct nytp_walker *walker, struct running_code *codes, size_t n)
{
    bool is_done = false;
    for (size_t i = 0; i < n; i++)
        follow_to_pad(walker, &codes[i], true);
    for (int round = 0; round < ROUNDS && !is_done; round++) {
        nytp_name_cache_look_ahead(walker->names);
        is_done = true;
        for (size_t i = 0; i < n; i++)
            is_done &= follow_to_pad(walker, &codes[i], false);
    }
    for (size_t i = 0; i < n && !is_done; i++)
        if (!follow_to_pad(walker, &codes[i], false))
            codes[i].pad = 0;
}

static uint64_t depth_of(const struct contexts *contexts, int32_t i)
{
    if (kind_of(contexts, i) != NYTP_FRAME_SUB)
        return 1;
    return nytp_u32(context_at(contexts, i), contexts->layout->cx_sub_olddepth) + UINT64_C(1);
}

static struct contexts contexts_of(const struct nytp_walker *walker, uint32_t info)
{
    const struct nytp_stack_info *const from = &walker->look.infos[info];
    return (struct contexts){walker->names->perl->layout, walker->look.bytes + from->at,
                             from->top + 1};
}

/* ---- which code was running ---- */

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

static void ask_op_type(struct nytp_walker *walker, uint64_t op)
{
    const struct nytp_layout *const layout = walker->names->perl->layout;
    struct nytp_words *const words = walker->names->words;
    const uint64_t at = op + (uint64_t)layout->op_type;
    if (op == 0)
        return;
    nytp_words_ask(words, at);
    nytp_words_ask(words, function_of(layout, op));
    nytp_words_ask(words, function_of_type(walker, type_in(nytp_word_guess(words, at))));
}

/* Whether an op does what those of its type do, or what a module has it do: code of some file.
 */
static bool is_function(const struct nytp_walker *walker, uint64_t function, uint64_t of_type)
{
    return function == of_type ||
           nytp_mapping_at(&walker->names->perl->target->mappings, function) != NULL;
}

/* 0: it is none any more. Ops of string evals are freed while we look, and their memory is of
 * something else; the function tells. A call has one of its own in some programs, and what it
 * calls is looked at by itself. */
static unsigned op_type_at(struct nytp_walker *walker, uint64_t op)
{
    const struct nytp_layout *const layout = walker->names->perl->layout;
    struct nytp_words *const words = walker->names->words;
    const uint64_t type =
        op == 0 ? 0 : type_in(nytp_word(words, op + (uint64_t)layout->op_type));
    const uint64_t of_type = function_of_type(walker, type);
    if (type >= (uint64_t)layout->op_max)
        return 0;
    return type == (uint64_t)layout->op_entersub || of_type == 0 ||
                   is_function(walker, nytp_word(words, function_of(layout, op)),
                               nytp_word(words, of_type))
               ? (unsigned)type
               : 0;
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
    uint64_t outermost_cop; /* the statement from which the last of them was called */
    bool at_start;          /* the statement is not the sub's yet */
    bool has_no_pad;        /* the pad in use is that of no code that runs */
};

/* The innermost contexts with code. */
struct near {
    int32_t contexts[FURTHER];
    struct running_code codes[FURTHER];
    uint64_t callers[FURTHER]; /* what the calls that each makes are remembered by */
    int n;
};

/* The topmost code in the stacks below, which rest meanwhile. */
static struct contexts code_in_stacks_below(const struct nytp_walker *walker, int32_t *code)
{
    struct contexts contexts = {0};
    *code = -1;
    for (uint32_t i = 1; i < walker->look.n_infos && *code < 0; i++) {
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

static bool is_eval(const struct nytp_walker *walker, const struct contexts *contexts,
                    int32_t context)
{
    const enum nytp_frame_kind kind = code_at(walker, contexts, context).kind;
    return kind == NYTP_FRAME_EVAL || kind == NYTP_FRAME_REQUIRE;
}

/* The caller of all calls that string evals and files make which one statement runs. They are
 * compiled anew each time: their pads and statements are their own for as long as they run
 * only. Odd, as no pad's address is. */
static uint64_t evals_at(const struct nytp_walker *walker, const struct contexts *contexts,
                         int32_t i)
{
    struct contexts of = *contexts;
    if (i < 0)
        of = code_in_stacks_below(walker, &i);
    return cop_below(&of, i) | 1;
}

static bool are_evals(uint64_t caller)
{
    return caller & 1;
}

static struct running_code running_at(struct nytp_walker *walker,
                                      const struct contexts *contexts, int32_t i)
{
    struct contexts of = *contexts;
    if (i < 0)
        of = code_in_stacks_below(walker, &i);
    return i < 0 ? (struct running_code){walker->look.main_cv, 1, 0}
                 : (struct running_code){code_of(&of, i), depth_of(&of, i), 0};
}

static uint64_t root_of_code(struct nytp_walker *walker, uint64_t cv)
{
    const struct nytp_layout *const layout = walker->names->perl->layout;
    struct nytp_words *const words = walker->names->words;
    const uint64_t body = nytp_word(words, cv + (uint64_t)layout->sv_any);
    return nytp_word(words, body + (uint64_t)layout->cv_root);
}

static bool is_sub(const struct nytp_layout *layout, unsigned root_type)
{
    return root_type == (unsigned)layout->op_leavesub ||
           root_type == (unsigned)layout->op_leavesublv;
}

/* Whether a statement is known to be one of a sub. */
static bool is_in_sub(struct nytp_walker *walker, uint64_t cop)
{
    unsigned type = 0;
    return nytp_root_of(walker->names, cop, &type) != 0 &&
           is_sub(walker->names->perl->layout, type);
}

/* Whether a statement may be one of this code. What is not known, as before perl 5.26 in a loop
 * without end, is `otherwise`. */
static bool may_be_in(struct nytp_walker *walker, struct code code, uint64_t cop,
                      bool otherwise)
{
    const struct nytp_layout *const layout = walker->names->perl->layout;
    unsigned type = 0;
    const uint64_t root = nytp_root_of(walker->names, cop, &type);
    if (root != 0 && is_sub(layout, type))
        return code.kind == NYTP_FRAME_SUB && root_of_code(walker, code.cv) == root;
    if (root != 0 &&
        (type == (unsigned)layout->op_leave || type == (unsigned)layout->op_leaveeval))
        return code.kind != NYTP_FRAME_SUB;
    if (root != 0 && type == (unsigned)layout->op_leavewrite)
        return code.kind == NYTP_FRAME_FORMAT;
    return otherwise;
}

/* A reading of the contexts of a stack, `n` of them. */
static struct contexts reading_of(const struct nytp_walker *walker, uint32_t info,
                                  bool is_first, int32_t n)
{
    return (struct contexts){walker->names->perl->layout,
                             nytp_look_reading(&walker->look, info, is_first, 0), n};
}

/* Up to which of `n` contexts both readings of a stack show the same calls. */
static int32_t end_of_same(const struct nytp_walker *walker, uint32_t info, int32_t n)
{
    const struct contexts first = reading_of(walker, info, true, n);
    const struct contexts second = reading_of(walker, info, false, n);
    int32_t k = (int32_t)walker->look.infos[info].n_deep;
    while (k < n && code_of(&first, k) == code_of(&second, k) &&
           (code_of(&first, k) == 0 || (kind_of(&first, k) == kind_of(&second, k) &&
                                        cop_below(&first, k) == cop_below(&second, k))))
        k++;
    return k;
}

/* Up to where the lower top of the stack in use was, of the two readings. */
static int32_t end_of_lower(const struct nytp_walker *walker)
{
    const struct nytp_stack_info *const info = &walker->look.infos[0];
    return (info->low_first < info->low_second ? info->low_first : info->low_second) + 1;
}

/* Up to which context the stack in use was the same from the first reading to the second. What
 * runs with the variables' pad was there then, and so was what lies below. */
static int32_t end_of_both(const struct nytp_walker *walker)
{
    return end_of_same(walker, 0, end_of_lower(walker));
}

/* Whether the stacks below that in use were. */
static bool are_same_below(const struct nytp_walker *walker)
{
    for (uint32_t i = 1; i < walker->look.n_infos; i++) {
        const int32_t n = contexts_of(walker, i).n;
        if (end_of_same(walker, i, n) < n)
            return false;
    }
    return true;
}

/* The first reading is the nearer one to the variables; of a deep stack the second goes
 * further. What the first shows is taken as if it was read the second time. */
static struct contexts nearest_reading(const struct nytp_walker *walker)
{
    const struct nytp_stack_info *const info = &walker->look.infos[0];
    struct contexts contexts = contexts_of(walker, 0);
    const uint32_t end = (uint32_t)(info->low_first + 1);
    contexts.n = info->low_second + 1;
    if (end < info->n_first || info->low_first >= info->low_second) {
        memcpy(nytp_look_reading(&walker->look, 0, false, info->n_deep),
               nytp_look_reading(&walker->look, 0, true, info->n_deep),
               (end - info->n_deep) * (size_t)contexts.layout->cx_size);
        contexts.n = (int32_t)end;
    }
    return contexts;
}

/* ---- calls that were seen before ---- */

static const struct nytp_call *find_call(const struct nytp_walker *walker, uint64_t pad)
{
    return nytp_seen_call(&walker->calls, pad, walker->look.infos[0].address);
}

static const struct nytp_call *find_call_from(const struct nytp_walker *walker, uint64_t pad,
                                              uint64_t caller_pad)
{
    return nytp_seen_call_from(&walker->calls, pad, caller_pad, walker->look.infos[0].address);
}

static uint64_t word_with_line(const struct nytp_walker *walker, uint64_t cop)
{
    return cop == 0 ? 0 : cop + (uint64_t)walker->names->perl->layout->cop_line;
}

static uint32_t line_of(struct nytp_walker *walker, uint64_t cop)
{
    return (uint32_t)nytp_word(walker->names->words, word_with_line(walker, cop));
}

/* The statement that has made a call, of the code at `caller_context`. That of an eval is in
 * the call's own context, which is left there when the call is over, until the next one comes:
 * so the same must have been called from that line before. 0: it is not known. */
static uint64_t cop_of_call(struct nytp_walker *walker, const struct nytp_call *call,
                            int32_t caller_context)
{
    const struct nytp_stack_info *const info = &walker->look.infos[0];
    const int32_t at = caller_context + (call->context - call->caller_context);
    const struct contexts contexts = contexts_of(walker, 0);
    struct nytp_call wanted = *call;
    if (call->cop != 0)
        return call->cop;
    const uint64_t cop =
        at >= 0 && at < (int32_t)info->n_contexts ? cop_below(&contexts, at) : 0;
    wanted.line = line_of(walker, cop);
    return nytp_seen_call_same(&walker->calls, &wanted) != NULL ? cop : 0;
}

static uint64_t cop_of_call_in(const struct top *top, uint32_t k)
{
    return k + 1 == top->n_calls ? top->outermost_cop : top->calls[k]->cop;
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

/* The call near[i], of the code next to it. */
static struct nytp_call call_at(struct nytp_walker *walker, const struct contexts *contexts,
                                const struct near *near, int i)
{
    const uint64_t cop = cop_below(contexts, near->contexts[i]);
    const bool is_of_eval = are_evals(near->callers[i + 1]);
    return (struct nytp_call){
        .info = walker->look.infos[0].address,
        .pad = near->codes[i].pad,
        .caller_pad = near->callers[i + 1],
        .cv = near->codes[i].cv,
        .cop = is_of_eval ? 0 : cop,
        .line = is_of_eval ? line_of(walker, cop) : 0,
        .depth = near->codes[i].depth,
        .context = near->contexts[i],
        .caller_context = near->contexts[i + 1],
    };
}

/* Remember a call that was there, near[i], with what runs or below it: the call above may be
 * half written, for as long as the program is kept from its processor. */
static void learn(struct nytp_walker *walker, const struct contexts *contexts,
                  const struct near *near, int i, bool is_lasting)
{
    if (i + 1 >= near->n || near->codes[i].pad == near->codes[i + 1].pad)
        return;
    const struct nytp_call call = call_at(walker, contexts, near, i);
    const struct code caller = code_at(walker, contexts, call.caller_context);
    if (kind_of(contexts, call.context) != NYTP_FRAME_SUB || caller.kind == NYTP_FRAME_FORMAT ||
        !may_be_in(walker, caller, cop_below(contexts, call.context), is_lasting))
        return;
    if (is_lasting)
        nytp_remember_call(&walker->calls, &call);
    else
        nytp_note_likely_call(&walker->calls, &call, walker->names->sample);
}

/* Whether near[from] to near[end - 1], which one reading alone shows, were calls: perl writes
 * who calls into a context before it writes who is called. So a call must have been seen
 * before, or be a recursion's next. */
static bool are_known_calls(struct nytp_walker *walker, const struct contexts *contexts,
                            const struct near *near, int from, int end)
{
    if (from < end && end >= near->n)
        return false;
    for (int i = from; i < end; i++) {
        const struct nytp_call call = call_at(walker, contexts, near, i);
        const bool is_seen = nytp_seen_call_same(&walker->calls, &call) != NULL;
        const bool is_next = call.caller_context >= 0 && near->codes[i + 1].cv == call.cv &&
                             near->codes[i + 1].depth + 1 == call.depth &&
                             cop_below(contexts, call.caller_context) == call.cop;
        if (!is_seen && !is_next)
            return false;
    }
    return true;
}

static int find_near(const struct near *near, uint64_t pad)
{
    int i = near->n - 1;
    while (i >= 0 && near->codes[i].pad != pad)
        i--;
    return i;
}

/* Whether the calls are those that they were when they were seen: memory of pads is used again.
 */
static bool are_still_calls(struct nytp_walker *walker, const struct top *top)
{
    struct running_code codes[MAX_CALLS];
    for (uint32_t i = 0; i < top->n_calls; i++)
        codes[i] = (struct running_code){top->calls[i]->cv, top->calls[i]->depth, 0};
    find_pads(walker, codes, top->n_calls);
    for (uint32_t i = 0; i < top->n_calls; i++)
        if (codes[i].pad != top->calls[i]->pad)
            return false;
    return true;
}

/* Whether near[i] has made this call before, and may have made it now, from *cop. */
static bool is_caller(struct nytp_walker *walker, const struct contexts *contexts,
                      const struct near *near, int i, int lasting, const struct nytp_call *call,
                      uint64_t *cop)
{
    if (call == NULL || !are_known_calls(walker, contexts, near, i, lasting))
        return false;
    *cop = cop_of_call(walker, call, near->contexts[i]);
    return may_be_in(walker, code_at(walker, contexts, near->contexts[i]), *cop,
                     call->cop != 0);
}

/* The innermost code that has called this pad's before: one that was there all the time,
 * near[lasting] or below, or that is above it by known calls. -1: none. */
static int find_caller(struct nytp_walker *walker, const struct contexts *contexts,
                       const struct near *near, int lasting, uint64_t pad, uint64_t *cop)
{
    for (int i = 0; i < near->n; i++)
        if (is_caller(walker, contexts, near, i, lasting,
                      find_call_from(walker, pad, near->callers[i]), cop))
            return i;
    return -1;
}

/* Where the caller of a call that lies at `context` is; -1: in a stack below. */
static int32_t caller_at(const struct nytp_call *call, int32_t context)
{
    return call->caller_context < 0 ? -1 : context - (call->context - call->caller_context);
}

/* If the code that runs with this pad lay at `context`: the call that was seen there, and who
 * had called that, down to one that is there yet. With `is_over`, what is there in place of a
 * caller has come since. */
static bool follow_from(struct nytp_walker *walker, const struct contexts *contexts,
                        const struct near *near, int lasting, uint64_t pad, int32_t context,
                        bool is_over, struct top *top)
{
    const uint64_t info = walker->look.infos[0].address;
    *top = (struct top){.context = -1};
    for (int i = 0; top->n_calls < MAX_CALLS;) {
        while (i < near->n && near->contexts[i] >= context)
            i++;
        if (i == near->n)
            return false;
        const struct nytp_call **const next = &top->calls[top->n_calls++];
        const int32_t below = near->contexts[i];
        *next =
            nytp_seen_call_above(&walker->calls, pad, near->callers[i], context - below, info);
        if (is_caller(walker, contexts, near, i, lasting, *next, &top->outermost_cop)) {
            top->context = below;
            return are_still_calls(walker, top);
        }
        *next = nytp_seen_call_at(&walker->calls, pad, context, info);
        if (*next == NULL)
            return false;
        context = caller_at(*next, context);
        if (context <= (is_over ? -1 : below))
            return false;
        pad = (*next)->caller_pad;
    }
    return false;
}

/* The same wherever it lay. */
static bool follow_calls(struct nytp_walker *walker, const struct contexts *contexts,
                         const struct near *near, int lasting, uint64_t pad, struct top *top)
{
    *top = (struct top){.context = -1};
    while (top->n_calls < MAX_CALLS) {
        const int caller =
            find_caller(walker, contexts, near, lasting, pad, &top->outermost_cop);
        const struct nytp_call *const call =
            caller >= 0 ? find_call_from(walker, pad, near->callers[caller])
                        : find_call(walker, pad);
        if (call == NULL)
            return false;
        top->calls[top->n_calls++] = call;
        pad = call->caller_pad;
        if (caller >= 0) {
            top->context = near->contexts[caller];
            return are_still_calls(walker, top);
        }
    }
    return false;
}

/* Whether the call has just returned to the innermost code that is there yet: it lay right
 * above the top, and that has made it before. */
static bool has_just_returned(struct nytp_walker *walker, const struct contexts *contexts,
                              const struct near *near, int lasting, uint64_t pad,
                              struct top *top)
{
    const struct nytp_stack_info *const in_use = &walker->look.infos[0];
    const int32_t below = near->contexts[0];
    const struct nytp_call *const call = nytp_seen_call_above(
        &walker->calls, pad, near->callers[0], in_use->top + 1 - below, in_use->address);
    uint64_t cop;
    if (below > in_use->top || !is_caller(walker, contexts, near, 0, lasting, call, &cop))
        return false;
    *top = (struct top){.context = below, .calls = {call}, .n_calls = 1, .outermost_cop = cop};
    return are_still_calls(walker, top);
}

/* Whether code that is there has made the call before: it has hardly returned itself in the
 * short time since. */
static bool find_made_before(struct nytp_walker *walker, const struct contexts *contexts,
                             const struct near *near, int lasting, uint64_t pad,
                             struct top *top)
{
    uint64_t cop;
    const int i = find_caller(walker, contexts, near, lasting, pad, &cop);
    if (i < 0)
        return false;
    *top = (struct top){.context = near->contexts[i],
                        .calls = {find_call_from(walker, pad, near->callers[i])},
                        .n_calls = 1,
                        .outermost_cop = cop};
    return are_still_calls(walker, top);
}

/* Whether what is at the place of a caller is there all the time. */
static bool has_lasted(const struct near *near, int lasting, const struct top *top)
{
    return lasting < near->n && near->contexts[lasting] > top->context;
}

/* The code that runs with this pad has returned since, or has not begun where the contexts were
 * read. It lay at the top, but for blocks of its own. If others came in place of its callers
 * then, and have stayed, it rather lay above them, and was over when the top was read. */
static bool find_left(struct nytp_walker *walker, const struct contexts *contexts,
                      const struct near *near, int lasting, uint64_t pad, struct top *top)
{
    const int32_t end = walker->look.infos[0].top;
    struct top above;
    bool is_found = has_just_returned(walker, contexts, near, lasting, pad, top) ||
                    find_made_before(walker, contexts, near, lasting, pad, top);
    bool is_over = false;
    for (int32_t context = end; context >= 0 && context > end - MAX_BLOCKS && !is_found;
         context--) {
        is_found = follow_from(walker, contexts, near, lasting, pad, context, false, top);
        is_over =
            !is_found && follow_from(walker, contexts, near, lasting, pad, context, true, top);
        is_found |= is_over;
    }
    if (!is_found)
        return follow_calls(walker, contexts, near, lasting, pad, top);
    if (!is_over || !has_lasted(near, lasting, top))
        return true;
    for (int32_t context = end + 1; context <= end + MAX_ABOVE; context++)
        if (follow_from(walker, contexts, near, lasting, pad, context, false, &above)) {
            if (above.n_calls > 1)
                *top = above;
            break;
        }
    return true;
}

/* ---- which code was running ---- */

/* Whether the code that is seen at a context may be over: that below it is another's, if it has
 * come since. perl 5.24 and after it clears the code of subs there, but not that of evals. What
 * lies at the bottom is checked as well. */
static bool is_checked(const struct contexts *contexts, int32_t i)
{
    return !clears_left(contexts) || kind_of(contexts, i) >= NYTP_FRAME_EVAL ||
           code_below(contexts, i) < 0;
}

/* Names that the stack will need, if it is what was read; of a deep one they are too many to be
 * worth it. */
static void recall_names(struct nytp_walker *walker, const struct nytp_spied_moment *wanted)
{
    if (nytp_look_is_deep(&walker->look))
        return;
    nytp_name_cache_recall_place(walker->names, wanted->curcop);
    for (uint32_t info = 0; info < walker->look.n_infos; info++) {
        const struct contexts contexts = contexts_of(walker, info);
        for (int32_t i = code_below(&contexts, contexts.n); i >= 0;
             i = code_below(&contexts, i)) {
            nytp_name_cache_recall_sub(walker->names, code_of(&contexts, i));
            nytp_name_cache_recall_place(walker->names, cop_below(&contexts, i));
            if (is_checked(&contexts, i))
                nytp_root_ask(walker->names, cop_below(&contexts, i));
        }
    }
}

/* The innermost codes of what was read, down to NEAR of those below context `end`, and their
 * pads. */
static void see_near(struct nytp_walker *walker, const struct contexts *contexts, int32_t end,
                     const struct nytp_spied_moment *wanted, struct near *near)
{
    int n_below = 0;
    near->n = 0;
    nytp_root_ask(walker->names, wanted->curcop);
    for (int32_t i = contexts->n; near->n < FURTHER && n_below < NEAR && i >= 0;) {
        const int32_t above = i;
        i = code_below(contexts, i);
        if (above < contexts->n && is_eval(walker, contexts, i))
            nytp_words_ask(walker->names->words,
                           word_with_line(walker, cop_below(contexts, above)));
        n_below += i < end;
        near->contexts[near->n] = i;
        near->codes[near->n++] = running_at(walker, contexts, i);
        if (i >= 0)
            nytp_root_ask(walker->names, cop_below(contexts, i));
    }
    recall_names(walker, wanted);
    find_pads(walker, near->codes, (size_t)near->n);
    for (int i = 0; i < near->n; i++) {
        const bool is_of_eval = is_eval(walker, contexts, near->contexts[i]);
        near->callers[i] =
            is_of_eval ? evals_at(walker, contexts, near->contexts[i]) : near->codes[i].pad;
    }
}

/* The innermost eval where the variables were read, from then on in the first reading of the
 * stack in use, which is the nearer one. It may be over since: perl leaves it above the top.
 * -1: it is none, or a sub may have been there that has run another one. */
static int32_t find_eval(struct nytp_walker *walker)
{
    const struct nytp_stack_info *const info = &walker->look.infos[0];
    const struct contexts contexts = contexts_of(walker, 0);
    const int32_t end = (int32_t)info->n_first, above = info->low_first + 1;
    if (!are_same_below(walker))
        return -1;
    memcpy(nytp_look_reading(&walker->look, 0, false, info->n_deep),
           nytp_look_reading(&walker->look, 0, true, info->n_deep),
           (info->n_first - info->n_deep) * (size_t)contexts.layout->cx_size);
    const int32_t top = code_below(&contexts, above);
    int32_t left = above;
    while (left < end && left < above + MAX_ABOVE && code_of(&contexts, left) == 0)
        left++;
    if (left < end && is_eval(walker, &contexts, left)) {
        const uint64_t cop = cop_below(&contexts, left);
        if (may_be_in(walker, code_at(walker, &contexts, top), cop, false))
            return left;
        if (is_in_sub(walker, cop))
            return -1;
    }
    return top >= 0 && is_eval(walker, &contexts, top) &&
                   may_be_in(walker, code_at(walker, &contexts, code_below(&contexts, top)),
                             cop_below(&contexts, top), clears_left(&contexts))
               ? top
               : -1;
}

/* An eval that has ended before it was known where in it the program was: its statements are
 * freed, and the next one has their memory. So it is shown at the statement that runs it, or,
 * if it has called a sub, as calling that from there. Who looked for another moment would find
 * those who run no short evals. */
static bool find_ended(struct nytp_walker *walker, struct nytp_spied_moment *wanted,
                       struct top *top)
{
    const int32_t eval = find_eval(walker);
    const struct contexts contexts = contexts_of(walker, 0);
    if (eval < 0)
        return false;
    *top = (struct top){.context = eval, .outermost_cop = cop_below(&contexts, eval)};
    if (wanted->curcop == top->outermost_cop) { /* compiled, and it has not begun */
        top->context = code_below(&contexts, eval);
        return find_call(walker, wanted->curpad) == NULL &&
               may_be_in(walker, code_at(walker, &contexts, top->context), wanted->curcop,
                         false);
    }
    if (wanted->curcop != walker->look.of.at[NYTP_PL_compiling] &&
        is_in_sub(walker, wanted->curcop)) {
        const struct nytp_call *const call =
            find_call_from(walker, wanted->curpad, evals_at(walker, &contexts, eval));
        wanted->op_type = op_type_at(walker, wanted->op);
        top->calls[top->n_calls++] = call;
        return call != NULL &&
               may_be_in(walker, (struct code){NYTP_FRAME_SUB, call->cv}, wanted->curcop,
                         true) &&
               are_still_calls(walker, top);
    }
    wanted->op = 0;
    wanted->op_type = 0;
    wanted->curcop = top->outermost_cop;
    return find_call(walker, wanted->curpad) == NULL;
}

/* The code that runs with PL_curpad, in a stack whose contexts were read. */
static bool find_top(struct nytp_walker *walker, int32_t end_both,
                     const struct nytp_spied_moment *wanted, struct top *top)
{
    struct contexts contexts = contexts_of(walker, 0);
    struct near near;
    *top = (struct top){.context = code_below(&contexts, end_both)};
    if (!are_same_below(walker))
        return false;
    contexts = nearest_reading(walker);
    see_near(walker, &contexts, end_both, wanted, &near);
    int i = find_near(&near, wanted->curpad), lasting = 0;
    while (lasting < near.n && near.contexts[lasting] >= end_both)
        lasting++;
    for (int k = i > lasting ? i : lasting; i >= 0 && k + 1 < near.n; k++)
        learn(walker, &contexts, &near, k, k > 0 || clears_left(&contexts));
    for (int k = i >= 0 ? i : clears_left(&contexts) ? 0 : lasting; k < lasting; k++)
        learn(walker, &contexts, &near, k, false);
    if (i < 0 || !are_known_calls(walker, &contexts, &near, i, lasting))
        return find_left(walker, &contexts, &near, lasting, wanted->curpad, top);
    top->context = near.contexts[i];
    return is_called_by(walker, &contexts, &near, i);
}

/* The innermost code, for when it is known that nothing moves. */
static bool find_innermost(struct nytp_walker *walker, int32_t end_both, struct top *top)
{
    const struct contexts contexts = contexts_of(walker, 0);
    *top = (struct top){.context = code_below(&contexts, contexts.n), .has_no_pad = true};
    return are_same_below(walker) && end_both == contexts.n;
}

/* The main program, for as long as it is compiled, or one of its subs, whose statements perl
 * goes through as if they ran. It has not begun: it has no depth, which stands behind CvFLAGS.
 */
static bool find_main_compiled(struct nytp_walker *walker, struct nytp_spied_moment *wanted,
                               struct top *top)
{
    const struct nytp_layout *const layout = walker->names->perl->layout;
    struct nytp_words *const words = walker->names->words;
    const struct contexts contexts = contexts_of(walker, 0);
    const uint64_t cv = walker->look.main_cv;
    const uint64_t body = cv == 0 ? 0 : nytp_word(words, cv + (uint64_t)layout->sv_any);
    *top = (struct top){.context = code_below(&contexts, contexts.n), .has_no_pad = true};
    if (body == 0 || nytp_word(words, body + (uint64_t)layout->cv_flags) >> 32 != 0 ||
        code_at(walker, &contexts, top->context).kind != NYTP_FRAME_MAIN)
        return false;
    wanted->curcop = walker->look.of.at[NYTP_PL_compiling];
    return true;
}

/* What is compiled while a program runs is an eval or a file. */
static bool find_compiled(struct nytp_walker *walker, int32_t end_both, struct top *top)
{
    const struct contexts contexts = contexts_of(walker, 0);
    *top = (struct top){.context = find_eval(walker), .has_no_pad = true};
    return top->context >= 0 ||
           (find_innermost(walker, end_both, top) && is_eval(walker, &contexts, top->context));
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

/* Whether a call was made from the statement, in other code than `cv`: it is in one code only.
 * The variables are not read at once: the pad may be that of a sub, the statement that of the
 * code to which it and its callers have returned meanwhile. */
static bool is_of_a_caller(const struct nytp_walker *walker, const struct contexts *contexts,
                           const struct top *top, uint64_t cop, uint64_t cv)
{
    const uint64_t below = code_at(walker, contexts, top->context).cv;
    for (uint32_t k = 0; k < top->n_calls; k++)
        if (cop_of_call_in(top, k) == cop &&
            (k + 1 < top->n_calls ? top->calls[k + 1]->cv : below) != cv)
            return true;
    for (int32_t i = top->context; i >= 0; i = code_below(contexts, i))
        if (cop_below(contexts, i) == cop &&
            code_at(walker, contexts, code_below(contexts, i)).cv != cv)
            return true;
    return false;
}

/* Whether the statement is one of the code that runs, or one that has called it just now. What
 * is not known to be one is none where the code is thought to have returned. */
static bool is_statement_of(struct nytp_walker *walker, struct nytp_spied_moment *wanted,
                            bool is_resting, struct top *top)
{
    const struct contexts contexts = contexts_of(walker, 0);
    const struct nytp_call *const call = top->n_calls > 0 ? top->calls[0] : NULL;
    const struct code code = call != NULL ? (struct code){NYTP_FRAME_SUB, call->cv}
                                          : code_at(walker, &contexts, top->context);
    const uint64_t callers = call != NULL        ? cop_of_call_in(top, 0)
                             : top->context >= 0 ? cop_below(&contexts, top->context)
                                                 : 0;
    const bool is_callers = wanted->curcop == callers;
    if (wanted->curcop == walker->look.of.at[NYTP_PL_compiling])
        return code.kind != NYTP_FRAME_SUB;
    if (code.kind != NYTP_FRAME_SUB && is_callers) { /* compiled, but it has not begun */
        if (call != NULL)
            return false;
        top->context = code_below(&contexts, top->context);
        return may_be_in(walker, code_at(walker, &contexts, top->context), wanted->curcop,
                         wanted->is_one_cop);
    }
    if (may_be_in(walker, code, wanted->curcop,
                  call == NULL && wanted->is_one_cop && !is_callers &&
                      !is_of_a_caller(walker, &contexts, top, wanted->curcop, code.cv)))
        return true;
    const uint64_t ended = is_resting ? cop_of_ended(&contexts, top->context) : 0;
    if (ended != 0 && may_be_in(walker, code, ended,
                                !is_of_a_caller(walker, &contexts, top, ended, code.cv))) {
        wanted->curcop = ended;
        return true;
    }
    if (top->has_no_pad && is_resting && code.kind != NYTP_FRAME_SUB) {
        /* perl looks through the statements of a sub that it has compiled */
        wanted->curcop = walker->look.of.at[NYTP_PL_compiling];
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
    return true;
}

static void leave_out_middle(struct nytp_stack *stack)
{
    struct nytp_frame *const behind = stack->frames + NYTP_INNERMOST_FRAMES;
    if (stack->n <= NYTP_MOST_FRAMES)
        return;
    stack->n_left_out = stack->n - NYTP_MOST_FRAMES;
    stack->n = NYTP_MOST_FRAMES;
    memmove(behind, behind + stack->n_left_out,
            (NYTP_MOST_FRAMES - NYTP_INNERMOST_FRAMES) * sizeof *behind);
}

static bool has_name(const struct nytp_frame *frame)
{
    return frame->kind == NYTP_FRAME_SUB || frame->kind == NYTP_FRAME_FORMAT;
}

static bool expect_names(struct nytp_walker *walker)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < walker->stack.n; i++) {
        const struct nytp_frame *const frame = &walker->stack.frames[i];
        ok = (frame->cop == 0 || nytp_name_cache_expect_place(walker->names, frame->cop)) &&
             (!has_name(frame) || nytp_name_cache_expect_sub(walker->names, frame->cv));
    }
    return ok;
}

/* The calls of one stack from context `i` down; *cop goes in as the innermost statement and
 * comes out as that which the stack was begun from. */
static bool add_contexts(struct nytp_walker *walker, const struct contexts *contexts, int32_t i,
                         uint64_t *cop)
{
    while (i >= 0) {
        const int32_t below = code_below(contexts, i);
        if (!is_in_regex(contexts, i) &&
            !add_frame(walker, kind_of(contexts, i), code_of(contexts, i), *cop))
            return false;
        *cop = cop_below(contexts, i);
        if (below >= 0 && is_checked(contexts, i) &&
            !may_be_in(walker, code_at(walker, contexts, below), *cop, true))
            return false;
        i = below;
    }
    return true;
}

static bool is_of_eval(const struct nytp_names *names, uint32_t file)
{
    static const char begin[] = "(eval ";
    const struct nytp_name name = nytp_strings_get(names->strings, file);
    return name.len > sizeof begin - 1 && memcmp(name.ptr, begin, sizeof begin - 1) == 0;
}

/* Whether a sub that is in a file is shown at a statement of a string eval, which is over: it
 * was freed, and is known from before only. */
static bool is_at_eval(const struct nytp_names *names, const struct nytp_frame *frame)
{
    const struct nytp_spied_sub *const sub = &names->subs[frame->sub];
    return sub->first_line > 0 && sub->file != frame->file && is_of_eval(names, frame->file) &&
           !is_of_eval(names, sub->file);
}

/* Files and lines, when names has looked. */
static bool name_frames(struct nytp_walker *walker, bool at_start)
{
    struct nytp_names *const names = walker->names;
    for (uint32_t i = 0; i < walker->stack.n; i++) {
        struct nytp_frame *const frame = &walker->stack.frames[i];
        const bool named = has_name(frame);
        if (named && (frame->sub = nytp_sub_at(names, frame->cv)) == UINT32_MAX)
            return false;
        if (!nytp_place_at(names, frame->cop, &frame->file, &frame->line))
            return false;
        if (frame->line == 0 &&
            (frame->kind == NYTP_FRAME_EVAL || frame->kind == NYTP_FRAME_REQUIRE))
            frame->line = 1; /* it is compiled: no line is read yet, or no more */
        if (i == 0 && at_start && named && names->subs[frame->sub].first_line > 0) {
            frame->file = names->subs[frame->sub].file;
            frame->line = names->subs[frame->sub].first_line;
        }
        if (named && is_at_eval(names, frame))
            return false;
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

/* Whether an eval is compiled at a context, run by the same statement as when it was looked at:
 * what is compiled has its place in one variable. */
static bool is_compiled_yet(struct nytp_walker *walker, int32_t context)
{
    const struct nytp_layout *const layout = walker->names->perl->layout;
    const struct nytp_stack_info *const info = &walker->look.infos[0];
    const struct contexts contexts = contexts_of(walker, 0);
    uint64_t in_use = 0, cop = 0, curcop = 0;
    int32_t top = -1;
    const struct nytp_piece pieces[] = {
        {walker->look.of.at[NYTP_PL_curstackinfo], &in_use, sizeof in_use},
        {walker->look.of.at[NYTP_PL_curcop], &curcop, sizeof curcop},
        {info->address + (uint64_t)layout->si_cxix, &top, sizeof top},
        {info->contexts + (uint64_t)context * (uint64_t)layout->cx_size +
             (uint64_t)layout->cx_oldcop,
         &cop, sizeof cop}};
    const size_t n = sizeof pieces / sizeof *pieces;
    return nytp_memory_scattered(walker->names->perl->memory, pieces, n) == n &&
           in_use == info->address && curcop == walker->look.of.at[NYTP_PL_compiling] &&
           top == context && cop == cop_below(&contexts, context);
}

static bool take_frames(struct nytp_walker *walker, const struct nytp_spied_moment *moment,
                        const struct top *top)
{
    const struct nytp_layout *const layout = walker->names->perl->layout;
    const bool is_call = moment->op_type == (unsigned)layout->op_entersub;
    const uint64_t callee = is_call ? callee_of(walker, moment->stack_sp) : 0;
    uint64_t cop = moment->curcop;
    walker->stack.n = walker->stack.n_left_out = 0;
    walker->stack.builtin = moment->op_type;
    if (callee != 0 && !nytp_name_cache_expect_sub(walker->names, callee))
        return false;
    for (uint32_t i = 0; i < top->n_calls; i++) {
        if (!add_frame(walker, NYTP_FRAME_SUB, top->calls[i]->cv, cop))
            return false;
        cop = cop_of_call_in(top, i);
    }
    for (uint32_t i = 0; i < walker->look.n_infos; i++) {
        const struct contexts contexts = contexts_of(walker, i);
        const int32_t code = i == 0 ? top->context : code_below(&contexts, contexts.n);
        if ((i > 0 && !may_be_in(walker, code_at(walker, &contexts, code), cop, true)) ||
            !add_contexts(walker, &contexts, code, &cop))
            return false;
    }
    if (!may_be_in(walker, (struct code){NYTP_FRAME_MAIN, 0}, cop, true) ||
        !add_frame(walker, NYTP_FRAME_MAIN, 0, cop))
        return false;
    if (!walker->keeps_all)
        leave_out_middle(&walker->stack);
    if (!expect_names(walker))
        return false;
    nytp_name_cache_look(walker->names);
    if (moment->curcop == walker->look.of.at[NYTP_PL_compiling] && top->context >= 0 &&
        !is_compiled_yet(walker, top->context))
        return false;
    walker->stack.xsub = xsub_at(walker, callee);
    return name_frames(walker, top->at_start);
}

static void begin_words(struct nytp_walker *walker, const struct nytp_spied_moment *wanted)
{
    nytp_name_cache_begin(walker->names);
    nytp_words_begin(walker->names->words);
    ask_op_type(walker, wanted->op);
}

/* The stack of a moment in an eval that has ended since. */
static bool take_ended(struct nytp_walker *walker, const struct nytp_spied_moment *wanted)
{
    struct nytp_spied_moment moment = *wanted;
    struct top top;
    return find_ended(walker, &moment, &top) && take_frames(walker, &moment, &top);
}

/* The sample is of the first moment that was seen, whatever runs then: who takes the first that
 * can be seen whole, takes what stays long. */
enum nytp_sampled nytp_sample(struct nytp_walker *walker)
{
    struct nytp_spied_moment wanted = {0}, moment = {0};
    struct top top;
    int n_same = 0; /* looks in a row that saw the moment that is wanted as the one before */
    nytp_look_begin(&walker->look);
    for (int i = 0; i < LOOKS && !nytp_look_is_long(&walker->look); i++) {
        const struct nytp_spied_moment before = moment;
        walker->n_retried += i == 1;
        walker->n_retried_more += i == 2;
        const int for_one = nytp_look_is_deep(&walker->look) ? LOOKS_DEEP : LOOKS_FOR_ONE;
        if (!nytp_look_at_once(&walker->look, &moment, &wanted, i >= for_one) || moment.is_late)
            continue;
        const bool is_compiling = wanted.curcop == walker->look.of.at[NYTP_PL_compiling];
        const bool is_same = nytp_is_same_spied_moment(&wanted, &moment);
        n_same = is_same && nytp_is_same_spied_moment(&before, &moment) ? n_same + 1 : 0;
        walker->has_moved = wanted.has_moved;
        wanted.is_one_cop &= is_same;
        /* As read: what follows goes on with one of the two readings. */
        const int32_t end_both = end_of_both(walker);
        begin_words(walker, &wanted);
        const bool is_found = (is_compiling ? find_compiled(walker, end_both, &top)
                                            : find_top(walker, end_both, &wanted, &top)) ||
                              find_main_compiled(walker, &wanted, &top);
        if (!is_found && wanted.has_moved && take_ended(walker, &wanted))
            return NYTP_WHOLE;
        if (!is_found && (n_same < (is_compiling ? RESTS : 1) || moment.has_moved ||
                          !find_innermost(walker, end_both, &top)))
            continue;
        wanted.op_type = op_type_at(walker, wanted.op);
        if (!is_statement_of(walker, &wanted, is_compiling ? is_same : n_same > 0, &top))
            wanted = (struct nytp_spied_moment){0}; /* between two subs */
        else if (take_frames(walker, &wanted, &top) || take_ended(walker, &wanted))
            return NYTP_WHOLE;
    }
    const uint64_t in_use = walker->look.of.at[NYTP_PL_curstackinfo];
    return nytp_memory_u64(walker->names->perl->memory, in_use) == 0 ? NYTP_GONE : NYTP_TORN;
}
