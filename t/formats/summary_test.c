/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Sums by file id and line, by sub and call site; merging of sibling string evals. What is
 * refused is in t/lib/data.t.
 */
#include "formats/model/model.h"
#include "formats/base/strings.h"
#include "formats/by_position/summary.h"
#include "t/tap.h"

static struct nytp_str str(const char *text)
{
    return (struct nytp_str){.ptr = text, .len = (uint32_t)strlen(text)};
}

static bool put(struct nytp_summary *summary, struct nytp_event event)
{
    return summary->sink.event(&summary->sink, &event);
}

static bool put_file(struct nytp_summary *summary, uint32_t fid, uint32_t eval_fid,
                     uint32_t line, const char *name)
{
    return put(summary, (struct nytp_event){.tag = NYTP_TAG_NEW_FID,
                                            .u.new_fid = {.fid = fid,
                                                          .eval_fid = eval_fid,
                                                          .eval_line = line,
                                                          .name = str(name)}});
}

static bool put_time(struct nytp_summary *summary, int32_t ticks, uint32_t fid, uint32_t line)
{
    return put(summary,
               (struct nytp_event){.tag = NYTP_TAG_TIME_LINE,
                                   .u.time = {.ticks = ticks, .fid = fid, .line = line}});
}

static bool put_source(struct nytp_summary *summary, uint32_t fid, const char *text)
{
    return put(summary,
               (struct nytp_event){.tag = NYTP_TAG_SRC_LINE,
                                   .u.src_line = {.fid = fid, .line = 1, .text = str(text)}});
}

static bool put_calls(struct nytp_summary *summary, uint32_t fid, uint32_t line, uint32_t count,
                      const char *caller, const char *callee)
{
    return put(summary, (struct nytp_event){.tag = NYTP_TAG_SUB_CALLERS,
                                            .u.sub_callers = {.fid = fid,
                                                              .line = line,
                                                              .count = count,
                                                              .incl_s = count,
                                                              .excl_s = count,
                                                              .caller = str(caller),
                                                              .callee = str(callee)}});
}

static bool put_sub(struct nytp_summary *summary, uint32_t fid, const char *name)
{
    return put(
        summary,
        (struct nytp_event){
            .tag = NYTP_TAG_SUB_INFO,
            .u.sub_info = {.fid = fid, .first_line = 1, .last_line = 1, .name = str(name)}});
}

static const struct nytp_summary_sub *sub_named(const struct nytp_summary *summary,
                                                const char *name)
{
    for (uint32_t s = 0; s < summary->subs.n; s++) {
        const struct nytp_str text = nytp_summary_str(summary, summary->subs.at[s].name);
        if (text.len == strlen(name) && memcmp(text.ptr, name, text.len) == 0)
            return &summary->subs.at[s];
    }
    return NULL;
}

static void test_times(void)
{
    struct nytp_summary *summary = nytp_summary_new();
    put_file(summary, 1, 0, 0, "/x.pl");
    put_time(summary, 10, 1, 3);
    put_time(summary, -4, 1, 3);
    put(summary, (struct nytp_event){.tag = NYTP_TAG_DISCOUNT});
    put_time(summary, 5, 1, 3);
    put(summary, (struct nytp_event){.tag = NYTP_TAG_DISCOUNT});
    put(summary, (struct nytp_event){.tag = NYTP_TAG_PID_START, .u.process = {.pid = 2}});
    put_time(summary, 1, 1, 4);
    ok(nytp_summary_finish(summary), "a summary finishes");
    const struct nytp_summary_time *times = summary->files.at[0].times[NYTP_LEVEL_LINE].at;
    ok(times[3].ticks == 11, "negative ticks count as what they are");
    ok(times[3].count == 2, "a discounted statement adds time and no count");
    ok(times[4].count == 1, "a discount does not reach into the next process");
    ok(summary->n_discounts == 1, "only discounts that had an effect are counted");
    nytp_summary_free(summary);
}

static bool put_attribute(struct nytp_summary *summary, const char *key, const char *value)
{
    return put(summary, (struct nytp_event){.tag = NYTP_TAG_ATTRIBUTE,
                                            .u.setting = {str(key), str(value)}});
}

