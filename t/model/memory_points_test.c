/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The bound on the points of the curve of memory where an input has so many processes that
 * points of one cannot stand for one another.
 */
#include "script.h"

#define MOST NYTP_MOST_MEMORY_POINTS

/* Processes of which the first has the points of `first`, each other one its number as its only
 * one. */
static struct nytp_profile *processes(uint32_t n, const char *first)
{
    char *const script = malloc((size_t)n * 80 + 1000), *end = script;
    if (script == NULL)
        abort();
    end += sprintf(end, "@ 1 /a.pl\nP 1 0\n%s+ 1 1 1\np 1\n", first);
    for (uint32_t pid = 2; pid <= n; pid++)
        end += sprintf(end, "P %u 1\n# nytp-memory %u\n+ 1 1 1\np %u\n", pid, pid, pid);
    struct nytp_profile *const p = build(script, 0);
    free(script);
    return p;
}

static bool has_point(const struct nytp_profile *p, uint32_t i, uint32_t process,
                      int64_t resident)
{
    return i < p->n_memory_points && p->memory_points[i].process == process &&
           p->memory_points[i].resident == resident;
}

int main(void)
{
    struct nytp_profile *const p =
        processes(MOST + 9, "# nytp-memory 5\n+ 1 1 1\n# nytp-memory 900000\n+ 1 1 1\n"
                            "# nytp-memory 7\n+ 1 1 1\n# nytp-memory 3\n");
    ok(p != NULL && p->n_processes == MOST + 9 && p->n_memory_points == MOST,
       "of more processes than there may be points the last have none");
    ok(p != NULL && has_point(p, 0, 0, 900000), "one with several has one then, its peak");
    ok(p != NULL && has_point(p, 1, 1, 2) && has_point(p, MOST - 1, MOST - 1, MOST),
       "and none stands for another process's");
    nytp_profile_free(p);
    return done_testing();
}
