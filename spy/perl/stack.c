/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The stack of a perl that runs on; see stack.h. Relies on cop.h and pp_hot.c of perl.
 *
 * The program is not stopped. PL_op, PL_curpad, PL_curcop and PL_curstackinfo lie side by side
 * and are read as one: they are the sample. Each running sub has a pad of its own, so PL_curpad
 * tells which sub it is and how deep in recursion. Who called it is in the contexts. Those near
 * the top are read before the variables and after them, in the same system call; what is the
 * same both times was there all the time. Those far below it are read once: the top was never
 * seen down there.
 *
 * A sub that takes less time than that is hardly ever there all the time, and who looks again
 * until a whole stack is seen finds those that stay long. So calls that one reading alone shows
 * count where they were seen before or go on with a recursion, and where no reading shows them
 * they are put together of those that were seen before, each from a statement of the code
 * below. Else we look again for the same pad.
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
    LOOKS = 16,
    LOOKS_FOR_ONE = 6, /* for the same moment: what five do not find, fifteen more hardly do */
    LOOKS_DEEP = 4,    /* for the same moment of a deep stack, which is another soon */
    LOOKS_LEAST = 4,
    LONGEST_NS = 50000000, /* a sample, if it has had those */
    NEAR = 3,              /* contexts that were there all the time, whose pads are looked at */
    FURTHER = 512,         /* and of those above, where calls come and go that fast */
    MAX_CALLS = 8,         /* that were seen before, on top of each other */
    LATE_NS = 100000,      /* a look takes ten microseconds */
    GUESSES = 6,           /* for where the stacks are */
    ROUNDS = 6,            /* of reading, on the way to pads: one if nothing was moved */
    MOVES_AHEAD = 4,       /* so many times, the top moves on until the variables are read */
    FAR = 256,             /* contexts, to which it may move */
    LATELY = 64,           /* samples */
    SLACK = 8,     /* contexts that may be added until they are read first: of a deep stack */
    ABOVE = 48,    /* and until they are read the second time */
    BELOW = 48,    /* the top: contexts that are read twice */
    DEEP = 32,     /* the first piece of those below; each is half as long again as the last */
    MAX_DEEP = 32, /* pieces */
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
    nytp_seen_calls_free(&walker->calls);
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

/* ---- one look ---- */

static uint64_t read_variable(struct nytp_walker *walker, enum nytp_variable which)
{
    return nytp_memory_u64(walker->names->perl->memory, walker->of.at[which]);
}

/* False: that cannot be a stack. */
static bool take_info(const struct nytp_walker *walker, const uint8_t *bytes,
                      struct nytp_stack_info *info)
{
    const struct nytp_layout *const layout = walker->names->perl->layout;
    info->contexts = nytp_u64(bytes, layout->si_cxstack);
    info->top = (int32_t)nytp_u32(bytes, layout->si_cxix);
    info->most = (int32_t)nytp_u32(bytes, layout->si_cxmax);
    return info->top >= -1 && info->top <= info->most && info->most < MAX_CONTEXTS;
}

static bool is_deep(const struct nytp_walker *walker)
{
    return walker->n_infos > 0 && walker->infos[0].n_deep > 0;
}

static bool read_info(struct nytp_walker *walker, uint64_t address, uint8_t *bytes)
{
    return nytp_memory_read(walker->names->perl->memory, address, bytes,
                            (size_t)walker->names->perl->layout->si_size);
}

