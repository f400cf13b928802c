/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Fuzz target: what a tick copied of perl's stacks, which may be half of what was before and
 * half of what came after. The input becomes contexts and ops of a tick, whose pointers are
 * those of a running program, of what it has freed, or anything; they are looked at while that
 * program is some calls deep, and what comes of it must be subs and statements that can be
 * looked at.
 */
#include "XS/platform/copy_stack.c"
#include "XS/perl/ops.c"
#include "XS/perl/perl_stack.c"
#include "XS/sampling/alive.c"
#include "XS/sampling/named_callee.c"
#include "XS/sampling/tick_stack.c"

#include <sys/mman.h>

#include "target.h"

/* As in XS/names/builtins.c, which needs the whole recorder. */
const bool nytp_is_slowop[MAXO] = {
#define NYTP_SLOWOP(type) [type] = true,
#include "XS/options/slowops.def"
#undef NYTP_SLOWOP
};

EXTERN_C void boot_DynaLoader(pTHX_ CV *cv);

static const char program[] =
    "sub leaf { my $x = shift; look(); return $x } sub mid { eval { leaf(@_) } }"
    "sub deep { my $n = shift; return $n ? deep($n - 1) : mid($n) }"
    "sub sorts { my @a = sort { mid($a); $a <=> $b } 2, 1 }"
    "our @kept = map { my $n = $_; sub { $n } } 1 .. 4;";

enum {
    KNOWN = 64,
};

/* The bytes of the input; zeros behind its end. */
struct input {
    const uint8_t *data;
    size_t size, at;
};

static struct input input;
static const void *known[KNOWN], *freed[4];
static unsigned n_known;

static uint64_t take(unsigned n)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < n; i++)
        value |= (input.at < input.size ? (uint64_t)input.data[input.at++] : 0) << 8 * i;
    return value;
}

static const void *take_pointer(void)
{
    const unsigned choice = (unsigned)take(1);
    if (choice >= 240)
        return (const void *)(uintptr_t)take(8);
    const char *const at = known[choice % n_known];
    return choice >= 200 ? at + (take(1) & 15) - 8 : at;
}

/* Mostly small. */
static int32_t take_number(void)
{
    const uint8_t choice = (uint8_t)take(1);
    return choice >= 240 ? (int32_t)take(4) : choice >= 200 ? -(choice & 7) : choice % 24;
}

static void know(const void *pointer)
{
    if (n_known < KNOWN)
        known[n_known++] = pointer;
}

/* `on_stack` is of the C stack, and looks like a sub. */
static void know_all(pTHX_ const struct sv *on_stack)
{
    struct nytp_perl_stack walk;
    struct nytp_perl_call call;
    n_known = 0;
    know(NULL);
    know(PL_op);
    know(PL_curcop);
    know(&PL_compiling);
    know(PL_curpad);
    know(PL_main_cv);
    know(PL_curstackinfo);
    know(PL_curstackinfo->si_prev);
    know(PL_curstackinfo->si_cxstack);
    know(on_stack);
    know(get_av("kept", 0));
    know(AvARRAY(get_av("kept", 0))[1]);
    know(SvRV(AvARRAY(get_av("kept", 0))[2]));
    know(get_cv("look", 0));
    know(PL_defgv);
    for (size_t i = 0; i < C_ARRAY_LENGTH(freed); i++)
        know(freed[i]);
    nytp_perl_stack_begin(aTHX_ & walk);
    while (n_known < KNOWN - 4 && nytp_perl_stack_next(&walk, &call)) {
        know(call.cv);
        know(call.site);
        know(CvROOT(call.cv));
        know(AvARRAY(PadlistARRAY(CvPADLIST(call.cv))[1]));
    }
}

/* The contexts of one stack, of which the innermost may be over where it is in use. */
static void take_contexts(struct nytp_tick_copy *copy, struct found_calls *found,
                          bool is_in_use)
{
    PERL_CONTEXT contexts[CONTEXTS];
    static const int types[] = {CXt_SUB, CXt_SUB, CXt_EVAL, CXt_BLOCK, CXt_FORMAT};
    const int n = (int)take(1) % (CONTEXTS + 1);
    const int32_t lowest = take_number() & 31;
    const struct place place = {.si = take_pointer(), .lowest = lowest, .top = lowest + n - 1};
    memset(contexts, 0, sizeof contexts);
    for (int i = 0; i < n; i++) {
        PERL_CONTEXT *const cx = &contexts[i];
        const unsigned type = (unsigned)take(1);
        cx->cx_type =
            (U8)(type >= 250 ? take(1) : (unsigned)types[type % C_ARRAY_LENGTH(types)]);
        cx->blk_oldcop = (COP *)(uintptr_t)take_pointer();
        if (CxTYPE(cx) == CXt_EVAL)
            cx->blk_eval.cv = (CV *)(uintptr_t)take_pointer();
        else
            cx->blk_sub.cv = (CV *)(uintptr_t)take_pointer();
#if PERL_VERSION >= 24
        if (CxTYPE(cx) == CXt_SUB)
            cx->blk_sub.prevcomppad = (PAD *)(uintptr_t)take_pointer();
#endif
        if (CxTYPE(cx) == CXt_SUB)
            cx->blk_sub.olddepth = take_number();
    }
    if (is_in_use) {
        copy->stack = place.si;
        copy->top = place.top;
    }
    copy_calls(copy, found, contexts, &place,
               is_in_use ? place.top - (int32_t)(take(1) % 4) : place.top);
}

