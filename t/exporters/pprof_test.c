/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * pprof's message of small profiles made by hand, mostly in its text form: that the binary form
 * is the same message, protoc tells (t/viewers/test_pprof.py).
 */
#include "t/exporters/exported.h"

extern const struct nytp_exporter nytp_exporter_pprof, nytp_exporter_pprof_text;

static void export(const struct nytp_profile *profile)
{
    export_with(&nytp_exporter_pprof_text, profile, &(struct nytp_export_options){0}, false);
}

static size_t count(const char *what)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at++)
        n++;
    return n;
}

static const struct nytp_profile *make(struct fixture *f)
{
    fixture_begin(f, 16);
    const uint32_t prog = fixture_file(f, "/x/prog.pl"), mod = fixture_file(f, "/x/Mod.pm");
    fixture_sub(f, fixture_name("main::RUNTIME"), prog, 1, 1);
    const uint32_t begin = fixture_sub(f, fixture_name("main::BEGIN@4"), prog, 4, 4);
    const uint32_t work = fixture_sub(f, fixture_name("main::w\xc3\xb6rk"), prog, 10, 14);
    const uint32_t root = fixture_node(f, 0, 0, 0, 0, 1);
    fixture_line(f, prog, 2, 1000, 3);
    fixture_line(f, prog, 9, 500, 5);
    fixture_node(f, root, begin, prog, 4, 1);
    fixture_line(f, prog, 4, 100, 1);
    fixture_line(f, mod, 1, 200, 2);
    fixture_node(f, root, work, prog, 9, 7);
    return fixture_finish(f);
}

static void test_message(void)
{
    struct fixture f;
    export(make(&f));
    ok(contains("sample_type {\n  type: 1\n  unit: 2\n}\n"
                "sample_type {\n  type: 3\n  unit: 2\n}\n"
                "sample_type {\n  type: 4\n  unit: 5\n}\n"
                "sample {\n"),
       "three sample types");
    ok(contains("string_table: \"\"\n"
                "string_table: \"calls\"\n"
                "string_table: \"count\"\n"
                "string_table: \"statements\"\n"
                "string_table: \"wall\"\n"
                "string_table: \"nanoseconds\"\n"
                "string_table: \"pid\"\n"
                "string_table: \"script\"\n"),
       "their names");
    ok(contains("\ndefault_sample_type: 4\n") && contains("\nperiod: 100\n"),
       "the default is time, the period is the tick");
    ok(contains("sample {\n  location_id: 2\n  value: 0\n  value: 5\n  value: 50000\n"),
       "a line of the program");
    ok(contains("sample {\n  location_id: 5\n  location_id: 3\n  value: 0\n  value: 2\n"
                "  value: 20000\n"),
       "a line of a called sub: leaf first, then the call");
    ok(contains("  value: 7\n  value: 0\n  value: 0\n"), "calls that took no time are counted");
    ok(contains("function {\n  id: 3\n  name: 17\n  filename: 18\n}\n") &&
           contains("\nstring_table: \"/x/Mod.pm\"\n"),
       "a line of another file than the sub's names that file");
    ok(contains("string_table: \"main::w\\303\\266rk\"\n"),
       "UTF-8 in octal, as protoc prints it");
    ok(count("string_table: \"main::BEGIN@4\"\n") == 1, "a string is there once");
    ok(contains(
           "mapping {\n  id: 1\n  filename: 14\n  has_functions: true\n"
           "  has_filenames: true\n  has_line_numbers: true\n  has_inline_frames: true\n}\n"),
       "the mapping says that nothing is to be looked up");
    ok(contains("\ntime_nanos: 1000000000000\nduration_nanos: 1000000000\n"),
       "start and length");
    fixture_free(&f);
}

static void test_outputs(void)
{
    struct fixture f;
    const struct nytp_profile *profile = make(&f);
    export_with(&nytp_exporter_pprof, profile, &(struct nytp_export_options){0}, false);
    ok(text_len > 2 && memcmp(text, "\x1f\x8b", 2) == 0, "a file is compressed");
    export_with(&nytp_exporter_pprof, profile, &(struct nytp_export_options){0}, true);
    ok(text_len > 10 && memcmp(text, "\x82\x7d\x05\0\0\0\0\0\x0a\x04", 10) == 0,
       "a pipe gets eight bytes to lose and the plain message");
    export_with(&nytp_exporter_pprof_text, profile,
                &(struct nytp_export_options){.unit = nytp_unit_find("us")}, false);
    ok(contains("\nstring_table: \"microseconds\"\n") && contains("  value: 5\n  value: 50\n"),
       "another unit");
    fixture_free(&f);
}

static void test_negative(void)
{
    struct fixture f;
    export(two_lines(&f, 60, -20));
    ok(contains("  value: 1\n  value: 0\n") && strstr(text, "value: -") == NULL &&
           n_negative == 1,
       "a time below zero is written as zero and counted");
    fixture_free(&f);
}

static void test_deep(void)
{
    enum {
        LEVELS = 2000
    };
    struct fixture f;
    fixture_begin(&f, LEVELS + 1);
    const uint32_t file = fixture_file(&f, "/x/a.pl");
    fixture_sub(&f, fixture_name("main::RUNTIME"), file, 1, 1);
    const uint32_t deep = fixture_sub(&f, fixture_name("main::deep"), file, 2, 5);
    uint32_t node = fixture_node(&f, 0, 0, 0, 0, 1);
    for (int i = 0; i < LEVELS; i++) {
        node = fixture_node(&f, node, deep, file, 3, 1);
        fixture_line(&f, file, 4, 10, 1);
    }
    export(fixture_finish(&f));
    printf("# %zu %zu\n", text_len, count("sample {"));
    ok(count("sample {") == 256, "levels beyond the bound are one sample");
    ok(contains("  value: 1746\n  value: 1746\n  value: 1746000\n"),
       "that has all their values");
    ok(contains("string_table: \"pruned: 1745 deeper contexts\"\n"), "and a comment tells");
    fixture_free(&f);
}

int main(void)
{
    test_message();
    test_outputs();
    test_negative();
    test_deep();
    return done_testing();
}
