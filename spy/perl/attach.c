/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Finds the perl in a target; see attach.h. Relies on PL_version being exported by every perl
 * since 5.10, PL_curinterp by those with threads, the variables themselves by the others
 * (makedef.pl), and on threads.xs for the ring of threads.
 *
 * Nothing says how a perl was compiled: of the layouts of its version that one is taken with
 * which everything that is looked at is what it should be.
 */
#include "attach.h"

#include "values.h"

#include "spy/target/process.h"

#include "formats/base/arena.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

/* The work of reading until perl is found in a process, and until its threads are: some
 * 50,000 calls of the system. A perl with many modules takes 3,000, one with 1,000 threads
 * 13,000. */
#define MOST_WORK    UINT64_C(60000000)
#define WORK_OF_TASK 10000 /* to read as what a process of another pid namespace knows it */

enum {
    TRIES = 8, /* the program runs on while we look */
    MAX_STACKS = 10000,
    MAX_CONTEXTS = 4000000,
    MAX_THREADS = 10000,
    LEAST_VALUES = 50, /* a perl that has begun has some hundred */
    GLOBS_LOOKED_AT = 200,
    NAMES_LOOKED_AT = 100000, /* of main::, where subs and constants are often no globs */
    MAX_ARENA = 100000,
    THREAD_POINTERS = 128, /* bytes of threads.xs's ithread in which pthread_t is */
    PTHREAD_BYTES = 1024,  /* of glibc's or musl's thread, in which its number is */
    GLIBC_LINK_TO_LOCK = -32,
};

/* ---- layouts ---- */

