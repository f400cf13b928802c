/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Tables for people; see text.h. Names come from files: a control character in them must not
 * reach the terminal, neither as C0 nor as the UTF-8 form of C1 (C2 80 to C2 9F).
 */
#include "text.h"

#include "columns.h"
#include "waits.h"

#include "formats/base/printable.h"
#include "formats/base/strings.h"
#include "formats/build/correct/correction.h"

#include "formats/model/profile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WIDE_TERMINAL 100 /* columns */

enum {
    MOST_ENDS = 5, /* processes whose open calls are shown */
};

static void put_safe(struct nytp_out *out, struct nytp_name text)
{
    for (uint32_t i = 0, unsafe; i<text.len; i += unsafe> 0 ? unsafe : 1) {
        unsafe = nytp_unsafe_bytes(text, i);
        nytp_putc(out, unsafe > 0 ? '?' : text.ptr[i]);
    }
}

#define DOTS           "..."
#define MOST_OF_OPTION 40 /* columns of what was selected by */
#define LEAST_OF_NAME  8  /* columns for what stands before a file in a name */

/* Bytes that take at most (with `least`: at least) this many columns, which become as many as
 * they take. */
static uint32_t bytes_of(struct nytp_name text, uint32_t *columns, bool least)
{
    uint32_t at = 0, taken = 0;
    for (; at < text.len; at++) {
        const uint32_t more = nytp_columns_at(text, at);
        if (more > 0 && (least ? taken >= *columns : taken + more > *columns))
            break;
        taken += more;
    }
    *columns = taken;
    return at;
}

/* Columns that are left beside the dots. */
static uint32_t beside_dots(uint32_t width)
{
    return width > strlen(DOTS) ? width - (uint32_t)strlen(DOTS) : 0;
}

uint32_t nytp_text_put(struct nytp_out *out, struct nytp_name text, uint32_t width)
{
    const uint32_t whole = nytp_text_width(text);
    if (width == 0 || whole <= width) {
        put_safe(out, text);
        return whole;
    }
    const uint32_t dots = width - beside_dots(width);
    uint32_t kept = beside_dots(width);
    put_safe(out, (struct nytp_name){text.ptr, bytes_of(text, &kept, false)});
    nytp_put(out, DOTS, dots);
    return kept + dots;
}

/* Finds the parts before and behind the folders in "main::__ANON__[/x/y.pl:3]". */
static bool split_at_folders(struct nytp_name text, struct nytp_name *before,
                             struct nytp_name *behind)
{
    uint32_t name = text.len;
    while (name > 0 && text.ptr[name - 1] != '/' && text.ptr[name - 1] != '[')
        name--;
    uint32_t folders = name;
    while (folders > 0 && text.ptr[folders - 1] != '[')
        folders--;
    *before = (struct nytp_name){text.ptr, folders};
    *behind = (struct nytp_name){text.ptr + name, text.len - name};
    return folders > 0 && folders < name;
}

uint32_t nytp_text_put_tail(struct nytp_out *out, struct nytp_name text, uint32_t width)
{
    const uint32_t whole = nytp_text_width(text);
    struct nytp_name before, behind;
    if (width == 0 || whole <= width) {
        put_safe(out, text);
        return whole;
    }
    const bool has_folders = split_at_folders(text, &before, &behind);
    const uint32_t rest = has_folders ? nytp_text_width(behind) : 0;
    if (has_folders && rest + LEAST_OF_NAME < width) {
        const uint32_t used = nytp_text_put_tail(out, before, width - rest);
        put_safe(out, behind);
        return used + rest;
    }
    const uint32_t dots = width - beside_dots(width);
    uint32_t cut = whole - beside_dots(width);
    const uint32_t skip = bytes_of(text, &cut, true);
    nytp_put(out, DOTS, dots);
    put_safe(out, (struct nytp_name){text.ptr + skip, text.len - skip});
    return dots + whole - cut;
}

#define SOURCE_BYTES 4000
#define TAB_COLUMNS  4

