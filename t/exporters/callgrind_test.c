/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * callgrind output of small profiles made by hand. Real profiles in real viewers: t/viewers/.
 */
#include "t/exporters/exported.h"

extern const struct nytp_exporter nytp_exporter_callgrind;

static void export(const struct nytp_profile *profile, struct nytp_export_options options)
{
    export_with(&nytp_exporter_callgrind, profile, &options, false);
}

static const struct nytp_export_options none;

/* Two subs that call each other, one that calls itself, a builtin, code of a required file. */
static const struct nytp_profile *make(struct fixture *f)
{
    fixture_begin(f, 32);
    const uint32_t prog = fixture_file(f, "/x/prog.pl"), mod = fixture_file(f, "/x/Mod.pm");
    fixture_sub(f, fixture_name("main::RUNTIME"), prog, 1, 1);
    const uint32_t print = fixture_sub(f, fixture_name("main::CORE:print"), 0, 0, 0);
    const uint32_t begin = fixture_sub(f, fixture_name("main::BEGIN@4"), prog, 4, 4);
    const uint32_t fib = fixture_sub(f, fixture_name("main::fib"), prog, 10, 14);
    const uint32_t ping = fixture_sub(f, fixture_name("main::ping"), prog, 20, 21);
    const uint32_t pong = fixture_sub(f, fixture_name("main::pong"), prog, 22, 23);

    const uint32_t root = fixture_node(f, 0, 0, 0, 0, 1);
    fixture_line(f, prog, 2, 1000, 3);
    fixture_line(f, prog, 9, 500, 5);
    const uint32_t required = fixture_node(f, root, begin, prog, 4, 1);
    fixture_line(f, prog, 4, 100, 1);
    fixture_line(f, mod, 1, 200, 2);
    const uint32_t outer_fib = fixture_node(f, root, fib, prog, 2, 1);
    fixture_line(f, prog, 11, 10, 1);
    const uint32_t first_ping = fixture_node(f, root, ping, prog, 3, 1);
    fixture_line(f, prog, 20, 10, 1);
    fixture_node(f, required, print, mod, 1, 4);
    fixture_line(f, 0, 0, 40, 0);
    fixture_node(f, outer_fib, fib, prog, 12, 2);
    fixture_line(f, prog, 11, 30, 6);
    const uint32_t only_pong = fixture_node(f, first_ping, pong, prog, 20, 1);
    fixture_line(f, prog, 22, 20, 2);
    fixture_node(f, only_pong, ping, prog, 22, 1);
    fixture_line(f, prog, 20, 30, 3);
    return fixture_finish(f);
}

static void test_body(void)
{
    struct fixture f;
    const struct nytp_profile *profile = make(&f);
    export(profile, none);
    ok(contains("version: 1\n"
                "creator: nytp-export\n"
                "pid: 77\n"
                "cmd: prog.pl\n"
                "desc: Perl: 5.36.0\n"
                "desc: Processes: 77\n"
                "positions: line\n"
                "event: ns : Time [nanoseconds]\n"
                "event: stmts : Statements\n"
                "events: ns stmts\n"
                "summary: 194000 24\n"
                "\n"),
       "the header");
    ok(contains("\n"
                "fl=(1) /x/prog.pl\n"
                "fn=(1) main\n"
                "cfi=(1)\n"
                "cfn=(2) main::RUNTIME\n"
                "calls=1 1\n"
                "0 194000 24\n"
                "\n"
                "fl=(1)\n"
                "fn=(2)\n"
                "2 100000 3\n"
                "9 50000 5\n"
                "cfi=(1)\n"
                "cfn=(3) main::BEGIN@4\n"
                "calls=1 4\n"
                "4 34000 3\n"),
       "the program, its own lines and its calls");
    ok(contains("\n"
                "fl=(1)\n"
                "fn=(3)\n"
                "4 10000 1\n"
                "fi=(3) /x/Mod.pm\n"
                "1 20000 2\n"
                "cfi=(2)\n"
                "cfn=(6)\n"
                "calls=4 0\n"
                "1 4000 0\n"
                "\n"),
       "lines and calls of another file are in the same function");
    ok(contains("cfn=(4) main::fib\ncalls=1 10\n2 4000 7\n") &&
           contains("fn=(4)\n11 4000 7\ncfi=(1)\ncfn=(4)\ncalls=2 10\n12 1 0\n"),
       "recursion: outermost calls carry the time, nested ones can be seen");
    ok(contains("cfn=(5) main::ping\ncalls=1 20\n3 5999 6\n") &&
           contains("cfn=(7) main::pong\ncalls=1 22\n20 5000 5\n") &&
           contains("fn=(7)\n22 2000 2\ncfi=(1)\ncfn=(5)\ncalls=1 20\n22 1 0\n"),
       "mutual recursion: so do they, and the callee's sum stays");
    ok(contains("\ntotals: 194000 24\n"), "totals at the end");
    fixture_free(&f);
}

