/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Fuzz target: any bytes into the summary of the loading API (Devel::NYTProf::Data) and of the
 * report. Whatever the bytes are, nothing crashes, and what refers to a list lies within it.
 */
#include "formats/stream/format.h"
#include "formats/by_position/summary.h"

#include <string.h>

#include "target.h"

static void check(const struct nytp_summary *s)
{
    for (uint32_t i = 0; i < s->calls.n; i++)
        must(s->calls.at[i].sub < s->subs.n, "a call's sub");
    for (uint32_t i = 0; i < s->subs.n; i++)
        must(nytp_summary_str(s, s->subs.at[i].name).ptr != NULL, "a sub's name");
    for (uint32_t i = 0; i < s->files.n; i++) {
        const struct nytp_summary_file *file = &s->files.at[i];
        must(i == 0 || file[-1].fid < file->fid, "the order of files");
        must(file->eval_file < s->files.n || file->eval_file == UINT32_MAX, "who ran a file");
        must(file->merged_into < s->files.n || file->merged_into == UINT32_MAX,
             "what took a file over");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nytp_error error = {0};
    struct nytp_source *source = nytp_source_memory(data, size, &error);
    struct nytp_summary *summary = nytp_summary_new();
    if (source == NULL || summary == NULL)
        abort();
    nytp_read(source, &(struct nytp_read_options){0}, &summary->sink, &error);
    nytp_source_free(source);
    summary->error = (struct nytp_error){0};
    if (nytp_summary_finish(summary)) {
        check(summary);
        if (size % 2 == 0 && nytp_summary_merge_evals(summary, (uint32_t)(size % 7)))
            check(summary);
    }
    nytp_summary_free(summary);
    return 0;
}
