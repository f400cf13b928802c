/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The line that tells how far the reading of an input has come: whatever its file is called,
 * the line is text, short, and steers no terminal.
 */
#define _XOPEN_SOURCE 700
#include "exporters/cli/progress.h"
#include "t/tap.h"

#include <stdlib.h>
#include <unistd.h>

static bool take(struct nytp_sink *sink, const struct nytp_event *event)
{
    return sink != NULL && event != NULL;
}

/* The text that an input of this name shows after some seconds, up to how much was read. */
static const char *shown(const char *path)
{
    static char text[512];
    struct nytp_error error = {0};
    struct nytp_source *const source = nytp_source_memory("NYTProf", 7, &error);
    struct nytp_sink next = {.event = take};
    struct progress progress;
    struct nytp_sink *const sink = nytp_cli_begin_progress(&progress, path, source, &next);
    progress.start_ms -= 5000;
    progress.countdown = 1;
    FILE *const file = tmpfile();
    const int own = dup(STDERR_FILENO);
    if (source == NULL || file == NULL || own < 0)
        exit(1);
    dup2(fileno(file), STDERR_FILENO);
    sink->event(sink, &(struct nytp_event){.tag = NYTP_TAG_COMMENT});
    dup2(own, STDERR_FILENO);
    close(own);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    nytp_source_free(source);
    char *const end = strrchr(text, ':');
    if (end != NULL)
        *end = '\0';
    return text;
}

int main(void)
{
    is_text(shown("nytprof.out"), "\rreading nytprof.out", "a name is shown as it is");
    is_text(shown("a\x1b[31m\xc2\x9bm\n\xe2\x80\xae.out"), "\rreading a?[31m?m??.out",
            "what would steer the terminal is not");
    is_text(shown("0123456789012345678901234567890123456789.out"),
            "\rreading 0123456789012345678901234567890123456789", "a long name is cut");
    is_text(shown("x012345678901234567890123456789012345678\xc3\xa4.out"),
            "\rreading x012345678901234567890123456789012345678", "at 40 bytes");
    is_text(shown("012345678901234567890123456789012345678\xc3\xa4.out"),
            "\rreading 012345678901234567890123456789012345678", "and between characters");
    return done_testing();
}