uint32_t nytp_text_put_source(struct nytp_out *out, const struct nytp_source_line *source,
                              bool trim, uint32_t width)
{
    char text[SOURCE_BYTES + TAB_COLUMNS];
    uint32_t len = 0, at = 0, end = source->len;
    while (end > 0 && (source->text[end - 1] == '\n' || source->text[end - 1] == '\r'))
        end--;
    while (trim && at < end && (source->text[at] == ' ' || source->text[at] == '\t'))
        at++;
    const bool utf8 = nytp_utf8_valid(source->text, source->len);
    for (; at < end && len < SOURCE_BYTES; at++) {
        if (source->text[at] != '\t') {
            if (utf8)
                text[len++] = source->text[at];
            else /* as Latin-1 */
                len += (uint32_t)nytp_utf8_encode((unsigned char)source->text[at], text + len);
            continue;
        }
        do
            text[len++] = ' ';
        while (len % TAB_COLUMNS != 0 && len < SOURCE_BYTES);
    }
    while (utf8 && at < end && len > 0 && nytp_utf8_inside(source->text[at])) {
        at--; /* not half a character */
        len--;
    }
    return nytp_text_put(out, (struct nytp_name){text, len}, width);
}

void nytp_text_pad(struct nytp_out *out, uint32_t columns)
{
    while (columns-- > 0)
        nytp_putc(out, ' ');
}

/* ---- numbers ---- */

/* `ticks` of a sum are whole, those of an average are not; `more` decimals for the latter. */
static void put_in_unit(struct nytp_out *out, double ticks, int64_t ticks_per_sec,
                        const struct nytp_unit *unit, int width, int more)
{
    if (unit->per_sec == 0) {
        nytp_printf(out, "%*.*f", width, more, ticks);
        return;
    }
    const int decimals = unit->per_sec >= 1000000000 ? 0
                         : unit->per_sec >= 1000000  ? 1
                         : unit->per_sec >= 1000     ? 3
                                                     : 6;
    const double value = ticks / (double)ticks_per_sec * (double)unit->per_sec;
    nytp_printf(out, "%*.*f", width, decimals > more ? decimals : more, value);
}

/* A time as three digits and the unit in which it has that many. */
static void put_scaled(struct nytp_out *out, const char *mark, double ticks,
                       int64_t ticks_per_sec, int width)
{
    static const char *const units[] = {"s ", "ms", "us", "ns"};
    double value = ticks / (double)ticks_per_sec;
    size_t i = 0;
    /* 999.5 of the smaller unit would be written as 1000 */
    while (i < 3 && value < 0.9995 && value > -0.9995) {
        value *= 1000;
        i++;
    }
    if (ticks == 0) {
        value = 0;
        i = 0;
    }
    const double size = value < 0 ? -value : value;
    const int decimals = size >= 99.95 || value == 0 ? 0 : size >= 9.995 ? 1 : 2;
    char text[40];
    snprintf(text, sizeof text, "%s%.*f %s", mark, decimals, value, units[i]);
    if (width == 0 && i == 0) /* nothing to align with */
        text[strlen(text) - 1] = '\0';
    nytp_printf(out, "%*s", width, text);
}

void nytp_text_time(struct nytp_out *out, int64_t ticks, int64_t ticks_per_sec,
                    const struct nytp_unit *unit, int width)
{
    const int64_t rate = ticks_per_sec > 0 ? ticks_per_sec : 1;
    if (unit == NULL)
        put_scaled(out, "", (double)ticks, rate, width);
    else if (unit->per_sec == 0)
        nytp_printf(out, "%*lld", width, (long long)ticks);
    else
        put_in_unit(out, (double)ticks, rate, unit, width, 0);
}

void nytp_text_ns(struct nytp_out *out, int64_t ns, int64_t ticks_per_sec,
                  const struct nytp_unit *unit, int width)
{
    if (unit != NULL && unit->per_sec == 0)
        nytp_text_time(out, nytp_ticks_of_ns(ns, ticks_per_sec), ticks_per_sec, unit, width);
    else
        nytp_text_time(out, ns, NYTP_NS_PER_SEC, unit, width);
}

void nytp_text_about(struct nytp_out *out, int64_t ticks, int64_t ticks_per_sec, int width)
{
    put_scaled(out, "~", (double)ticks, ticks_per_sec > 0 ? ticks_per_sec : 1, width);
}

