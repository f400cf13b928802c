/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A profile in at most 8 kB of Markdown, for a person in a hurry and for agents. It has the
 * quality of the numbers, the hottest lines with source, the hottest subs with callers, waits,
 * databases, regular expressions, memory and SVs kept, and packages. For each cut it names the
 * command that shows the rest. Names come from strangers: they are shown as code, without
 * control characters, cut to a limit.
 */
#include "exporters/base/markdown.h"
#include "formats/base/printable.h"
#include "exporters/base/regex_rows.h"
#include "exporters/base/text.h"
#include "exporters/base/wait_rows.h"
#include "exporters/base/waits.h"
#include "exporters/report/flame_picture.h"
#include "exporters/stacks/calls.h"
#include "exporters/stacks/hot_lines.h"
#include "exporters/stacks/queries.h"

#include "formats/base/utf8.h"
#include "formats/model/profile.h"
#include "formats/model/svs.h"

#include <stdlib.h>
#include <string.h>

#define MOST_NAME    200 /* bytes of a name */
#define MOST_PLACE   160 /* bytes of a path with its line; cut at its start */
#define MOST_SOURCE  120 /* bytes of a line of source */
#define MOST_REQUEST 80
#define MOST_CALLERS 2

/* The exclusive time of all subs of a package and of the builtins that they call. */
struct package {
    struct nytp_name name;
    int64_t ticks;
};

struct brief {
    const struct nytp_profile *profile;
    const struct nytp_export_options *options;
    struct nytp_out *out;
    struct nytp_callers callers;
    struct nytp_line_rows lines, kept, in_use; /* by time; by SVs kept; by bytes in use */
    struct nytp_bytes bytes;                   /* of all subs */
    const struct nytp_sub **subs, **waits;     /* by exclusive time; those that wait */
    uint32_t n_subs, n_waits;
    int64_t wait_ticks;
    struct nytp_wait_rows reasons; /* without "other" */
    struct nytp_queries queries;
    struct nytp_regex_rows regexes;
    struct package *packages; /* by exclusive time */
    uint32_t n_packages;
};

/* Subs are sorted by name: their address breaks ties. */
static int by_ticks(const void *x, const void *y)
{
    const struct nytp_sub *a = *(const struct nytp_sub *const *)x;
    const struct nytp_sub *b = *(const struct nytp_sub *const *)y;
    NYTP_RETURN_ORDER(b->excl_ticks, a->excl_ticks);
    return (a > b) - (a < b);
}

/* Returns the subs with most exclusive time (of `only`, if given), or NULL if memory is out. */
static const struct nytp_sub **hottest(const struct nytp_profile *profile, const bool *only,
                                       uint32_t *n)
{
    const struct nytp_sub **const subs = malloc(((size_t)profile->n_subs + 1) * sizeof *subs);
    *n = 0;
    for (uint32_t i = 0; subs != NULL && i < profile->n_subs; i++)
        if (profile->subs[i].excl_ticks > 0 && (only == NULL || only[i]))
            subs[(*n)++] = &profile->subs[i];
    if (*n > 0)
        qsort(subs, *n, sizeof *subs, by_ticks);
    return subs;
}

static bool find_waits(struct brief *b)
{
    struct nytp_waits waits;
    bool *only = NULL;
    const bool ok = nytp_waits_init(&waits, b->profile, b->options->waits, &b->out->error) &&
                    (only = nytp_waits_subs(&waits, b->profile)) != NULL;
    if (ok) {
        b->wait_ticks = waits.ticks;
        b->waits = hottest(b->profile, only, &b->n_waits);
    }
    free(only);
    nytp_waits_free(&waits);
    return ok && b->waits != NULL;
}

static struct nytp_name package_of(struct nytp_name sub)
{
    const uint32_t len = nytp_package_len(sub);
    return len > 2 ? (struct nytp_name){sub.ptr, len - 2} : (struct nytp_name){"main", 4};
}

static int by_package(const void *x, const void *y)
{
    const struct package *a = x, *b = y;
    return nytp_compare_names(a->name, b->name);
}

static int by_package_time(const void *x, const void *y)
{
    const struct package *a = x, *b = y;
    return a->ticks != b->ticks ? (a->ticks < b->ticks ? 1 : -1) : by_package(x, y);
}

