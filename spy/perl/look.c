/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * One look at the stacks of a perl that runs on; see look.h. Relies on cop.h of perl.
 */
#include "look.h"

#include "values.h"

#include "formats/base/arena.h"

#include <stdlib.h>

enum {
    LOOKS_LEAST = 4,
    LONGEST_NS = 50000000, /* a sample, if it has had those */
    LATE_NS = 100000,      /* a look takes ten microseconds */
    GUESSES = 6,           /* for where the stacks are */
    MOVES_AHEAD = 4,       /* times its last move the top is expected to move */
    FAR = 256,             /* contexts: it moves no further */
    LATELY = 64,           /* samples */
    SLACK = 8,       /* contexts that may be added until they are read first: of a deep stack */
    ABOVE = 16,      /* the highest top of late, until they are read the second time, */
    MOST_ABOVE = 48, /* but not more above the top */
    BELOW = 48,      /* the top: contexts that are read twice */
    DEEP = 32,     /* the first piece of those below; each is half as long again as the last */
    MAX_DEEP = 32, /* pieces */
    MAX_INFOS = 400,
    MAX_CONTEXTS = 1000000, /* of all stacks */
    MAX_INFO = 128,         /* bytes of a PERL_SI */
    HEAD_ROOM = 4096,
};

void nytp_look_free(struct nytp_look *look)
{
    free(look->infos);
    free(look->bytes);
    *look = (struct nytp_look){0};
}

void nytp_look_begin(struct nytp_look *look)
{
    look->n_looks = 0;
    look->began_ns = nytp_spy_now_ns();
}

/* False: that cannot be a stack. */
static bool take_info(const struct nytp_look *look, const uint8_t *bytes,
                      struct nytp_stack_info *info)
{
    const struct nytp_layout *const layout = look->perl->layout;
    info->contexts = nytp_u64(bytes, layout->si_cxstack);
    info->top = (int32_t)nytp_u32(bytes, layout->si_cxix);
    info->most = (int32_t)nytp_u32(bytes, layout->si_cxmax);
    return info->top >= -1 && info->top <= info->most && info->most < MAX_CONTEXTS;
}

bool nytp_look_is_deep(const struct nytp_look *look)
{
    return look->n_infos > 0 && look->infos[0].n_deep > 0;
}

static bool read_info(struct nytp_look *look, uint64_t address, uint8_t *bytes)
{
    return nytp_memory_read(look->perl->memory, address, bytes,
                            (size_t)look->perl->layout->si_size);
}

/* Plans the parts of a stack to read. Its top has moved by `moved` contexts from one system
 * call to the next, and is taken to move on like that until the variables are read. */
static void plan(const struct nytp_look *look, struct nytp_stack_info *info, int32_t moved)
{
    const bool is_in_use = info == look->infos;
    const int32_t ahead = moved * MOVES_AHEAD;
    const int32_t there = info->top + (ahead > FAR ? FAR : ahead < -FAR ? -FAR : ahead);
    const int32_t deep = nytp_lower(info->top, there) - BELOW;
    const int32_t high = nytp_lower(look->high_top, there + MOST_ABOVE - ABOVE);
    const int32_t above = (high > there ? high : there) + ABOVE;
    const int32_t end = nytp_lower(is_in_use ? above : info->top, info->most) + 1;
    info->n_deep = deep > 0 ? (uint32_t)deep : 0;
    info->n_contexts = end > (int32_t)info->n_deep ? (uint32_t)end : info->n_deep;
    info->n_first = deep > 0
                        ? (uint32_t)nytp_lower((int32_t)info->n_contexts, info->top + SLACK + 1)
                        : info->n_contexts;
}