static void take_tick(struct nytp_tick *tick)
{
    struct nytp_tick_copy *const copy = &tick->copy;
    struct found_calls found;
    found.at = NYTP_TICK_CALLS;
    found.n_over = 0;
    for (int i = 0; i < NYTP_TICK_WORDS; i++)
        tick->words[i] = take_pointer();
    copy->stack_type = take_number();
    copy->stack_below = take_pointer();
    copy->top_below = take_number();
    copy->op_type = (unsigned)take_number();
    copy->op_handler =
        take(1) & 1 ? (const void *)PL_ppaddr[copy->op_type % MAXO] : take_pointer();
    copy->callee = take_pointer();
    copy->op_next = take_pointer();
    const unsigned n_stacks = (unsigned)take(1) % (STACKS + 1);
    if (n_stacks == 0)
        copy->n_calls = -1;
    for (unsigned i = 0; i < n_stacks && found.at > 0; i++)
        take_contexts(copy, &found, i == 0);
    if (n_stacks > 0)
        keep_calls(copy, &found);
}

/* It can be looked at. */
static unsigned see_cop(pTHX_ const COP *cop)
{
    return cop == NULL ? 0 : CopLINE(cop) + (CopFILE(cop) == NULL ? 0 : (U8)*CopFILE(cop));
}

static unsigned see_cv(pTHX_ CV *cv)
{
    return SvTYPE((SV *)cv) == SVt_PVCV ? (unsigned)CvDEPTH(cv) : (abort(), 0);
}

static void see(pTHX_ const struct nytp_moment *moment)
{
    volatile unsigned seen = see_cop(aTHX_ moment->cop);
    for (uint32_t i = 0; i < moment->n_above; i++) {
        seen += see_cv(aTHX_ NYTP_CALL_CV(&moment->above[i]));
        seen += see_cop(aTHX_ NYTP_CALL_SITE(&moment->above[i]));
    }
    if (moment->xsub != NULL)
        seen += see_cv(aTHX_ moment->xsub);
    if (moment->builtin < 0 || moment->builtin >= MAXO)
        abort();
}

/* Stands for state.c, which is not linked here. */
struct nytp_recorders_count nytp_recorders_count;

/* A statement whose place is kept, and whose memory another interpreter has freed, which had it
 * in common with this one. */
static const COP *freed_elsewhere(pTHX_ struct nytp_recorder *rec)
{
    COP *const cop =
        mmap(NULL, sizeof *cop, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (cop == MAP_FAILED)
        abort();
    *cop = *PL_curcop;
    *nytp_sampled_place_slot(rec, cop) =
        (struct nytp_place){.cop = cop, .seq = cop->cop_seq, .line = CopLINE(cop)};
    atomic_store(&nytp_recorders_count.were_several, true);
    if (!nytp_is_live_cop(aTHX_ rec, cop) || munmap(cop, sizeof *cop) != 0 ||
        nytp_is_live_cop(aTHX_ rec, cop))
        abort();
    return cop;
}

/* The last call of the program: now look. */
static void look_now(pTHX_ CV *cv)
{
    static struct nytp_recorder recorder;
    static struct nytp_tick_stack stack;
    static const COP *gone;
    struct nytp_tick tick;
    struct nytp_moment moment;
    struct sv on_stack[3] = {{0}}; /* with room on both sides, as pointers may be off by 8 */
    dXSARGS;
    PERL_UNUSED_VAR(items);
    if (recorder.cache.places == NULL) {
        recorder.cache.places = calloc(NYTP_PLACES, sizeof *recorder.cache.places);
        gone = freed_elsewhere(aTHX_ & recorder);
    }
    recorder.options.slowops = 2;
    on_stack[1] = *(const struct sv *)cv;
    know_all(aTHX_ & on_stack[1]);
    know(gone);
    nytp_tick_stack_look(aTHX_ & stack);
    for (int i = 0; i < 4 && input.at < input.size; i++) {
        memset(&tick, 0, sizeof tick);
        take_tick(&tick);
        nytp_moment_of(aTHX_ & recorder, &stack, &tick, &moment);
        if (moment.n_below > stack.n_now || moment.n_above > NYTP_TICK_CALLS + NYTP_MOST_LEFT)
            abort();
        see(aTHX_ & moment);
    }
    XSRETURN_EMPTY;
}

static void boot(pTHX)
{
    newXS("DynaLoader::boot_DynaLoader", boot_DynaLoader, __FILE__);
    newXS("main::look", look_now, __FILE__);
}

static PerlInterpreter *begin(void)
{
    static char *words[] = {(char *)"fuzz", (char *)"-e", (char *)program, NULL};
    static int n_words = 3;
    static char **argv = words;
    PERL_SYS_INIT(&n_words, &argv);
    PerlInterpreter *const my_perl = perl_alloc();
    perl_construct(my_perl);
    if (perl_parse(my_perl, boot, 3, words, NULL) != 0 || perl_run(my_perl) != 0)
        abort();
    SV *const code = eval_pv("my $n = 1; sub { $n++; return $n }", TRUE);
    CV *const cv = (CV *)SvRV(code);
    freed[0] = cv;
    freed[1] = CvSTART(cv);
    freed[2] = CvROOT(cv);
    freed[3] = PadlistARRAY(CvPADLIST(cv))[1];
    eval_pv("1", TRUE); /* the sub was the value of the one before */
    return my_perl;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static PerlInterpreter *my_perl;
    if (my_perl == NULL)
        my_perl = begin();
    if (size == 0)
        return 0;
    input = (struct input){.data = data, .size = size};
    const unsigned first = (unsigned)take(1);
    dSP;
    ENTER;
    SAVETMPS;
    PUSHMARK(SP);
    mXPUSHi(first % 16);
    PUTBACK;
    call_pv(first & 16 ? "sorts" : "deep", G_DISCARD | G_VOID);
    FREETMPS;
    LEAVE;
    return 0;
}
