/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The bound on the points of the curve of memory where an input has so many processes that
 * points of one cannot stand for one another.
 */
#include "formats/build/build.h"
#include "formats/model/model.h"
#include "formats/model/profile.h"
#include "t/tap.h"

#include <stdlib.h>

#define MOST NYTP_MOST_MEMORY_POINTS

static void put_point(struct nytp_sink *sink, uint32_t resident)
{
    char text[40];
    const int len = snprintf(text, sizeof text, "nytp-memory %u\n", resident);
    struct nytp_event point = {.tag = NYTP_TAG_COMMENT};
    point.u.comment.text = (struct nytp_str){text, (uint32_t)len, false};
    sink->event(sink, &point);
    sink->event(sink, &(struct nytp_event){.tag = NYTP_TAG_TIME_LINE,
                                           .u.time = {.ticks = 1, .fid = 1, .line = 1}});
}

/* Processes of which the first has four points, each other one its number as its only one. */
static struct nytp_profile *processes(uint32_t n)
{
    static const uint32_t first[] = {5, 900000, 7, 3};
    struct nytp_error error = {0};
    struct nytp_builder *const builder =
        nytp_builder_new(&(struct nytp_build_options){0}, "points", &error);
    struct nytp_sink *const sink = nytp_builder_sink(builder);
    for (uint32_t pid = 1; pid <= n; pid++) {
        sink->event(sink, &(struct nytp_event){.tag = NYTP_TAG_PID_START,
                                               .u.process = {.pid = pid}});
        for (size_t i = 0; i < (pid == 1 ? 4 : 1); i++)
            put_point(sink, pid == 1 ? first[i] : pid);
        sink->event(sink,
                    &(struct nytp_event){.tag = NYTP_TAG_PID_END, .u.process = {.pid = pid}});
    }
    return nytp_builder_finish(builder, NULL, &error);
}

static bool has_point(const struct nytp_profile *p, uint32_t i, uint32_t process,
                      int64_t resident)
{
    return i < p->n_memory_points && p->memory_points[i].process == process &&
           p->memory_points[i].resident == resident;
}

int main(void)
{
    struct nytp_profile *const p = processes(MOST + 9);
    ok(p != NULL && p->n_processes == MOST + 9 && p->n_memory_points == MOST,
       "of more processes than there may be points the last have none");
    ok(p != NULL && has_point(p, 0, 0, 900000), "one with several has one then, its peak");
    ok(p != NULL && has_point(p, 1, 1, 2) && has_point(p, MOST - 1, MOST - 1, MOST),
       "and none stands for another process's");
    nytp_profile_free(p);
    return done_testing();
}
