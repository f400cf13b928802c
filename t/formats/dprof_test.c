/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * tmon.out in its old and new form becomes call events with the right times.
 */
#include "bytes.h"

static struct nytp_read_options options;

static bool read_text(const char *text, size_t len, struct log *log, struct nytp_error *error)
{
    *error = (struct nytp_error){0};
    *log = log_new();
    struct nytp_source *source = nytp_source_memory(text, len, error);
    assert(source != NULL);
    const bool read = nytp_read(source, &options, &log->sink, error);
    nytp_source_free(source);
    log_text(log);
    return read;
}

/* Calls and the time passed only: "> ", "< main::a 1 20 10" and "+30" lines. */
static char *calls_of(struct log *log)
{
    static char calls[4096];
    char name[100];
    unsigned depth;
    double incl, excl;
    int ticks;
    calls[0] = '\0';
    for (char *line = strtok((char *)log->text.data, "\n"); line; line = strtok(NULL, "\n")) {
        char *at = calls + strlen(calls);
        const size_t room = sizeof calls - strlen(calls);
        if (strncmp(line, "SUB_ENTRY", 9) == 0)
            snprintf(at, room, ">\n");
        else if (sscanf(line, "SUB_RETURN depth=%u incl=%lf excl=%lf name=\"%99[^\"]", &depth,
                        &incl, &excl, name) == 4)
            snprintf(at, room, "< %s %u %g %g\n", name, depth, incl, excl);
        else if (sscanf(line, "TIME_LINE ticks=%d at=0:0", &ticks) == 1)
            snprintf(at, room, "%+d\n", ticks);
        else if (strncmp(line, "PID_END", 7) == 0)
            snprintf(at, room, "end\n");
    }
    return calls;
}

static void are_calls(const char *text, const char *expected, const char *name)
{
    struct log log;
    struct nytp_error error;
    const bool read = read_text(text, strlen(text), &log, &error);
    if (!read)
        fprintf(stderr, "# %s: %s\n", name, error.message);
    is_text(calls_of(&log), expected, name);
    ok(read, "without an error");
    free(log.text.data);
}

static void is_refused(const char *text, enum nytp_status status, uint64_t offset,
                       const char *message)
{
    struct log log;
    struct nytp_error error;
    const bool read = read_text(text, strlen(text), &log, &error);
    if (!ok(!read && error.status == status && error.offset == offset &&
                strcmp(error.message, message) == 0,
            message))
        fprintf(stderr, "# status %d at %" PRIu64 ": %s\n", error.status, error.offset,
                error.message);
    free(log.text.data);
}

#define HEAD(over, marks)                                                                      \
    "#fOrTyTwO\n$hz=1000;\n$XS_VERSION='DProf 1';\n# All values are given in HZ\n"             \
    "$over_utime=" over "; $over_stime=0; $over_rtime=7;\n$over_tests=1000;\n"                 \
    "$rrun_utime=900; $rrun_stime=100; $rrun_rtime=2000;\n$total_marks=" marks                 \
    "   \n\nPART2\n"

static const char two_calls[] = HEAD("0", "4") "@ 100 0 200\n& 2 main a\n+ 2\n@ 200 10 400\n"
                                               "& b main b c\n+ b\n@ 300 20 600\n- b\n"
                                               "@ 50 0 100\n- 2\n";