/* Returns how far the top moves while one call of the system is made. */
static bool see_move(struct nytp_look *look, int32_t *moved)
{
    struct nytp_stack_info *const info = &look->infos[0];
    uint8_t bytes[2][MAX_INFO];
    for (int i = 0; i < 2; i++) {
        if (!read_info(look, info->address, bytes[i]))
            return false;
        const int32_t before = info->top;
        if (!take_info(look, bytes[i], info))
            return false;
        *moved = info->top - before;
    }
    return true;
}

/* Where in look->bytes they go. */
static bool place(struct nytp_look *look)
{
    const uint64_t size = (uint64_t)look->perl->layout->cx_size;
    uint64_t n = 0, n_first = 0;
    for (uint32_t i = 0; i < look->n_infos; i++) {
        struct nytp_stack_info *const info = &look->infos[i];
        info->at = (uint32_t)(n * size);
        info->first_at = (uint32_t)(n_first * size);
        n += info->n_contexts;
        n_first += info->n_first - info->n_deep;
        if (n > MAX_CONTEXTS)
            return false;
    }
    look->n_bytes = (uint32_t)(n * size);
    return nytp_reserve(&look->bytes, &look->capacity, (n + n_first) * size, 1);
}

/* Returns whether a stack lies where it was thought to lie. */
static bool is_there(const struct nytp_look *look, uint32_t i, const uint8_t *info)
{
    const struct nytp_layout *const layout = look->perl->layout;
    const uint64_t below = i + 1 < look->n_infos ? look->infos[i + 1].address : 0;
    return nytp_u64(info, layout->si_cxstack) == look->infos[i].contexts &&
           (nytp_u64(info, layout->si_prev) == below || look->n_infos == MAX_INFOS);
}

static bool plan_all(struct nytp_look *look)
{
    int32_t moved = 0;
    if (nytp_look_is_deep(look) && look->infos[0].top != look->last_top) {
        /* its top is soon elsewhere */
        if (!see_move(look, &moved))
            return false;
        plan(look, &look->infos[0], moved);
    }
    return place(look);
}

/* Where the stacks are, from `address` outwards, as a guess for the next look. */
static bool guess(struct nytp_look *look, uint64_t address)
{
    const struct nytp_layout *const layout = look->perl->layout;
    uint8_t bytes[MAX_INFO];
    for (look->n_infos = 0; address != 0 && look->n_infos < MAX_INFOS; look->n_infos++) {
        if (!nytp_grow(&look->infos, &look->infos_capacity, look->n_infos,
                       sizeof *look->infos) ||
            !read_info(look, address, bytes))
            return false;
        struct nytp_stack_info *const info = &look->infos[look->n_infos];
        *info = (struct nytp_stack_info){.address = address};
        if (!take_info(look, bytes, info))
            return false;
        plan(look, info, 0);
        address = nytp_u64(bytes, layout->si_prev);
    }
    return look->n_infos > 0 && plan_all(look);
}

/* The same from where the last sample has left them; false: they are better looked for. */
static bool guess_same(struct nytp_look *look)
{
    if (look->n_infos == 0)
        return false;
    plan(look, &look->infos[0], 0);
    return !nytp_look_is_deep(look) && place(look);
}

/* The same from the stacks in use now: one system call if they have not moved. */
static bool guess_first(struct nytp_look *look)
{
    static struct nytp_piece pieces[2 + MAX_INFOS];
    static uint8_t bytes[MAX_INFOS][MAX_INFO];
    const struct nytp_layout *const layout = look->perl->layout;
    const uint32_t n = look->n_infos;
    uint64_t address = 0;
    pieces[0] = (struct nytp_piece){look->of.at[NYTP_PL_curstackinfo], &address, 8};
    pieces[1] = (struct nytp_piece){look->of.at[NYTP_PL_main_cv], &look->main_cv, 8};
    for (uint32_t i = 0; i < n; i++)
        pieces[2 + i] =
            (struct nytp_piece){look->infos[i].address, bytes[i], (size_t)layout->si_size};
    const size_t n_read = nytp_memory_pieces(look->perl->memory, pieces, 2 + n);
    if (n == 0 || n_read < 2 + n || address != look->infos[0].address)
        return guess(look, address);
    for (uint32_t i = 0; i < n; i++) {
        if (!take_info(look, bytes[i], &look->infos[i]) || !is_there(look, i, bytes[i]))
            return guess(look, address);
        plan(look, &look->infos[i], 0);
    }
    return plan_all(look);
}