static bool find_packages(struct brief *b)
{
    struct package *const found = malloc(((size_t)b->n_subs + 1) * sizeof *found);
    uint32_t n = 0;
    b->packages = found;
    if (found == NULL)
        return false;
    for (uint32_t i = 0; i < b->n_subs; i++)
        found[i] = (struct package){package_of(b->subs[i]->name), b->subs[i]->excl_ticks};
    qsort(found, b->n_subs, sizeof *found, by_package);
    for (uint32_t i = 0; i < b->n_subs; i++)
        if (n > 0 && by_package(&found[n - 1], &found[i]) == 0)
            found[n - 1].ticks += found[i].ticks;
        else
            found[n++] = found[i];
    qsort(found, n, sizeof *found, by_package_time);
    b->n_packages = n;
    return true;
}

/* Finds the lines with a place and more than 0 of a measure, of memory or time, the largest
 * first. */
static bool find_lines(const struct brief *b, struct nytp_line_rows *lines,
                       enum nytp_weight weight)
{
    uint32_t n = 0;
    *lines = nytp_lines_of_all(b->profile);
    if (lines->rows == NULL)
        return false;
    nytp_lines_sort(lines, weight);
    for (uint32_t i = 0; i < lines->n; i++) {
        const struct nytp_line_row *const row = &lines->rows[i];
        if (row->file != 0 && (nytp_weight_is_memory(weight) ? row->key : row->self_ticks) > 0)
            lines->rows[n++] = *row;
    }
    lines->n = n;
    return true;
}

static bool has_bytes(const struct brief *b)
{
    return (b->profile->has & NYTP_HAS_BYTES) != 0;
}

static bool find_memory(struct brief *b)
{
    for (uint32_t i = 0; i < b->profile->n_subs; i++)
        nytp_bytes_add(&b->bytes, b->profile->subs[i].bytes);
    return ((b->profile->has & NYTP_HAS_SVS) == 0 ||
            find_lines(b, &b->kept, NYTP_WEIGHT_SVS)) &&
           (!has_bytes(b) || find_lines(b, &b->in_use, NYTP_WEIGHT_INUSE_SPACE));
}

static bool find_reasons(struct brief *b)
{
    const bool ok = nytp_wait_rows_init(&b->reasons, b->profile, NULL);
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->reasons.n; i++)
        if (b->reasons.rows[i].reason != NYTP_WAIT_UNKNOWN)
            b->reasons.rows[n++] = b->reasons.rows[i];
    b->reasons.n = n;
    return ok;
}

static bool gather(struct brief *b)
{
    b->subs = hottest(b->profile, NULL, &b->n_subs);
    if (!nytp_callers_init(&b->callers, b->profile) || b->subs == NULL ||
        !find_lines(b, &b->lines, NYTP_WEIGHT_TIME) || !find_waits(b) || !find_reasons(b) ||
        !find_packages(b) || !find_memory(b) ||
        !nytp_regex_rows_init(&b->regexes, b->profile) ||
        !nytp_queries_init(&b->queries, b->profile))
        return nytp_error_set(&b->out->error, NYTP_ERR_MEMORY, "out of memory");
    return true;
}

static const char *input(const struct brief *b)
{
    const struct nytp_name path = b->profile->recordings[0].path;
    const bool is_plain =
        path.len > 0 && path.len < 60 && path.ptr[0] != '-' &&
        strspn(path.ptr, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                         "0123456789_./,+-") == path.len;
    return b->profile->n_recordings == 1 && is_plain ? path.ptr : "FILE...";
}

static const char *how(const struct nytp_profile *profile)
{
    if (!profile->sampled)
        return "exact";
    return nytp_text_counted(profile) == NYTP_COUNTED_SAMPLES ? "sampled" : "mixed";
}

/* Writes a short, harmless copy of a text from the recording, unless it is empty. */
static void put_code(struct brief *b, const char *before, struct nytp_name name, uint32_t most)
{
    char text[MOST_NAME + 4];
    if (name.len == 0)
        return;
    const size_t len = nytp_utf8_whole(name.ptr, name.len, most);
    const bool is_utf8 = nytp_utf8_valid(name.ptr, len);
    for (size_t i = 0; i < len; i++) {
        const unsigned char c = (unsigned char)name.ptr[i];
        text[i] = c == '\0' || (c > 126 && !is_utf8) ? '?' : c == '\t' ? ' ' : (char)c;
    }
    text[len] = '\0';
    nytp_make_printable(text);
    if (name.len > most)
        strcat(text, "...");
    nytp_puts(b->out, before);
    nytp_markdown_code_in_text(b->out, nytp_name_of_text(text));
}

static void put_name(struct brief *b, const char *before, struct nytp_name name)
{
    put_code(b, before, name, MOST_NAME);
}

