/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Inputs of an earlier run; see earlier_runs.h. Of each that may be one only the beginning is
 * read, which tells the process, its parent and when recording began.
 *
 * A file PATH.N of another process than N is one that PATH's process has finished by rotation,
 * or that another program of the same run wrote before: it is kept, and may have children.
 */
#include "earlier_runs.h"

#include "messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The first process of an input; pid 0: not known. */
struct beginning {
    struct nytp_sink sink;
    uint32_t pid, ppid;
    double start_s;
    size_t len;        /* of the name */
    size_t parent_len; /* of that before ".N"; 0: it has no such end */
    uint32_t number;   /* N */
    bool is_kept;
};

static bool see_process(struct nytp_sink *sink, const struct nytp_event *event)
{
    struct beginning *const b = (struct beginning *)sink;
    if (event->tag != NYTP_TAG_PID_START)
        return true;
    b->pid = event->u.pid_start.pid;
    b->ppid = event->u.pid_start.ppid;
    b->start_s = event->u.pid_start.time_s;
    return false;
}

static void read_beginning(const char *path, struct beginning *beginning)
{
    const struct nytp_read_options options = {.one_of_several = true};
    struct nytp_error error = {0};
    struct nytp_source *const source = nytp_source_open(path, &error);
    if (source == NULL)
        return; /* it is told when it is to be read */
    beginning->sink.event = see_process;
    nytp_read(source, &options, &beginning->sink, &error);
    nytp_source_free(source);
}

/* "PATH.N" is taken apart. */
static void read_name(const char *path, struct beginning *beginning)
{
    const char *const dot = strrchr(path, '.');
    beginning->len = strlen(path);
    if (dot == NULL || dot == path || dot[1] == '\0' ||
        dot[1 + strspn(dot + 1, "0123456789")] != '\0' || strlen(dot) > 10)
        return;
    beginning->parent_len = (size_t)(dot - path);
    beginning->number = (uint32_t)strtoul(dot + 1, NULL, 10);
}

static bool is_named_after(const struct nytp_cli *cli, const struct beginning *all, int child,
                           int parent)
{
    return all[child].parent_len == all[parent].len &&
           memcmp(cli->files[child], cli->files[parent], all[parent].len) == 0;
}

/* Whether a process that is kept started it: the parent's or one of those beside it. */
static bool has_kept_parent(const struct nytp_cli *cli, const struct beginning *all, int child,
                            int parent)
{
    for (int i = 0; i < cli->n_files; i++)
        if (all[i].is_kept && all[i].pid == all[child].ppid &&
            (i == parent || is_named_after(cli, all, i, parent)))
            return true;
    return false;
}

/* Finds those of an earlier run than that of `parent`, which are all that are not kept. */
static void judge_children(const struct nytp_cli *cli, struct beginning *all, int parent)
{
    for (int i = 0; i < cli->n_files; i++)
        if (is_named_after(cli, all, i, parent))
            all[i].is_kept = all[i].pid == 0 || all[i].pid != all[i].number ||
                             all[i].start_s >= all[parent].start_s;
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < cli->n_files; i++)
            if (!all[i].is_kept && is_named_after(cli, all, i, parent) &&
                has_kept_parent(cli, all, i, parent))
                more = all[i].is_kept = true;
    }
}

static void say_left_out(const struct nytp_cli *cli, const struct beginning *all)
{
    const char *first = NULL;
    double since_s = 0;
    unsigned n = 0;
    for (int i = 0; i < cli->n_files; i++) {
        if (all[i].is_kept)
            continue;
        n++;
        first = first == NULL ? cli->files[i] : first;
        since_s = n == 1 || all[i].start_s < since_s ? all[i].start_s : since_s;
    }
    char more[40] = " is", began[40] = "";
    const time_t when = (time_t)since_s;
    struct tm local;
    if (n > 1)
        snprintf(more, sizeof more, " and %u more are", n - 1);
    if (localtime_r(&when, &local) != NULL)
        strftime(began, sizeof began, " (%Y-%m-%d %H:%M:%S)", &local);
    if (n > 0)
        nytp_cli_say("%s%s of an earlier run%s: left out; --all-runs takes %s", first, more,
                     began, n > 1 ? "them" : "it");
}

static void keep_kept(struct nytp_cli *cli, const struct beginning *all)
{
    int n = 0;
    for (int i = 0; i < cli->n_files; i++)
        if (all[i].is_kept)
            cli->files[n++] = cli->files[i];
        else if (cli->owns_files)
            free(cli->files[i]);
    cli->n_files = n;
}

void nytp_leave_out_earlier_runs(struct nytp_cli *cli)
{
    const bool may_be = cli->n_files > 1 && !cli->all_runs;
    struct beginning *const all = may_be ? calloc((size_t)cli->n_files, sizeof *all) : NULL;
    if (all == NULL)
        return;
    for (int i = 0; i < cli->n_files; i++) {
        all[i].is_kept = true;
        read_name(cli->files[i], &all[i]);
    }
    for (int parent = 0; parent < cli->n_files; parent++) {
        bool has_children = false;
        for (int i = 0; i < cli->n_files; i++) {
            if (!is_named_after(cli, all, i, parent))
                continue;
            read_beginning(cli->files[i], &all[i]);
            has_children = true;
        }
        if (!has_children)
            continue;
        read_beginning(cli->files[parent], &all[parent]);
        judge_children(cli, all, parent);
    }
    say_left_out(cli, all);
    keep_kept(cli, all);
    free(all);
}