/* Offsets of variables come first in a row, then the members in the same order. */
#define NYTP_LAYOUT(version, machine, threads, option, ...)                                    \
    {version, #machine, #option, threads, __VA_ARGS__},

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-braces"
const struct nytp_layout nytp_layouts[] = {
#include "layouts.def"
    {0}};
#pragma GCC diagnostic pop

bool nytp_layout_is_debugging(const struct nytp_layout *layout)
{
    static const char word[] = "debugging";
    return strncmp(layout->option, word, sizeof word - 1) == 0;
}

/* ---- ops ---- */

/* The name of a type of op, "nextstate" for example; "" for no type. */
static const char *op_name(struct nytp_perl *perl, unsigned type)
{
    if (type >= NYTP_OP_TYPES || perl->op_names == 0)
        return "";
    char *const known = perl->op_names_read[type];
    struct nytp_reader reader = {.perl = perl};
    struct nytp_label name = {.len = 0};
    if (known[0] == '\0' &&
        nytp_add_text(&reader, nytp_memory_u64(perl->memory, perl->op_names + type * 8), &name))
        snprintf(known, NYTP_OP_NAME, "%.*s", NYTP_OP_NAME - 1, name.text);
    return known;
}

static bool is_timed(const char *op_name)
{
    static const char *const timed[] = {
#define NYTP_SLOWOP(type) #type,
#include "XS/options/slowops.def"
    };
    for (size_t i = 0; i < sizeof timed / sizeof *timed; i++)
        if (strcasecmp(timed[i] + sizeof "OP_" - 1, op_name) == 0)
            return true;
    return false;
}

const char *nytp_timed_builtin(struct nytp_perl *perl, unsigned type)
{
    const char *const name = op_name(perl, type);
    return is_timed(name) ? name : NULL;
}

/* ---- which perl ---- */

static const char *machine_of(const struct nytp_image *image)
{
    return image->machine == EM_X86_64    ? "x86_64"
           : image->machine == EM_AARCH64 ? "aarch64"
                                          : "?";
}

/* A program that exports nothing: its symbols are in the file, unless they were stripped. */
static bool has_perl_in_file(struct nytp_perl *perl, const struct nytp_mapping *mapping)
{
    const int fd = nytp_target_file(perl->target, mapping);
    if (fd < 0)
        return false;
    const bool is_found =
        nytp_image_take_file(&perl->image, fd) && nytp_symbol(&perl->image, "PL_version") != 0;
    close(fd);
    if (!is_found)
        nytp_image_free(&perl->image);
    return is_found;
}

static bool is_32_bits(const struct nytp_perl *perl)
{
    const struct nytp_mappings *const mappings = &perl->target->mappings;
    uint8_t ident[EI_NIDENT] = {0};
    return mappings->n > 0 &&
           nytp_memory_read(perl->memory, mappings->list[0].start, ident, sizeof ident) &&
           memcmp(ident, ELFMAG, SELFMAG) == 0 && ident[EI_CLASS] == ELFCLASS32;
}

static bool find_image(struct nytp_perl *perl, struct nytp_error *error)
{
    const struct nytp_mappings *const mappings = &perl->target->mappings;
    const char *const program = mappings->n == 0 ? "what runs" : mappings->list[0].path;
    bool has_symbols = true;
    for (uint32_t i = 0; i < mappings->n; i++) {
        const struct nytp_mapping *const mapping = &mappings->list[i];
        if (mapping->offset != 0)
            continue;
        perl->path = mapping->path;
        if ((nytp_image_at(&perl->image, perl->memory, mapping->start) &&
             nytp_symbol(&perl->image, "PL_version") != 0) ||
            (i == 0 && perl->image.machine != 0 && has_perl_in_file(perl, mapping)))
            return true;
        if (i == 0)
            has_symbols = perl->image.symbols != 0;
    }
    const char *const why = is_32_bits(perl)
                                ? ", a program of 32 bits, of which nytp-spy knows none"
                            : has_symbols ? ""
                                          : ", which is linked statically and has no symbols";
    return nytp_error_set(error, *why == '\0' ? NYTP_ERR_ABSENT : NYTP_ERR_FORMAT,
                          "there is no perl in this process: it runs %s%s", program, why);
}

/* ---- interpreters ---- */

static struct nytp_interpreter threaded(const struct nytp_layout *layout, uint64_t address)
{
    struct nytp_interpreter found = {.address = address};
    for (int i = 0; i < NYTP_VARIABLES; i++)
        found.at[i] = address + (uint64_t)layout->variables[i];
    return found;
}

static struct nytp_interpreter unthreaded(const struct nytp_perl *perl)
{
    static const char *const names[] = {
#define NYTP_VARIABLE(name) "PL_" #name,
#include "fields.def"
    };
    struct nytp_interpreter found = {.address = 0};
    for (int i = 0; i < NYTP_VARIABLES; i++)
        found.at[i] = nytp_symbol(&perl->image, names[i]);
    return found;
}

/* The interpreter that is always there; address and variables are 0 before perl has begun. */
static struct nytp_interpreter first_interpreter(const struct nytp_perl *perl,
                                                 const struct nytp_layout *layout)
{
    if (perl->curinterp == 0)
        return unthreaded(perl);
    const uint64_t address = nytp_memory_u64(perl->memory, perl->curinterp);
    return address == 0 ? (struct nytp_interpreter){0} : threaded(layout, address);
}

static bool add_interpreter(struct nytp_perl *perl, struct nytp_interpreter interpreter)
{
    for (uint32_t i = 0; i < perl->n_interpreters; i++)
        if (perl->interpreters[i].address == interpreter.address)
            return true;
    if (!nytp_grow(&perl->interpreters, &perl->capacity, perl->n_interpreters,
                   sizeof *perl->interpreters))
        return false;
    perl->interpreters[perl->n_interpreters++] = interpreter;
    return true;
}

/* ---- does a layout fit ---- */

static bool is_type(struct nytp_reader *reader, uint64_t address, int32_t type)
{
    struct nytp_value value;
    return nytp_value_at(reader, address, &value) && value.type == type;
}

static uint64_t variable(const struct nytp_perl *perl, const struct nytp_interpreter *of,
                         enum nytp_variable which)
{
    return nytp_memory_u64(perl->memory, of->at[which]);
}

static bool names_fit(struct nytp_perl *perl, const struct nytp_layout *layout)
{
    return strcmp(op_name(perl, (unsigned)layout->op_nextstate), "nextstate") == 0 &&
           strcmp(op_name(perl, (unsigned)layout->op_leavesub), "leavesub") == 0;
}

/* Contexts up to the topmost are of some type, and those of subs have a sub. */
static bool contexts_fit(struct nytp_reader *reader, uint64_t contexts, int32_t n)
{
    const struct nytp_layout *const layout = reader->layout;
    uint8_t context[512];
    for (int32_t i = 0; i < n && i < 200; i++) {
        if (!nytp_look(reader, contexts + (uint64_t)i * (uint64_t)layout->cx_size, context,
                       (size_t)layout->cx_size))
            return false;
        const int type = context[layout->cx_type] & layout->cx_typemask;
        const uint64_t cop = nytp_u64(context, layout->cx_oldcop);
        if (i < n - 1 && (type == 0 || cop % 8 != 0))
            return false; /* the topmost may be about to be filled */
        if (i < n - 1 && type == layout->cx_sub &&
            !is_type(reader, nytp_u64(context, layout->cx_sub_cv), layout->svt_PVCV))
            return false;
    }
    return true;
}

static bool stacks_fit(struct nytp_reader *reader, uint64_t stack)
{
    const struct nytp_layout *const layout = reader->layout;
    uint8_t bytes[512];
    int n = 0;
    for (; stack != 0 && n < MAX_STACKS; n++) {
        if (!nytp_look(reader, stack, bytes, (size_t)layout->si_size))
            return false;
        const int32_t top = (int32_t)nytp_u32(bytes, layout->si_cxix);
        const int32_t most = (int32_t)nytp_u32(bytes, layout->si_cxmax);
        if (top < -1 || top > most || most < 0 || most > MAX_CONTEXTS ||
            !contexts_fit(reader, nytp_u64(bytes, layout->si_cxstack), top + 1))
            return false;
        stack = nytp_u64(bytes, layout->si_prev);
    }
    return n > 0 && n < MAX_STACKS;
}

/* A glob of main:: knows its package and its name: where bodies have what the layout says. */
static bool some_glob_fits(struct nytp_reader *reader, uint64_t stash)
{
    struct nytp_elements elements;
    uint64_t hek, value;
    if (!nytp_elements_begin(&elements, reader, stash))
        return false;
    int n_globs = 0;
    for (int i = 0; i < NAMES_LOOKED_AT && n_globs < GLOBS_LOOKED_AT &&
                    nytp_elements_next(&elements, &hek, &value);
         i++) {
        struct nytp_label name = {.len = 0}, key = {.len = 0};
        if (!is_type(reader, value, reader->layout->svt_PVGV))
            continue;
        n_globs++;
        if (!nytp_add_glob(reader, value, &name) || !nytp_add_hek(reader, hek, &key))
            continue;
        if (name.len == key.len + 6 && memcmp(name.text, "main::", 6) == 0 &&
            memcmp(name.text + 6, key.text, key.len) == 0)
            return true;
    }
    return false;
}

/* Reads whole pages: sixty thousand subs of main:: that are no globs may come before the first
 * glob, and one by one they would use up the work of attaching. */
static bool globs_fit(const struct nytp_reader *reader, struct nytp_memory *cached,
                      uint64_t stash)
{
    struct nytp_perl of_pages = *reader->perl;
    struct nytp_reader pages = {.perl = &of_pages, .layout = reader->layout};
    of_pages.memory = cached;
    return some_glob_fits(&pages, stash);
}

/* The first value of an arena counts its slots. */
static bool arena_fits(struct nytp_reader *reader, uint64_t arena)
{
    const uint32_t slots =
        nytp_memory_u32(reader->perl->memory, arena + (uint64_t)reader->layout->sv_refcnt);
    return arena != 0 && slots >= 2 && slots <= MAX_ARENA;
}

/* PL_curcop is a statement, or PL_compiling while perl compiles, as in the first second of a
 * large program. */
static bool statement_fits(struct nytp_reader *reader, const struct nytp_interpreter *first)
{
    struct nytp_label file = {.len = 0};
    uint32_t line;
    const uint64_t cop = variable(reader->perl, first, NYTP_PL_curcop);
    return cop == first->at[NYTP_PL_compiling] || nytp_statement_at(reader, cop, &file, &line);
}

/* The main program's code is freed before the last objects are. */
static bool main_fits(struct nytp_reader *reader, const struct nytp_interpreter *first)
{
    const uint64_t cv = variable(reader->perl, first, NYTP_PL_main_cv);
    return cv == 0 || is_type(reader, cv, reader->layout->svt_PVCV);
}

static bool fits(struct nytp_perl *perl, struct nytp_memory *cached,
                 const struct nytp_layout *layout)
{
    struct nytp_reader reader = {.perl = perl, .layout = layout};
    const struct nytp_interpreter first = first_interpreter(perl, layout);
    struct nytp_label name = {.len = 0};
    return names_fit(perl, layout) &&
           nytp_add_stash(&reader, variable(perl, &first, NYTP_PL_defstash), &name) &&
           strcmp(name.text, "main") == 0 && main_fits(&reader, &first) &&
           variable(perl, &first, NYTP_PL_sv_count) > LEAST_VALUES &&
           stacks_fit(&reader, variable(perl, &first, NYTP_PL_curstackinfo)) &&
           statement_fits(&reader, &first) &&
           globs_fit(&reader, cached, variable(perl, &first, NYTP_PL_defstash)) &&
           arena_fits(&reader, variable(perl, &first, NYTP_PL_sv_arenaroot));
}

static const struct nytp_layout *find_layout(struct nytp_perl *perl, struct nytp_memory *cached,
                                             bool *is_known)
{
    const bool has_threads = nytp_symbol(&perl->image, "PL_thr_key") != 0;
    const char *const machine = machine_of(&perl->image);
    /* Only a perl with assertions exports it. */
    const bool debugging = nytp_symbol(&perl->image, "Perl_get_debug_opts") != 0;
    for (const struct nytp_layout *row = nytp_layouts; row->version != 0; row++) {
        if (row->version != perl->version || row->has_threads != has_threads ||
            strcmp(row->machine, machine) != 0 || nytp_layout_is_debugging(row) != debugging)
            continue;
        *is_known = true;
        if (fits(perl, cached, row))
            return row;
    }
    return NULL;
}

static bool choose_layout(struct nytp_perl *perl, struct nytp_error *error)
{
    struct nytp_memory *const cached = nytp_memory_cached(perl->memory);
    bool is_known = false;
    if (cached == NULL)
        return nytp_out_of_memory(error);
    perl->layout = find_layout(perl, cached, &is_known);
    nytp_memory_cached_free(cached);
    if (perl->layout != NULL)
        return true;
    const struct nytp_interpreter first = first_interpreter(perl, nytp_layouts);
    if (is_known && (first.at[0] == 0 || nytp_memory_u64(perl->memory, first.at[0]) == 0))
        return nytp_error_set(error, NYTP_ERR_TRUNCATED, "perl has not begun to run there");
    return nytp_error_set(
        error, is_known ? NYTP_ERR_TRUNCATED : NYTP_ERR_FORMAT,
        is_known
            ? "perl 5.%u.%u (%s%s) is there, but its memory is not as that perl's should be: "
              "it is beginning or ending, or was built in an unusual way"
            : "perl 5.%u.%u (%s%s) is not known, and debug information is not read; "
              "spy/perl/layouts PERL adds it, in the source of nytp",
        perl->version, perl->subversion, machine_of(&perl->image),
        nytp_symbol(&perl->image, "PL_thr_key") != 0 ? ", threads" : "");
}

/* ---- threads ---- */

struct task {
    pid_t inside, outside; /* as the process numbers it, and as we do */
};

struct tasks {
    struct task *list; /* by `inside`; without the first, which runs no thread of Perl */
    uint32_t n;
    bool are_read;                      /* only if a thread is not among the known ones */
    const struct nytp_interpreter *old; /* interpreters found the last time */
    uint32_t n_old;
};

static int by_inside(const void *left, const void *right)
{
    const pid_t a = ((const struct task *)left)->inside;
    const pid_t b = ((const struct task *)right)->inside;
    return a < b ? -1 : a > b;
}

static void read_tasks(struct tasks *tasks, const struct nytp_perl *perl)
{
    const pid_t pid = perl->target->pid;
    const bool is_outside = nytp_task_inside(pid, pid) != pid;
    uint32_t n;
    pid_t *const all = nytp_tasks(pid, &n);
    tasks->are_read = true;
    tasks->list = calloc(n + 1, sizeof *tasks->list);
    for (uint32_t i = 0; tasks->list != NULL && i < n; i++) {
        if (is_outside && !nytp_memory_spend(perl->memory, WORK_OF_TASK))
            break;
        if (all[i] != pid)
            tasks->list[tasks->n++] =
                (struct task){is_outside ? nytp_task_inside(pid, all[i]) : all[i], all[i]};
    }
    free(all);
    if (tasks->n > 0)
        qsort(tasks->list, tasks->n, sizeof *tasks->list, by_inside);
}

static pid_t task_inside(const struct tasks *tasks, uint32_t number)
{
    const struct task wanted = {(pid_t)number, 0};
    const struct task *const found =
        tasks->n == 0 || wanted.inside < tasks->list[0].inside
            ? NULL
            : bsearch(&wanted, tasks->list, tasks->n, sizeof wanted, by_inside);
    return found == NULL ? 0 : found->outside;
}

/* In glibc's struct pthread the list of robust mutexes comes behind a thread's number, with how
 * far a mutex's link is from its lock. */
static bool is_glibcs_number(const uint8_t *pthread, size_t at)
{
    return at + 32 <= PTHREAD_BYTES &&
           (int64_t)nytp_u64(pthread, (int32_t)at + 24) == GLIBC_LINK_TO_LOCK;
}

/* Finds the task of a pthread_t: its number is somewhere in what that points to. In a container
 * numbers are small, so others may look like one; musl has it in front of such. */
static pid_t look_for_task(struct nytp_perl *perl, uint64_t thread, struct tasks *tasks)
{
    uint8_t pointers[THREAD_POINTERS], bytes[PTHREAD_BYTES];
    pid_t first = 0;
    if (!tasks->are_read)
        read_tasks(tasks, perl);
    if (!nytp_memory_read(perl->memory, thread, pointers, sizeof pointers))
        return 0;
    for (size_t i = 32; i < sizeof pointers; i += 8) {
        if (!nytp_memory_read(perl->memory, nytp_u64(pointers, (int32_t)i), bytes,
                              sizeof bytes))
            continue;
        for (size_t at = 0; at < sizeof bytes; at += 4) {
            const pid_t task = task_inside(tasks, nytp_u32(bytes, (int32_t)at));
            if (is_glibcs_number(bytes, at))
                return task;
            if (first == 0)
                first = task;
        }
    }
    return first;
}

/* A thread has the same task for as long as it is there. */
static pid_t task_of(struct nytp_perl *perl, uint64_t thread, const struct nytp_interpreter *of,
                     struct tasks *tasks)
{
    if (of->tid == 0)
        return perl->target->pid;
    for (uint32_t i = 0; i < tasks->n_old; i++)
        if (tasks->old[i].address == of->address && tasks->old[i].tid == of->tid &&
            tasks->old[i].task != 0)
            return tasks->old[i].task;
    return look_for_task(perl, thread, tasks);
}

/* struct ithread of threads.xs: next, prev, interp, tid. */
static bool add_ring(struct nytp_perl *perl, uint64_t first, struct tasks *tasks)
{
    uint64_t at = first, entry[4];
    for (int i = 0; i < MAX_THREADS && at != 0; i++) {
        if (!nytp_memory_read(perl->memory, at, entry, sizeof entry))
            return true;
        if (entry[2] != 0) {
            struct nytp_interpreter interpreter = threaded(perl->layout, entry[2]);
            interpreter.tid = entry[3];
            interpreter.task = task_of(perl, at, &interpreter, tasks);
            if (!add_interpreter(perl, interpreter))
                return false;
        }
        at = entry[0];
        if (at == first)
            break;
    }
    return true;
}

static uint64_t ring_of(struct nytp_perl *perl, const struct nytp_interpreter *of)
{
    static const char key[] = "threads::_pool";
    struct nytp_reader reader = {.perl = perl, .layout = perl->layout};
    struct nytp_elements elements;
    struct nytp_value value;
    uint64_t hek, element;
    if (!nytp_elements_begin(&elements, &reader, variable(perl, of, NYTP_PL_modglobal)))
        return 0;
    while (nytp_elements_next(&elements, &hek, &element)) {
        struct nytp_label name = {.len = 0};
        if (!nytp_add_hek(&reader, hek, &name) ||
            strncmp(name.text, key, sizeof key - 1) != 0 ||
            !nytp_value_at(&reader, element, &value))
            continue;
        return value.type == perl->layout->svt_IV
                   ? value.u
                   : nytp_memory_u64(perl->memory, value.body + (uint64_t)perl->layout->iv_iv);
    }
    return 0;
}

uint64_t nytp_attached_interpreter(const struct nytp_perl *perl)
{
    return perl->curinterp == 0 ? 0 : nytp_memory_u64(perl->memory, perl->curinterp);
}

static bool find_interpreters(struct nytp_perl *perl)
{
    const struct nytp_interpreter first = first_interpreter(perl, perl->layout);
    struct nytp_interpreter *const old = perl->interpreters;
    struct tasks tasks = {.old = old, .n_old = perl->n_interpreters};
    perl->interpreters = NULL;
    perl->n_interpreters = perl->capacity = 0;
    const uint64_t ring =
        first.at[NYTP_PL_curcop] == 0 || first.address == 0 ? 0 : ring_of(perl, &first);
    if (ring != 0)
        add_ring(perl, ring, &tasks);
    free(tasks.list);
    free(old);
    if (first.at[NYTP_PL_curcop] == 0 || nytp_memory_is_spent(perl->memory) ||
        !add_interpreter(perl, first))
        return false;
    if (perl->n_interpreters == 1)
        perl->interpreters[0].task = perl->target->pid;
    return true;
}

bool nytp_find_interpreters(struct nytp_perl *perl)
{
    uint64_t work = MOST_WORK;
    if (perl->has_endless_ring)
        return false;
    nytp_memory_bound(perl->memory, &work);
    const bool ok = find_interpreters(perl);
    nytp_memory_unbound(perl->memory, &work);
    perl->has_endless_ring = !ok && work == 0;
    return ok;
}

/* ---- all of it ---- */

static uint32_t read_u8(struct nytp_perl *perl, const char *name)
{
    uint8_t value = 0;
    return nytp_memory_read(perl->memory, nytp_symbol(&perl->image, name), &value, 1) ? value
                                                                                      : 0;
}

static bool attach(struct nytp_perl *perl, struct nytp_error *error)
{
    if (!find_image(perl, error))
        return false;
    perl->version = read_u8(perl, "PL_version");
    perl->subversion = read_u8(perl, "PL_subversion");
    perl->op_names = nytp_symbol(&perl->image, "PL_op_name");
    perl->op_functions = nytp_symbol(&perl->image, "PL_ppaddr");
    if (nytp_symbol(&perl->image, "PL_curcop") == 0)
        perl->curinterp = nytp_symbol(&perl->image, "PL_curinterp");
    const int tries = perl->target->core == NULL ? TRIES : 1;
    for (int i = 0; i < tries; i++) {
        *error = (struct nytp_error){0};
        if (choose_layout(perl, error) && nytp_find_interpreters(perl))
            return true;
    }
    return nytp_error_set(error, NYTP_ERR_TRUNCATED, "perl has not begun to run there");
}

bool nytp_attach(struct nytp_perl *perl, struct nytp_target *target, struct nytp_error *error)
{
    uint64_t work = MOST_WORK;
    *perl = (struct nytp_perl){.memory = &target->memory, .target = target};
    nytp_memory_bound(&target->memory, &work);
    const bool ok = attach(perl, error);
    nytp_memory_unbound(&target->memory, &work);
    if (!ok && work == 0) {
        *error = (struct nytp_error){0};
        nytp_error_set(error, NYTP_ERR_LIMIT,
                       "process %d is given up: it takes too long to find perl there",
                       (int)target->pid);
    }
    if (!ok)
        nytp_detach(perl);
    return ok;
}

void nytp_detach(struct nytp_perl *perl)
{
    nytp_image_free(&perl->image);
    free(perl->interpreters);
    *perl = (struct nytp_perl){0};
}
