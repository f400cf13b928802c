/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Times of regular expressions by pattern; see regexes.h.
 *
 * An index finds the entry for a place and the text of a pattern. Most ops have the same
 * pattern each time, so a small table caches the last result by op and by the address of the
 * text. perl may reuse both addresses, so statement and text are compared, too.
 *
 * If the op is a recorded builtin call, which has a frame, the clock is not read again: the
 * pattern gets the builtin's time when the frame is closed.
 */
#include "regexes.h"

#include "XS/exact/places.h"
#include "XS/platform/memory.h"
#include "XS/perl/index.h"
#include "XS/perl/ops.h"
#include "XS/state/state.h"
#include "XS/names/tables.h"

#include "formats/base/utf8.h"
#include "formats/stream/comments/regex_records.h"

#define FIRST_PERIOD_NS 100000000 /* doubles each time */

enum {
    MOST = 5000, /* places and patterns; beyond, a place has one entry for all its others */
    RECENT = 1024
};

static const char others[] = "(other patterns)";

struct regex {
    struct nytp_regex_record sums;
    struct nytp_regex_size *last;                       /* in `sums`: of the last call */
    uint64_t n_frames, n_size_frames[NYTP_REGEX_SIZES]; /* ops that were builtin calls */
    size_t whole_len;                                   /* of the pattern before it was cut */
    uint32_t len;
    bool is_utf8;
    char text[NYTP_REGEX_MOST_PATTERN]; /* in perl's form */
};

struct recent {
    const PMOP *pm;
    const COP *cop;
    U32 seq;
    struct regex *regex; /* NULL: unused */
};

/* An op before it runs. */
struct call {
    const OP *op;
    const PMOP *pm; /* NULL: tr */
    REGEXP *rx;
    const SV *subject;    /* NULL: none */
    uint64_t subject_len; /* in bytes; 0 if it is not a string yet */
    ptrdiff_t depth;      /* of perl's stack, below the op's arguments */
};

/* The op after it has run. */
struct ended {
    struct call call;
    int type;
    enum nytp_regex_kind kind;
    bool found;
    bool in_frame;
};

struct nytp_rec_regexes {
    struct ended ended; /* the builtin to be noted */
    struct nytp_index index;
    struct regex **all; /* in order of first use; owned */
    uint32_t n, size;
    uint64_t recorded_raw, period_raw; /* last time this was recorded, and the interval */
    struct recent recent[RECENT];
};

/* ---- entries by place and pattern ---- */

struct pattern {
    const char *text; /* NULL: no pattern */
    size_t whole_len;
    uint32_t len;
    bool is_utf8;
};

/* Returns the pattern as in the source, or in perl's form if it has modifiers. */
static struct pattern pattern_of(REGEXP *rx)
{
    if (rx == NULL)
        return (struct pattern){.text = "", .whole_len = 0};
    const bool is_plain = (RX_EXTFLAGS(rx) & RXf_PMf_STD_PMMOD) == 0;
    const char *const text = is_plain ? RX_PRECOMP(rx) : RX_WRAPPED(rx);
    const size_t len = is_plain ? (size_t)RX_PRELEN(rx) : (size_t)RX_WRAPLEN(rx);
    const size_t most = len < NYTP_REGEX_MOST_PATTERN ? len : NYTP_REGEX_MOST_PATTERN;
    return (struct pattern){
        .text = text,
        .whole_len = len,
        .len = (uint32_t)(RX_UTF8(rx) ? nytp_utf8_whole(text, len, most) : most),
        .is_utf8 = RX_UTF8(rx),
    };
}

static inline bool is_pattern(const struct regex *regex, const struct pattern *pattern)
{
    return regex->whole_len == pattern->whole_len && regex->is_utf8 == pattern->is_utf8 &&
           memcmp(regex->text, pattern->text, pattern->len) == 0;
}

static struct regex *find(struct nytp_rec_regexes *regexes, enum nytp_regex_kind kind,
                          const struct nytp_place *place, const struct pattern *pattern,
                          bool may_add)
{
    const uint32_t hash =
        nytp_hash_bytes(pattern->text, pattern->len) ^
        nytp_hash_u64((uint64_t)place->fid << 32 | place->line << 3 | (uint32_t)kind);
    struct regex *regex;
    for (size_t at = hash; (regex = nytp_index_next(&regexes->index, hash, &at)) != NULL;)
        if (regex->sums.kind == kind && regex->sums.fid == place->fid &&
            regex->sums.line == place->line && is_pattern(regex, pattern))
            return regex;
    if (!may_add)
        return NULL;
    NYTP_MAKE_ROOM(regexes->all, regexes->n, regexes->size, struct regex *);
    Newxz(regex, 1, struct regex);
    regex->sums.kind = kind;
    regex->sums.fid = place->fid;
    regex->sums.line = place->line;
    regex->whole_len = pattern->whole_len;
    regex->len = pattern->len;
    regex->is_utf8 = pattern->is_utf8;
    memcpy(regex->text, pattern->text, pattern->len);
    if (!nytp_index_add(&regexes->index, hash, regex)) {
        Safefree(regex);
        return NULL;
    }
    return regexes->all[regexes->n++] = regex;
}

