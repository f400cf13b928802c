/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Perl's contexts; see contexts.h, and cop.h of perl.
 */
#include "contexts.h"

#include "values.h"

enum {
    SUB_RE = 0x40,      /* CXp_SUB_RE in each perl, 5.20 to 5.44 */
    SUB_RE_FAKE = 0x80, /* CXp_SUB_RE_FAKE */
    CLEARS_LEFT = 24,   /* perl 5.24, from which on contexts name their caller's pad, too */
};

bool nytp_contexts_are_cleared(const struct nytp_layout *layout)
{
    return layout->version >= CLEARS_LEFT;
}

static const uint8_t *context_at(const struct nytp_contexts *contexts, int32_t i)
{
    return contexts->bytes + (size_t)i * (size_t)contexts->layout->cx_size;
}

static int type_of(const struct nytp_contexts *contexts, const uint8_t *context)
{
    return context[contexts->layout->cx_type] & contexts->layout->cx_typemask;
}

bool nytp_context_is_sub(const struct nytp_contexts *contexts, int32_t i)
{
    return type_of(contexts, context_at(contexts, i)) == contexts->layout->cx_sub;
}

uint64_t nytp_context_site(const struct nytp_contexts *contexts, int32_t i)
{
    return nytp_u64(context_at(contexts, i), contexts->layout->cx_oldcop);
}

/* The pad of the caller lies before the code of a sub or format: struct block_sub. */
static uint64_t caller_of(const struct nytp_layout *layout, const uint8_t *context)
{
    return nytp_contexts_are_cleared(layout)
               ? nytp_u64(context, layout->cx_sub_cv - (int32_t)sizeof(uint64_t))
               : 0;
}

static void take_sub(const struct nytp_layout *layout, const uint8_t *context,
                     struct nytp_call *call)
{
    if (context[layout->cx_type] & SUB_RE_FAKE)
        return;
    call->kind = NYTP_FRAME_SUB;
    call->code = nytp_u64(context, layout->cx_sub_cv);
    call->caller = caller_of(layout, context);
    call->depth = (int32_t)(nytp_u32(context, layout->cx_sub_olddepth) + 1);
    call->is_hidden = (context[layout->cx_type] & SUB_RE) != 0;
}

static void take_eval(const struct nytp_layout *layout, const uint8_t *context,
                      struct nytp_call *call)
{
    uint16_t bits;
    if (context[layout->cx_type] & layout->cx_tryblock)
        return;
    memcpy(&bits, context + layout->cx_u16, sizeof bits);
    call->kind = bits >> 7 == layout->op_require ? NYTP_FRAME_REQUIRE : NYTP_FRAME_EVAL;
    call->code = nytp_u64(context, layout->cx_eval_cv);
}

bool nytp_context_call(const struct nytp_contexts *contexts, int32_t i, struct nytp_call *call)
{
    const struct nytp_layout *const layout = contexts->layout;
    const uint8_t *const context = context_at(contexts, i);
    const int type = type_of(contexts, context);
    *call = (struct nytp_call){.site = nytp_u64(context, layout->cx_oldcop),
                               .stack = contexts->stack,
                               .place = i,
                               .depth = 1,
                               .kind = NYTP_FRAME_FORMAT};
    if (type == layout->cx_sub)
        take_sub(layout, context, call);
    else if (type == layout->cx_eval)
        take_eval(layout, context, call);
    else if (type == layout->cx_format)
        call->code = nytp_u64(context, layout->cx_sub_cv);
    return call->code != 0;
}

bool nytp_context_is_same(const struct nytp_contexts *a, const struct nytp_contexts *b,
                          int32_t i)
{
    struct nytp_call first, second;
    if (memcmp(context_at(a, i), context_at(b, i), (size_t)a->layout->cx_size) == 0)
        return true;
    const bool is_call = nytp_context_call(a, i, &first);
    if (is_call != nytp_context_call(b, i, &second))
        return false;
    return !is_call || (first.code == second.code && first.kind == second.kind &&
                        first.site == second.site);
}