void nytp_text_per_call(struct nytp_out *out, int64_t ticks, uint64_t calls,
                        int64_t ticks_per_sec, const struct nytp_unit *unit, int width)
{
    const int64_t rate = ticks_per_sec > 0 ? ticks_per_sec : 1;
    if (calls == 0)
        nytp_printf(out, "%*s", width, "-");
    else if (unit != NULL)
        put_in_unit(out, (double)ticks / (double)calls, rate, unit, width, 1);
    else
        put_scaled(out, "", (double)ticks / (double)calls, rate, width);
}

void nytp_bytes_text(int64_t bytes, char *text, size_t size)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB"};
    size_t unit = 0;
    double value = (double)bytes / 1000;
    if (fabs(value) < 1) {
        snprintf(text, size, "%lld B", (long long)bytes);
        return;
    }
    for (; fabs(value) >= 999.95 && unit + 1 < sizeof units / sizeof *units; unit++)
        value /= 1000;
    snprintf(text, size, "%.1f %s", value, units[unit]);
}

void nytp_text_bytes(struct nytp_out *out, int64_t bytes, int width)
{
    char text[32];
    nytp_bytes_text(bytes, text, sizeof text);
    nytp_printf(out, "%*s", width, text);
}

enum nytp_memory_columns nytp_text_memory_columns(const struct nytp_profile *profile,
                                                  const char *sort)
{
    if ((profile->has & NYTP_HAS_SVS) == 0)
        return NYTP_MEMORY_NONE;
    if ((profile->has & NYTP_HAS_BYTES) == 0 || (sort != NULL && strcmp(sort, "svs") == 0))
        return NYTP_MEMORY_SVS;
    const enum nytp_weight weight = nytp_memory_named(sort);
    return weight == NYTP_N_WEIGHTS || nytp_weight_is_space(weight) ? NYTP_MEMORY_SPACE
                                                                    : NYTP_MEMORY_BLOCKS;
}

void nytp_text_percent(struct nytp_out *out, int64_t part, int64_t whole)
{
    if (whole == 0)
        nytp_puts(out, "     -");
    else
        nytp_printf(out, "%5.1f%%", part == 0 ? 0.0 : (double)part / (double)whole * 100);
}

/* ---- the rest ---- */

void nytp_text_style(struct nytp_out *out, bool color, enum nytp_style style)
{
    static const char *const codes[] = {
        [NYTP_STYLE_PLAIN] = "\033[0m", [NYTP_STYLE_BOLD] = "\033[1m",
        [NYTP_STYLE_WARM] = "\033[33m", [NYTP_STYLE_HOT] = "\033[1;31m",
        [NYTP_STYLE_DIM] = "\033[2m",
    };
    if (color)
        nytp_puts(out, codes[style]);
}

struct nytp_name nytp_text_place(const struct nytp_profile *profile, uint32_t file,
                                 uint32_t line, char *buffer, size_t size)
{
    if (file == 0)
        return (struct nytp_name){"", 0};
    const struct nytp_name name = profile->files[file].name;
    char number[16] = "";
    if (line > 0)
        snprintf(number, sizeof number, ":%lu", (unsigned long)line);
    const size_t number_len = strlen(number);
    const size_t most = size - number_len - 1;
    size_t skip = name.len > most ? name.len - most : 0;
    while (skip < name.len && skip > 0 && nytp_utf8_inside(name.ptr[skip]))
        skip++;
    memcpy(buffer, name.ptr + skip, name.len - skip);
    memcpy(buffer + name.len - skip, number, number_len + 1);
    return (struct nytp_name){buffer, (uint32_t)(name.len - skip + number_len)};
}

bool nytp_text_is_narrow(uint32_t columns)
{
    return columns > 0 && columns < WIDE_TERMINAL;
}

struct nytp_name nytp_text_place_in(const struct nytp_profile *profile, uint32_t file,
                                    uint32_t line, uint32_t columns, char *buffer, size_t size)
{
    const struct nytp_name place = nytp_text_place(profile, file, line, buffer, size);
    const bool folders = place.len > 0 && place.ptr[0] != '('; /* no string eval's */
    return nytp_text_is_narrow(columns) && folders ? nytp_base_name(place) : place;
}

static uint32_t count_sampled(const struct nytp_profile *profile)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < profile->n_processes; i++)
        n += profile->processes[i].sampled;
    return n;
}

