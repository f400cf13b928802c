/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Names are read while the program frees what they belong to and uses the memory again: what
 * comes out is the name that there was, or none. The memory is our own, laid out as perl's,
 * and changes before the read that a test says.
 */
#include "spy/perl/names.h"

#include "t/tap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LINE = 7,
    MOST_READS = 40,
    FREED = 0xff, /* the type of a value that is none */
};

/* The caller of a BEGIN block in a package P. */
static struct {
    uint8_t cv[64], cv_body[256], glob[64], glob_body[128], stash[64], stash_body[256];
    uint8_t buckets[64 + 128]; /* and what a hash of a package has behind them */
    uint8_t hek[64], hek_of_stash[64], hek_of_another[64], statement[128];
    uint8_t file_glob[64], file_glob_body[128], hek_of_file[64]; /* without threads */
    char file[16];
} there;

static struct nytp_perl perl;
static const struct nytp_layout *layout;
static struct nytp_memory real;
static int n_reads, change_at;
static void (*change)(void);

static size_t read_changing(struct nytp_memory *memory, const struct nytp_piece *pieces,
                            size_t n)
{
    (void)memory;
    if (n_reads++ == change_at || change_at < 0)
        change();
    return nytp_memory_pieces(&real, pieces, n);
}

static void put_u64(uint8_t *to, int32_t offset, const void *pointer)
{
    const uint64_t value = (uint64_t)(uintptr_t)pointer;
    memcpy(to + offset, &value, sizeof value);
}

static void put_u32(uint8_t *to, int32_t offset, uint32_t value)
{
    memcpy(to + offset, &value, sizeof value);
}

static void put_value(uint8_t *head, const void *body, uint32_t flags)
{
    put_u64(head, layout->sv_any, body);
    put_u32(head, layout->sv_flags, flags);
}

static void put_hek(uint8_t *hek, const char *text)
{
    put_u32(hek, layout->hek_len, (uint32_t)strlen(text));
    memcpy(hek + layout->hek_key, text, strlen(text));
}

static void put_statement(int32_t type, uint32_t line)
{
    const uint16_t bits = (uint16_t)type;
    memcpy(there.statement + layout->op_type, &bits, sizeof bits);
    put_u32(there.statement, layout->cop_line, line);
}

/* Its name is the file's, or the glob's after "_<". */
static void put_file(const char *name)
{
    char text[20];
    snprintf(text, sizeof text, "_<%s", name);
    put_hek(there.hek_of_file, text);
    snprintf(there.file, sizeof there.file, "%s", name);
}

static void put_sub(const char *name, uint32_t line)
{
    uint8_t *const aux = layout->hv_aux_in_body >= 0 ? there.stash_body + layout->hv_aux_in_body
                                                     : there.buckets + sizeof(uint64_t);
    memset(&there, 0, sizeof there);
    put_value(there.cv, there.cv_body, (uint32_t)layout->svt_PVCV);
    put_u64(there.cv_body, layout->cv_gv, there.glob);
    put_u64(there.cv_body, layout->cv_stash, there.stash);
    put_u64(there.cv_body, layout->cv_start, there.statement);
    put_value(there.glob, there.glob_body, (uint32_t)layout->svt_PVGV);
    put_u64(there.glob_body, layout->gv_stash, there.stash);
    put_u64(there.glob_body, layout->gv_namehek, there.hek);
    put_value(there.stash, there.stash_body,
              (uint32_t)layout->svt_PVHV | (uint32_t)layout->hv_has_aux);
    put_u64(there.stash, layout->sv_u, there.buckets);
    put_u64(aux, layout->aux_name, there.hek_of_stash);
    put_hek(there.hek, name);
    put_hek(there.hek_of_stash, "P");
    put_hek(there.hek_of_another, "another");
    put_statement(layout->op_nextstate, line);
    put_value(there.file_glob, there.file_glob_body, (uint32_t)layout->svt_PVGV);
    put_u64(there.file_glob_body, layout->gv_namehek, there.hek_of_file);
    put_u64(there.statement, layout->cop_file,
            layout->cop_file_is_gv ? (const void *)there.file_glob : there.file);
    put_file("f.pl");
}

static void put_all(void)
{
    put_sub("BEGIN", LINE);
}

/* ---- what the program does meanwhile ---- */

static void nothing(void)
{
}

static void free_sub(void)
{
    put_u32(there.cv, layout->sv_flags, FREED);
    put_u64(there.glob_body, layout->gv_namehek, there.hek_of_another);
}

