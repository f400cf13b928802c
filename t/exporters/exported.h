/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * For the tests of exporters: what one of them writes of a fixture, as text.
 */
#ifndef NYTP_TEST_EXPORTED_H
#define NYTP_TEST_EXPORTED_H

#include "t/exporters/fixture.h"
#include "t/tap.h"

static char text[8 << 20];
static size_t text_len;
static uint64_t n_negative;

static inline void export_with(const struct nytp_exporter *exporter,
                               const struct nytp_profile *profile,
                               const struct nytp_export_options *options, bool is_pipe)
{
    struct nytp_out *out = nytp_out_memory(true);
    out->is_pipe = is_pipe;
    const bool written = exporter->write(profile, options, out);
    const uint8_t *bytes = nytp_out_bytes(out, &text_len);
    n_negative = out->n_negative;
    if (!written || text_len >= sizeof text)
        text_len = 0;
    memcpy(text, bytes, text_len);
    text[text_len] = '\0';
    nytp_out_discard(out);
}

static inline bool contains(const char *want)
{
    const bool found = strstr(text, want) != NULL;
    for (const char *at = want; !found && *at != '\0'; at += strspn(at, "\n")) {
        printf("# lacks %.*s\n", (int)strcspn(at, "\n"), at);
        at += strcspn(at, "\n");
    }
    return found;
}

/* A program of two lines. */
static inline const struct nytp_profile *two_lines(struct fixture *f, int64_t first_ticks,
                                                   int64_t second_ticks)
{
    fixture_begin(f, 2);
    const uint32_t file = fixture_file(f, "/x/a.pl");
    fixture_sub(f, fixture_name("main::RUNTIME"), file, 1, 1);
    fixture_node(f, 0, 0, 0, 0, 1);
    fixture_line(f, file, 1, first_ticks, 1);
    fixture_line(f, file, 2, second_ticks, 1);
    return fixture_finish(f);
}

#endif