enum nytp_counted nytp_text_counted(const struct nytp_profile *profile)
{
    return !profile->sampled                               ? NYTP_COUNTED_STATEMENTS
           : count_sampled(profile) < profile->n_processes ? NYTP_COUNTED_BOTH
                                                           : NYTP_COUNTED_SAMPLES;
}

static const struct {
    const char *name, *head;
} counted_names[] = {[NYTP_COUNTED_STATEMENTS] = {"statements", "stmts"},
                     [NYTP_COUNTED_SAMPLES] = {"samples", "samples"},
                     [NYTP_COUNTED_BOTH] = {"statements and samples", "counts"}};

const char *nytp_text_statements(const struct nytp_profile *profile)
{
    return counted_names[nytp_text_counted(profile)].name;
}

const char *nytp_text_stmts(const struct nytp_profile *profile)
{
    return counted_names[nytp_text_counted(profile)].head;
}

const char *nytp_text_calls(const struct nytp_profile *profile)
{
    return profile->sampled ? ">= calls" : "calls";
}

struct nytp_name nytp_text_program(const struct nytp_recording *recording)
{
    return recording->application.len > 0 ? recording->application : recording->path;
}

int64_t nytp_recording_ticks(const struct nytp_profile *profile)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < profile->n_processes; i++)
        sum += profile->processes[i].recording_ticks;
    return sum;
}

/* A time with its unit, also with the one that the user chose. */
static void put_time(struct nytp_out *out, const struct nytp_profile *profile, int64_t ticks,
                     const struct nytp_unit *unit)
{
    if (!nytp_profile_has(profile, NYTP_WEIGHT_TIME)) {
        nytp_puts(out, NYTP_COUNTS_ONLY);
        return;
    }
    nytp_text_time(out, ticks, profile->ticks_per_sec, unit, 0);
    if (unit != NULL)
        nytp_printf(out, " %s", unit->name);
}

static void put_recording_cost(struct nytp_out *out, const struct nytp_profile *profile,
                               const struct nytp_unit *unit)
{
    const int64_t ticks = nytp_recording_ticks(profile);
    if (ticks == 0)
        return;
    nytp_puts(out, "; less ");
    put_time(out, profile, ticks, unit);
    nytp_puts(out, " that recording cost (of up to ");
    put_time(out, profile, NYTP_MOST_RECORDING(ticks), unit);
    nytp_putc(out, ')');
}

/* ", 3.97 s of it waiting", from one percent on. */
static void put_waiting(struct nytp_out *out, const struct nytp_profile *profile,
                        const struct nytp_export_options *options)
{
    struct nytp_waits waits;
    const bool known = nytp_waits_init(&waits, profile, options->waits, &out->error);
    nytp_waits_free(&waits);
    if (!known || waits.ticks * 100 < profile->total.ticks || waits.ticks == 0)
        return;
    nytp_puts(out, ", ");
    put_time(out, profile, waits.ticks, options->unit);
    nytp_puts(out, " of it waiting");
}

/* Samples say how long the processes ran; their counts of calls are lower bounds. */
static void put_counts(struct nytp_out *out, const struct nytp_profile *profile,
                       const struct nytp_export_options *options)
{
    const enum nytp_counted counted = nytp_text_counted(profile);
    int64_t cpu = 0;
    for (uint32_t i = 0; i < profile->n_subs; i++)
        cpu += profile->subs[i].cpu_ticks;
    if (counted == NYTP_COUNTED_SAMPLES) {
        nytp_puts(out, ", ");
        put_time(out, profile, cpu, options->unit);
        nytp_puts(out, " on a processor");
    }
    nytp_printf(out, ", %llu %s", (unsigned long long)profile->total.statements,
                nytp_text_statements(profile));
    if (counted == NYTP_COUNTED_BOTH)
        nytp_printf(out, " (%lu of %lu processes were sampled)",
                    (unsigned long)count_sampled(profile), (unsigned long)profile->n_processes);
    nytp_printf(out, ", %s%llu calls", profile->sampled ? "at least " : "",
                (unsigned long long)profile->total.calls);
}

static bool is_part(const struct nytp_profile *profile,
                    const struct nytp_export_options *options)
{
    return options->selected != NULL && options->unselected_ticks > profile->total.ticks;
}