static void free_statement(void)
{
    put_file("else");
    put_statement(0, LINE);
}

static void count_references(void)
{
    there.stash[layout->sv_refcnt]++;
    there.glob[layout->sv_refcnt]++;
}

static void read_a_line(void)
{
    uint32_t line;
    memcpy(&line, there.statement + layout->cop_line, sizeof line);
    put_statement(0, line + 1);
}

/* ---- what is seen ---- */

static void begin(struct nytp_names *names, void (*with)(void), int at)
{
    nytp_name_cache_init(names, &perl);
    nytp_name_cache_begin(names);
    n_reads = 0;
    change_at = at;
    change = with;
}

/* The sub's name, into `to`; "": there is none. */
static void see_sub(void (*with)(void), int at, char *to, size_t size)
{
    struct nytp_names names;
    begin(&names, with, at);
    const uint64_t cv = (uint64_t)(uintptr_t)there.cv;
    const uint32_t expected = nytp_name_cache_expect(&names, cv, NYTP_NAMED_SUB, true);
    nytp_name_cache_look(&names);
    const uint32_t sub = nytp_sub_at(&names, expected);
    snprintf(to, size, "%s",
             sub == UINT32_MAX ? ""
                               : nytp_strings_get(names.strings, names.subs[sub].name).ptr);
    nytp_name_cache_free(&names);
}

/* The file and line of the statement. */
static void see_place(void (*with)(void), int at, char *to, size_t size)
{
    struct nytp_names names;
    uint32_t file, line;
    begin(&names, with, at);
    const uint64_t cop = (uint64_t)(uintptr_t)there.statement;
    const uint32_t expected = nytp_name_cache_expect(&names, cop, NYTP_NAMED_PLACE, true);
    nytp_name_cache_look(&names);
    if (nytp_place_at(&names, expected, &file, &line))
        snprintf(to, size, "%s:%u", nytp_strings_get(names.strings, file).ptr, line);
    else
        *to = '\0';
    nytp_name_cache_free(&names);
}

/* Whether with the change at any of the reads there is the name, or none; and each at some. */
static bool is_right_or_none(void (*see)(void (*)(void), int, char *, size_t),
                             void (*with)(void), const char *name)
{
    int n_right = 0, n_none = 0;
    char text[100];
    for (int at = 0; at < MOST_READS; at++) {
        put_all();
        see(with, at, text, sizeof text);
        const bool is_right = strcmp(text, name) == 0, is_none = text[0] == '\0';
        n_right += is_right;
        n_none += is_none;
        if (!is_right && !is_none)
            printf("# at read %d: %s\n", at, text);
    }
    return n_right + n_none == MOST_READS && n_right > 0 && n_none > 0;
}

/* How often is read to know a sub's name that is known already. */
static int reads_to_know_again(void)
{
    struct nytp_names names;
    const uint64_t cv = (uint64_t)(uintptr_t)there.cv;
    begin(&names, nothing, 0);
    for (int i = 0; i < 2; i++) {
        n_reads = 0;
        nytp_name_cache_begin(&names);
        nytp_name_cache_expect(&names, cv, NYTP_NAMED_SUB, true);
        nytp_name_cache_look(&names);
    }
    nytp_name_cache_free(&names);
    return n_reads;
}

/* How often is read at the last of these times, in milliseconds. */
static int reads_at(const int *ms, int last)
{
    struct nytp_names names;
    const uint64_t cv = (uint64_t)(uintptr_t)there.cv;
    begin(&names, nothing, 0);
    for (; *ms > 0; ms++) {
        n_reads = 0;
        names.now_ns = (int64_t)*ms * 1000000;
        nytp_name_cache_begin(&names);
        nytp_name_cache_expect(&names, cv, NYTP_NAMED_SUB, true);
        nytp_name_cache_look(&names);
        if (*ms == last)
            break;
    }
    nytp_name_cache_free(&names);
    return n_reads;
}

static void test_belief(void)
{
    static const int ms[] = {1000, 1010, 1019, 1021, 1600, 2099, 2101, 0};
    put_sub("named", LINE);
    ok(reads_at(ms, 1010) == 1 && reads_at(ms, 1019) == 0,
       "a sub that was the same for 10 ms is believed for 10 ms");
    ok(reads_at(ms, 1021) == 1, "and no longer");
    ok(reads_at(ms, 2099) == 0 && reads_at(ms, 2101) == 1, "for half a second at most");
    put_sub("__ANON__", LINE);
    ok(reads_at(ms, 1019) == 1, "a sub without a name is read each time");
    put_sub("BEGIN", LINE);
    ok(reads_at(ms, 1019) == 1, "so is a BEGIN block");
    put_sub("named", LINE);
    put_file("(eval 1)");
    ok(reads_at(ms, 1019) == 1, "and a sub of a string eval");
}