/* Returns NULL if there are too many places. */
static struct regex *look_up_at(struct nytp_rec_regexes *regexes, enum nytp_regex_kind kind,
                                const struct nytp_place *place, const struct pattern *pattern)
{
    const struct pattern rest = {others, sizeof others - 1, sizeof others - 1, false};
    struct regex *const regex = find(regexes, kind, place, pattern, regexes->n < MOST);
    return regex != NULL ? regex : find(regexes, kind, place, &rest, regexes->n < 2 * MOST);
}

static NYTP_COLD struct regex *look_up(pTHX_ struct nytp_recorder *rec,
                                       enum nytp_regex_kind kind, const struct pattern *pattern)
{
    dSAVE_ERRNO;
    const struct nytp_place place = *nytp_place_of(aTHX_ rec, PL_curcop, NYTP_FID_VIA_STMT);
    RESTORE_ERRNO;
    return look_up_at(rec->regexes, kind, &place, pattern);
}

/* ---- measuring ---- */

static Perl_ppaddr_t perls_ops[MAXO];

static const PMOP *pattern_op(const OP *op, int type)
{
    switch (type) {
    case OP_TRANS:
    case OP_TRANSR:
        return NULL;
    case OP_REGCOMP:
    case OP_SUBSTCONT:
        return (const PMOP *)cLOGOPx(op)->op_other;
#if PERL_VERSION < 26
    case OP_SPLIT:
        return (const PMOP *)cLISTOPx(op)->op_first;
#endif
    default:
        return (const PMOP *)op;
    }
}

/* Older perls keep the op of a split's pattern on the stack, below the subject. */
#if PERL_VERSION < 26
#define BELOW_SPLIT 1
#else
#define BELOW_SPLIT 0
#endif

/* Describes the op about to run. Its subject is below `above` others (pp_hot.c, pp.c). */
static struct call about_to_run(pTHX_ int type)
{
    const OP *const op = PL_op;
    struct call call = {.op = op, .pm = pattern_op(op, type)};
    const bool is_split = type == OP_SPLIT, is_stacked = (op->op_flags & OPf_STACKED) != 0;
    ptrdiff_t above = 0;
    if (call.pm != NULL)
        call.rx = PM_GETRE(call.pm);
    if (is_split) {
        above = 1;
#ifdef OPpSPLIT_ASSIGN
        above += is_stacked && (op->op_private & OPpSPLIT_ASSIGN) != 0;
#endif
    } else if (type == OP_SUBST && (call.pm->op_pmflags & PMf_CONST) != 0) {
        above = 1;
    }
    const bool is_on_stack = is_split || is_stacked;
    if (type == OP_REGCOMP || type == OP_SUBSTCONT)
        return call;
    if (is_on_stack)
        call.subject = PL_stack_sp[-above];
    else
        call.subject = op->op_targ != 0 ? PAD_SVl(op->op_targ) : DEFSV;
    call.subject_len = SvPOK(call.subject) ? SvCUR(call.subject) : 0;
    call.depth = PL_stack_sp - PL_stack_base - above - (is_on_stack ? 1 : 0) -
                 (is_split ? BELOW_SPLIT : 0);
    return call;
}

static bool is_found(pTHX_ const struct ended *ended, const OP *next)
{
    const struct call *const call = &ended->call;
    const int type = ended->type;
    if (type == OP_REGCOMP || type == OP_SUBSTCONT)
        return false;
    if (type == OP_SPLIT || (GIMME_V == G_ARRAY && type == OP_MATCH))
        return PL_stack_sp - PL_stack_base > call->depth;
    if (type == OP_SUBST && next != call->op->op_next)
        return true; /* goes to the replacement's code */
#ifdef PMf_NONDESTRUCT
    if (type == OP_SUBST && (call->pm->op_pmflags & PMf_NONDESTRUCT) != 0)
        return *PL_stack_sp != call->subject;
#endif
    return SvTRUE_nomg(*PL_stack_sp);
}