static void put_place(struct brief *b, const char *before, uint32_t file, uint32_t line)
{
    char whole[MOST_PLACE + 1];
    put_code(b, before, nytp_text_place(b->profile, file, line, whole, sizeof whole),
             MOST_PLACE);
}

/* Writes a source line without the blanks around it, if it was recorded. */
static void put_source(struct brief *b, uint32_t file, uint32_t line)
{
    const struct nytp_source_line *kept = nytp_profile_source(b->profile, file, line);
    struct nytp_name name = {"", 0};
    if (kept != NULL)
        name = (struct nytp_name){kept->text, kept->len};
    for (; name.len > 0 && strchr(" \t", *name.ptr) != NULL && *name.ptr != '\0'; name.len--)
        name.ptr++;
    while (name.len > 0 && (unsigned char)name.ptr[name.len - 1] <= ' ')
        name.len--;
    put_code(b, ": ", name, MOST_SOURCE);
}

static void put_time(struct brief *b, int64_t ticks)
{
    nytp_text_time(b->out, ticks, b->profile->ticks_per_sec, NULL, 0);
}

static void put_share(struct brief *b, int64_t ticks)
{
    nytp_puts(b->out, "- ");
    put_time(b, ticks);
    nytp_puts(b->out, " (");
    nytp_text_percent(b->out, ticks, b->profile->total.ticks);
    nytp_puts(b->out, ")");
}

static void put_head(struct brief *b)
{
    const struct nytp_profile *const profile = b->profile;
    const int64_t taken_off = nytp_recording_ticks(profile);
    put_name(b, "# Profile of ", nytp_text_program(&profile->recordings[0]));
    nytp_puts(b->out, "\n\nTotal ");
    put_time(b, profile->total.ticks);
    nytp_printf(b->out, ", %llu %s, %s%llu calls, ",
                (unsigned long long)profile->total.statements, nytp_text_statements(profile),
                profile->sampled ? "at least " : "", (unsigned long long)profile->total.calls);
    if (!profile->sampled)
        nytp_printf(b->out, "%llu ops, ",
                    (unsigned long long)(profile->total.statements + profile->total.calls));
    nytp_printf(b->out,
                "%lu process%s. Names below are quoted from the profile.\n\nTimes are %s, ",
                (unsigned long)profile->n_processes, profile->n_processes == 1 ? "" : "es",
                how(profile));
    if (taken_off > 0) {
        put_time(b, taken_off);
        nytp_puts(b->out, " that recording cost are taken off; ");
    } else {
        nytp_puts(b->out, "as recorded; ");
    }
    nytp_puts(b->out, profile->partial ? "PARTIAL: the recording ends early.\n"
                                       : "the recording is whole.\n");
    if (b->options->selected == NULL)
        return;
    put_name(b, "A selection, with ", nytp_name_of_text(b->options->selected));
    nytp_puts(b->out, ", of ");
    put_time(b, b->options->unselected_ticks);
    nytp_puts(b->out, " in all.\n");
}

/* ---- rows of the sections ---- */

static void put_line(struct brief *b, uint32_t i)
{
    const struct nytp_line_row *const row = &b->lines.rows[i];
    put_share(b, row->self_ticks);
    put_place(b, " ", row->file, row->line);
    nytp_printf(b->out, " %llux", (unsigned long long)row->statements);
    put_source(b, row->file, row->line);
}

/* Samples show only some of the calls. */
static void put_calls(struct brief *b, uint64_t calls)
{
    nytp_printf(b->out, " %s%llux", b->profile->sampled ? ">=" : "", (unsigned long long)calls);
}

static void put_callers(struct brief *b, uint32_t sub)
{
    struct nytp_call_rows rows = nytp_calls_to(b->profile, &b->callers, sub);
    for (uint32_t i = 0; i < rows.n && i < MOST_CALLERS; i++) {
        put_name(b, i == 0 ? "; called by " : ", ", b->profile->subs[rows.rows[i].sub].name);
        put_calls(b, rows.rows[i].calls);
    }
    if (rows.n > MOST_CALLERS)
        nytp_printf(b->out, ", %lu more", (unsigned long)rows.n - MOST_CALLERS);
    free(rows.rows);
}

static void put_sub(struct brief *b, uint32_t i)
{
    const struct nytp_sub *const sub = b->subs[i];
    put_share(b, sub->excl_ticks);
    put_name(b, " ", sub->name);
    put_calls(b, sub->calls);
    if (!b->profile->sampled)
        nytp_printf(b->out, ", %llu ops", (unsigned long long)(sub->statements + sub->calls));
    nytp_puts(b->out, ", inclusive ");
    put_time(b, sub->incl_ticks);
    put_callers(b, (uint32_t)(sub - b->profile->subs));
}

