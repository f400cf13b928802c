/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Unpacking sources: lines on their numbers, safe names, nothing outside the folder, nothing
 * written over.
 */
#define _XOPEN_SOURCE 700
#include "exporters/cli/unpack.h"
#include "formats/base/strings.h"
#include "t/exporters/fixture.h"
#include "t/tap.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[] = "/tmp/nytp-unpack.XXXXXX";

static const char *under_top(const char *path)
{
    static char whole[4][PATH_MAX];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(whole[turn], sizeof whole[turn], "%s/%s", top, path);
    return whole[turn];
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(under_top(path), "w");
    fputs(text, file);
    fclose(file);
}

static bool holds(const char *path, const char *want)
{
    char got[4096] = "";
    FILE *file = fopen(under_top(path), "r");
    if (file == NULL) {
        printf("# no file %s\n", path);
        return false;
    }
    const size_t len = fread(got, 1, sizeof got - 1, file);
    fclose(file);
    got[len] = '\0';
    if (strcmp(got, want) != 0)
        printf("# %s holds %s\n", path, got);
    return strcmp(got, want) == 0;
}

/* The recorded names, each with its one line of source. */
struct named {
    const char *name, *line;
};

static struct nytp_source_line lines[32];

static struct nytp_profile *make(struct fixture *f, const struct named *names, uint32_t n)
{
    fixture_begin(f, 4);
    f->profile.strings = nytp_strings_new();
    nytp_strings_intern(f->profile.strings, "", 0);
    f->profile.sources = lines;
    fixture_sub(f, fixture_name("main::RUNTIME"), 0, 0, 0);
    fixture_node(f, 0, 0, 0, 0, 1);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t file = fixture_file(f, names[i].name);
        lines[i] = (struct nytp_source_line){.file = file,
                                             .line = 1,
                                             .text = names[i].line,
                                             .len = (uint32_t)strlen(names[i].line)};
        f->files[file].first_source = i;
        f->files[file].n_sources = 1;
    }
    f->profile.n_sources = n;
    fixture_finish(f);
    return &f->profile;
}

static void done(struct fixture *f)
{
    nytp_strings_free(f->profile.strings);
    fixture_free(f);
}

static bool unpack(struct nytp_profile *profile, const char *dir)
{
    struct nytp_error error = {0};
    const bool worked = nytp_unpack_sources(profile, under_top(dir), &error);
    if (!worked)
        printf("# %s\n", error.message);
    return worked;
}

static bool points_to(const struct nytp_profile *profile, uint32_t file, const char *path)
{
    char real[PATH_MAX];
    const bool same = realpath(under_top(path), real) != NULL &&
                      strcmp(profile->files[file].name.ptr, real) == 0;
    if (!same)
        printf("# file %u is %s\n", file, profile->files[file].name.ptr);
    return same;
}

static void test_names(void)
{
    static const struct named names[] = {
        {"/usr/lib/Foo.pm", "foo\n"},
        {"-e", "dash e\n"},
        {"-", "stdin\n"},
        {"(eval 5)[/home/me/a.pl:24]", "eval five\n"},
        {"(eval 7)[(eval 6)[/x/a.pl:5]:3]", "nested\n"},
        {"/x/../../../etc/passwd", "evil\n"},
        {"../up.pl", "up\n"},
        {"//a/./b.pl", "dots\n"},
        {"with\nnewline:1", "odd"},
        {"/", "none\n"},
    };
    struct fixture f;
    struct nytp_profile *p = make(&f, names, sizeof names / sizeof *names);
    ok(unpack(p, "names"), "unpacked");
    ok(holds("names/usr/lib/Foo.pm", "foo\n"), "a path keeps its folders");
    ok(points_to(p, 1, "names/usr/lib/Foo.pm"), "and the profile points there");
    ok(holds("names/dash-e.pl", "dash e\n") && holds("names/stdin.pl", "stdin\n"), "-e and -");
    ok(holds("names/eval-5-a.pl-24.pl", "eval five\n"), "a string eval");
    ok(holds("names/eval-7-eval-6-a.pl-5-3.pl", "nested\n"), "an eval in an eval");
    ok(holds("names/x/__/__/__/etc/passwd", "evil\n"), "no way up");
    ok(holds("names/__/up.pl", "up\n"), "nor from a relative name");
    ok(holds("names/a/b.pl", "dots\n"), "empty and . components go");
    ok(holds("names/with_newline_1", "odd\n"), "control characters and colons go");
    ok(holds("names/unnamed", "none\n"), "a name of nothing");
    done(&f);
}

