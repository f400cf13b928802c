/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Fuzz target: the core file of a perl (NYTP_FUZZ_CORE names it) with bytes changed, of which
 * nytp-spy tells the stack, the values and what holds them. The input says which: each four
 * bytes are a place (two), what to add to the byte there, and how far behind the place it is.
 * Places are in the head of the file, or where an undamaged file is looked at. Who reads much
 * more than that goes on without end.
 */
#include "formats/base/arena.h"
#include "spy/perl/attach.h"
#include "spy/perl/census.h"
#include "spy/perl/stack.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "target.h"

enum {
    HEAD = 0x4000,
    IN_HEAD = 0x8000, /* a place in the file's first bytes; else a number of a place */
    CHANGE = 4,
    STEP = 24, /* bytes of a value's head */
    MAX_PLACES = 1000000,
    TIMES_MORE = 30, /* pieces that may be read than of an undamaged file */
};

static uint8_t *core; /* the file, shared with its descriptor */
static size_t core_len;
static char path[40];
static uint32_t *places; /* in the file */
static uint32_t n_places, places_capacity;
static uint64_t n_pieces, most_pieces;
static size_t (*read_of_core)(struct nytp_memory *memory, const struct nytp_piece *pieces,
                              size_t n);

/* ---- what an undamaged file is asked for ---- */

static void note_place(uint64_t address)
{
    const Elf64_Ehdr *const head = (const Elf64_Ehdr *)core;
    const Elf64_Phdr *const headers = (const Elf64_Phdr *)(core + head->e_phoff);
    for (int i = 0; i < head->e_phnum; i++) {
        if (headers[i].p_type != PT_LOAD || address < headers[i].p_vaddr ||
            address - headers[i].p_vaddr >= headers[i].p_filesz)
            continue;
        if (!nytp_grow(&places, &places_capacity, n_places, sizeof *places))
            abort();
        places[n_places++] = (uint32_t)(address - headers[i].p_vaddr + headers[i].p_offset);
        return;
    }
}

static size_t note_and_read(struct nytp_memory *memory, const struct nytp_piece *pieces,
                            size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t at = 0; at < pieces[i].len && n_places < MAX_PLACES; at += STEP)
            note_place(pieces[i].from + at);
    return read_of_core(memory, pieces, n);
}

static size_t count_and_read(struct nytp_memory *memory, const struct nytp_piece *pieces,
                             size_t n)
{
    n_pieces += n;
    if (most_pieces > 0 && n_pieces > most_pieces) {
        fputs("this goes on without end\n", stderr);
        abort();
    }
    return most_pieces == 0 ? note_and_read(memory, pieces, n)
                            : read_of_core(memory, pieces, n);
}

/* ---- all that nytp-spy does with a core file ---- */

static void look_at_values(struct nytp_perl *perl, const struct nytp_interpreter *of)
{
    struct nytp_census census;
    struct nytp_error error = {0};
    if (nytp_census_take(&census, perl, of, 1, NULL, &error))
        nytp_find_holders(&census, perl, of, 1, NULL);
    nytp_census_free(&census);
}

static bool look(void)
{
    struct nytp_target target;
    struct nytp_perl perl;
    struct nytp_names names;
    struct nytp_walker walker;
    struct nytp_error error = {0};
    bool is_whole = false;
    if (!nytp_target_of_core(&target, path, NULL, &error))
        return false;
    read_of_core = target.memory.read;
    target.memory.read = count_and_read;
    n_pieces = 0;
    if (nytp_attach(&perl, &target, &error)) {
        if (!nytp_name_cache_init(&names, &perl) ||
            !nytp_walker_init(&walker, &names, &perl.interpreters[0]))
            abort();
        is_whole = nytp_sample(&walker) == NYTP_WHOLE;
        look_at_values(&perl, &perl.interpreters[0]);
        nytp_walker_free(&walker);
        nytp_name_cache_free(&names);
        nytp_detach(&perl);
    }
    nytp_target_close(&target);
    return is_whole;
}

/* The file is copied to memory, where it can be changed, and looked at once as it is. */
static void begin(void)
{
    const char *const name = getenv("NYTP_FUZZ_CORE");
    const int from = name == NULL ? -1 : open(name, O_RDONLY);
    const int to = memfd_create("core", 0);
    const off_t len = lseek(from, 0, SEEK_END);
    if (from < 0 || to < 0 || len < HEAD || ftruncate(to, len) != 0) {
        fputs("NYTP_FUZZ_CORE is to name a core file of perl\n", stderr);
        exit(1);
    }
    core_len = (size_t)len;
    core = mmap(NULL, core_len, PROT_READ | PROT_WRITE, MAP_SHARED, to, 0);
    if (core == MAP_FAILED || pread(from, core, core_len, 0) != len)
        exit(1);
    close(from);
    snprintf(path, sizeof path, "/proc/self/fd/%d", to);
    if (!look() || n_places < 1000) {
        fputs("the core file is not looked at as it is\n", stderr);
        exit(1);
    }
    most_pieces = n_pieces * TIMES_MORE;
}

static void change(const uint8_t *data, size_t size, int sign)
{
    for (size_t at = 0; at + CHANGE <= size; at += CHANGE) {
        const uint32_t which = data[at] | (uint32_t)data[at + 1] << 8;
        const uint64_t number = (uint64_t)which * n_places / IN_HEAD + data[at + 3] / STEP;
        const uint64_t place = which & IN_HEAD     ? which % HEAD
                               : number < n_places ? places[number] + data[at + 3] % STEP
                                                   : 0;
        if (place < core_len)
            core[place] = (uint8_t)(core[place] + sign * data[at + 2]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (core == NULL)
        begin();
    change(data, size, 1);
    look();
    change(data, size, -1);
    return 0;
}