/* When a PERL_SI is read: that in use after each reading of its contexts, the others before the
 * first such reading and after the second. */
enum seen_at {
    AFTER_FIRST,
    AFTER_SECOND,
    N_TIMES,
    BEFORE_FIRST = AFTER_FIRST,
};

/* All that one look reads, in this order. */
struct seen {
    struct nytp_piece pieces[(N_TIMES + 2) * MAX_INFOS + 2 * MAX_DEEP];
    size_t n;
    uint64_t start; /* of the heads */
    uint8_t heads[3][HEAD_ROOM], infos[MAX_INFOS][N_TIMES][MAX_INFO];
    uint8_t deep[MAX_DEEP][MAX_INFO]; /* the stack in use, after each deep piece */
    uint32_t deep_ends[MAX_DEEP], n_deep;
};

static void see_info(const struct nytp_look *look, struct seen *seen, uint32_t i, void *to)
{
    seen->pieces[seen->n++] =
        (struct nytp_piece){look->infos[i].address, to, (size_t)look->perl->layout->si_size};
}

uint8_t *nytp_look_reading(const struct nytp_look *look, uint32_t i, bool is_first,
                           uint32_t from)
{
    const struct nytp_stack_info *const info = &look->infos[i];
    const size_t size = (size_t)look->perl->layout->cx_size;
    return is_first ? look->bytes + look->n_bytes + info->first_at + from * size -
                          info->n_deep * size
                    : look->bytes + info->at + from * size;
}

static void see_contexts(const struct nytp_look *look, struct seen *seen, uint32_t i,
                         bool is_first, uint32_t from, uint32_t end)
{
    const size_t size = (size_t)look->perl->layout->cx_size;
    if (end > from)
        seen->pieces[seen->n++] = (struct nytp_piece){
            look->infos[i].contexts + from * size, nytp_look_reading(look, i, is_first, from),
            (end - from) * size};
}

/* The contexts below those read twice, read downwards: faster than any program can return. */
static void see_deep_contexts(const struct nytp_look *look, struct seen *seen)
{
    uint32_t end = look->infos[0].n_deep;
    for (uint32_t len = DEEP; end > 0; len += len / 2) {
        const uint32_t from = end > len ? end - len : 0;
        see_contexts(look, seen, 0, false, from, end);
        seen->deep_ends[seen->n_deep] = end;
        see_info(look, seen, 0, seen->deep[seen->n_deep++]);
        end = from;
    }
}

/* The variables, in one piece: they are neighbours. Returns false if they are not. */
static bool see_head(const struct nytp_look *look, struct seen *seen, int i)
{
    static const enum nytp_variable wanted[] = {NYTP_PL_op, NYTP_PL_curpad, NYTP_PL_curcop,
                                                NYTP_PL_curstackinfo, NYTP_PL_stack_sp};
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
        const uint64_t at = look->of.at[wanted[k]];
        first = at < first ? at : first;
        last = at > last ? at : last;
    }
    if (last - first > HEAD_ROOM - sizeof(uint64_t))
        return false;
    seen->start = first;
    seen->pieces[seen->n++] =
        (struct nytp_piece){first, seen->heads[i], last - first + sizeof(uint64_t)};
    return true;
}

/* Nothing that the program writes is read before the variables are: its next write to that
 * would wait, and all its writes behind, so that it would seem to be in the caller, whose next
 * call waits. Nor are stacks that were below another one at the last look: it may be back in
 * one. The contexts come right behind the variables: each piece takes a third of a microsecond,
 * in which a short call is over. Then where the top of the stack in use was. The variables
 * again tell whether the program runs; a loop of few ops may have come round once. */