static void add(struct regex *regex, uint64_t ns, uint64_t subject_len)
{
    struct nytp_regex_size *const size = &regex->sums.sizes[nytp_regex_size_of(subject_len)];
    regex->last = size;
    regex->sums.calls++;
    size->calls++;
    size->bytes += subject_len;
    if (ns > size->max_ns)
        size->max_ns = ns;
    if (ns > regex->sums.max_ns) {
        regex->sums.max_ns = ns;
        regex->sums.max_len = subject_len;
    }
}

/* A pattern that is just a qr// object is copied by perl, not compiled. */
static bool is_compiled(const struct call *call, REGEXP *rx)
{
    return rx != call->rx && rx != NULL && ReANY(rx)->mother_re == NULL;
}

/* Returns the entry of an op that has run, or NULL if there are too many. */
static struct regex *regex_of(pTHX_ struct nytp_recorder *rec, const struct ended *ended,
                              const struct pattern *pattern)
{
    const struct call *const call = &ended->call;
    const enum nytp_regex_kind kind = ended->kind;
    struct recent *const recent =
        &rec->regexes->recent[nytp_hash_u64(PTR2UV(call->pm != NULL ? (void *)call->pm
                                                                    : (void *)call->op) +
                                            PTR2UV(pattern->text) + (uint64_t)kind) &
                              (RECENT - 1)];
    const bool is_known = recent->regex != NULL && recent->pm == call->pm &&
                          recent->regex->sums.kind == kind &&
                          (ended->type == OP_SUBSTCONT ||
                           (recent->cop == PL_curcop && recent->seq == PL_curcop->cop_seq &&
                            recent->regex->sums.line == CopLINE(PL_curcop))) &&
                          is_pattern(recent->regex, pattern);
    if (is_known)
        return recent->regex;
    struct regex *const regex = look_up(aTHX_ rec, kind, pattern);
    if (regex != NULL)
        *recent = (struct recent){call->pm, PL_curcop, PL_curcop->cop_seq, regex};
    return regex;
}

static void note(pTHX_ struct nytp_recorder *rec, const struct ended *ended, uint64_t ns)
{
    REGEXP *const rx = ended->type == OP_REGCOMP ? PM_GETRE(ended->call.pm) : ended->call.rx;
    const struct pattern pattern = pattern_of(rx);
    struct regex *const regex = regex_of(aTHX_ rec, ended, &pattern);
    if (regex == NULL)
        return;
    if (ended->type != OP_SUBSTCONT) { /* SUBSTCONT continues a counted call */
        const bool compiles = ended->type == OP_REGCOMP;
        regex->sums.compiled += compiles && is_compiled(&ended->call, rx);
        regex->sums.matches += ended->found;
        add(regex, ns, compiles ? pattern.whole_len : ended->call.subject_len);
    }
    regex->sums.ns += ns;
    regex->n_frames += ended->in_frame;
    if (regex->last == NULL)
        return;
    regex->last->ns += ns;
    regex->n_size_frames[regex->last - regex->sums.sizes] += ended->in_frame;
}

static inline bool is_measured(const struct nytp_recorder *rec)
{
    return rec != NULL && rec->regexes != NULL && rec->state == NYTP_RECORDING &&
           rec->kind == NYTP_EXACT && !rec->run.forked;
}

static uint64_t to_ns(const struct nytp_recorder *rec, uint64_t raw)
{
    const struct nytp_wide ns = nytp_wide_mul(raw * NYTP_NS_PER_TICK, rec->clock.rate);
    return ns.high + (ns.low >> 63);
}

static OP *measured(pTHX_ int type, enum nytp_regex_kind kind)
{
    struct nytp_recorder *const rec = nytp_recorder_of(aTHX);
    if (!is_measured(rec))
        return perls_ops[type](aTHX);
    struct ended ended = {.call = about_to_run(aTHX_ type), .type = type, .kind = kind};
    ended.in_frame = rec->last.begun_builtin == type;
    rec->last.begun_builtin = 0;
    const uint64_t from = ended.in_frame ? 0 : nytp_clock_raw(&rec->clock);
    OP *const next = perls_ops[type](aTHX);
    if (!is_measured(rec)) /* code in a pattern may stop recording */
        return next;
    if (ended.in_frame) {
        ended.found = is_found(aTHX_ & ended, next);
        rec->regexes->ended = ended;
        rec->last.ended_regex = true;
        return next;
    }
    nytp_excluded_time_begin(rec);
    const uint64_t to = rec->clock.paused_raw;
    ended.found = is_found(aTHX_ & ended, next);
    note(aTHX_ rec, &ended, to > from ? to_ns(rec, to - from) : 0);
    nytp_excluded_time_end(rec);
    return next;
}

