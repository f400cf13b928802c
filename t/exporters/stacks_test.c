/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Bounding of deep stacks: bounded depth, every context counted on a frame of its own sub (or,
 * where the user asked for a depth, on an outer one).
 */
#include "exporters/stacks/stacks.h"
#include "t/exporters/fixture.h"
#include "t/tap.h"

enum {
    LEVELS = 3000
};

static uint32_t frames(const struct nytp_stacks *stacks, uint32_t node)
{
    uint32_t n = 1;
    for (; nytp_stacks_outer(stacks, node) != node; n++)
        node = nytp_stacks_outer(stacks, node);
    return n;
}

static uint32_t deepest(const struct nytp_stacks *stacks)
{
    uint32_t most = 0;
    for (uint32_t n = 0; n < stacks->profile->n_nodes; n++) {
        const uint32_t depth = frames(stacks, nytp_stacks_kept(stacks, n));
        most = depth > most ? depth : most;
    }
    return most;
}

static bool same_subs(const struct nytp_stacks *stacks)
{
    const struct nytp_node *nodes = stacks->profile->nodes;
    for (uint32_t n = 0; n < stacks->profile->n_nodes; n++)
        if (nodes[n].sub != nodes[nytp_stacks_kept(stacks, n)].sub)
            return false;
    return true;
}

/* main -> ping -> pong -> ping …, with a builtin called at every level */
static const struct nytp_profile *make(struct fixture *f)
{
    fixture_begin(f, 2 * LEVELS + 2);
    const uint32_t file = fixture_file(f, "/x/a.pl");
    fixture_sub(f, fixture_name("main::RUNTIME"), file, 1, 1);
    fixture_sub(f, fixture_name("main::CORE:print"), file, 0, 0);
    fixture_sub(f, fixture_name("main::ping"), file, 2, 3);
    fixture_sub(f, fixture_name("main::pong"), file, 4, 5);
    uint32_t node = fixture_node(f, 0, 0, 0, 0, 1);
    for (uint32_t i = 0; i < LEVELS; i++) {
        fixture_node(f, node, 1, file, 9, 1);
        fixture_line(f, 0, 0, 5, 0);
        node = fixture_node(f, node, 2 + i % 2, file, 9, 1);
        fixture_line(f, file, 3, 10, 1);
    }
    return fixture_finish(f);
}

static struct nytp_stacks bounded(const struct nytp_profile *profile,
                                  const struct nytp_export_options *options)
{
    struct nytp_stacks stacks;
    if (!nytp_stacks_init(&stacks, profile, options))
        exit(2);
    return stacks;
}

/* Two processes: of one context, and of a sub that calls itself. */
static const struct nytp_profile *make_two(struct fixture *f)
{
    fixture_begin(f, LEVELS + 2);
    fixture_sub(f, fixture_name("main::RUNTIME"), 0, 0, 0);
    fixture_sub(f, fixture_name("main::again"), 0, 0, 0);
    fixture_node(f, 0, 0, 0, 0, 1);
    uint32_t node = fixture_node(f, 1, 0, 0, 0, 1);
    f->nodes[node].depth = 0;
    for (uint32_t i = 0; i < LEVELS; i++)
        node = fixture_node(f, node, 1, 0, 9, 1);
    f->profile.nodes = f->nodes;
    return &f->profile;
}

static struct nytp_stacks bounded_nodes(const struct nytp_profile *profile, uint32_t first,
                                        uint32_t end)
{
    struct nytp_stacks stacks;
    if (!nytp_stacks_init_nodes(&stacks, profile, &(struct nytp_export_options){0}, first, end))
        exit(2);
    return stacks;
}

static bool same_stacks(const struct nytp_stacks *a, const struct nytp_stacks *b,
                        uint32_t first)
{
    for (uint32_t n = first; n < a->profile->n_nodes; n++) {
        const uint32_t kept = nytp_stacks_kept(a, n);
        if (kept != nytp_stacks_kept(b, n) ||
            nytp_stacks_outer(a, kept) != nytp_stacks_outer(b, kept) ||
            nytp_stacks_site(a, kept) != nytp_stacks_site(b, kept))
            return false;
    }
    return true;
}

int main(void)
{
    struct fixture f;
    const struct nytp_profile *profile = make(&f);

    struct nytp_stacks stacks = bounded(profile, &(struct nytp_export_options){0});
    ok(stacks.n_pruned > LEVELS, "a deep recursion is bounded");
    ok(deepest(&stacks) <= NYTP_STACKS_BOUND + 2, "down to the bound and what is called there");
    ok(same_subs(&stacks), "each context on a frame of its own sub");
    nytp_stacks_free(&stacks);

    stacks = bounded(profile, &(struct nytp_export_options){.max_depth = 5});
    ok(deepest(&stacks) == 5, "a depth asked for is kept");
    ok(nytp_stacks_kept(&stacks, profile->n_nodes - 1) < 10,
       "what is deeper is on the last frame");
    nytp_stacks_free(&stacks);

    stacks = bounded(profile, &(struct nytp_export_options){.collapse_recursion = true});
    ok(same_subs(&stacks), "mutual recursion is no run of one sub calling itself");
    nytp_stacks_free(&stacks);
    for (uint32_t n = 0; n < profile->n_nodes; n++)
        if (profile->nodes[n].sub == 3)
            f.nodes[n].sub = 2;
    stacks = bounded(profile, &(struct nytp_export_options){.collapse_recursion = true});
    ok(deepest(&stacks) == 3, "which is one frame, with what it calls");
    nytp_stacks_free(&stacks);
    fixture_free(&f);

    fixture_begin(&f, 4);
    fixture_sub(&f, fixture_name("main::RUNTIME"), 0, 0, 0);
    fixture_node(&f, 0, 0, 0, 0, 1);
    stacks = bounded(fixture_finish(&f), &(struct nytp_export_options){0});
    ok(stacks.kept == NULL && nytp_stacks_kept(&stacks, 0) == 0,
       "a usual profile is left alone");
    nytp_stacks_free(&stacks);
    fixture_free(&f);

    const struct nytp_profile *two = make_two(&f);
    stacks = bounded(two, &(struct nytp_export_options){0});
    struct nytp_stacks first = bounded_nodes(two, 0, 1),
                       second = bounded_nodes(two, 1, two->n_nodes);
    ok(stacks.kept != NULL && first.kept == NULL,
       "a process is left alone however deep another is");
    ok(second.n_pruned > 0 && same_stacks(&stacks, &second, 1),
       "and the deep one is bounded by itself as among all");
    nytp_stacks_free(&stacks);
    nytp_stacks_free(&first);
    nytp_stacks_free(&second);
    fixture_free(&f);
    return done_testing();
}
