/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The op that runs; see running_op.h, and pp_hot.c of perl for entersub.
 */
#include "running_op.h"

#include "values.h"

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

/* Whether the op is known, and believed to be what it was: as long as its statement is. */
static bool is_known_op(struct nytp_walker *walker, const struct nytp_spied_moment *moment)
{
    const struct nytp_known_op *const known = known_op(walker, moment->op);
    return known->op == moment->op && known->cop == moment->curcop &&
           nytp_is_believed(walker->names, known->found_ns, known->read_ns) &&
           nytp_statement_is_believed(walker->names, moment->curcop);
}

static void remember_op(struct nytp_walker *walker, const struct nytp_spied_moment *moment,
                        unsigned type)
{
    struct nytp_known_op *const known = known_op(walker, moment->op);
    const int64_t now = walker->names->now_ns;
    if (known->op != moment->op || known->cop != moment->curcop || known->type != type)
        *known = (struct nytp_known_op){moment->op, moment->curcop, now, now, type};
    known->read_ns = now;
}

void nytp_op_type_ask(struct nytp_walker *walker, const struct nytp_spied_moment *moment)
{
    const struct nytp_layout *const layout = walker->names->perl->layout;
    struct nytp_words *const words = walker->names->words;
    const uint64_t op = moment->op;
    if (op == 0 || is_known_op(walker, moment))
        return;
    nytp_words_ask(words, op + (uint64_t)layout->op_type);
    nytp_words_ask(words, function_of(layout, op));
}

/* Whether an op does what those of its type do, or what a module has it do: code of some file.
 * The function of a type hardly ever changes. */
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

uint64_t nytp_callee_of(struct nytp_walker *walker, uint64_t stack_sp)
{
    struct nytp_reader reader = {.perl = walker->names->perl,
                                 .layout = walker->names->perl->layout};
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

uint32_t nytp_xsub_at(const struct nytp_names *names, uint32_t expected)
{
    const uint32_t sub = nytp_sub_at(names, expected);
    return sub != UINT32_MAX && names->subs[sub].is_xsub ? sub : UINT32_MAX;
}