void nytp_regexes_builtin_ended(pTHX_ struct nytp_recorder *rec, int64_t ticks)
{
    rec->last.ended_regex = false;
    if (!is_measured(rec))
        return;
    nytp_excluded_time_begin(rec);
    note(aTHX_ rec, &rec->regexes->ended, ticks > 0 ? (uint64_t)ticks * NYTP_NS_PER_TICK : 0);
    nytp_excluded_time_end(rec);
}

#define MEASURED_OPS(EACH)                                                                     \
    EACH(OP_MATCH, NYTP_REGEX_MATCH)                                                           \
    EACH(OP_SUBST, NYTP_REGEX_SUBST)                                                           \
    EACH(OP_SUBSTCONT, NYTP_REGEX_SUBST)                                                       \
    EACH(OP_SPLIT, NYTP_REGEX_SPLIT)                                                           \
    EACH(OP_TRANS, NYTP_REGEX_TR)                                                              \
    EACH(OP_TRANSR, NYTP_REGEX_TR)                                                             \
    EACH(OP_REGCOMP, NYTP_REGEX_COMPILE)

#define MEASURED(type, kind)                                                                   \
    static OP *measured_##type(pTHX)                                                           \
    {                                                                                          \
        return measured(aTHX_ type, kind);                                                     \
    }
MEASURED_OPS(MEASURED)

static int kind_of(int type)
{
    switch (type) {
#define KIND(of, kind)                                                                         \
    case of:                                                                                   \
        return kind;
        MEASURED_OPS(KIND)
    default:
        return NYTP_REGEX_KINDS;
    }
}

/* ---- samples ---- */

/* Reads the op that has the pattern, whose memory may be freed. Returns false if it is. */
static bool peek_pattern_op(int type, const void *op, PMOP *pm)
{
    union {
        OP op;
        LOGOP logop;
        LISTOP listop;
    } peeked;
    if (!nytp_peek_memory(op, &peeked, sizeof peeked) || peeked.op.op_type != type)
        return false;
    const PMOP *const has = pattern_op(&peeked.op, type);
    const bool is_itself = (const OP *)has == &peeked.op;
    return nytp_peek_memory(is_itself ? op : (const void *)has, pm, sizeof *pm) &&
           pm->op_type < MAXO && (PL_opargs[pm->op_type] & OA_CLASS_MASK) == OA_PMOP;
}

/* Returns the op's current pattern; only the next call of its regcomp compiles another. */
static REGEXP *regexp_of(pTHX_ const PMOP *pm)
{
#ifdef USE_ITHREADS
    const SSize_t at = (SSize_t)pm->op_pmoffset;
    return at >= 0 && at <= AvFILLp(PL_regex_padav) ? PM_GETRE(pm) : NULL;
#else
    SV head;
    return nytp_peek_memory(pm->op_pmregexp, &head, sizeof head) && SvTYPE(&head) == SVt_REGEXP
               ? PM_GETRE(pm)
               : NULL;
#endif
}

void nytp_regexes_sampled(pTHX_ struct nytp_recorder *rec, int type, const void *op,
                          const struct nytp_place *place, int64_t ticks)
{
    const int kind = kind_of(type);
    PMOP pm;
    REGEXP *rx = NULL;
    if (rec->regexes == NULL || kind == NYTP_REGEX_KINDS)
        return;
    if (kind != NYTP_REGEX_TR &&
        (!peek_pattern_op(type, op, &pm) || (rx = regexp_of(aTHX_ & pm)) == NULL))
        return;
    const struct pattern pattern = pattern_of(rx);
    struct regex *const regex =
        look_up_at(rec->regexes, (enum nytp_regex_kind)kind, place, &pattern);
    if (regex == NULL)
        return;
    regex->sums.calls++;
    regex->sums.ns += (uint64_t)ticks * NYTP_NS_PER_TICK;
}

/* ---- begin ---- */

void nytp_regexes_begin(struct nytp_recorder *rec)
{
#define WRAP(type, kind) nytp_op_wrap(type, measured_##type, &perls_ops[type]);
    if (!rec->options.regex || rec->on.counts || rec->regexes != NULL)
        return;
    Newxz(rec->regexes, 1, struct nytp_rec_regexes);
    MEASURED_OPS(WRAP)
}

/* ---- records ---- */

