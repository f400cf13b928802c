/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Contexts from call events: what the stream's order means, situation by situation.
 */
#include "script.h"

#include "formats/build/calltree.h"
#include "formats/model/profile.h"

#define START  "@ 1 /a.pl\n! calls 2\nP 7 1\n"
#define START1 "@ 1 /a.pl\n! calls 1\nP 7 1\n"

static void statements_belong_to_the_frame_they_began_in(void)
{
    ok(tree_is(START "+ 10 1 1\n> 1 2\n+ 20 1 2\n+ 30 1 11\n< 1 80 80 main::f\n+ 40 1 12\n-\n"
                     "+ 50 1 2\np 7\n",
               "main::RUNTIME@0 x1 70: 1=10/1 2=60/1\n"
               " main::f@2 x1 80: 11=34/1 12=46/1\n"),
       "a time record after the return is the callee's last statement");
    ok(tree_is(START "+ 10 1 1\n> 1 2\n< 1 5 5 main::CORE:print\n+ 20 1 2\np 7\n",
               "main::RUNTIME@0 x1 25: 1=10/1 2=15/1\n"
               " main::CORE:print@2 x1 5: 0=5/0\n"),
       "an opcode's time is taken off the line that called it");
    ok(tree_is(START "> 1 1\n+ 10 1 1\n> 1 11\n+ 10 1 11\n< 2 10 10 main::g\n"
                     "< 1 20 10 main::f\n+ 10 1 21\n-\n+ 10 1 2\np 7\n",
               "main::RUNTIME@0 x1 20: 1=10/1 2=10/0\n"
               " main::f@1 x1 10: 11=10/1\n  main::g@11 x1 10: 21=10/1\n"),
       "a die through two frames leaves the last statement with the innermost");
}

static void calls_that_fail_or_jump(void)
{
    ok(tree_is(START "+ 9 1 1\n> 1 2\n+ 100 1 2\n+ 7 1 3\n> 1 4\n+ 5 1 4\n+ 6 1 11\n"
                     "< 1 12 12 main::f\n+ 6 1 12\n-\n+ 2 1 4\np 7\n",
               "main::RUNTIME@0 x1 123: 1=9/1 2=100/1 3=7/1 4=7/1\n"
               " main::f@4 x1 12: 11=6/1 12=6/1\n"),
       "an entry without a return is no call");
    ok(tree_is(START "+ 10 1 1\n> 1 2\n+ 10 1 2\n+ 50 1 11\n> 1 12\n< 1 65 65 main::jumper\n"
                     "+ 10 1 12\n+ 30 1 21\n< 1 40 40 main::target\n+ 10 1 22\n-\n+ 9 1 2\n"
                     "p 7\n",
               "main::RUNTIME@0 x1 24: 1=10/1 2=14/1\n"
               " main::jumper@2 x1 65: 11=54/1 12=11/1\n"
               " main::target@12 x1 40: 21=30/1 22=10/1\n"),
       "goto &sub: the jumper returns, the target goes on at its depth");
    ok(tree_is(START "+ 10 1 1\n> 1 2\n+ 10 1 2\n> 1 12\n+ 10 1 12\n< 1 20 20 main::jumper\n"
                     "+ 5 1 21\n< 1 15 15 main::target\n+ 10 1 22\n-\n+ 9 1 2\np 7\n",
               "main::RUNTIME@0 x1 19: 1=10/1 2=9/1\n"
               " main::jumper@2 x1 20: 12=20/1\n"
               " main::target@12 x1 15: 21=5/1 22=10/1\n"),
       "the statement that runs when a jumper returns late is the target's");
}

static void frames_from_before_the_recording(void)
{
    ok(tree_is(START
               "+ 10 1 21\n> 1 22\n+ 10 1 22\n+ 5 1 31\n< 3 9 9 main::leaf\n+ 4 1 32\n-\n"
               "+ 10 1 22\n-\n< 2 50 30 main::inner\n+ 10 1 23\n-\n< 1 90 30 main::outer\n"
               "+ 5 1 12\n-\n+ 5 1 3\np 7\n",
               "main::RUNTIME@0 x1 5: 3=5/0\n"
               " main::outer@0 x1 30: 12=30/0\n"
               "  main::inner@0 x1 30: 21=7/1 22=15/1 23=8/0\n"
               "   main::leaf@22 x1 9: 31=5/1 32=4/1\n"),
       "frames open at a fork are found when they return");
}

