/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The stack of a perl that runs on; see stack.h. The program is not stopped: sampling/find.h
 * tells how its stack is found all the same.
 *
 * perl changes the variables one after another when it calls a sub and returns from it. Such a
 * moment, some nanoseconds long, is told by the statement, which is the caller's yet or the
 * callee's still: the ops behind and around a statement lead to the root of the sub that it is
 * in. A sub that has just begun is shown at its first statement; after one that has just ended
 * we look anew.
 */
#define _GNU_SOURCE
#include "stack.h"

#include "attach.h"
#include "moment.h"

#include "formats/base/arena.h"
#include "sampling/sort.h"
#include "sampling/step.h"

#include <stdlib.h>
#include <sys/mman.h>

enum {
    LOOKS = 16,
    LOOKS_FOR_ONE = 6, /* for the same moment: what five do not find, fifteen more hardly do */
    LOOKS_DEEP = 4,    /* for the same moment of a deep stack, which is another soon */
    MOST_ABOVE = 9,    /* contexts above the top, where an eval was that has ended */
    RESTS = 3,         /* looks in which nothing moved: it is no eval that is compiled */
};

bool nytp_walker_init(struct nytp_walker *walker, struct nytp_names *names,
                      const struct nytp_interpreter *of)
{
    *walker = (struct nytp_walker){.names = names, .look = {.perl = names->perl, .of = *of}};
    /* malloc() would touch all of it if it has freed as much before */
    void *const memory = mmap(NULL, sizeof *walker->memory, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    walker->memory = memory == MAP_FAILED ? NULL : memory;
    return walker->memory != NULL;
}

void nytp_walker_free(struct nytp_walker *walker)
{
    nytp_look_free(&walker->look);
    if (walker->memory != NULL)
        munmap(walker->memory, sizeof *walker->memory);
    free(walker->calls);
    free(walker->stack.frames);
    *walker = (struct nytp_walker){0};
}

static uint64_t address_of_compiling(const struct nytp_walker *walker)
{
    return walker->look.of.at[NYTP_PL_compiling];
}

/* ---- moments in which perl compiles ---- */

/* Or in which a string eval ended that was read too late. PL_curpad is that of the code being
 * compiled then, which no call has. Each search puts the stack into walker->reading, and
 * returns false if it is not known. */

/* The innermost of `n` calls; NULL: the main program. */
static const struct nytp_call *innermost(const struct nytp_walker *walker, uint32_t n)
{
    return n > 0 ? &walker->calls[n - 1] : NULL;
}

static uint32_t n_calls(const struct nytp_walker *walker)
{
    return walker->reading.calls.n_upper;
}

/* The innermost code, for when it is known that nothing moves. `end_both` is
 * nytp_end_of_both(). */
static bool find_innermost(struct nytp_walker *walker, int32_t end_both,
                           struct nytp_found *found)
{
    const int32_t end = nytp_contexts_of(walker, 0).n;
    *found = (struct nytp_found){.n_open = 0};
    if (!nytp_are_same_below(walker) || end_both != end ||
        !nytp_moment_calls(walker, end, end_both))
        return false;
    found->n_open = n_calls(walker);
    return true;
}

/* The main program, while it is compiled; changes the moment's statement. */
static bool find_main_compiled(struct nytp_walker *walker, struct nytp_spied_moment *moment,
                               struct nytp_found *found)
{
    /* It has not begun: it has no depth, which stands behind CvFLAGS. Else it is a sub of it,
     * whose statements perl goes through as if they ran. */
    const struct nytp_layout *const layout = walker->names->perl->layout;
    struct nytp_words *const words = walker->names->words;
    const uint64_t cv = walker->look.main_cv;
    const uint64_t body = cv == 0 ? 0 : nytp_word(words, cv + (uint64_t)layout->sv_any);
    *found = (struct nytp_found){.n_open = 0};
    if (body == 0 || nytp_word(words, body + (uint64_t)layout->cv_flags) >> 32 != 0 ||
        !nytp_moment_calls(walker, nytp_contexts_of(walker, 0).n, 0) || n_calls(walker) > 0)
        return false;
    moment->curcop = address_of_compiling(walker);
    return true;
}

/* The innermost eval where the variables were read, from then on in the first reading of the
 * stack in use, which is the nearer one. It may be over since: perl leaves it above the top.
 * Then it is the innermost call of the reading. False: it is none, or a sub may have been there
 * that has run another one. */
static bool find_eval(struct nytp_walker *walker)
{
    const struct nytp_stack_info *const info = &walker->look.infos[0];
    const struct nytp_contexts contexts = nytp_contexts_of(walker, 0);
    const int32_t above = info->low_first + 1;
    const int32_t end = nytp_lower((int32_t)info->n_first, above + MOST_ABOVE);
    struct nytp_call left;
    int32_t at = above;
    if (!nytp_are_same_below(walker))
        return false;
    memcpy(nytp_look_reading(&walker->look, 0, false, info->n_deep),
           nytp_look_reading(&walker->look, 0, true, info->n_deep),
           (info->n_first - info->n_deep) * (size_t)contexts.layout->cx_size);
    if (!nytp_moment_calls(walker, above, 0))
        return false;
    while (at < end && !nytp_context_call(&contexts, at, &left))
        at++;
    if (at < end && nytp_is_eval(&left)) {
        if (nytp_may_be_in(walker, left.site, innermost(walker, n_calls(walker)), false))
            return nytp_moment_calls(walker, at + 1, 0);
        if (nytp_is_in_some_sub(walker, left.site))
            return false;
    }
    const uint32_t n = n_calls(walker);
    const struct nytp_call *const top = innermost(walker, n);
    return top != NULL && top->stack == info->address && nytp_is_eval(top) &&
           nytp_may_be_in(walker, top->site, innermost(walker, n - 1),
                          nytp_contexts_are_cleared(contexts.layout));
}

static bool is_with_call(struct nytp_walker *walker, struct nytp_spied_moment *moment,
                         struct nytp_found *found)
{
    const struct nytp_seen_call *const seen =
        nytp_find_call_of(&walker->reading, walker->memory, n_calls(walker), moment->curpad);
    if (seen == NULL)
        return false;
    moment->op_type = nytp_op_type_at(walker, moment);
    found->left[0] = seen->call;
    found->left[0].site = innermost(walker, n_calls(walker))->site;
    found->n_left = 1;
    return nytp_may_be_in(walker, moment->curcop, &seen->call, true) &&
           nytp_spied_facts.has_pad(&walker->reading, &seen->call);
}

/* An eval that has ended before it was known where in it the program was: its statements are
 * freed, and the next one has their memory. So it is shown at the statement that runs it, or,
 * if it has called a sub, as calling that from there. Who looked for another moment would find
 * those who run no short evals. Changes the moment. */
static bool find_ended(struct nytp_walker *walker, struct nytp_spied_moment *moment,
                       struct nytp_found *found)
{
    *found = (struct nytp_found){.n_open = 0};
    if (!find_eval(walker))
        return false;
    found->n_open = n_calls(walker);
    const uint64_t site = innermost(walker, found->n_open)->site;
    const bool is_unknown =
        nytp_seen_with(walker->memory, moment->curpad, walker->reading.stack) == NULL;
    if (moment->curcop == site) { /* compiled, and it has not begun */
        found->n_open--;
        return is_unknown &&
               nytp_may_be_in(walker, site, innermost(walker, found->n_open), false);
    }
    if (moment->curcop != address_of_compiling(walker) &&
        nytp_is_in_some_sub(walker, moment->curcop))
        return is_with_call(walker, moment, found);
    moment->op = 0;
    moment->op_type = 0;
    moment->curcop = site;
    return is_unknown;
}

/* An eval or a file that is compiled while the program runs. */
static bool find_compiled(struct nytp_walker *walker, int32_t end_both,
                          struct nytp_found *found)
{
    const bool is_found = find_eval(walker);
    *found = (struct nytp_found){.n_open = n_calls(walker)};
    if (is_found)
        return true;
    if (!find_innermost(walker, end_both, found))
        return false;
    const struct nytp_call *const top = innermost(walker, found->n_open);
    return top != NULL && nytp_is_eval(top);
}

/* Returns whether the innermost call, an eval, is still being compiled, run by the same
 * statement as when it was looked at: code being compiled has its place in one variable. */
static bool is_compiled_yet(struct nytp_walker *walker, const struct nytp_call *call)
{
    const struct nytp_layout *const layout = walker->names->perl->layout;
    const struct nytp_stack_info *const info = &walker->look.infos[0];
    const uint64_t context =
        info->contexts + (uint64_t)(uint32_t)call->place * (uint64_t)layout->cx_size;
    uint64_t in_use = 0, site = 0, curcop = 0;
    int32_t top = -1;
    const struct nytp_piece pieces[] = {
        {walker->look.of.at[NYTP_PL_curstackinfo], &in_use, sizeof in_use},
        {walker->look.of.at[NYTP_PL_curcop], &curcop, sizeof curcop},
        {info->address + (uint64_t)layout->si_cxix, &top, sizeof top},
        {context + (uint64_t)layout->cx_oldcop, &site, sizeof site}};
    const size_t n = sizeof pieces / sizeof *pieces;
    return nytp_memory_scattered(walker->names->perl->memory, pieces, n) == n &&
           in_use == info->address && curcop == address_of_compiling(walker) &&
           top == call->place && site == call->site;
}

/* ---- the statement ---- */

/* Call i of the stack, from the outermost; NULL, for -1: the main program. */
static const struct nytp_call *found_at(const struct nytp_walker *walker,
                                        const struct nytp_found *found, int64_t i)
{
    return i < 0 ? NULL : nytp_found_at(&walker->reading, found, (uint32_t)i);
}

/* The statement that called the sub which is being left, whose context is there yet. */
static uint64_t site_of_ended(const struct nytp_walker *walker, const struct nytp_found *found)
{
    const struct nytp_contexts contexts = nytp_contexts_of(walker, 0);
    const struct nytp_call *const below = found_at(walker, found, (int64_t)found->n_open - 1);
    for (int32_t i = below != NULL && below->stack == contexts.stack ? below->place + 1 : 0;
         i < contexts.n; i++)
        if (nytp_context_is_sub(&contexts, i))
            return nytp_context_site(&contexts, i);
    return 0;
}

/* Returns whether a call was made from the statement, in other code than `code`: a statement is
 * in one code only. The variables are not read at one moment: the pad may be a sub's, the
 * statement that of a caller to which it has returned meanwhile. */
static bool is_of_a_caller(const struct nytp_walker *walker, const struct nytp_found *found,
                           uint64_t statement, uint64_t code)
{
    for (int64_t i = (int64_t)nytp_found_n(found) - 1; i >= 0; i--) {
        const struct nytp_call *const caller = found_at(walker, found, i - 1);
        if (found_at(walker, found, i)->site == statement &&
            (caller != NULL ? caller->code : 0) != code)
            return true;
    }
    return false;
}

/* The state of the sample that is being taken. */
struct sample {
    struct nytp_spied_moment wanted;
    struct nytp_found found;
    bool has_no_pad; /* the pad in use is that of no code that runs */
    bool is_resting; /* nothing moved between two looks */
    bool at_start;   /* the statement is not the sub's yet */
};

/* The last sub is being left, and the statement is its caller's again. */
static bool take_ended_site(struct nytp_walker *walker, struct sample *sample,
                            const struct nytp_call *call)
{
    const uint64_t code = call != NULL ? call->code : 0;
    const uint64_t ended = sample->is_resting ? site_of_ended(walker, &sample->found) : 0;
    if (ended == 0 || !nytp_may_be_in(walker, ended, call,
                                      !is_of_a_caller(walker, &sample->found, ended, code)))
        return false;
    sample->wanted.curcop = ended;
    return true;
}

/* The innermost call, an eval, is compiled but has not begun: its caller's statement is
 * current. */
static bool leave_out_eval(struct nytp_walker *walker, struct sample *sample)
{
    if (sample->found.n_left > 0)
        return false;
    sample->found.n_open--;
    sample->found.is_sort = false;
    return nytp_may_be_in(walker, sample->wanted.curcop,
                          found_at(walker, &sample->found, (int64_t)sample->found.n_open - 1),
                          sample->wanted.is_one_cop);
}

/* Returns whether the statement is one of the code that runs, or one that has called it just
 * now. What is not known to be one is none where the code is thought to have returned. */
static bool is_statement_of(struct nytp_walker *walker, struct sample *sample)
{
    struct nytp_spied_moment *const wanted = &sample->wanted;
    const struct nytp_found *const found = &sample->found;
    const struct nytp_call *const call =
        found_at(walker, found, (int64_t)nytp_found_n(found) - 1);
    const bool is_sub = call != NULL && call->kind == NYTP_FRAME_SUB;
    const bool is_callers = call != NULL && wanted->curcop == call->site;
    const bool is_likely = found->n_left == 0 && wanted->is_one_cop && !is_callers;
    if (wanted->curcop == 0) /* perl begins */
        return false;
    if (wanted->curcop == address_of_compiling(walker))
        return !is_sub;
    if (!is_sub && is_callers)
        return leave_out_eval(walker, sample);
    if (nytp_may_be_in(walker, wanted->curcop, call,
                       is_likely && !is_of_a_caller(walker, found, wanted->curcop,
                                                    call != NULL ? call->code : 0)))
        return true;
    sample->found.is_sort = false;
    if (take_ended_site(walker, sample, call))
        return true;
    if (sample->has_no_pad && sample->is_resting && !is_sub) {
        /* perl looks through the statements of a sub that it has compiled */
        wanted->curcop = address_of_compiling(walker);
        return true;
    }
    sample->at_start = is_sub && (is_callers || sample->is_resting);
    return sample->at_start;
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
    struct nytp_frame *const behind = stack->frames + NYTP_INNERMOST_SHOWN;
    if (stack->n <= NYTP_MOST_SHOWN)
        return;
    stack->n_left_out = stack->n - NYTP_MOST_SHOWN;
    stack->n = NYTP_MOST_SHOWN;
    memmove(behind, behind + stack->n_left_out,
            (NYTP_MOST_SHOWN - NYTP_INNERMOST_SHOWN) * sizeof *behind);
}

static bool has_name(const struct nytp_frame *frame)
{
    return frame->kind == NYTP_FRAME_SUB || frame->kind == NYTP_FRAME_FORMAT;
}

/* Frames have the addresses of their subs and statements until names resolves them. */
static void expect_names(struct nytp_walker *walker)
{
    struct nytp_names *const names = walker->names;
    for (uint32_t i = 0; i < walker->stack.n; i++) {
        struct nytp_frame *const frame = &walker->stack.frames[i];
        frame->sub = has_name(frame)
                         ? nytp_name_cache_expect(names, frame->cv, NYTP_NAMED_SUB, true)
                         : UINT32_MAX;
        const bool may_last =
            frame->kind == NYTP_FRAME_MAIN ||
            (frame->kind == NYTP_FRAME_SUB && nytp_sub_may_last(names, frame->sub));
        frame->file = frame->cop == 0 ? UINT32_MAX
                                      : nytp_name_cache_expect(names, frame->cop,
                                                               NYTP_NAMED_PLACE, may_last);
    }
}

/* Returns whether a sub that is in a file is shown at a statement of a string eval, which is
 * over: it was freed, and is known from before only. */
static bool is_at_eval(const struct nytp_names *names, const struct nytp_frame *frame)
{
    const struct nytp_spied_sub *const sub = &names->subs[frame->sub];
    return sub->first_line > 0 && sub->file != frame->file &&
           nytp_is_of_eval(names, frame->file) && !nytp_is_of_eval(names, sub->file);
}

/* Files and lines, when names has looked. */
static bool name_frames(struct nytp_walker *walker, bool at_start)
{
    struct nytp_names *const names = walker->names;
    for (uint32_t i = 0; i < walker->stack.n; i++) {
        struct nytp_frame *const frame = &walker->stack.frames[i];
        const bool named = has_name(frame);
        if (named && (frame->sub = nytp_sub_at(names, frame->sub)) == UINT32_MAX)
            return false;
        if (!nytp_place_at(names, frame->file, &frame->file, &frame->line))
            return false;
        if (frame->line == 0 &&
            (frame->kind == NYTP_FRAME_EVAL || frame->kind == NYTP_FRAME_REQUIRE))
            frame->line = 1; /* still compiling: no line has been read, or all have */
        if (i == 0 && at_start && named && names->subs[frame->sub].first_line > 0) {
            frame->file = names->subs[frame->sub].file;
            frame->line = names->subs[frame->sub].first_line;
        }
        if (named && is_at_eval(names, frame))
            return false;
    }
    return true;
}

/* The calls, innermost first, and the main program. Returns false if memory is out, or a call
 * that may be over is not from the code below it. */
static bool add_frames(struct nytp_walker *walker, const struct sample *sample)
{
    const struct nytp_found *const found = &sample->found;
    uint64_t statement = sample->wanted.curcop;
    for (int64_t i = (int64_t)nytp_found_n(found) - 1; i >= 0; i--) {
        const struct nytp_call *const call = found_at(walker, found, i);
        if (!call->is_hidden && !add_frame(walker, call->kind, call->code, statement))
            return false;
        statement = call->site;
        if (i < found->n_open && nytp_is_checked(walker, (uint32_t)i) &&
            !nytp_may_be_in(walker, statement, found_at(walker, found, i - 1), true))
            return false;
    }
    return add_frame(walker, NYTP_FRAME_MAIN, 0, statement);
}

/* The type of the op that runs. The block of a sort is the sort's, as far as it runs no builtin
 * of its own and no call. */
static unsigned builtin_of(const struct nytp_walker *walker, const struct sample *sample)
{
    struct nytp_perl *const perl = walker->names->perl;
    const unsigned type = sample->wanted.op_type;
    return sample->found.is_sort && type != (unsigned)perl->layout->op_entersub &&
                   nytp_timed_builtin(perl, type) == NULL
               ? (unsigned)perl->layout->op_sort
               : type;
}

static bool take_frames(struct nytp_walker *walker, const struct sample *sample)
{
    const struct nytp_spied_moment *const moment = &sample->wanted;
    const struct nytp_layout *const layout = walker->names->perl->layout;
    const bool is_call = moment->op_type == (unsigned)layout->op_entersub;
    const struct nytp_call *const top =
        found_at(walker, &sample->found, (int64_t)sample->found.n_open - 1);
    const struct nytp_call *const innermost =
        found_at(walker, &sample->found, (int64_t)nytp_found_n(&sample->found) - 1);
    const bool lasts = innermost == NULL || innermost->kind == NYTP_FRAME_SUB;
    const uint64_t callee = is_call ? nytp_callee_of(walker, moment, lasts) : 0;
    walker->stack.n = walker->stack.n_left_out = 0;
    walker->stack.builtin = builtin_of(walker, sample);
    const uint32_t expected =
        callee == 0 ? UINT32_MAX
                    : nytp_name_cache_expect(walker->names, callee, NYTP_NAMED_SUB, true);
    if (!add_frames(walker, sample))
        return false;
    if (!walker->keeps_all)
        leave_out_middle(&walker->stack);
    expect_names(walker);
    nytp_name_cache_look(walker->names);
    if (moment->curcop == address_of_compiling(walker) && top != NULL &&
        top->stack == walker->reading.stack && !is_compiled_yet(walker, top))
        return false;
    const uint32_t sub = nytp_sub_at(walker->names, expected);
    walker->stack.xsub =
        sub != UINT32_MAX && walker->names->subs[sub].is_xsub ? sub : UINT32_MAX;
    return name_frames(walker, sample->at_start);
}

/* ---- a sample ---- */

static void begin_words(struct nytp_walker *walker, const struct nytp_spied_moment *wanted)
{
    walker->names->now_ns = walker->look.began_ns;
    walker->doubtful = 0;
    nytp_name_cache_begin(walker->names);
    nytp_words_begin(walker->names->words);
    nytp_op_type_ask(walker, wanted);
}

/* Returns whether the statement of the moment was seen to sort: it was long in a sort, whose
 * call stayed, or a sort was its op. Else the moment may be in a sub that the block called, and
 * that was called once more, by others, until its context was read. */
static bool is_known_to_sort(struct nytp_walker *walker, const struct sample *sample,
                             const struct nytp_spied_moment *moment)
{
    const struct nytp_spied_moment *const wanted = &sample->wanted;
    uint64_t *const known =
        &walker->sorts[wanted->curcop / sizeof(uint64_t) % NYTP_KNOWN_SORTS];
    const bool was_long = sample->found.is_sort && sample->found.n_left == 0 &&
                          moment->is_in_code && moment->info == wanted->info &&
                          moment->curpad == wanted->curpad && moment->curcop == wanted->curcop;
    if (was_long || wanted->op_type == (unsigned)walker->names->perl->layout->op_sort)
        *known = wanted->curcop;
    return *known == wanted->curcop;
}

/* The stack of a moment in an eval that has ended since. */
static bool take_ended(struct nytp_walker *walker, const struct nytp_spied_moment *wanted)
{
    struct sample ended = {.wanted = *wanted};
    return find_ended(walker, &ended.wanted, &ended.found) && take_frames(walker, &ended);
}

static bool find_stack(struct nytp_walker *walker, struct nytp_found *found)
{
    const struct nytp_look *const look = &walker->look;
    struct nytp_stack_below below = {.stack = 0};
    if (!look->infos[0].is_sort)
        return nytp_find_stack(&walker->reading, walker->memory, found);
    if (look->n_infos > 1)
        below = (struct nytp_stack_below){look->infos[1].address, look->infos[1].top};
    return nytp_find_in_sort(&walker->reading, &below, walker->memory, found);
}

/* The code that runs with PL_curpad, in a stack whose contexts were read. */
static bool find_running(struct nytp_walker *walker, int32_t end_both, struct sample *sample)
{
    walker->reading.pad = sample->wanted.curpad;
    return nytp_are_same_below(walker) &&
           nytp_moment_nearest(walker, end_both, &sample->wanted) &&
           find_stack(walker, &sample->found);
}

static bool find(struct nytp_walker *walker, int32_t end_both, bool is_compiling,
                 struct sample *sample)
{
    sample->has_no_pad = is_compiling;
    if (is_compiling ? find_compiled(walker, end_both, &sample->found)
                     : find_running(walker, end_both, sample))
        return true;
    sample->has_no_pad = true;
    return find_main_compiled(walker, &sample->wanted, &sample->found);
}

/* One look at the moment that is wanted, or at the next one. Returns true if walker->stack has
 * its stack. */
static bool take(struct nytp_walker *walker, const struct nytp_spied_moment *moment,
                 struct nytp_spied_moment *wanted, int n_same)
{
    const bool is_compiling = wanted->curcop == address_of_compiling(walker);
    /* As read: what follows goes on with one of the two readings. */
    const int32_t end_both = nytp_end_of_both(walker);
    struct sample sample = {.wanted = *wanted};
    begin_words(walker, wanted);
    const bool is_found = find(walker, end_both, is_compiling, &sample);
    if (!is_found && wanted->has_moved && take_ended(walker, wanted))
        return true;
    if (!is_found && (n_same < (is_compiling ? RESTS : 1) || moment->has_moved ||
                      !find_innermost(walker, end_both, &sample.found)))
        return false;
    sample.wanted.op_type = nytp_op_type_at(walker, &sample.wanted);
    sample.is_resting = is_compiling ? nytp_is_same_spied_moment(wanted, moment) : n_same > 0;
    if (!is_statement_of(walker, &sample)) {
        *wanted = (struct nytp_spied_moment){0}; /* between two subs */
        return false;
    }
    sample.found.is_sort &= is_known_to_sort(walker, &sample, moment);
    return take_frames(walker, &sample) || take_ended(walker, &sample.wanted);
}

/* The sample is the first moment seen, whatever runs then. To wait for the first moment that
 * can be read whole would prefer long calls. */
enum nytp_sampled nytp_sample(struct nytp_walker *walker)
{
    struct nytp_spied_moment wanted = {0}, moment = {0};
    int n_same = 0; /* looks in a row that saw the moment that is wanted as the one before */
    walker->reading.facts = &nytp_spied_facts;
    walker->reading.perl = walker;
    walker->reading.is_interruption = true; /* the stack in use may interrupt any code */
    nytp_look_begin(&walker->look);
    for (int i = 0; i < LOOKS && !nytp_look_is_long(&walker->look); i++) {
        const struct nytp_spied_moment before = moment;
        walker->n_retried += i == 1;
        walker->n_retried_more += i == 2;
        const int for_one = nytp_look_is_deep(&walker->look) ? LOOKS_DEEP : LOOKS_FOR_ONE;
        if (!nytp_look_at_once(&walker->look, &moment, &wanted, i >= for_one) || moment.is_late)
            continue;
        const bool is_same = nytp_is_same_spied_moment(&wanted, &moment);
        n_same = is_same && nytp_is_same_spied_moment(&before, &moment) ? n_same + 1 : 0;
        walker->has_moved = wanted.has_moved;
        wanted.is_one_cop &= is_same;
        if (take(walker, &moment, &wanted, n_same))
            return NYTP_WHOLE;
    }
    const uint64_t in_use = walker->look.of.at[NYTP_PL_curstackinfo];
    return nytp_memory_u64(walker->names->perl->memory, in_use) == 0 ? NYTP_GONE : NYTP_TORN;
}