static void test_new_form(void)
{
    struct log log;
    struct nytp_error error;
    read_text(two_calls, strlen(two_calls), &log, &error);
    is_text(log_text(&log),
            "ATTRIBUTE key=\"xs_version\" value=\"DProf 1\"\n"
            "ATTRIBUTE key=\"ticks_per_sec\" value=\"1000\"\n"
            "OPTION key=\"subs\" value=\"1\"\nOPTION key=\"stmts\" value=\"0\"\n"
            "OPTION key=\"calls\" value=\"2\"\n"
            "PID_START pid=0 ppid=0 time=0.000000\n"
            "SUB_ENTRY from=0:0\nDISCOUNT\nTIME_LINE ticks=100 at=0:0 block=0 sub=0\n"
            "SUB_ENTRY from=0:0\nDISCOUNT\nTIME_LINE ticks=210 at=0:0 block=0 sub=0\n"
            "SUB_RETURN depth=2 incl=320 excl=320 name=\"main::b c\"\n"
            "DISCOUNT\nTIME_LINE ticks=320 at=0:0 block=0 sub=0\n"
            "SUB_RETURN depth=1 incl=580 excl=260 name=\"main::a\"\n"
            "DISCOUNT\nTIME_LINE ticks=50 at=0:0 block=0 sub=0\n"
            "DISCOUNT\nTIME_LINE ticks=320 at=0:0 block=0 sub=0\n"
            "PID_END pid=0 time=0.000000\n",
            "calls with user and system time, the rest of the run at the end");
    free(log.text.data);
}

static void test_clocks(void)
{
    options.clock = 'u';
    are_calls(two_calls,
              ">\n+100\n>\n+200\n< main::b c 2 300 300\n+300\n< main::a 1 550 250\n+50\n+250\n"
              "end\n",
              "user time");
    options.clock = 's';
    are_calls(two_calls,
              ">\n+0\n>\n+10\n< main::b c 2 20 20\n+20\n< main::a 1 30 10\n+0\n+70\nend\n",
              "system time");
    options.clock = 'r';
    options.keep_overhead = true;
    are_calls(two_calls,
              ">\n+200\n>\n+400\n< main::b c 2 600 600\n+600\n< main::a 1 1100 500\n+100\n"
              "+700\nend\n",
              "real time");
    options = (struct nytp_read_options){0};
}

/* 20 ticks a call: each mark takes 10 off what was before it, and the clock is refined. */
static void test_overhead(void)
{
    static const char text[] =
        HEAD("20000", "4") "@ 100 0 0\n& 2 main a\n+ 2\n@ 200 0 0\n"
                           "& 3 main b\n+ 3\n@ 4 0 0\n- 3\n@ 50 0 0\n- 2\n";
    are_calls(text,
              ">\n+900000\n>\n+1900000\n< main::b 2 -60000 -60000\n+0\n"
              "< main::a 1 2.24e+06 2.3e+06\n+340000\n+6460000\nend\n",
              "overhead is taken off");
    options.keep_overhead = true;
    are_calls(text,
              ">\n+100\n>\n+200\n< main::b 2 4 4\n+4\n< main::a 1 254 250\n+50\n+646\nend\n",
              "overhead is kept on request");
    options = (struct nytp_read_options){0};

    are_calls(HEAD("0", "2") "& 2 main a\n+ 2\n@ 200 0 0\n+ & Devel::DProf::write\n@ 100 0 0\n"
                             "- & Devel::DProf::write\n@ 50 0 0\n- 2\n",
              ">\n+0\n+200\n+0\n< main::a 1 250 250\n+50\n+650\nend\n",
              "the time to write the profile belongs to nobody");
}