static void put_reason(struct brief *b, uint32_t i)
{
    const struct nytp_waited *const row = &b->reasons.rows[i];
    nytp_puts(b->out, "- ");
    nytp_text_time(b->out, row->ns, NYTP_NS_PER_SEC, NULL, 0);
    nytp_printf(b->out, " for %s", nytp_wait_reason_name(row->reason));
    put_code(b, " ", row->peer, NYTP_MAX_PEER);
    put_place(b, " at ", row->file, row->line);
}

static void put_wait_sum(struct brief *b)
{
    put_share(b, b->wait_ticks);
}

static void put_wait(struct brief *b, uint32_t i)
{
    const struct nytp_sub *const sub = b->waits[i];
    put_share(b, sub->excl_ticks);
    put_name(b, " ", sub->name);
}

static void put_repeat(struct brief *b, uint32_t i)
{
    const struct nytp_repeat *const repeat = &b->queries.repeats[i];
    put_share(b, repeat->ticks);
    nytp_printf(b->out, " %llux, up to %llu in a request, in a loop",
                (unsigned long long)repeat->calls, (unsigned long long)repeat->most);
    put_place(b, " at ", repeat->loop_file, repeat->loop_line);
    put_code(b, ": ", repeat->text, MOST_SOURCE);
    nytp_puts(b->out, "; one statement for all may do");
}

static void put_request(struct brief *b, uint32_t i)
{
    const struct nytp_request *const request = &b->queries.requests[i];
    put_share(b, request->database_ticks);
    nytp_printf(b->out, " %llu statements, %llu different",
                (unsigned long long)request->queries, (unsigned long long)request->texts);
    if (request->n > 0) {
        nytp_printf(b->out, ", %llu requests, of which up to %llu each, of",
                    (unsigned long long)request->n, (unsigned long long)request->most);
        put_code(b, " ", request->value, MOST_REQUEST);
    }
}

static void put_regex(struct brief *b, uint32_t i)
{
    const struct nytp_regex_row *const row = &b->regexes.rows[i];
    char remark[100];
    nytp_regex_remark(row, remark);
    nytp_puts(b->out, "- ");
    nytp_text_time(b->out, (int64_t)row->sums.total_ns, NYTP_NS_PER_SEC, NULL, 0);
    nytp_printf(b->out, " %s %llu%s", nytp_regex_kind_names[row->sums.kind],
                (unsigned long long)row->sums.calls, b->profile->sampled ? " samples" : "x");
    put_place(b, " at ", row->sums.file, row->sums.line);
    put_code(b, ": ", row->sums.pattern, MOST_SOURCE);
    nytp_printf(b->out, "%s%s", *remark != '\0' ? "; " : "", remark);
}

/* More may be in use than was allocated since the recording began. */
static void put_bytes_of(struct brief *b, int64_t in_use, int64_t allocated)
{
    nytp_puts(b->out, "- ");
    nytp_text_bytes(b->out, in_use, 0);
    nytp_puts(b->out, in_use > allocated ? ", " : " of ");
    nytp_text_bytes(b->out, allocated, 0);
    nytp_puts(b->out, " allocated");
}

static void put_in_use_sum(struct brief *b)
{
    put_bytes_of(b, b->bytes.of[NYTP_INUSE_SPACE], b->bytes.of[NYTP_ALLOC_SPACE]);
}

static void put_in_use_of_line(struct brief *b, uint32_t i)
{
    const struct nytp_line_row *const row = &b->in_use.rows[i];
    put_bytes_of(b, row->memory.bytes.of[NYTP_INUSE_SPACE],
                 row->memory.bytes.of[NYTP_ALLOC_SPACE]);
    put_place(b, " ", row->file, row->line);
    put_source(b, row->file, row->line);
}

static void put_kept_of_line(struct brief *b, uint32_t i)
{
    const struct nytp_line_row *const row = &b->kept.rows[i];
    nytp_printf(b->out, "- %lld", (long long)row->memory.kept);
    put_place(b, " ", row->file, row->line);
    put_source(b, row->file, row->line);
}

static void put_package(struct brief *b, uint32_t i)
{
    put_share(b, b->packages[i].ticks);
    put_name(b, " ", b->packages[i].name);
}

/* ---- the sections ---- */