static void test_preamble(void)
{
    struct fixture f;
    export(make(&f), none);
    const char *version = strstr(text, "version: 1\n");
    bool comments = true;
    for (const char *line = text; line < version; line += strcspn(line, "\n") + 1)
        comments = comments && *line == '#';
    ok(strncmp(text, "# callgrind format\n", 19) == 0, "begins as the viewers want");
    ok(version == text + 2047 && comments, "the first 2047 bytes are comments");
    fixture_free(&f);
}

static void test_options(void)
{
    struct fixture f;
    const struct nytp_profile *profile = make(&f);
    export(profile, (struct nytp_export_options){.plain_names = true});
    ok(contains("fl=/x/prog.pl\nfn=main::RUNTIME\n") &&
           contains("cfi=???\ncfn=main::CORE:print\ncalls=4 0\n") &&
           strstr(text, "(1)") == NULL,
       "plain names");
    export(profile, (struct nytp_export_options){.unit = nytp_unit_find("us")});
    ok(contains("event: us : Time [microseconds]\n") && contains("summary: 194 24\n") &&
           contains("totals: 194 24\n"),
       "another unit");
    f.profile.total_statements = 0;
    export(profile, none);
    ok(contains("events: ns\nsummary: 194000\n") && contains("\n2 100000\n"),
       "no second event where no statements were recorded");
    fixture_free(&f);
}

static void test_times(void)
{
    struct fixture f;
    export(two_lines(&f, 6, 6), (struct nytp_export_options){.unit = nytp_unit_find("us")});
    ok(contains("summary: 1 2\n") && contains("\n1 1 1\n2 0 1\n"), "rounded lines add up");
    fixture_free(&f);
    export(two_lines(&f, 60, -20), none);
    ok(contains("summary: 6000 2\n") && contains("\n1 6000 1\n2 0 1\n"),
       "a time below zero is written as zero");
    ok(n_negative == 1, "and counted once");
    fixture_free(&f);
}

static void test_recordings(void)
{
    struct fixture f;
    make(&f);
    struct nytp_recording recordings[2] = {f.recording, f.recording};
    struct nytp_process processes[2] = {f.process, f.process};
    recordings[1].application = fixture_name("other\nprog.pl");
    recordings[1].first_process = 1;
    recordings[1].partial = true;
    nytp_error_set(&recordings[1].error, NYTP_ERR_TRUNCATED, "the file ends inside a record");
    processes[1].recording = 1;
    processes[1].pid = 78;
    struct nytp_line_cost costs[32];
    struct nytp_arc arcs[32];
    const uint32_t n_costs = f.profile.n_line_costs, n_arcs = f.profile.n_arcs;
    for (uint32_t i = 0; i < 2 * n_costs; i++) {
        costs[i] = f.line_costs[i / 2];
        costs[i].recording = i % 2;
    }
    for (uint32_t i = 0; i < 2 * n_arcs; i++) {
        arcs[i] = f.arcs[i / 2];
        arcs[i].recording = i % 2;
    }
    struct nytp_profile folded = f.profile;
    folded.recordings = recordings;
    folded.processes = processes;
    folded.n_recordings = folded.n_processes = 2;
    folded.line_costs = costs;
    folded.arcs = arcs;
    folded.n_line_costs = 2 * n_costs;
    folded.n_arcs = 2 * n_arcs;
    export(&folded, none);
    const char *second = strstr(text, "pid: 78\ndesc: Command: other\\x0aprog.pl\npart: 2\n");
    ok(contains("pid: 77\ncmd: prog.pl\npart: 1\n") && second != NULL,
       "each recording is a part");
    ok(contains("desc: Partial: the file ends inside a record\n"),
       "one that is partial says so");
    ok(second != NULL && strstr(second, "fl=(1) /x/prog.pl\nfn=(1) main\n") != NULL &&
           strstr(second, "totals: 194000 24\n") != NULL,
       "with names and totals of its own");
    fixture_free(&f);
}

int main(void)
{
    test_preamble();
    test_body();
    test_options();
    test_times();
    test_recordings();
    return done_testing();
}