static void test_goto(void)
{
    are_calls(
        HEAD("0", "5") "& 1 main z\n& 2 main a\n& 3 main b\n+ 1\n@ 10 0 0\n+ 2\n@ 20 0 0\n"
                       "* 3\n@ 30 0 0\n- 2\n@ 40 0 0\n- 1\n",
        ">\n+0\n>\n+10\n< main::a 2 20 20\n>\n+20\n< main::b 2 30 30\n+30\n"
        "< main::z 1 100 50\n+40\n+900\nend\n",
        "goto ends one call and begins another, which is left by the first one's name");
    are_calls(HEAD("0", "6") "& 1 main z\n& 2 main a\n& 3 main b\n& 4 main c\n+ 1\n@ 10 0 0\n+ "
                             "2\n@ 20 0 0\n"
                             "* 3\n@ 30 0 0\n* 4\n@ 5 0 0\n- 4\n@ 40 0 0\n- 1\n",
              ">\n+0\n>\n+10\n< main::a 2 20 20\n>\n+20\n< main::b 2 30 30\n>\n+30\n"
              "< main::c 2 5 5\n+5\n< main::z 1 105 50\n+40\n+895\nend\n",
              "or by the last one's");
    are_calls(
        HEAD("0", "5") "& 1 main z\n& 2 main a\n+ 1\n@ 10 0 0\n+ 2\n@ 20 0 0\n* 1\n@ 30 0 0\n"
                       "- 1\n@ 40 0 0\n- 1\n",
        ">\n+0\n>\n+10\n< main::a 2 20 20\n>\n+20\n< main::z 2 30 30\n+30\n"
        "< main::z 1 100 50\n+40\n+900\nend\n",
        "the inner of two calls of that name");
    are_calls(HEAD("0", "4") "& 1 main z\n& 2 main a\n+ 1\n@ 10 0 0\n+ 2\n@ 20 0 0\n/ 2\n"
                             "@ 40 0 0\n/ 1\n",
              ">\n+0\n>\n+10\n< main::a 2 20 20\n+20\n< main::z 1 70 50\n+40\n+930\nend\n",
              "a call that dies is left");
    are_calls(HEAD("0", "3") "& 1 main z\n& 2 main a\n+ 1\n@ 10 0 0\n+ 2\n@ 20 0 0\n- 1\n",
              ">\n+0\n>\n+10\n< main::a 2 20 20\n< main::z 1 30 10\n+20\n+970\nend\n",
              "leaving an outer call leaves the inner ones");
    are_calls(HEAD("0", "2") "& 1 main z\n& 2 main a\n+ 1\n@ 10 0 0\n+ 2\n@ 2000 0 0\n",
              ">\n+0\n>\n+10\n+990\nend\n",
              "what is open at the end stays open, for as long as the header tells");
}

static void test_old_form(void)
{
    are_calls("#fOrTyTwO\n$hz=100;\n$XS_VERSION='DProf 19970606';\n"
              "# All values are given in HZ\n"
              "$rrun_utime=1000; $rrun_stime=28; $rrun_rtime=7\nPART2\n"
              "+ 26 20 566822884 DynaLoader::import\n- 126 28 566822884 DynaLoader::import\n"
              "+ 227 28 566822885 main::bar\n+ 327 28 566822886 main::bar x\n"
              "- 427 28 566822886 main::bar x\n- 527 28 566822887 main::bar\n",
              ">\n+46\n< DynaLoader::import 1 108 108\n+108\n>\n+101\n>\n+100\n"
              "< main::bar x 2 100 100\n+100\n< main::bar 1 300 200\n+100\n+473\nend\n",
              "the old form");
    options.clock = 'r';
    are_calls("#fOrTyTwO\n$hz=100;\n$rrun_utime=1; $rrun_stime=2; $rrun_rtime=7\nPART2\n"
              "+ 26 28 566822884 main::bar\n- 27 28 566822886 main::bar\n",
              ">\n+0\n< main::bar 1 2 2\n+2\n+5\nend\n",
              "real time of the old form counts from the first mark");
    options = (struct nytp_read_options){0};
}

