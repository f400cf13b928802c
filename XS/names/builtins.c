/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Builtins timed like subs; see builtins.h.
 */
#include "builtins.h"

#include "XS/state/state.h"
#include "subs.h"

/* A row of rec->builtins: ops of one type in one package. The stash may be freed and its
 * address reused, or be renamed; then `package` differs. */
struct builtin {
    const HV *stash;
    const HEK *package;
    U32 package_hash;
    int type;
    struct nytp_rec_sub *sub;
};

/* Builtins that may wait indefinitely. */
static const bool waits[MAXO] = {
#define NYTP_SLOWOP(type)
#define NYTP_WAITOP(type) [type] = true,
#include "XS/options/slowops.def"
};

const bool nytp_is_slowop[MAXO] = {
#define NYTP_SLOWOP(type) [type] = true,
#include "XS/options/slowops.def"
};

void nytp_open_stack_put_leaf(struct nytp_fixed_text *text, const struct nytp_open_stack *stack,
                              const char *head)
{
    const bool is_builtin = stack->op_type < MAXO && nytp_is_slowop[stack->op_type];
    if (stack->xsub == NULL && !is_builtin)
        return;
    nytp_fixed_put(text, head);
    if (stack->xsub != NULL) {
        nytp_open_stack_put_sub(text, stack, stack->xsub);
        return;
    }
    nytp_fixed_put(text, "CORE:");
    nytp_fixed_put(text, PL_op_name[stack->op_type]);
}

static struct nytp_rec_sub *resolve_op(struct nytp_recorder *rec, const HV *stash, int type)
{
    struct nytp_text *const text = &rec->scratch;
    nytp_text_clear(text);
    if (rec->options.slowops > 1) {
        nytp_text_append_package(text, stash);
        nytp_text_printf(text, "CORE:%s", PL_op_name[type]);
    } else {
        nytp_text_printf(text, "CORE::%s", PL_op_name[type]);
    }
    struct nytp_rec_sub *const sub =
        nytp_sub_named(rec, text->ptr, text->len, NYTP_REC_SUB_OPCODE);
    sub->waits = waits[type];
    return sub;
}

struct nytp_rec_sub *nytp_sub_of_op(pTHX_ struct nytp_recorder *rec, const COP *cop, int type)
{
    PERL_UNUSED_CONTEXT;
    const HV *const stash = CopSTASH(cop);
    const bool is_stash = stash != NULL && SvTYPE((const SV *)stash) == SVt_PVHV;
    const HEK *const package = is_stash ? HvNAME_HEK((HV *)stash) : NULL;
    const U32 package_hash = package == NULL ? 0 : HEK_HASH(package);
    const uint32_t hash = nytp_hash_u64(PTR2UV(stash) ^ (uint64_t)type << 48);
    size_t at = hash;
    struct builtin *known;
    while ((known = nytp_index_next(&rec->builtins, hash, &at)) != NULL)
        if (known->stash == stash && known->type == type)
            break;
    if (LIKELY(known != NULL && known->package == package &&
               known->package_hash == package_hash))
        return known->sub;
    nytp_excluded_time_begin(rec);
    if (known == NULL) {
        Newxz(known, 1, struct builtin);
        nytp_index_add(&rec->builtins, hash, known);
    }
    *known = (struct builtin){stash, package, package_hash, type, NULL};
    known->sub = resolve_op(rec, stash, type);
    nytp_excluded_time_end(rec);
    return known->sub;
}

void nytp_builtins_free(struct nytp_recorder *rec)
{
    nytp_index_free(&rec->builtins, nytp_free);
}
