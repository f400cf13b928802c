/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Several profiles as one, and the timeline.
 */
#include "script.h"

#include "formats/model/merge_profiles.h"
#include "formats/model/profile.h"

static struct nytp_profile *merged(const char *first, const char *second)
{
    struct nytp_error error = {0};
    struct nytp_profile *both[2] = {build(first, 100), build(second, 100)};
    struct nytp_profile *p = nytp_profiles_merge(both, 2, NYTP_MERGE_INTO_ONE, &error);
    if (p == NULL || !nytp_profile_adds_up(p, &error)) {
        printf("# %s\n", error.message);
        nytp_profile_free(p);
        return NULL;
    }
    return p;
}

static const struct nytp_sub *sub_named(const struct nytp_profile *p, const char *name,
                                        const char *file)
{
    for (uint32_t i = 0; i < p->n_subs; i++)
        if (strcmp(p->subs[i].name.ptr, name) == 0 &&
            strcmp(p->files[p->subs[i].file].name.ptr, file) == 0)
            return &p->subs[i];
    return NULL;
}

#define ONE                                                                                    \
    "@ 1 /lib.pm\n@ 2 /a.pl\nP 1 0\n+ 10 2 1\n> 2 2\n+ 10 2 2\n+ 5 1 7\n< 1 6 6 L::f\n"        \
    "+ 1 1 8\n-\n> 2 3\n+ 4 2 2\n+ 3 2 21\n< 1 3 3 main::g\n+ 1 2 22\n-\n+ 2 2 4\n"            \
    "s 1 L::f 5 9\ns 2 main::g 20 25\np 1\n"
#define TWO                                                                                    \
    "tps 1000000\n@ 1 /b.pl\n@ 2 /lib.pm\nP 2 0\n+ 10 1 1\n> 1 2\n+ 10 1 2\n+ 5 2 7\n"         \
    "< 1 6 6 L::f\n+ 1 2 8\n-\n> 1 3\n+ 4 1 3\n+ 3 1 21\n< 1 3 3 main::g\n+ 1 1 22\n-\n"       \
    "+ 2 1 4\ns 2 L::f 5 9\ns 1 main::g 20 25\np 2\n"

static void test_merging(void)
{
    struct nytp_profile *p = merged(ONE, TWO);
    ok(p != NULL && p->ticks_per_sec == 10000000 && p->n_processes == 2 && p->n_recordings == 2,
       "two recordings with other clocks merge into one");
    if (p == NULL)
        return;
    const struct nytp_sub *f = sub_named(p, "L::f", "/lib.pm");
    ok(f != NULL && f->calls == 2 && f->excl_ticks == 66 && f->statements == 4,
       "a sub of the same file is one sub");
    ok(sub_named(p, "main::g", "/a.pl") != NULL && sub_named(p, "main::g", "/b.pl") != NULL,
       "subs of the same name in different scripts stay apart");
    ok(p->total_ticks == 36 + 360, "the total is the sum, in the finer tick");
    ok(p->spans != NULL && p->n_spans == 4, "both timelines are there");
    nytp_profile_free(p);

    p = merged("@ 1 /a.pl\n@ 2 (eval 1)[/a.pl:3] 1 3\nP 1 0\n+ 5 2 1\np 1\n",
               "@ 1 /a.pl\n@ 2 (eval 1)[/a.pl:3] 1 3\nP 2 0\n+ 5 2 1\np 2\n");
    ok(p != NULL && p->n_files == 4 && p->files[2].eval_file == 1 && p->files[3].eval_file == 1,
       "files of one name are one file, string evals are not");
    nytp_profile_free(p);

    p = merged("@ 1 /loader/0x55d0/F.pm\n@ 2 /loader/0x55d0/G.pm\nP 1 0\n+ 5 2 1\np 1\n",
               "@ 1 /loader/0x7f21/F.pm\n@ 2 /F.pm\nP 2 0\n+ 5 2 1\np 2\n");
    ok(p != NULL && p->n_files == 4 && strcmp(p->files[3].name.ptr, "/F.pm") == 0,
       "what a hook in @INC has delivered is one file, wherever the hook lies");
    nytp_profile_free(p);
}

static bool spans_are(const char *script, const char *expected, uint32_t max_spans)
{
    struct nytp_profile *p = build(script, max_spans);
    char got[2000] = "";
    for (uint32_t i = 0; p != NULL && i < p->n_spans; i++) {
        char text[100];
        snprintf(text, sizeof text, "%s %lld-%lld\n",
                 p->subs[p->nodes[p->spans[i].node].sub].name.ptr,
                 (long long)p->spans[i].start_ticks, (long long)p->spans[i].end_ticks);
        strcat(got, text);
    }
    nytp_profile_free(p);
    if (strcmp(got, expected) == 0)
        return true;
    printf("# got: %s\n", got);
    return false;
}

static void timeline(void)
{
    ok(spans_are(
           "@ 1 /a.pl\n! calls 2\nP 1 0\n+ 10 1 1\n> 1 2\n+ 20 1 2\n+ 30 1 11\n> 1 12\n"
           "< 2 4 4 main::CORE:print\n> 1 12\n< 2 5 5 main::CORE:print\n< 1 80 71 main::f\n"
           "+ 50 1 12\n-\n+ 10 1 2\np 1\n",
           "main::f 30-110\nmain::CORE:print 60-64\nmain::CORE:print 64-69\n", 100),
       "calls lie where the statement clock says, one after the other");
    ok(spans_are(
           "@ 1 /a.pl\n! calls 1\nP 1 0\n+ 30 1 1\n+ 40 1 11\n< 2 10 10 main::g\n+ 10 1 21\n-\n"
           "+ 10 1 12\n< 1 60 50 main::f\n+ 0 1 13\n-\n+ 10 1 2\np 1\n",
           "main::f 30-90\nmain::g 70-80\n", 100),
       "without entries a call began its duration before it returned");
    ok(spans_are("@ 1 /a.pl\n! calls 2\nP 1 0\n> 1 1\n+ 1 1 1\n> 1 2\n< 2 1 1 m::a\n> 1 2\n< 2 "
                 "1 1 m::a\n"
                 "> 1 2\n< 2 50 50 m::b\n< 1 60 8 m::f\n+ 60 1 2\n-\n+ 1 1 1\np 1\n",
                 "m::f 1-61\nm::b 3-53\n", 2),
       "a full timeline drops the shortest calls, not the callers of long ones");
    struct nytp_profile *p = build("@ 1 /a.pl\n! calls 2\nP 1 0\n> 1 1\n< 1 1 1 m::a\n> 1 1\n"
                                   "< 1 1 1 m::a\n> 1 1\n< 1 9 9 m::b\n+ 20 1 1\np 1\n",
                                   2);
    ok(p != NULL && p->recordings[0].spans_pruned == 1 &&
           p->recordings[0].pruned_span_ticks == 1 && p->n_spans == 2,
       "and says how many, and how long they were at most");
    nytp_profile_free(p);
}

int main(void)
{
    test_merging();
    timeline();
    return done_testing();
}