/* The options of a selection, of each at most so much that one sees which it is. */
static void put_selection(struct nytp_out *out, const char *selected)
{
    for (const char *at = selected; at != NULL;) {
        const char *const next = strstr(at + 1, " --");
        const size_t len = next != NULL ? (size_t)(next - at) : strlen(at);
        nytp_text_put(out, (struct nytp_name){at, (uint32_t)len}, MOST_OF_OPTION);
        at = next;
    }
}

/* " of 274 ms (34.7 %) by --focus=Tokenizer" */
static void put_whole(struct nytp_out *out, const struct nytp_profile *profile,
                      const struct nytp_export_options *options)
{
    nytp_puts(out, " of ");
    put_time(out, profile, options->unselected_ticks, options->unit);
    nytp_printf(out, " (%.1f %%) by ",
                (double)profile->total.ticks / (double)options->unselected_ticks * 100);
    put_selection(out, options->selected);
}

static void put_headline(struct nytp_out *out, const struct nytp_profile *profile,
                         const struct nytp_export_options *options)
{
    nytp_text_put(out, nytp_text_program(&profile->recordings[0]), 0);
    if (profile->n_recordings > 1)
        nytp_printf(out, " and %lu more", (unsigned long)profile->n_recordings - 1);
    nytp_puts(out, ": ");
    put_time(out, profile, profile->total.ticks, options->unit);
    if (is_part(profile, options))
        put_whole(out, profile, options);
    put_waiting(out, profile, options);
    put_counts(out, profile, options);
    if (profile->n_processes > 1)
        nytp_printf(out, ", %lu processes", (unsigned long)profile->n_processes);
    if (options->child_wait_ticks > 0) {
        nytp_puts(out, ", their ");
        put_time(out, profile, options->child_wait_ticks, options->unit);
        nytp_puts(out, " of waiting for each other not counted");
    }
    if (!is_part(profile, options)) { /* the cost of the rest cannot be told apart */
        put_recording_cost(out, profile, options->unit);
    }
    if (profile->partial)
        nytp_puts(out, "; partial: the recording ends early");
}

/* Where the word at `at` ends, which begins with its blank, or the clause of words. */
static uint32_t end_of(struct nytp_name text, uint32_t at, bool clause)
{
    uint32_t end = at + 1;
    while (end < text.len && (text.ptr[end] != ' ' ||
                              (clause && text.ptr[end - 1] != ',' && text.ptr[end - 1] != ';')))
        end++;
    return end;
}

/* The text in lines of at most `columns`, but for words that are longer; clauses that fit into
 * a line stay whole. 0 = one line. */
static void put_folded(struct nytp_out *out, struct nytp_name text, uint32_t columns)
{
    uint32_t used = 0;
    for (uint32_t at = 0; at < text.len;) {
        uint32_t end = end_of(text, at, true);
        if (columns > 0 &&
            nytp_text_width((struct nytp_name){text.ptr + at, end - at}) > columns)
            end = end_of(text, at, false);
        struct nytp_name word = {text.ptr + at, end - at}; /* with the blank before it */
        const uint32_t width = nytp_text_width(word);
        if (columns > 0 && used > 0 && used + width > columns) {
            nytp_putc(out, '\n');
            word = (struct nytp_name){word.ptr + 1, word.len - 1};
            used = 0;
        }
        nytp_put(out, word.ptr, word.len);
        used += nytp_text_width(word);
        at = end;
    }
}

/* Writes the collected text as a paragraph of its own, and frees it. */
static void end_paragraph(struct nytp_out *out, struct nytp_out *line, uint32_t columns)
{
    size_t len;
    const char *text = (const char *)nytp_out_bytes(line, &len);
    put_folded(out, (struct nytp_name){text, (uint32_t)len}, columns);
    nytp_puts(out, "\n\n");
    if (line->error.status != NYTP_OK && out->error.status == NYTP_OK)
        out->error = line->error;
    nytp_out_discard(line);
}

/* ---- calls that were open at the end ---- */

