/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The calls that are open, from beside; see open_stack.h. All of it may run in the tick thread
 * (ticks.h). The layout of what is read is that of perl's headers: cv.h, gv.h, hv.h, cop.h.
 */
#include "open_stack.h"

#include "memory.h"

enum {
    CONTEXTS = 20, /* that are read at a time */
    MOST_STACKS = 1000,
    LONGEST_NAME = 1000,
};

void nytp_fixed_put(struct nytp_fixed_text *text, const char *string)
{
    for (; *string != '\0' && text->n < text->size; string++)
        text->to[text->n++] = *string;
}

void nytp_fixed_put_number(struct nytp_fixed_text *text, uint64_t number)
{
    char digits[24];
    char *at = digits + sizeof digits;
    *--at = '\0';
    do
        *--at = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    nytp_fixed_put(text, at);
}

void nytp_fixed_printf(struct nytp_fixed_text *text, const char *format, ...)
{
    char bytes[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(bytes, sizeof bytes, format, args);
    va_end(args);
    nytp_fixed_put(text, bytes);
}

static bool peek(const struct nytp_open_stack *stack, const void *from, void *to, size_t len)
{
    return from != NULL && nytp_read_part(stack->pid, from, to, len) == (long)len;
}

/* ---- the stack ---- */

static void add_call(struct nytp_open_stack *stack, const PERL_CONTEXT *cx)
{
    struct nytp_tick_call call;
    if (!nytp_read_context(cx, &call) || call.depth == 0)
        return;
    stack->is_whole = stack->is_whole && stack->n < NYTP_OPEN_CALLS;
    if (stack->is_whole)
        stack->calls[stack->n++] = call;
}

static void add_contexts(struct nytp_open_stack *stack, const PERL_SI *si)
{
    PERL_CONTEXT contexts[CONTEXTS];
    for (I32 end = si->si_cxix + 1; end > 0 && stack->is_whole;) {
        const I32 n = end < CONTEXTS ? end : CONTEXTS;
        end -= n;
        stack->is_whole =
            peek(stack, si->si_cxstack + end, contexts, (size_t)n * sizeof *contexts);
        for (I32 i = n; i > 0 && stack->is_whole; i--)
            add_call(stack, &contexts[i - 1]);
    }
}

/* The code of an xsub that an entersub calls, or NULL: it is given a sub, a glob or a reference
 * (pp_hot.c, pp_entersub). */
static const CV *xsub_at(const struct nytp_open_stack *stack, SV *const *top)
{
    const void *at = NULL;
    SV head;
    GP gp;
    XPVCV body;
    peek(stack, top, &at, sizeof at);
    for (int i = 0; i < 2 && peek(stack, at, &head, sizeof head); i++) {
        const U32 type = head.sv_flags & SVTYPEMASK;
        if (type == SVt_PVCV)
            return peek(stack, head.sv_any, &body, sizeof body) && (body.xcv_flags & CVf_ISXSUB)
                       ? at
                       : NULL;
        if (type == SVt_PVGV && peek(stack, head.sv_u.svu_gp, &gp, sizeof gp))
            at = gp.gp_cv;
        else
            at = (head.sv_flags & SVf_ROK) ? head.sv_u.svu_rv : NULL;
    }
    return NULL;
}

static void look_at_leaf(struct nytp_open_stack *stack, SV *const *top)
{
    struct op op;
    stack->op_type = OP_NULL;
    stack->xsub = NULL;
    if (!peek(stack, stack->op, &op, sizeof op))
        return;
    stack->op_type = op.op_type;
    if (op.op_type == OP_ENTERSUB)
        stack->xsub = xsub_at(stack, top + 1);
}

bool nytp_open_stack_look(struct nytp_open_stack *stack, const void *interpreter, long pid)
{
#ifdef MULTIPLICITY
    PerlInterpreter *const my_perl = (PerlInterpreter *)interpreter;
#endif
    const PERL_SI *at = PL_curstackinfo;
    PERL_SI si;
    stack->interpreter = interpreter;
    stack->pid = pid;
    stack->op = PL_op;
    stack->cop = PL_curcop;
    stack->pad = PL_comppad;
    stack->n = 0;
    stack->is_whole = true;
    look_at_leaf(stack, PL_stack_sp);
    for (int n = 0; at != NULL && stack->is_whole; at = si.si_prev, n++) {
        stack->is_whole = n < MOST_STACKS && peek(stack, at, &si, sizeof si);
        if (stack->is_whole)
            add_contexts(stack, &si);
    }
    return stack->n > 0 || stack->is_whole;
}

bool nytp_open_stack_is_same(const struct nytp_open_stack *stack)
{
#ifdef MULTIPLICITY
    PerlInterpreter *const my_perl = (PerlInterpreter *)stack->interpreter;
#endif
    return *(void *const volatile *)&PL_op == stack->op &&
           *(void *const volatile *)&PL_curcop == stack->cop &&
           *(void *const volatile *)&PL_comppad == stack->pad;
}

/* ---- names ---- */

static void put_bytes(struct nytp_fixed_text *text, const struct nytp_open_stack *stack,
                      const char *from, size_t len)
{
    const size_t room = text->size - text->n;
    if (len > room)
        len = room;
    if (len > 0 && peek(stack, from, text->to + text->n, len))
        text->n += len;
}

static void put_hek(struct nytp_fixed_text *text, const struct nytp_open_stack *stack,
                    const HEK *hek)
{
    HEK head;
    if (peek(stack, hek, &head, sizeof head) && head.hek_len > 0 &&
        head.hek_len <= LONGEST_NAME)
        put_bytes(text, stack, hek->hek_key, (size_t)head.hek_len);
}

/* Where the name of a hash lies is in a structure of its own: behind the array, since 5.36
 * behind the body. */
static void put_stash(struct nytp_fixed_text *text, const struct nytp_open_stack *stack,
                      const void *stash)
{
    SV head;
    struct xpvhv_aux aux;
    if (!peek(stack, stash, &head, sizeof head) || (head.sv_flags & SVTYPEMASK) != SVt_PVHV ||
        !(head.sv_flags & SVf_OOK))
        return;
#if PERL_VERSION >= 36
    const void *const at =
        (const char *)head.sv_any + STRUCT_OFFSET(struct xpvhv_with_aux, xhv_aux);
#else
    XPVHV body;
    if (!peek(stack, head.sv_any, &body, sizeof body))
        return;
    const void *const at = head.sv_u.svu_hash + body.xhv_max + 1;
#endif
    if (!peek(stack, at, &aux, sizeof aux))
        return;
    const HEK *name = aux.xhv_name_u.xhvnameu_name;
    if (aux.xhv_name_count != 0 &&
        !peek(stack, aux.xhv_name_u.xhvnameu_names, &name, sizeof name))
        return;
    put_hek(text, stack, name);
    nytp_fixed_put(text, "::");
}

static void put_glob(struct nytp_fixed_text *text, const struct nytp_open_stack *stack,
                     const void *gv)
{
    SV head;
    XPVGV body;
    if (!peek(stack, gv, &head, sizeof head) || !peek(stack, head.sv_any, &body, sizeof body)) {
        nytp_fixed_put(text, "__ANON__");
        return;
    }
    put_stash(text, stack, body.xnv_u.xgv_stash);
    put_hek(text, stack, body.xiv_u.xivu_namehek);
}

void nytp_open_stack_put_sub(struct nytp_fixed_text *text, const struct nytp_open_stack *stack,
                             const CV *cv)
{
    SV head;
    XPVCV body;
    if (!peek(stack, cv, &head, sizeof head) || !peek(stack, head.sv_any, &body, sizeof body)) {
        nytp_fixed_put(text, "?");
        return;
    }
#ifdef CVf_NAMED /* 5.18: a name without a glob */
    if (body.xcv_flags & CVf_NAMED) {
        put_stash(text, stack, body.xcv_stash);
        put_hek(text, stack, body.xcv_gv_u.xcv_hek);
        return;
    }
#endif
    put_glob(text, stack, body.xcv_gv_u.xcv_gv);
}

void nytp_open_stack_put_package(struct nytp_fixed_text *text,
                                 const struct nytp_open_stack *stack, const COP *cop)
{
    COP copy;
    if (!peek(stack, cop, &copy, sizeof copy))
        return;
#ifdef USE_ITHREADS
    PerlInterpreter *const my_perl = (PerlInterpreter *)stack->interpreter;
    const HV *stash = NULL;
    if (peek(stack, PL_stashpad + copy.cop_stashoff, &stash, sizeof stash))
        put_stash(text, stack, stash);
#else
    put_stash(text, stack, copy.cop_stash);
#endif
}

uint32_t nytp_open_stack_put_file(struct nytp_fixed_text *text,
                                  const struct nytp_open_stack *stack, const COP *cop)
{
    COP copy;
    if (!peek(stack, cop, &copy, sizeof copy))
        return 0;
#ifdef USE_ITHREADS
    char letter = '\0';
    for (const char *at = copy.cop_file;
         text->n < text->size && peek(stack, at, &letter, 1) && letter != '\0'; at++)
        text->to[text->n++] = letter;
#else
    SV head;
    XPVGV body;
    HEK name;
    if (peek(stack, copy.cop_filegv, &head, sizeof head) &&
        peek(stack, head.sv_any, &body, sizeof body) &&
        peek(stack, body.xiv_u.xivu_namehek, &name, sizeof name) && name.hek_len > 2)
        put_bytes(text, stack, body.xiv_u.xivu_namehek->hek_key + 2, (size_t)name.hek_len - 2);
#endif
    return CopLINE(&copy);
}