static void frames_that_never_return(void)
{
    ok(tree_is(START
               "s 1 main::f 10 19\ns 1 main::g 20 29\n+ 10 1 1\n> 1 2\n+ 10 1 2\n+ 7 1 11\n"
               "> 1 12\n+ 3 1 12\n+ 4 1 21\np 7\n",
               "main::RUNTIME@0 x1 20: 1=10/1 2=10/1\n"
               " main::f@2 x1 10 open: 11=7/1 12=3/1\n  main::g@12 x1 4 open: 21=4/1\n"),
       "open frames are named by their lines and have their statements' time");
    ok(tree_is(
           START1 "+ 10 1 1\n< 3 5 5 main::a\n< 1 4 4 main::b\n+ 1 1 2\np 7\n",
           "main::RUNTIME@0 x1 2: 1=1/1 2=1/1\n"
           " main::b@0 x1 4: 0=4/0\n  [unreturned]@0 x1 0 open:\n   main::a@0 x1 5: 0=5/0\n"),
       "a missing level between returns is one frame");
    ok(tree_is(START1 "< 1 5 5 main::uno\n< 3 7 7 main::one\n+ 20 1 1\np 7\n",
               "main::RUNTIME@0 x1 8: 1=8/1\n [unreturned]@0 x1 0 open:\n"
               "  main::one@0 x1 7: 0=7/0\n main::uno@0 x1 5: 0=5/0\n"),
       "calls whose caller never returned do not hang under an earlier call");
}

static void recordings_without_entries(void)
{
    ok(tree_is(START1 "+ 10 1 1\n+ 5 1 11\n< 2 8 8 main::g\n+ 8 1 21\n-\n< 1 20 12 main::f\n"
                      "+ 7 1 12\n-\n+ 20 1 2\n"
                      "s 1 main::f 10 19\ns 1 main::g 20 29\n"
                      "c 1 2 main::RUNTIME 1 20 12 0 0 main::f\n"
                      "c 1 12 main::f 1 8 8 0 0 main::g\np 7\n",
               "main::RUNTIME@0 x1 30: 1=10/1 2=20/0\n"
               " main::f@2 x1 12: 11=5/1 12=7/0\n  main::g@12 x1 8: 21=8/1\n"),
       "depths give the tree, ranges the lines, arcs the call sites");
    ok(tree_is("@ 1 /a.pl\n! calls 0\nP 7 1\n+ 10 1 1\n+ 12 1 11\n+ 8 1 21\n+ 10 1 2\n"
               "s 1 main::f 10 19\ns 1 main::g 20 29\nc 1 2 main::RUNTIME 2 20 12 0 0 main::f\n"
               "c 1 12 main::f 3 8 8 0 0 main::g\np 7\n",
               "main::RUNTIME@0 x1 20: 1=10/1 2=10/1\n"
               " main::f@2 x2 12: 11=12/1\n  main::g@12 x3 8: 21=8/1\n"),
       "without call events the tree is estimated from arcs");
    ok(tree_is(
           "@ 1 /a.pl\n! subs 0\nP 7 1\n+ 10 1 1\n+ 5 1 11\n+ 6 1 2\ns 1 main::f 10 19\np 7\n",
           "main::RUNTIME@0 x1 16: 1=10/1 2=6/1\n main::f@0 x0 5: 11=5/1\n"),
       "without the subroutine profiler subs have their statements' time");
    ok(tree_is(START1
               "@ 2 /m.pm\ns 1 main::BEGIN@3 3 3\n+ 5 1 3\n+ 7 2 1\n< 1 12 12 main::BEGIN@3\n"
               "+ 1 1 3\n-\n+ 4 1 9\nc 1 3 main::NULL 1 12 12 0 0 main::BEGIN@3\np 7\n",
               "main::RUNTIME@0 x1 5: 9=5/0\n main::BEGIN@3@3 x1 12: 3=5/2 1=7/1\n"),
       "file scope of a required file belongs to the BEGIN block that ran it");
}

static void recursion_counts_once(void)
{
    struct nytp_profile *p =
        build(START "> 1 1\n+ 1 1 1\n> 1 11\n+ 1 1 11\n> 1 11\n+ 1 1 11\n"
                    "< 3 10 10 main::f\n+ 9 1 12\n-\n< 2 20 10 main::f\n"
                    "+ 9 1 12\n-\n< 1 30 10 main::f\n+ 9 1 12\n-\n+ 1 1 1\n"
                    "p 7\n",
              0);
    const struct nytp_sub *f = p != NULL ? &p->subs[1] : NULL;
    ok(f != NULL && f->calls == 3 && f->excl_ticks == 30 && f->incl_ticks == 30 &&
           f->reci_ticks == 30 && f->rec_depth == 2,
       "inclusive time of a recursion is the outermost call's, the rest is apart");
    nytp_profile_free(p);
}

