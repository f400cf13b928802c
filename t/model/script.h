/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Profiles out of little scripts, for the tests of the model: one event a line, in the bytes of
 * the stream, ticks for all times (10,000,000 a second unless "tps" says otherwise).
 *
 *     @ 1 /a.pl            @ 2 (eval 1)[/a.pl:3] 1 3     + TICKS FID LINE      -
 *     > FID LINE           < DEPTH INCL EXCL NAME        s FID NAME FIRST LAST
 *     c FID LINE CALLER COUNT INCL EXCL RECI DEPTH CALLEE                      x CALLEE
 *     P PID PPID           p PID                         tps N                 ! KEY VALUE
 *     # COMMENT
 */
#ifndef NYTP_TEST_SCRIPT_H
#define NYTP_TEST_SCRIPT_H

#include "formats/build/build.h"
#include "formats/model/model.h"
#include "formats/model/profile.h"
#include "t/tap.h"

#include <stdlib.h>

static inline struct nytp_str str(const char *text)
{
    return (struct nytp_str){text, (uint32_t)strlen(text), false};
}

static inline void feed_line(struct nytp_sink *sink, const char *line)
{
    char a[200] = "", b[200] = "";
    double incl, excl, reci;
    long long ticks;
    static double tps = 1e7;
    struct nytp_event e = {0};
    switch (line[0]) {
    case '@':
        e.tag = NYTP_TAG_NEW_FID;
        if (sscanf(line, "@ %u (%199[^)]) %u %u", &e.u.new_fid.fid, a, &e.u.new_fid.eval_fid,
                   &e.u.new_fid.eval_line) < 1)
            abort();
        sscanf(line, "@ %*u %199[^\n]", b);
        char *end = strrchr(b, ']');
        if (end != NULL) {
            sscanf(end + 1, "%u %u", &e.u.new_fid.eval_fid, &e.u.new_fid.eval_line);
            end[1] = '\0';
        }
        e.u.new_fid.name = str(b);
        break;
    case '+':
        e.tag = NYTP_TAG_TIME_LINE;
        sscanf(line, "+ %lld %u %u", &ticks, &e.u.time.fid, &e.u.time.line);
        e.u.time.ticks = (int32_t)ticks;
        break;
    case '-':
        e.tag = NYTP_TAG_DISCOUNT;
        break;
    case '>':
        e.tag = NYTP_TAG_SUB_ENTRY;
        sscanf(line, "> %u %u", &e.u.sub_entry.caller_fid, &e.u.sub_entry.caller_line);
        break;
    case '<':
        e.tag = NYTP_TAG_SUB_RETURN;
        sscanf(line, "< %u %lf %lf %199s", &e.u.sub_return.depth, &e.u.sub_return.incl_ticks,
               &e.u.sub_return.excl_ticks, a);
        e.u.sub_return.name = str(a);
        break;
    case 's':
        e.tag = NYTP_TAG_SUB_INFO;
        sscanf(line, "s %u %199s %u %u", &e.u.sub_info.fid, a, &e.u.sub_info.first_line,
               &e.u.sub_info.last_line);
        e.u.sub_info.name = str(a);
        break;
    case 'c':
        e.tag = NYTP_TAG_SUB_CALLERS;
        sscanf(line, "c %u %u %199s %u %lf %lf %lf %u %199s", &e.u.sub_callers.fid,
               &e.u.sub_callers.line, a, &e.u.sub_callers.count, &incl, &excl, &reci,
               &e.u.sub_callers.rec_depth, b);
        e.u.sub_callers.incl_s = incl / tps;
        e.u.sub_callers.excl_s = excl / tps;
        e.u.sub_callers.reci_s = reci / tps;
        e.u.sub_callers.caller = str(a);
        e.u.sub_callers.callee = str(b);
        break;
    case 'x':
        e.tag = NYTP_TAG_SUB_CALLERS;
        sscanf(line, "x %199s", b);
        e.u.sub_callers.caller = str("");
        e.u.sub_callers.callee = str(b);
        break;
    case 'P':
        e.tag = NYTP_TAG_PID_START;
        sscanf(line, "P %u %u", &e.u.pid_start.pid, &e.u.pid_start.ppid);
        e.u.pid_start.time_s = 1.7e9;
        break;
    case 'p':
        e.tag = NYTP_TAG_PID_END;
        sscanf(line, "p %u", &e.u.pid_end.pid);
        e.u.pid_end.time_s = 1.7e9 + 1;
        break;
    case '#':
        e.tag = NYTP_TAG_COMMENT;
        snprintf(a, sizeof a, "%s\n", line + 2);
        e.u.comment.text = str(a);
        break;
    case '!':
        e.tag = NYTP_TAG_OPTION;
        sscanf(line, "! %199s %199s", a, b);
        e.u.pair.key = str(a);
        e.u.pair.value = str(b);
        break;
    case 't':
        e.tag = NYTP_TAG_ATTRIBUTE;
        sscanf(line, "tps %199s", b);
        tps = strtod(b, NULL);
        e.u.pair.key = str("ticks_per_sec");
        e.u.pair.value = str(b);
        break;
    default:
        abort();
    }
    if (!sink->event(sink, &e))
        printf("# stopped at: %s\n", line);
}

