/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Stands between a reader and its sink, and looks at the clock once in many events; see
 * progress.h.
 */
#include "progress.h"

#include "formats/base/printable.h"

#include "formats/base/utf8.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define PROGRESS_EVERY 65536 /* records between two looks at the clock */
#define MOST_NAME      40    /* bytes of the input's name that are shown */

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void show_progress(struct progress *progress)
{
    const int64_t now = now_ms();
    const int64_t since =
        progress->shown_ms > 0 ? now - progress->shown_ms : now - progress->start_ms;
    if (since < (progress->shown_ms > 0 ? 200 : 1000))
        return;
    progress->shown_ms = now;
    char name[MOST_NAME + 1];
    const size_t len = nytp_utf8_whole(progress->path, strlen(progress->path), MOST_NAME);
    snprintf(name, sizeof name, "%.*s", (int)len, progress->path);
    nytp_make_printable(name);
    const uint64_t done = nytp_source_raw_bytes(progress->source);
    const uint64_t size = nytp_source_raw_size(progress->source);
    if (size > 0 && done <= size)
        fprintf(stderr, "\rreading %s: %3d %%", name, (int)((double)done / (double)size * 100));
    else
        fprintf(stderr, "\rreading %s: %.1f MB", name, (double)done / 1e6);
}

static bool progress_event(struct nytp_sink *sink, const struct nytp_event *event)
{
    struct progress *progress = (struct progress *)sink;
    if (--progress->countdown == 0) {
        progress->countdown = PROGRESS_EVERY;
        show_progress(progress);
    }
    return progress->next->event(progress->next, event);
}

struct nytp_sink *nytp_cli_begin_progress(struct progress *progress, const char *path,
                                          const struct nytp_source *source,
                                          struct nytp_sink *next)
{
    *progress = (struct progress){
        .sink.event = progress_event,
        .next = next,
        .source = source,
        .path = path,
        .countdown = PROGRESS_EVERY,
        .start_ms = now_ms(),
    };
    return &progress->sink;
}

void nytp_cli_end_progress(const struct progress *progress)
{
    if (progress->shown_ms > 0)
        fputs("\r\033[K", stderr);
}