static void depth_is_no_danger(void)
{
    const unsigned depth = 300000;
    char *script = malloc(depth * 40), *at = script;
    at += sprintf(at, START);
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned d = 0; d < depth / 2; d++)
            at += sprintf(at, "> 1 5\n");
        for (unsigned d = depth / 2; d > 0; d--)
            at += sprintf(at, "< %u 1 1 m::r\n", d);
    }
    struct nytp_profile *p = build(script, 1000);
    ok(p != NULL && p->n_nodes == depth / 2 + 1 && p->nodes[p->n_nodes - 1].calls == 2,
       "150,000 levels, twice");
    nytp_profile_free(p);
    at = script;
    at += sprintf(at, START1);
    for (unsigned i = 0; i < 1000; i++)
        at += sprintf(at, "< 900000 1 1 m::x\n< 1 1 1 m::y\n");
    p = build(script, 0);
    ok(p != NULL && p->n_nodes < 10, "absurd depths cost nothing");
    nytp_profile_free(p);
    free(script);
}

/* Whatever the events: every invariant holds and no statement is lost. */
static void invariants_hold_for_noise(void)
{
    unsigned seed = 1;
    bool all = true;
    const int n_rounds = getenv("NYTP_TEST_QUICK") != NULL ? 300 : 3000;
    for (int round = 0; round < n_rounds && all; round++) {
        char script[4000] = "@ 1 /a.pl\n@ 2 /b.pl\nP 7 1\n", *at = script + strlen(script);
        unsigned long statements = 0;
        bool discount = false;
        for (int i = 0; i < 60; i++) {
            seed = seed * 1103515245 + 12345;
            const unsigned r = seed >> 16 & 0x7fff, q = seed >> 8 & 0xff;
            switch (r % 8) {
            case 0:
            case 1:
                at += sprintf(at, "> 1 %u\n", q % 4);
                break;
            case 2:
            case 3:
                at +=
                    sprintf(at, "< %u %u %d m::s%u\n", r % 5 + 1, q, (int)(q % 50) - 2, q % 3);
                break;
            case 4:
                at += sprintf(at, "-\n");
                discount = true;
                break;
            case 5:
                if (q < 10)
                    at += sprintf(at, "p 7\nP 8 7\n"), discount = false;
                break;
            default:
                at += sprintf(at, "+ %d %u %u\n", (int)(q % 60) - 3, q % 2 + 1, r % 30);
                statements += !discount;
                discount = false;
            }
        }
        if (round % 2)
            at += sprintf(
                at, "s 1 m::s0 1 9\ns 1 m::s1 3 5\nc 1 2 main::RUNTIME 2 9 5 1 1 m::s1\n");
        struct nytp_profile *p = build(script, round % 3 == 0 ? 8 : 0);
        all = p != NULL && p->total_statements == statements;
        if (!all)
            printf("# round %d\n%s", round, script);
        nytp_profile_free(p);
    }
    ok(all, "invariants hold for any order of events");
}

/* Give a root children with a line each. How many of them all are found again. */
static uint32_t grow_to(struct nytp_calltree *tree, uint32_t root, uint32_t from, uint32_t to)
{
    bool is_good = true;
    for (uint32_t i = from; is_good && i < to; i++) {
        const uint32_t node = nytp_calltree_add_child(tree, root, i, 1, i);
        is_good = node != NYTP_NO_NODE && nytp_calltree_add_line(tree, node, 1, i, 5, 1, 0);
    }
    uint32_t found = 0;
    for (; is_good && found < to; found++) {
        const uint32_t node = nytp_calltree_child(tree, root, found, 1, found);
        is_good = node != NYTP_NO_NODE && tree->nodes[node].n_lines == 1 &&
                  nytp_calltree_add_line(tree, node, 1, found, 5, 1, 0) &&
                  tree->nodes[node].n_lines == 1;
    }
    return found;
}

/* Many small files must not cost the clearing of large tables. */
static void caches_grow_with_the_tree(void)
{
    struct nytp_calltree tree;
    ok(nytp_calltree_init(&tree, 0), "a tree");
    const uint32_t root = nytp_calltree_new_node(&tree);
    tree.nodes[root].parent = root;
    ok(grow_to(&tree, root, 0, 30) >= 30 && tree.line_cache.mask < 4096 &&
           tree.call_cache.mask < 4096 && sizeof tree < 4096,
       "a small one has small caches");
    ok(grow_to(&tree, root, 30, 20000) == 20000, "all is found again while they grow");
    ok(tree.line_cache.mask > 20000 && tree.line_cache.mask == tree.call_cache.mask,
       "a large one has large caches");
    ok(grow_to(&tree, root, 20000, 80000) == 80000 && tree.line_cache.mask < 262144,
       "of bounded size");
    nytp_calltree_free(&tree);
}

int main(void)
{
    caches_grow_with_the_tree();
    statements_belong_to_the_frame_they_began_in();
    calls_that_fail_or_jump();
    frames_from_before_the_recording();
    frames_that_never_return();
    recordings_without_entries();
    recursion_counts_once();
    depth_is_no_danger();
    invariants_hold_for_noise();
    return done_testing();
}