static bool see_all(const struct nytp_look *look, struct seen *seen)
{
    const struct nytp_stack_info *const infos = look->infos;
    seen->n = seen->n_deep = 0;
    if (!see_head(look, seen, 0))
        return false;
    see_contexts(look, seen, 0, true, infos[0].n_deep, infos[0].n_first);
    see_info(look, seen, 0, seen->infos[0][AFTER_FIRST]);
    see_head(look, seen, 1);
    for (uint32_t i = look->n_infos; i-- > 1;) {
        see_info(look, seen, i, seen->infos[i][BEFORE_FIRST]);
        see_contexts(look, seen, i, true, infos[i].n_deep, infos[i].n_first);
    }
    see_contexts(look, seen, 0, false, infos[0].n_deep, infos[0].n_contexts);
    see_info(look, seen, 0, seen->infos[0][AFTER_SECOND]);
    see_deep_contexts(look, seen);
    for (uint32_t i = 1; i < look->n_infos; i++) {
        see_contexts(look, seen, i, false, 0, infos[i].n_contexts);
        see_info(look, seen, i, seen->infos[i][AFTER_SECOND]);
    }
    see_head(look, seen, 2);
    return nytp_memory_pieces(look->perl->memory, seen->pieces, seen->n) == seen->n;
}

static int32_t top_in(const struct nytp_look *look, const uint8_t *info)
{
    return (int32_t)nytp_u32(info, look->perl->layout->si_cxix);
}

static bool is_sort(const struct nytp_look *look, const uint8_t *info)
{
    const struct nytp_layout *const layout = look->perl->layout;
    return nytp_u32(info, layout->si_type) == (uint32_t)layout->si_sort;
}

/* Returns whether a stack below that in use rested. */
static bool has_rested(const struct nytp_look *look, const struct seen *seen, uint32_t i)
{
    const uint8_t *const first = seen->infos[i][BEFORE_FIRST];
    const uint8_t *const second = seen->infos[i][AFTER_SECOND];
    return is_there(look, i, first) && is_there(look, i, second) &&
           top_in(look, first) == look->infos[i].top &&
           top_in(look, second) == look->infos[i].top;
}

/* Returns whether the bytes read of the stack in use hold its top, and whether its deep
 * contexts were read before the program came there. Sets the top, and whether it is a sort's.
 */
static bool is_as_guessed(struct nytp_look *look, const struct seen *seen)
{
    struct nytp_stack_info *const info = &look->infos[0];
    const int32_t n = (int32_t)info->n_contexts;
    int32_t tops[N_TIMES];
    info->is_sort = true;
    for (int i = 0; i < N_TIMES; i++) {
        tops[i] = top_in(look, seen->infos[0][i]);
        info->is_sort &= is_sort(look, seen->infos[0][i]);
        if (!is_there(look, 0, seen->infos[0][i]) || tops[i] < -1)
            return false;
    }
    info->top = look->last_top = tops[AFTER_FIRST];
    look->high_top = info->top < look->high_top ? look->high_top - 1 : info->top;
    info->low_first = nytp_lower(info->top, (int32_t)info->n_first - 1);
    info->low_second = nytp_lower(nytp_lower(tops[AFTER_FIRST], tops[AFTER_SECOND]), n - 1);
    int32_t lowest = info->low_second;
    for (uint32_t i = 0; i < seen->n_deep; i++) {
        lowest = nytp_lower(lowest, top_in(look, seen->deep[i]));
        if (!is_there(look, 0, seen->deep[i]) || lowest + 1 < (int32_t)seen->deep_ends[i])
            return false;
    }
    return info->top < n && info->top + FAR > n &&
           nytp_lower(info->low_first, info->low_second) + 1 >= (int32_t)info->n_deep;
}