static inline struct nytp_profile *build(const char *script, uint32_t max_spans)
{
    struct nytp_error error = {0};
    struct nytp_builder *builder = nytp_builder_new(
        &(struct nytp_build_options){.max_spans = max_spans}, "script", &error);
    struct nytp_sink *sink = nytp_builder_sink(builder);
    feed_line(sink, "tps 10000000");
    while (*script != '\0') {
        char line[300];
        const size_t len = strcspn(script, "\n");
        memcpy(line, script, len);
        line[len] = '\0';
        feed_line(sink, line);
        script += len + (script[len] == '\n');
    }
    struct nytp_profile *profile = nytp_builder_finish(builder, NULL, &error);
    if (profile == NULL || !nytp_profile_adds_up(profile, &error)) {
        printf("# %s\n", error.message);
        nytp_profile_free(profile);
        return NULL;
    }
    return profile;
}

static inline void put_tree(const struct nytp_profile *p, uint32_t node, char *to)
{
    const struct nytp_node *n = &p->nodes[node];
    char text[400];
    snprintf(text, sizeof text, "%*s%s@%u x%llu %lld%s:", (int)n->depth, "",
             p->subs[n->sub].name.ptr, n->line, (unsigned long long)n->calls,
             (long long)n->excl_ticks, (n->flags & NYTP_NODE_UNRETURNED) ? " open" : "");
    strcat(to, text);
    for (uint32_t i = 0; i < n->n_node_lines; i++) {
        const struct nytp_node_line *l = &p->node_lines[n->first_node_line + i];
        snprintf(text, sizeof text, " %u=%lld/%llu", l->line, (long long)l->ticks,
                 (unsigned long long)l->statements);
        strcat(to, text);
    }
    strcat(to, "\n");
    for (uint32_t i = 0; i < n->n_children; i++)
        put_tree(p, p->children[n->first_child + i], to);
}

/* The tree of every process as text: sub@line of the call, x calls, exclusive ticks, lines
 * with ticks/statements. */
static inline bool tree_is(const char *script, const char *expected)
{
    char got[8000] = "";
    struct nytp_profile *p = build(script, 0);
    for (uint32_t i = 0; p != NULL && i < p->n_processes; i++)
        put_tree(p, p->processes[i].root, got);
    nytp_profile_free(p);
    if (strcmp(got, expected) == 0)
        return true;
    for (char *line = strtok(got, "\n"); line != NULL; line = strtok(NULL, "\n"))
        printf("# %s\n", line);
    return false;
}

#endif