static int32_t lower(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* What to read of a stack whose top has moved by `moved` contexts from one call of the system
 * to the next: it moves on like that until the variables are read. */
static void plan(struct nytp_stack_info *info, int32_t moved, bool is_in_use)
{
    const int32_t ahead = moved * MOVES_AHEAD;
    const int32_t there = info->top + (ahead > FAR ? FAR : ahead < -FAR ? -FAR : ahead);
    const int32_t deep = lower(info->top, there) - BELOW;
    const int32_t end = lower(is_in_use ? there + ABOVE : info->top, info->most) + 1;
    info->n_deep = deep > 0 ? (uint32_t)deep : 0;
    info->n_contexts = end > (int32_t)info->n_deep ? (uint32_t)end : info->n_deep;
    info->n_first = deep > 0 ? (uint32_t)lower((int32_t)info->n_contexts, info->top + SLACK + 1)
                             : info->n_contexts;
}

/* How far the top moves while one call of the system is made. */
static bool see_move(struct nytp_walker *walker, int32_t *moved)
{
    struct nytp_stack_info *const info = &walker->infos[0];
    uint8_t bytes[2][MAX_INFO];
    for (int i = 0; i < 2; i++) {
        if (!read_info(walker, info->address, bytes[i]))
            return false;
        const int32_t before = info->top;
        if (!take_info(walker, bytes[i], info))
            return false;
        *moved = info->top - before;
    }
    return true;
}

/* Where in walker->bytes they go. */
static bool place(struct nytp_walker *walker)
{
    const uint64_t size = (uint64_t)walker->names->perl->layout->cx_size;
    uint64_t n = 0, n_first = 0;
    for (uint32_t i = 0; i < walker->n_infos; i++) {
        struct nytp_stack_info *const info = &walker->infos[i];
        info->at = (uint32_t)(n * size);
        info->first_at = (uint32_t)(n_first * size);
        n += info->n_contexts;
        n_first += info->n_first - info->n_deep;
        if (n > MAX_CONTEXTS)
            return false;
    }
    walker->n_bytes = (uint32_t)(n * size);
    return nytp_reserve(&walker->bytes, &walker->capacity, (n + n_first) * size, 1);
}

/* Whether a stack lies where it was thought to lie. */
static bool is_there(const struct nytp_walker *walker, uint32_t i, const uint8_t *info)
{
    const struct nytp_layout *const layout = walker->names->perl->layout;
    const uint64_t below = i + 1 < walker->n_infos ? walker->infos[i + 1].address : 0;
    return nytp_u64(info, layout->si_cxstack) == walker->infos[i].contexts &&
           (nytp_u64(info, layout->si_prev) == below || walker->n_infos == MAX_INFOS);
}

static bool plan_all(struct nytp_walker *walker)
{
    int32_t moved = 0;
    if (is_deep(walker)) { /* its top is soon elsewhere */
        if (!see_move(walker, &moved))
            return false;
        plan(&walker->infos[0], moved, true);
    }
    return place(walker);
}

/* Where the stacks are, from `address` outwards, as a guess for the next look. */
static bool guess(struct nytp_walker *walker, uint64_t address)
{
    const struct nytp_layout *const layout = walker->names->perl->layout;
    uint8_t bytes[MAX_INFO];
    for (walker->n_infos = 0; address != 0 && walker->n_infos < MAX_INFOS; walker->n_infos++) {
        if (!nytp_grow(&walker->infos, &walker->infos_capacity, walker->n_infos,
                       sizeof *walker->infos) ||
            !read_info(walker, address, bytes))
            return false;
        struct nytp_stack_info *const info = &walker->infos[walker->n_infos];
        *info = (struct nytp_stack_info){.address = address};
        if (!take_info(walker, bytes, info))
            return false;
        plan(info, 0, walker->n_infos == 0);
        address = nytp_u64(bytes, layout->si_prev);
    }
    return walker->n_infos > 0 && plan_all(walker);
}

/* The same from where the last sample has left them; false: they are better looked for. */
static bool guess_same(struct nytp_walker *walker)
{
    if (walker->n_infos == 0)
        return false;
    plan(&walker->infos[0], 0, true);
    return !is_deep(walker) && place(walker);
}

/* The same from what is in use now, in one call where the stacks are where they were. */
static bool guess_first(struct nytp_walker *walker)
{
    static _Thread_local struct nytp_piece pieces[2 + MAX_INFOS];
    static _Thread_local uint8_t bytes[MAX_INFOS][MAX_INFO];
    const struct nytp_layout *const layout = walker->names->perl->layout;
    const uint32_t n = walker->n_infos;
    uint64_t address = 0;
    pieces[0] = (struct nytp_piece){walker->of.at[NYTP_PL_curstackinfo], &address, 8};
    pieces[1] = (struct nytp_piece){walker->of.at[NYTP_PL_main_cv], &walker->main_cv, 8};
    for (uint32_t i = 0; i < n; i++)
        pieces[2 + i] =
            (struct nytp_piece){walker->infos[i].address, bytes[i], (size_t)layout->si_size};
    const size_t n_read = nytp_memory_pieces(walker->names->perl->memory, pieces, 2 + n);
    if (n == 0 || n_read < 2 + n || address != walker->infos[0].address)
        return guess(walker, address);
    for (uint32_t i = 0; i < n; i++) {
        if (!take_info(walker, bytes[i], &walker->infos[i]) || !is_there(walker, i, bytes[i]))
            return guess(walker, address);
        plan(&walker->infos[i], 0, i == 0);
    }
    return plan_all(walker);
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

/* When a PERL_SI is read. That in use: at all of these times, the others first and last. */
enum seen_at {
    BEFORE_FIRST,
    BEFORE,
    AFTER,
    AFTER_SECOND,
    N_TIMES
};

/* All that one look reads, in this order. */
struct seen {
    struct nytp_piece pieces[(N_TIMES + 2) * MAX_INFOS + 2 * MAX_DEEP];
    size_t n;
    uint64_t start; /* of the heads */
    uint8_t heads[3][HEAD_ROOM], infos[MAX_INFOS][N_TIMES][MAX_INFO];
    uint8_t deep[MAX_DEEP][MAX_INFO]; /* that in use, after each piece of its deep contexts */
    uint32_t deep_ends[MAX_DEEP], n_deep;
};

static void see_info(const struct nytp_walker *walker, struct seen *seen, uint32_t i, void *to)
{
    seen->pieces[seen->n++] = (struct nytp_piece){walker->infos[i].address, to,
                                                  (size_t)walker->names->perl->layout->si_size};
}

/* Contexts of a stack, as they were read first or the second time. */
static uint8_t *reading(const struct nytp_walker *walker, uint32_t i, bool is_first,
                        uint32_t from)
{
    const struct nytp_stack_info *const info = &walker->infos[i];
    const size_t size = (size_t)walker->names->perl->layout->cx_size;
    return is_first ? walker->bytes + walker->n_bytes + info->first_at + from * size -
                          info->n_deep * size
                    : walker->bytes + info->at + from * size;
}

static void see_contexts(const struct nytp_walker *walker, struct seen *seen, uint32_t i,
                         bool is_first, uint32_t from, uint32_t end)
{
    const size_t size = (size_t)walker->names->perl->layout->cx_size;
    if (end > from)
        seen->pieces[seen->n++] =
            (struct nytp_piece){walker->infos[i].contexts + from * size,
                                reading(walker, i, is_first, from), (end - from) * size};
}

/* Below what is read twice: down from there, faster than any program can come after. */
static void see_deep_contexts(const struct nytp_walker *walker, struct seen *seen)
{
    uint32_t end = walker->infos[0].n_deep;
    for (uint32_t len = DEEP; end > 0; len += len / 2) {
        const uint32_t from = end > len ? end - len : 0;
        see_contexts(walker, seen, 0, false, from, end);
        seen->deep_ends[seen->n_deep] = end;
        see_info(walker, seen, 0, seen->deep[seen->n_deep++]);
        end = from;
    }
}

static bool see_head(const struct nytp_walker *walker, struct seen *seen, int i)
{
    const size_t n = add_head(walker, seen->heads[i], &seen->start, &seen->pieces[seen->n]);
    seen->n += n;
    return n > 0;
}

/* The variables in the middle and, as near to them as can be, the top of the stack in use. The
 * variables again tell whether the program runs; a loop of few ops may have come round once. */
static bool see_all(const struct nytp_walker *walker, struct seen *seen)
{
    const struct nytp_stack_info *const infos = walker->infos;
    seen->n = seen->n_deep = 0;
    for (uint32_t i = walker->n_infos; i-- > 0;) {
        see_info(walker, seen, i, seen->infos[i][BEFORE_FIRST]);
        see_contexts(walker, seen, i, true, infos[i].n_deep, infos[i].n_first);
    }
    see_info(walker, seen, 0, seen->infos[0][BEFORE]);
    if (!see_head(walker, seen, 0))
        return false;
    see_info(walker, seen, 0, seen->infos[0][AFTER]);
    see_head(walker, seen, 1);
    see_contexts(walker, seen, 0, false, infos[0].n_deep, infos[0].n_contexts);
    see_info(walker, seen, 0, seen->infos[0][AFTER_SECOND]);
    see_deep_contexts(walker, seen);
    for (uint32_t i = 1; i < walker->n_infos; i++) {
        see_contexts(walker, seen, i, false, 0, infos[i].n_contexts);
        see_info(walker, seen, i, seen->infos[i][AFTER_SECOND]);
    }
    see_head(walker, seen, 2);
    return nytp_memory_pieces(walker->names->perl->memory, seen->pieces, seen->n) == seen->n;
}

static int32_t top_in(const struct nytp_walker *walker, const uint8_t *info)
{
    return (int32_t)nytp_u32(info, walker->names->perl->layout->si_cxix);
}

/* Whether a stack below that in use rested. */
static bool has_rested(const struct nytp_walker *walker, const struct seen *seen, uint32_t i)
{
    const uint8_t *const first = seen->infos[i][BEFORE_FIRST];
    const uint8_t *const second = seen->infos[i][AFTER_SECOND];
    return is_there(walker, i, first) && is_there(walker, i, second) &&
           top_in(walker, first) == walker->infos[i].top &&
           top_in(walker, second) == walker->infos[i].top;
}

/* Whether what was read of the stack in use holds its top, and its deep contexts before the
 * program came there. Takes where the top was. */
static bool is_as_guessed(struct nytp_walker *walker, const struct seen *seen)
{
    struct nytp_stack_info *const info = &walker->infos[0];
    const int32_t n = (int32_t)info->n_contexts;
    int32_t tops[N_TIMES];
    for (int i = 0; i < N_TIMES; i++) {
        tops[i] = top_in(walker, seen->infos[0][i]);
        if (!is_there(walker, 0, seen->infos[0][i]) || tops[i] < -1)
            return false;
    }
    info->top = tops[BEFORE];
    info->low_before =
        lower(lower(tops[BEFORE_FIRST], tops[BEFORE]), (int32_t)info->n_first - 1);
    info->low_after = lower(lower(tops[AFTER], tops[AFTER_SECOND]), n - 1);
    int32_t lowest = info->low_after;
    for (uint32_t i = 0; i < seen->n_deep; i++) {
        lowest = lower(lowest, top_in(walker, seen->deep[i]));
        if (!is_there(walker, 0, seen->deep[i]) || lowest + 1 < (int32_t)seen->deep_ends[i])
            return false;
    }
    return info->top < n && info->top + FAR > n &&
           lower(info->low_before, info->low_after) + 1 >= (int32_t)info->n_deep;
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

static bool is_same_moment(const struct moment *a, const struct moment *b)
{
    return a->op == b->op && a->curpad == b->curpad && a->curcop == b->curcop &&
           a->info == b->info && a->stack_sp == b->stack_sp;
}

/* False: the guess was wrong, or cannot be read. Reading takes long if we are not run
 * meanwhile. */
static bool look(struct nytp_walker *walker, struct moment *moment, struct moment *wanted)
{
    static _Thread_local struct seen seen;
    const int64_t began_ns = now_ns();
    walker->n_looks++;
    if (!see_all(walker, &seen))
        return false;
    const int64_t took_ns = now_ns() - began_ns;
    *moment = moment_in(walker, seen.heads[0], seen.start);
    const struct moment after = moment_in(walker, seen.heads[1], seen.start);
    const struct moment end = moment_in(walker, seen.heads[2], seen.start);
    if (walker->fastest_ns == 0 || took_ns < walker->fastest_ns)
        walker->fastest_ns = took_ns;
    moment->is_late = took_ns > 2 * walker->fastest_ns + LATE_NS +
                                    (int64_t)walker->n_bytes; /* of a stack of a megabyte */
    moment->is_one_cop = moment->curcop == after.curcop;
    moment->has_moved = !is_same_moment(moment, &after) || !is_same_moment(moment, &end);
    if (wanted->info == 0 && !moment->is_late)
        *wanted = *moment;
    for (uint32_t i = 1; i < walker->n_infos; i++)
        if (!has_rested(walker, &seen, i))
            return false;
    return is_as_guessed(walker, &seen) && wanted->info == walker->infos[0].address;
}

/* Whether this sample is given up: a program that changes its stack all the time, or one whose
 * memory is slow to read, may not keep us from others. */
static bool is_long(const struct nytp_walker *walker)
{
    return walker->n_looks >= LOOKS_LEAST && now_ns() - walker->began_ns > LONGEST_NS;
}

/* Until the stacks are where they were guessed to be. They are first looked for where the last
 * sample has left them, but not where one was deep lately: a look that fails is one more moment
 * in which a recursion of short calls ends, and so has less of the samples than its share. */
static bool look_at_once(struct nytp_walker *walker, struct moment *moment,
                         struct moment *wanted, bool is_any_wanted)
{
    for (int i = 0; i < GUESSES && !is_long(walker); i++) {
        if (is_any_wanted)
            *wanted = (struct moment){0};
        const bool is_first = wanted->info == 0;
        const bool is_guessed =
            i == 0 && (!is_first || walker->n_first_found == 0) && guess_same(walker);
        if (!is_guessed && !(is_first ? guess_first(walker) : guess(walker, wanted->info)))
            break;
        if (look(walker, moment, wanted)) {
            if (is_deep(walker))
                walker->n_first_found = LATELY;
            else if (walker->n_first_found > 0)
                walker->n_first_found--;
            return true;
        }
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
    const uint64_t bits =
        op == 0 ? 0 : nytp_word(walker->names->words, op + (uint64_t)layout->op_type);
    return (bits & 0x1ff) < (uint64_t)layout->op_max ? bits & 0x1ff : 0;
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
    bool at_start;   /* the statement is not the sub's yet */
    bool has_no_pad; /* the pad in use is that of no code that runs */
};

/* The innermost contexts with code. */
struct near {
    int32_t contexts[FURTHER];
    struct running_code codes[FURTHER];
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
    return i < 0 ? (struct running_code){walker->main_cv, 1, 0}
                 : (struct running_code){code_of(&of, i), depth_of(&of, i), 0};
}

static uint64_t root_of_code(struct nytp_walker *walker, uint64_t cv)
{
    const struct nytp_layout *const layout = walker->names->perl->layout;
    struct nytp_words *const words = walker->names->words;
    const uint64_t body = nytp_word(words, cv + (uint64_t)layout->sv_any);
    return nytp_word(words, body + (uint64_t)layout->cv_root);
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

/* Up to which context of the stack in use both readings must agree: it was there from the first
 * to the second. */
static int32_t end_of_both(const struct nytp_walker *walker)
{
    return lower(walker->infos[0].low_before, walker->infos[0].low_after) + 1;
}

/* Whether all calls down from code that was there before and after the variables were read were
 * the same then: so they were meanwhile. */
static bool is_same_below(struct nytp_walker *walker, int32_t code)
{
    for (uint32_t i = 0; i < walker->n_infos; i++) {
        const struct contexts second = contexts_of(walker, i);
        const int32_t n_deep = (int32_t)walker->infos[i].n_deep;
        const struct contexts first = {second.layout, reading(walker, i, true, 0), second.n};
        const int32_t end = i == 0 ? code + 1 : second.n;
        for (int32_t k = n_deep; k < end; k++)
            if (code_of(&first, k) != code_of(&second, k) ||
                (code_of(&first, k) != 0 && (kind_of(&first, k) != kind_of(&second, k) ||
                                             cop_below(&first, k) != cop_below(&second, k))))
                return false;
    }
    return code < end_of_both(walker);
}

/* What the second reading shows was there since the variables were read, as far as it goes;
 * where the program left calls then, the first shows more. Takes it as if read the second time.
 */
static struct contexts nearest_reading(const struct nytp_walker *walker)
{
    const struct nytp_stack_info *const info = &walker->infos[0];
    struct contexts contexts = contexts_of(walker, 0);
    const uint32_t end = (uint32_t)(info->low_before + 1);
    contexts.n = info->low_after + 1;
    if (info->low_before > info->low_after) {
        memcpy(reading(walker, 0, false, info->n_deep), reading(walker, 0, true, info->n_deep),
               (end - info->n_deep) * (size_t)contexts.layout->cx_size);
        contexts.n = (int32_t)end;
    }
    return contexts;
}

/* ---- calls that were seen before ---- */

static const struct nytp_call *find_call(const struct nytp_walker *walker, uint64_t pad)
{
    return nytp_seen_call(&walker->calls, pad, walker->infos[0].address);
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

/* Remember a call that was there all the time, near[i]; not those of string evals, whose memory
 * is soon another's. */
static void learn(struct nytp_walker *walker, const struct contexts *contexts,
                  const struct near *near, int i)
{
    if (i + 1 >= near->n || near->codes[i].pad == near->codes[i + 1].pad)
        return;
    const int32_t at = near->contexts[i];
    const enum nytp_frame_kind caller = code_at(walker, contexts, near->contexts[i + 1]).kind;
    if (kind_of(contexts, at) == NYTP_FRAME_SUB &&
        (caller == NYTP_FRAME_SUB || caller == NYTP_FRAME_MAIN) &&
        is_called_by(walker, contexts, near, i))
        nytp_remember_call(&walker->calls, walker->infos[0].address,
                           &(struct nytp_call){
                               .pad = near->codes[i].pad,
                               .caller_pad = near->codes[i + 1].pad,
                               .cv = near->codes[i].cv,
                               .cop = cop_below(contexts, at),
                               .depth = near->codes[i].depth,
                           });
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
        const struct running_code *const code = &near->codes[i], *const caller = code + 1;
        const uint64_t cop = cop_below(contexts, near->contexts[i]);
        const struct nytp_call *const call = find_call(walker, code->pad);
        const bool is_seen = call != NULL && call->cv == code->cv && call->cop == cop &&
                             call->depth == code->depth && call->caller_pad == caller->pad;
        const bool is_next = near->contexts[i + 1] >= 0 && caller->cv == code->cv &&
                             caller->depth + 1 == code->depth &&
                             cop_below(contexts, near->contexts[i + 1]) == cop;
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

/* From the code that runs with this pad down to one that was there all the time, near[from] or
 * below, by calls that were seen before. */
static bool follow_calls(struct nytp_walker *walker, const struct contexts *contexts,
                         const struct near *near, int from, uint64_t pad, struct top *top)
{
    while (top->n_calls < MAX_CALLS) {
        const struct nytp_call *const call = find_call(walker, pad);
        if (call == NULL)
            return false;
        top->calls[top->n_calls++] = call;
        pad = call->caller_pad;
        const int caller = find_near(near, pad);
        if (caller >= from) {
            top->context = near->contexts[caller];
            return may_be_in(walker, code_at(walker, contexts, top->context), call->cop,
                             true) &&
                   are_still_calls(walker, top);
        }
    }
    return false;
}

/* ---- which code was running ---- */

/* What nytp_root_of() wants. */
static void ask_of_statement(struct nytp_walker *walker, uint64_t cop)
{
    if (cop != 0)
        nytp_words_ask(walker->names->words,
                       cop + (uint64_t)walker->names->perl->layout->op_next);
}

/* Names that the stack will need, if it is what was read; of a deep one they are too many to be
 * worth it. */
static void recall_names(struct nytp_walker *walker, const struct moment *wanted)
{
    if (is_deep(walker))
        return;
    nytp_name_cache_recall_place(walker->names, wanted->curcop);
    for (uint32_t info = 0; info < walker->n_infos; info++) {
        const struct contexts contexts = contexts_of(walker, info);
        for (int32_t i = code_below(&contexts, contexts.n); i >= 0;
             i = code_below(&contexts, i)) {
            nytp_name_cache_recall_sub(walker->names, code_of(&contexts, i));
            nytp_name_cache_recall_place(walker->names, cop_below(&contexts, i));
        }
    }
}

/* The innermost codes of what was read, down to NEAR of those below context `end`, and their
 * pads. */
static void see_near(struct nytp_walker *walker, const struct contexts *contexts, int32_t end,
                     const struct moment *wanted, struct near *near)
{
    int n_below = 0;
    near->n = 0;
    ask_of_statement(walker, wanted->curcop);
    for (int32_t i = contexts->n; near->n < FURTHER && n_below < NEAR && i >= 0;) {
        i = code_below(contexts, i);
        n_below += i < end;
        near->contexts[near->n] = i;
        near->codes[near->n++] = running_at(walker, contexts, i);
        if (i >= 0)
            ask_of_statement(walker, cop_below(contexts, i));
    }
    recall_names(walker, wanted);
    find_pads(walker, near->codes, (size_t)near->n);
}

/* The code that runs with PL_curpad, in a stack whose contexts were read. */
static bool find_top(struct nytp_walker *walker, const struct moment *wanted, struct top *top)
{
    const int32_t end_both = end_of_both(walker);
    struct contexts contexts = contexts_of(walker, 0);
    struct near near;
    *top = (struct top){.context = code_below(&contexts, end_both)};
    if (!is_same_below(walker, top->context))
        return false;
    contexts = nearest_reading(walker);
    see_near(walker, &contexts, end_both, wanted, &near);
    int i = find_near(&near, wanted->curpad), lasting = 0;
    while (lasting < near.n && near.contexts[lasting] >= end_both)
        lasting++;
    for (int k = lasting; k + 1 < near.n; k++)
        learn(walker, &contexts, &near, k);
    if (i < 0 || !are_known_calls(walker, &contexts, &near, i, lasting))
        return follow_calls(walker, &contexts, &near, lasting, wanted->curpad, top);
    top->context = near.contexts[i];
    return is_called_by(walker, &contexts, &near, i);
}

/* The innermost code, for when it is known that nothing moves, or that it is compiled: the pad
 * is that of the new code then. */
static bool find_innermost(struct nytp_walker *walker, struct top *top)
{
    const struct contexts contexts = contexts_of(walker, 0);
    *top = (struct top){.context = code_below(&contexts, contexts.n), .has_no_pad = true};
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

/* Whether a call was made from the statement, in other code than `cv`: it is in one code only.
 * The variables are not read at once: the pad may be that of a sub, the statement that of the
 * code to which it and its callers have returned meanwhile. */
static bool is_of_a_caller(const struct nytp_walker *walker, const struct contexts *contexts,
                           const struct top *top, uint64_t cop, uint64_t cv)
{
    const uint64_t below = code_at(walker, contexts, top->context).cv;
    for (uint32_t k = 0; k < top->n_calls; k++)
        if (top->calls[k]->cop == cop &&
            (k + 1 < top->n_calls ? top->calls[k + 1]->cv : below) != cv)
            return true;
    for (int32_t i = top->context; i >= 0; i = code_below(contexts, i))
        if (cop_below(contexts, i) == cop &&
            code_at(walker, contexts, code_below(contexts, i)).cv != cv)
            return true;
    return false;
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
    if (may_be_in(walker, code, wanted->curcop,
                  wanted->is_one_cop && !is_callers &&
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
        wanted->curcop = walker->of.at[NYTP_PL_compiling];
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

static void begin_words(struct nytp_walker *walker, const struct moment *wanted)
{
    struct nytp_words *const words = walker->names->words;
    nytp_name_cache_begin(walker->names);
    nytp_words_begin(words);
    if (wanted->op != 0)
        nytp_words_ask(words, wanted->op + (uint64_t)walker->names->perl->layout->op_type);
}

/* The sample is of the first moment that was seen, whatever runs then: who takes the first that
 * can be seen whole, takes what stays long. */
enum nytp_sampled nytp_sample(struct nytp_walker *walker)
{
    struct moment wanted = {0}, moment = {0};
    struct top top;
    walker->n_looks = 0;
    walker->began_ns = now_ns();
    for (int i = 0; i < LOOKS && !is_long(walker); i++) {
        const struct moment before = moment;
        walker->n_retried += i == 1;
        walker->n_retried_more += i == 2;
        const int for_one = is_deep(walker) ? LOOKS_DEEP : LOOKS_FOR_ONE;
        if (!look_at_once(walker, &moment, &wanted, i >= for_one) || moment.is_late)
            continue;
        const bool is_compiling = wanted.curcop == walker->of.at[NYTP_PL_compiling];
        const bool is_same = is_same_moment(&wanted, &moment);
        const bool is_resting = is_same && (is_compiling || is_same_moment(&before, &moment));
        walker->has_moved = wanted.has_moved;
        wanted.is_one_cop &= is_same;
        begin_words(walker, &wanted);
        if ((is_compiling || !find_top(walker, &wanted, &top)) &&
            (!is_resting || !find_innermost(walker, &top)))
            continue;
        wanted.op_type = op_type_at(walker, wanted.op);
        if (!is_statement_of(walker, &wanted, is_resting, &top))
            wanted = (struct moment){0}; /* between two subs */
        else if (take_frames(walker, &wanted, &top))
            return NYTP_WHOLE;
    }
    return read_variable(walker, NYTP_PL_curstackinfo) == 0 ? NYTP_GONE : NYTP_TORN;
}