static struct nytp_spied_moment moment_in(const struct nytp_look *look, const uint8_t *head,
                                          uint64_t start)
{
#define VARIABLE(name) nytp_u64(head, (int32_t)(look->of.at[NYTP_PL_##name] - start))
    return (struct nytp_spied_moment){
        .op = VARIABLE(op),
        .curpad = VARIABLE(curpad),
        .curcop = VARIABLE(curcop),
        .info = VARIABLE(curstackinfo),
        .stack_sp = VARIABLE(stack_sp),
    };
#undef VARIABLE
}

bool nytp_is_same_spied_moment(const struct nytp_spied_moment *a,
                               const struct nytp_spied_moment *b)
{
    return a->op == b->op && a->curpad == b->curpad && a->curcop == b->curcop &&
           a->info == b->info && a->stack_sp == b->stack_sp;
}

static bool is_same_code(const struct nytp_spied_moment *a, const struct nytp_spied_moment *b)
{
    return a->curpad == b->curpad && a->curcop == b->curcop && a->info == b->info;
}

/* False: the guess was wrong, or cannot be read. Reading takes long if we are not run
 * meanwhile. */
static bool look_once(struct nytp_look *look, struct nytp_spied_moment *moment,
                      struct nytp_spied_moment *wanted)
{
    static struct seen seen;
    const int64_t began_ns = nytp_spy_now_ns();
    look->n_looks++;
    if (!see_all(look, &seen))
        return false;
    const int64_t took_ns = nytp_spy_now_ns() - began_ns;
    *moment = moment_in(look, seen.heads[0], seen.start);
    const struct nytp_spied_moment after = moment_in(look, seen.heads[1], seen.start);
    const struct nytp_spied_moment end = moment_in(look, seen.heads[2], seen.start);
    if (look->fastest_ns == 0 || took_ns < look->fastest_ns)
        look->fastest_ns = took_ns;
    moment->is_late = took_ns > 2 * look->fastest_ns + LATE_NS +
                                    (int64_t)look->n_bytes; /* of a stack of a megabyte */
    moment->is_one_cop = moment->curcop == after.curcop;
    moment->has_moved =
        !nytp_is_same_spied_moment(moment, &after) || !nytp_is_same_spied_moment(moment, &end);
    moment->is_in_code = is_same_code(moment, &after) && is_same_code(moment, &end);
    if (wanted->info == 0 && !moment->is_late)
        *wanted = *moment;
    for (uint32_t i = 1; i < look->n_infos; i++)
        if (!has_rested(look, &seen, i))
            return false;
    return is_as_guessed(look, &seen) && wanted->info == look->infos[0].address;
}

bool nytp_look_is_long(const struct nytp_look *look)
{
    return look->n_looks >= LOOKS_LEAST && nytp_spy_now_ns() - look->began_ns > LONGEST_NS;
}

/* The stacks are first looked for where the last sample has left them, but not where one was
 * deep lately: a look that fails is one more moment in which a recursion of short calls ends,
 * and so has less of the samples than its share. */
bool nytp_look_at_once(struct nytp_look *look, struct nytp_spied_moment *moment,
                       struct nytp_spied_moment *wanted, bool is_any_wanted)
{
    for (int i = 0; i < GUESSES && !nytp_look_is_long(look); i++) {
        if (is_any_wanted)
            *wanted = (struct nytp_spied_moment){0};
        const bool is_first = wanted->info == 0;
        const bool is_guessed =
            i == 0 && (!is_first || look->n_first_found == 0) && guess_same(look);
        if (!is_guessed && !(is_first ? guess_first(look) : guess(look, wanted->info)))
            break;
        if (look_once(look, moment, wanted)) {
            if (nytp_look_is_deep(look))
                look->n_first_found = LATELY;
            else if (look->n_first_found > 0)
                look->n_first_found--;
            return true;
        }
    }
    look->n_infos = 0;
    return false;
}