struct section {
    const char *title; /* NULL: more rows of the section before */
    bool shown;
    void (*put_sum)(struct brief *b); /* "in all"; NULL: there is none */
    void (*put_row)(struct brief *b, uint32_t i);
    uint32_t n, most;           /* rows; those that may be shown */
    uint32_t room;              /* bytes of output at which the rows end */
    const char *what, *options; /* rows that are left out, and the way to see them; or NULL */
};

static void put_section(struct brief *b, const struct section *section)
{
    uint32_t i = 0;
    if (!section->shown)
        return;
    if (section->title != NULL)
        nytp_printf(b->out, "\n## %s\n", section->title);
    if (section->put_sum != NULL) {
        section->put_sum(b);
        nytp_puts(b->out, " in all\n");
    }
    for (; i < section->n && i < section->most && b->out->n_bytes < section->room &&
           b->out->error.status == NYTP_OK;
         i++) {
        section->put_row(b, i);
        nytp_putc(b->out, '\n');
    }
    if (i < section->n && section->what != NULL)
        nytp_printf(b->out, "- %lu more %s: `nytp export %s %s`\n",
                    (unsigned long)(section->n - i), section->what, section->options, input(b));
}

/* The room of the last section leaves enough for the commands: 8192 bytes in all. */
static void put_sections(struct brief *b)
{
    const bool waits = b->wait_ticks > 0 || b->reasons.n > 0, asks = b->queries.n > 0;
    const struct section sections[] = {
        {"Lines by own time", b->lines.n > 0, NULL, put_line, b->lines.n, 12, 4200, "lines",
         "--top=0 --lines"},
        {"Subs by own time", true, NULL, put_sub, b->n_subs, 10, 5050, "subs", "--top=0"},
        {"Waiting", waits, put_wait_sum, put_reason, b->reasons.n, 4, 5500, "reasons",
         "--waits=0"},
        {NULL, waits, NULL, put_wait, b->n_waits, 5, 5700, NULL, NULL},
        {"Databases, inclusive", asks, NULL, put_repeat, b->queries.n_repeats, 3, 5900, "loops",
         "--sql=0"},
        {NULL, asks, NULL, put_request, b->queries.n_requests, 3, 6000, "requests", "--sql=0"},
        {"Regular expressions, of the whole recording", b->regexes.n > 0, NULL, put_regex,
         b->regexes.n, 4, 6100, "of them", "--patterns=0"},
        {"Lines by bytes in use at the end, estimated from samples", has_bytes(b),
         put_in_use_sum, put_in_use_of_line, b->in_use.n, 3, 6150, "lines",
         "--top=0 --lines --sort=inuse_space"},
        {"Lines by perl's values (SVs) that they kept", b->kept.n > 0, NULL, put_kept_of_line,
         b->kept.n, 3, 6200, "lines", "--top=0 --lines --sort=svs"},
        {"Packages by own time, with builtins that they call", true, NULL, put_package,
         b->n_packages, 5, 6400, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        put_section(b, &sections[i]);
}

static void put_markdown(struct brief *b)
{
    static const struct {
        const char *shows, *options;
    } commands[] = {
        {"all lines", "--top=0 --lines"},
        {"all subs", "--top=0"},
        {"a sub's source with times", "--list=SUB"},
        {"who calls a sub", "--peek=SUB"},
        {"who calls whom", "--tree"},
        {"where it works", "--top --no-wait"},
    };
    put_head(b);
    put_sections(b);
    nytp_puts(b->out, "\n## More\n");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        nytp_printf(b->out, "- %s: `nytp export %s %s`\n", commands[i].shows,
                    commands[i].options, input(b));
}

static bool write_brief(const struct nytp_profile *profile,
                        const struct nytp_export_options *options, struct nytp_out *out)
{
    struct brief b = {.profile = profile, .options = options, .out = out};
    if (gather(&b))
        put_markdown(&b);
    nytp_callers_free(&b.callers);
    free(b.lines.rows);
    free(b.kept.rows);
    free(b.in_use.rows);
    free(b.subs);
    free(b.waits);
    free(b.packages);
    nytp_wait_rows_free(&b.reasons);
    nytp_regex_rows_free(&b.regexes);
    nytp_queries_free(&b.queries);
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_brief = {
    .name = "brief",
    .title = "what matters in 8 kB of Markdown, for people in a hurry and for agents",
    .wants_sources = true,
    .wants_statements = true,
    .adds_processes = true,
    .needs = NYTP_HAS_ARCS,
    .write = write_brief,
    .no_diff = "use --markdown or --json",
    .takes = "no-source-files source-files wait",
};