uint32_t nytp_text_open_child(const struct nytp_profile *profile, uint32_t node)
{
    const struct nytp_node *const n = &profile->nodes[node];
    uint32_t found = node;
    for (uint32_t i = 0; i < n->n_children; i++) {
        const uint32_t child = profile->children[n->first_child + i];
        if (profile->nodes[child].flags & NYTP_NODE_HANGS)
            return child;
        if ((profile->nodes[child].flags & NYTP_NODE_UNRETURNED) &&
            (found == node || profile->nodes[child].line != 0))
            found = child;
    }
    return found;
}

/* A sub that calls itself from one place is told once: `next`, which `node` called, is moved to
 * the last such call. How many calls that were, with that by `node`. */
static uint32_t skip_recursion(const struct nytp_profile *profile, uint32_t node,
                               uint32_t *next)
{
    const struct nytp_node *const from = &profile->nodes[node];
    uint32_t times = 1;
    for (;; times++) {
        const struct nytp_node *const n = &profile->nodes[*next];
        const uint32_t child = nytp_text_open_child(profile, *next);
        const struct nytp_node *const c = &profile->nodes[child];
        if (child == *next || n->sub != from->sub || c->file != n->file || c->line != n->line)
            return times;
        *next = child;
    }
}

/* " app.pl:3", as the recorder tells it of a signal. */
static void put_site(struct nytp_out *out, const struct nytp_file *file, uint32_t line)
{
    if (file->name.len == 0)
        return;
    nytp_putc(out, ' ');
    nytp_text_put(out, file->eval_file != 0 ? file->name : nytp_base_name(file->name), 0);
    nytp_printf(out, ":%lu", (unsigned long)line);
}

bool nytp_is_partly_read(const struct nytp_profile *profile, const struct nytp_process *process)
{
    return profile->recordings[process->recording].error.status == NYTP_ERR_FORMAT;
}

static void put_open_calls(struct nytp_out *out, const struct nytp_profile *profile,
                           const struct nytp_process *process)
{
    uint32_t node = process->root, next;
    if (profile->n_processes > 1)
        nytp_printf(out, "pid %lu ", (unsigned long)process->pid);
    nytp_puts(out, nytp_is_partly_read(profile, process)
                       ? "open where reading ended: "
                       : "open at its end (killed, or still running): ");
    for (;; node = next) {
        nytp_text_put(out, profile->subs[profile->nodes[node].sub].name, 0);
        next = nytp_text_open_child(profile, node);
        if (next == node)
            return;
        put_site(out, &profile->files[profile->nodes[next].file], profile->nodes[next].line);
        const uint32_t times = skip_recursion(profile, node, &next);
        if (times > 1)
            nytp_printf(out, " (%lu times)", (unsigned long)times);
        nytp_puts(out, " > ");
    }
}

/* Writes a line for each process that ended in a call: for killed ones the signal and the
 * place, for others the calls that never returned. */
static void put_ends(struct nytp_out *out, const struct nytp_profile *profile, uint32_t columns)
{
    const struct nytp_name *const by = nytp_profile_attribute(profile, "ended_by"),
                                  *const in = nytp_profile_attribute(profile, "ended_in");
    unsigned n = 0;
    if (by != NULL && by->len > 0) {
        nytp_puts(out, "killed by SIG");
        nytp_text_put(out, *by, 0);
        nytp_puts(out, in != NULL && in->len > 0 ? " in " : "");
        nytp_text_put(out, in != NULL ? *in : (struct nytp_name){"", 0}, 0);
        nytp_puts(out, "\n\n");
    }
    for (uint32_t i = 0; i < profile->n_processes && n < MOST_ENDS; i++) {
        const struct nytp_process *const process = &profile->processes[i];
        if (process->complete || profile->n_nodes == 0 ||
            nytp_text_open_child(profile, process->root) == process->root)
            continue;
        struct nytp_out *line = nytp_out_memory(true);
        if (line == NULL) {
            nytp_out_of_memory(&out->error);
            return;
        }
        put_open_calls(line, profile, process);
        end_paragraph(out, line, columns);
        n++;
    }
}

void nytp_text_headline(struct nytp_out *out, const struct nytp_profile *profile,
                        const struct nytp_export_options *options)
{
    struct nytp_out *line = nytp_out_memory(true);
    if (line == NULL) {
        nytp_out_of_memory(&out->error);
        return;
    }
    put_headline(line, profile, options);
    end_paragraph(out, line, options->columns);
    put_ends(out, profile, options->columns);
}