/* How many names there are when so many string evals, each with a sub, have come and gone. */
static uint32_t names_of_evals(uint32_t n)
{
    struct nytp_names names;
    char text[16];
    begin(&names, nothing, 0);
    for (uint32_t i = 1; i <= n; i++) {
        uint32_t file, line;
        snprintf(text, sizeof text, "(eval %u)", i);
        put_sub("__ANON__", LINE);
        put_file(text);
        nytp_name_cache_begin(&names);
        const uint32_t sub =
            nytp_name_cache_expect(&names, (uint64_t)(uintptr_t)there.cv, NYTP_NAMED_SUB, true);
        const uint32_t place = nytp_name_cache_expect(
            &names, (uint64_t)(uintptr_t)there.statement, NYTP_NAMED_PLACE, true);
        nytp_name_cache_look(&names);
        if (nytp_sub_at(&names, sub) == UINT32_MAX ||
            !nytp_place_at(&names, place, &file, &line))
            return 0;
    }
    n = nytp_strings_count(names.strings) + names.n_subs;
    nytp_name_cache_free(&names);
    return n;
}

static const struct nytp_layout *layout_of(bool has_threads)
{
    const struct nytp_layout *row = nytp_layouts;
    while (row->version != 0 && (row->version != 36 || row->has_threads != has_threads))
        row++;
    return row->version == 0 ? NULL : row;
}

static void test_names(void)
{
    char text[100];
    struct nytp_memory changing = real;
    struct nytp_interpreter interpreter = {.address = 0};
    changing.read = read_changing;
    perl = (struct nytp_perl){.memory = &changing, .layout = layout};
    put_all();
    see_sub(nothing, 0, text, sizeof text);
    ok(strcmp(text, "P::BEGIN@7") == 0, "a BEGIN block has its package and line");
    see_place(nothing, 0, text, sizeof text);
    ok(strcmp(text, "f.pl:7") == 0, "a statement has its file and line");
    ok(is_right_or_none(see_sub, free_sub, "P::BEGIN@7"),
       "a sub that is freed meanwhile has not the name of what takes its place");
    ok(is_right_or_none(see_sub, free_statement, "P::BEGIN@7"),
       "a BEGIN block whose statements are freed is not one without a line");
    ok(is_right_or_none(see_place, free_statement, "f.pl:7"),
       "a statement that is freed meanwhile has no other file");
    put_sub("__ANON__", 0);
    see_sub(nothing, 0, text, sizeof text);
    ok(strcmp(text, "P::__ANON__[f.pl:0]") == 0, "an anonymous sub may be at line 0");
    put_sub("__ANON__", 0);
    see_sub(free_statement, 0, text, sizeof text);
    ok(text[0] == '\0', "one whose statements are freed has no name that would tell it");
    put_all();
    see_sub(count_references, -1, text, sizeof text);
    ok(strcmp(text, "P::BEGIN@7") == 0, "objects come and go, and the package's name stays");
    put_all();
    put_statement(0, LINE);
    see_place(nothing, 0, text, sizeof text);
    ok(text[0] == '\0', "what is no statement is none");
    interpreter.at[NYTP_PL_compiling] = (uint64_t)(uintptr_t)there.statement;
    perl.interpreters = &interpreter;
    perl.n_interpreters = 1;
    see_place(read_a_line, -1, text, sizeof text);
    ok(strncmp(text, "f.pl:", 5) == 0, "but for the line that is compiled, which goes on");
    put_all();
    ok(names_of_evals(900) > 2700, "each string eval has a name of its own");
    const uint32_t n_names = names_of_evals(2000);
    ok(n_names > 3000 && n_names < 3100 && names_of_evals(2000 + (uint32_t)rounds(18000)) == n_names,
       "but for those behind the first thousand");
    put_all();
    ok(reads_to_know_again() == 1, "one read tells whether it is so yet");
    test_belief();
}

int main(void)
{
    nytp_memory_of_process(&real, getpid());
    for (int has_threads = 0; has_threads < 2; has_threads++) {
        layout = layout_of(has_threads);
        if (layout == NULL)
            return 1;
        test_names();
    }
    nytp_memory_close(&real);
    return done_testing();
}