static void test_damage(void)
{
    is_refused("#fOrTyTwO\n$hz=100;\n", NYTP_ERR_TRUNCATED, 19,
               "the input ends inside the header");
    is_refused("#fOrTyTwO\n$hz=0;\nPART2\n", NYTP_ERR_FORMAT, 17,
               "no usable $hz before: PART2");
    is_refused("#fOrTyTwO\n$hz=x;\nPART2\n", NYTP_ERR_FORMAT, 10,
               "header value is no number: $hz=x;");
    is_refused("#fOrTyTwO\n$hz=9;\nPART2\nfoo\n", NYTP_ERR_FORMAT, 23, "unknown line: foo");
    is_refused("#fOrTyTwO\n$hz=9;\nPART2\n+ 2\n", NYTP_ERR_FORMAT, 23,
               "mark of a sub that was not introduced: + 2");
    is_refused("#fOrTyTwO\n$hz=9;\nPART2\n& 2 main a\n- 2\n", NYTP_ERR_FORMAT, 34,
               "a sub is left that was not entered: - 2");
    is_refused("#fOrTyTwO\n$hz=9;\nPART2\n& g main a\n", NYTP_ERR_FORMAT, 23,
               "malformed sub: & g main a");
    is_refused("#fOrTyTwO\n$hz=9;\nPART2\n& 2 \n", NYTP_ERR_FORMAT, 23, "malformed sub: & 2");
    is_refused("#fOrTyTwO\n$hz=9;\nPART2\n@ 1 2\n", NYTP_ERR_FORMAT, 23,
               "malformed time: @ 1 2");
    is_refused("#fOrTyTwO\n$hz=9;\nPART2\n@ 1 2 9999999999999999\n", NYTP_ERR_FORMAT, 23,
               "malformed time: @ 1 2 9999999999999999");
    is_refused("#fOrTyTwO\n$hz=9;\nPART2\n+ 1 2\n", NYTP_ERR_FORMAT, 23,
               "malformed mark: + 1 2");
    is_refused("#fOrTyTwO\n$hz=9;\n$total_marks=0\nPART2\n& 2 main a\n+ 2\n",
               NYTP_ERR_TRUNCATED, 53, "the recording was not finished");
    is_refused("#fOrTyTwO\n$hz=9;\n$total_marks=2\nPART2\n& 2 main a\n+ 2\n",
               NYTP_ERR_TRUNCATED, 53, "the input ends after 1 of 2 marks");
}

static void test_killed(void)
{
    is_refused("#fOrTyTwO\n$hz=9;\nPART2\n", NYTP_ERR_TRUNCATED, 23,
               "the recording was not finished");
    is_refused("#fOrTyTwO\n$hz=9;\nPART2\n& 2 main a\n+ 2\n- 2\n", NYTP_ERR_TRUNCATED, 42,
               "the recording was not finished");
}

static void test_cuts(void)
{
    struct log whole_log;
    struct nytp_error error;
    read_text(two_calls, strlen(two_calls), &whole_log, &error);
    const char *end =
        strstr(log_text(&whole_log), "DISCOUNT\nTIME_LINE ticks=320 at=0:0 block=0"
                                     " sub=0\nPID_END");
    bool prefix = true, said = true;
    for (size_t len = 9; len < strlen(two_calls); len++) {
        struct log log;
        const bool read = read_text(two_calls, len, &log, &error);
        const size_t n = strlen(log_text(&log));
        prefix = prefix && n <= (size_t)(end - (const char *)whole_log.text.data) &&
                 memcmp(log.text.data, whole_log.text.data, n) == 0;
        said = said && !read && error.has_offset && error.offset <= len &&
               error.status == NYTP_ERR_TRUNCATED;
        free(log.text.data);
    }
    ok(prefix, "cut at any byte: the events before are delivered");
    ok(said, "and the cut is an error with offset");
    free(whole_log.text.data);
}

static void test_noise(void)
{
    uint32_t state = 99;
    int read = 0;
    for (int round = 0; round < 4000; round++) {
        char text[1024];
        snprintf(text, sizeof text, "%s", two_calls);
        for (int i = 0; i < 1 + round % 3; i++) {
            state = state * 1664525 + 1013904223;
            text[(state >> 8) % strlen(two_calls)] = "0123456789abc -+*/@&\n$=;"[state % 24];
        }
        struct log log;
        struct nytp_error error;
        const bool success = read_text(text, strlen(two_calls), &log, &error);
        assert(success == (error.status == NYTP_OK));
        read += success;
        free(log.text.data);
    }
    ok(read > 100 && read < 3900, "random damage is an error or other values");
}

int main(void)
{
    test_new_form();
    test_clocks();
    test_overhead();
    test_goto();
    test_old_form();
    test_damage();
    test_killed();
    test_cuts();
    test_noise();
    return done_testing();
}