static void test_same_names(void)
{
    static const struct named names[] = {
        {"(eval 1)[/x/a.pl:3]", "same text\n"},
        {"(eval 1)[/y/a.pl:3]", "same text\n"},
        {"/x/a.pl", "mine\n"},
    };
    struct fixture f;
    struct nytp_profile *p = make(&f, names, 3);
    mkdir(under_top("same"), 0777);
    mkdir(under_top("same/x"), 0777);
    put("same/x/a.pl", "of somebody else\n");
    ok(unpack(p, "same"), "unpacked beside other files");
    ok(points_to(p, 1, "same/eval-1-a.pl-3.pl") && points_to(p, 2, "same/eval-1-a.pl-3-2.pl"),
       "two files of a profile never become one, even if equal");
    ok(holds("same/x/a.pl", "of somebody else\n"), "another's file is left as it is");
    ok(holds("same/x/a-2.pl", "mine\n") && points_to(p, 3, "same/x/a-2.pl"),
       "ours is beside it");
    done(&f);
    p = make(&f, names, 3);
    ok(unpack(p, "same") && points_to(p, 3, "same/x/a-2.pl") &&
           access(under_top("same/x/a-3.pl"), F_OK) != 0 &&
           access(under_top("same/eval-1-a.pl-3-3.pl"), F_OK) != 0,
       "a second run finds everything there");
    done(&f);
}

static void test_links(void)
{
    static const struct named names[] = {
        {"/link/a.pl", "one\n"}, {"/leaf.pl", "two\n"}, {"/file/b.pl", "three\n"}};
    struct fixture f;
    struct nytp_profile *p = make(&f, names, 3);
    mkdir(under_top("outside"), 0777);
    mkdir(under_top("links"), 0777);
    put("outside/target", "untouched\n");
    put("links/file", "a file where a folder should be\n");
    const bool linked = symlink("../outside", under_top("links/link")) == 0 &&
                        symlink("../outside/target", under_top("links/leaf.pl")) == 0;
    ok(linked && unpack(p, "links"), "unpacked beside links");
    ok(access(under_top("outside/a.pl"), F_OK) != 0, "not through a link to a folder");
    ok(points_to(p, 1, "links/link_a.pl"), "but under another name");
    ok(holds("outside/target", "untouched\n"), "not through a link to a file");
    ok(points_to(p, 2, "links/leaf-2.pl"), "but beside it");
    ok(points_to(p, 3, "links/file_b.pl"), "nor where a file is in the way");
    done(&f);
}

static void test_lines(void)
{
    static const struct named names[] = {{"/a.pl", ""}};
    static const struct nytp_source_line some[] = {
        {1, 3, "third\n", 6}, {1, 4, "", 0}, {1, 5, "fi\nfth", 6}, {1, 6, "\n", 1}};
    struct fixture f;
    struct nytp_profile *p = make(&f, names, 1);
    memcpy(lines, some, sizeof some);
    f.files[1].n_sources = p->n_sources = 4;
    ok(unpack(p, "lines") && holds("lines/a.pl", "\n\nthird\n\nfi fth\n\n"),
       "each line is on its number");
    done(&f);

    p = make(&f, names, 1);
    lines[0].line = 4000000000u;
    ok(unpack(p, "lines") && holds("lines/a-2.pl", ""), "a line far off makes no huge file");
    done(&f);

    p = make(&f, names, 1);
    char long_name[10000];
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    f.files[1].name = fixture_name(long_name);
    ok(unpack(p, "lines") && strlen(f.files[1].name.ptr) < strlen(top) + 300,
       "a name of 10 kB is cut");
    done(&f);
}

/* A path that is too deep keeps its last folders, and they may be those of another. */
static void test_deep_paths(void)
{
    static char deep[2][1400];
    for (int i = 0; i < 2; i++) {
        size_t len = (size_t)snprintf(deep[i], sizeof deep[i], "/root%d", i);
        while (len < 1200)
            len += (size_t)snprintf(deep[i] + len, sizeof deep[i] - len, "/folder");
        snprintf(deep[i] + len, sizeof deep[i] - len, "/a.pl");
    }
    const struct named names[] = {{deep[0], "first\n"}, {deep[1], "second\n"}};
    struct fixture f;
    struct nytp_profile *p = make(&f, names, 2);
    ok(unpack(p, "deep") && strcmp(f.files[1].name.ptr, f.files[2].name.ptr) != 0,
       "two deep paths that end alike are two files");
    const size_t skipped = strlen(top) + 1;
    ok(holds(f.files[1].name.ptr + skipped, "first\n") &&
           holds(f.files[2].name.ptr + skipped, "second\n"),
       "each with its own source");
    done(&f);
}

static void test_failures(void)
{
    static const struct named names[] = {{"/a.pl", "a\n"}};
    struct fixture f;
    struct nytp_error error = {0};
    struct nytp_profile *p = make(&f, names, 1);
    ok(!nytp_unpack_sources(p, under_top("no/such/parent"), &error) &&
           strstr(error.message, "No such file") != NULL,
       "a folder that cannot be made is an error that says so");
    error = (struct nytp_error){0};
    ok(!nytp_unpack_sources(p, under_top("outside/target"), &error) &&
           error.status == NYTP_ERR_IO,
       "so is a file in its place");
    done(&f);
}

int main(void)
{
    if (mkdtemp(top) == NULL)
        return 2;
    test_names();
    test_same_names();
    test_links();
    test_lines();
    test_deep_paths();
    test_failures();
    char command[PATH_MAX + 16];
    snprintf(command, sizeof command, "rm -rf '%s'", top);
    if (system(command) != 0)
        return 2;
    return done_testing();
}