/* Writes the pattern as one line of UTF-8. */
static void put_pattern(struct nytp_text *text, const struct regex *regex)
{
    nytp_text_clear(text);
    nytp_text_puts(text, "");
    for (uint32_t i = 0; i < regex->len; i++) {
        const unsigned char c = (unsigned char)regex->text[i];
        if (c < 0x20 || c == 0x7f)
            nytp_text_printf(text, "\\x%02x", (unsigned)c);
        else if (regex->is_utf8)
            nytp_text_append(text, regex->text + i, 1);
        else
            nytp_text_append_latin1(text, regex->text + i, 1);
    }
    if (regex->len < regex->whole_len)
        nytp_text_puts(text, "...");
}

/* Subtracts the cost of recording `n` builtin calls; it may exceed a single call's `ns`. */
static uint64_t without_costs(uint64_t ns, double cost_ns, uint64_t n)
{
    const double cost = cost_ns * (double)n;
    return cost < (double)ns ? ns - (uint64_t)cost : 0;
}

static void write_regex(struct nytp_recorder *rec, const struct regex *regex)
{
    const double builtin_ns = rec->costs.builtin_ns;
    char text[NYTP_REGEX_LONGEST];
    struct nytp_regex_record record = regex->sums;
    uint64_t sizes_ns = 0;
    for (size_t i = 0; i < NYTP_REGEX_SIZES; i++) {
        struct nytp_regex_size *const size = &record.sizes[i];
        const uint64_t n = regex->n_size_frames[i];
        size->ns = without_costs(size->ns, builtin_ns, n);
        size->max_ns = without_costs(size->max_ns, builtin_ns, n > 0);
        if (size->max_ns > size->ns)
            size->max_ns = size->ns;
        sizes_ns += size->ns;
    }
    record.ns = without_costs(record.ns, builtin_ns, regex->n_frames);
    if (record.ns < sizes_ns)
        record.ns = sizes_ns;
    record.max_ns = without_costs(record.max_ns, builtin_ns, regex->n_frames > 0);
    put_pattern(&rec->scratch, regex);
    record.pattern =
        (struct nytp_str){.ptr = rec->scratch.ptr, .len = (uint32_t)rec->scratch.len};
    nytp_regex_record_format(&record, text);
    nytp_write_comment(rec->writer, text);
}

void nytp_regexes_write(struct nytp_recorder *rec)
{
    const bool is_recorded = rec->regexes != NULL && rec->dprof == NULL;
    for (uint32_t i = 0; is_recorded && i < rec->regexes->n; i++) {
        struct regex *const regex = rec->regexes->all[i];
        const struct nytp_regex_record *const sums = &regex->sums;
        if (sums->calls == 0 && sums->ns == 0)
            continue;
        write_regex(rec, regex);
        regex->sums = (struct nytp_regex_record){
            .kind = sums->kind, .fid = sums->fid, .line = sums->line};
        regex->last = NULL;
        regex->n_frames = 0;
        Zero(regex->n_size_frames, NYTP_REGEX_SIZES, uint64_t);
    }
}

void nytp_regexes_write_if_due(struct nytp_recorder *rec, uint64_t raw)
{
    struct nytp_rec_regexes *const regexes = rec->regexes;
    if (regexes == NULL || raw - regexes->recorded_raw < regexes->period_raw)
        return;
    nytp_regexes_write(rec);
    regexes->recorded_raw = raw;
    regexes->period_raw *= 2;
}

void nytp_regexes_end_file(struct nytp_recorder *rec)
{
    if (!rec->run.without_perl)
        nytp_regexes_write(rec);
}

static void free_all(struct nytp_rec_regexes *regexes)
{
    for (uint32_t i = 0; i < regexes->n; i++)
        Safefree(regexes->all[i]);
    regexes->n = 0;
}

/* The sums belong to another profile or process. */
void nytp_regexes_begin_file(struct nytp_recorder *rec)
{
    struct nytp_rec_regexes *const regexes = rec->regexes;
    if (regexes == NULL)
        return;
    free_all(regexes);
    regexes->recorded_raw = nytp_clock_raw(&rec->clock);
    regexes->period_raw = nytp_clock_raw_of_ns(&rec->clock, FIRST_PERIOD_NS);
    nytp_index_clear(&regexes->index);
    Zero(regexes->recent, RECENT, struct recent);
}

void nytp_regexes_free(struct nytp_recorder *rec)
{
    if (rec->regexes == NULL)
        return;
    free_all(rec->regexes); /* the clock is not set where recording never began */
    nytp_index_free(&rec->regexes->index, NULL);
    Safefree(rec->regexes->all);
    Safefree(rec->regexes);
    rec->regexes = NULL;
}