static void test_attributes(void)
{
    struct nytp_summary *summary = nytp_summary_new();
    bool all = true;
    for (int i = 0; i < 3000; i++) {
        char key[20];
        snprintf(key, sizeof key, "key%d", i);
        all = put_attribute(summary, key, "old") && all;
    }
    all = put_attribute(summary, "key999", "new") && all;
    all = put_attribute(summary, "key2999", "new") && all;
    const struct nytp_summary_pairs *kept = &summary->attributes;
    ok(all && kept->n == 1000, "of thousands of attributes 1000 are kept");
    ok(strcmp(nytp_strings_get(summary->strings, kept->at[999].key.id).ptr, "key999") == 0 &&
           strcmp(nytp_strings_get(summary->strings, kept->at[999].value.id).ptr, "new") == 0,
       "and still get their last value");
    nytp_summary_free(summary);
}

/* Line 5 of /x.pl ran evals 2, 3 (same source, anonymous sub each), 4 (another source) and 5
 * (the source of 4, but it ran an eval itself: 6). */
static struct nytp_summary *evals(void)
{
    struct nytp_summary *summary = nytp_summary_new();
    put_file(summary, 1, 0, 0, "/x.pl");
    put_file(summary, 2, 1, 5, "(eval 1)[x.pl:5]");
    put_file(summary, 3, 1, 5, "(eval 2)[x.pl:5]");
    put_file(summary, 4, 1, 5, "(eval 3)[x.pl:5]");
    put_file(summary, 5, 1, 5, "(eval 4)[x.pl:5]");
    put_file(summary, 6, 5, 1, "(eval 5)[(eval 4)[x.pl:5]:1]");
    put_source(summary, 2, "sub { f() }");
    put_source(summary, 3, "sub { f() }");
    put_source(summary, 4, "other");
    put_source(summary, 5, "other");
    for (uint32_t fid = 1; fid <= 6; fid++)
        put_time(summary, (int32_t)fid, fid, 1);
    put_sub(summary, 1, "main::f");
    put_sub(summary, 3, "main::__ANON__[(eval 2)[x.pl:5]:1]");
    put_sub(summary, 2, "main::__ANON__[(eval 1)[x.pl:5]:1]");
    put_calls(summary, 1, 9, 2, "main::RUNTIME", "main::__ANON__[(eval 1)[x.pl:5]:1]");
    put_calls(summary, 1, 9, 3, "main::RUNTIME", "main::__ANON__[(eval 2)[x.pl:5]:1]");
    put_calls(summary, 2, 1, 2, "main::__ANON__[(eval 1)[x.pl:5]:1]", "main::f");
    put_calls(summary, 3, 1, 3, "main::__ANON__[(eval 2)[x.pl:5]:1]", "main::f");
    nytp_summary_finish(summary);
    return summary;
}

static void test_evals(void)
{
    struct nytp_summary *summary = evals();
    ok(nytp_summary_merge_evals(summary, 200), "evals are merged");
    const struct nytp_summary_file *files = summary->files.at;
    ok(files[2].merged_into == 1 && files[1].n_merged == 1,
       "siblings of the same source are merged into the first");
    ok(files[1].times[NYTP_LEVEL_LINE].at[1].ticks == 5, "with their times");
    ok(files[3].merged_into == NYTP_SUMMARY_NONE && files[4].merged_into == NYTP_SUMMARY_NONE,
       "siblings of the same source are left alone when one ran an eval");
    const struct nytp_summary_sub *anon =
        sub_named(summary, "main::__ANON__[(eval 1)[x.pl:5]:1]");
    ok(anon->count == 5 && anon->fid == 2, "their anonymous subs become one");
    ok(sub_named(summary, "main::__ANON__[(eval 2)[x.pl:5]:1]")->merged_into !=
           NYTP_SUMMARY_NONE,
       "the other is merged away");
    const struct nytp_summary_sub *f = sub_named(summary, "main::f");
    ok(f->count == 5 && summary->calls.at[f->first_call].next == NYTP_SUMMARY_NONE &&
           summary->calls.at[f->first_call].fid == 2,
       "calls from merged evals come from the survivor");
    nytp_summary_free(summary);

    summary = evals();
    nytp_summary_merge_evals(summary, 1);
    ok(summary->files.at[2].merged_into == 1 && summary->files.at[3].merged_into == 1 &&
           summary->files.at[1].src_varied,
       "more distinct siblings than the limit are merged regardless of source");
    ok(summary->files.at[4].merged_into == NYTP_SUMMARY_NONE, "but for those that ran evals");
    nytp_summary_free(summary);
}

int main(void)
{
    test_times();
    test_attributes();
    test_evals();
    return done_testing();
}
