/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The flame graph: the model's calling-context tree without call sites, as data for the script
 * (README.md), as a still picture, and as folded stacks. See report.h.
 *
 * Frames that are too small to be seen are summed up as one number beside their siblings, so
 * widths still add up. The folded stacks have all frames.
 */
#include "flame_tree.h"

#include "exporters/base/text.h"

#include "formats/model/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE NYTP_REPORT_NONE

/* ---- names and links ---- */

static uint32_t page_of(const struct nytp_report *report, uint32_t sub)
{
    return report->files[report->profile->subs[sub].file].page;
}

static bool put_url(struct nytp_report *report, uint32_t sub)
{
    if (report->profile->subs[sub].kind >= NYTP_SUB_RUNTIME || page_of(report, sub) == NONE)
        return false;
    return nytp_report_put_sub_url(report, nytp_report_merged_sub(report, sub));
}

static void put_frame_name(const struct nytp_flame *flame, const struct nytp_flame_frame *frame,
                           void (*put)(struct nytp_out *, const char *, size_t))
{
    static const char mark[] = " [unreturned]";
    const struct nytp_name name = flame->report->profile->subs[frame->sub].name;
    uint32_t len = 0;
    if (!frame->unreturned && memchr(name.ptr, '[', name.len) == NULL &&
        memchr(name.ptr, '/', name.len) == NULL) { /* it contains no folder */
        put(flame->report->out, name.ptr, name.len);
        return;
    }
    char *shown = nytp_report_shown(flame->report, name, &len);
    char *text = shown != NULL ? realloc(shown, len + sizeof mark) : NULL;
    if (text == NULL) {
        free(shown);
        nytp_out_of_memory(&flame->report->out->error);
        return;
    }
    if (frame->unreturned) {
        memcpy(text + len, mark, sizeof mark);
        len += sizeof mark - 1;
    }
    put(flame->report->out, text, len);
    free(text);
}

/* ---- data for the script ---- */

static uint32_t *name_id(const struct nytp_flame *flame, const struct nytp_flame_frame *frame)
{
    return &flame->name_ids[2 * frame->sub + frame->unreturned];
}

/* Numbers names by first use and returns how many. example[i] becomes a frame with name i. */
static uint32_t number_names(struct nytp_flame *flame, uint32_t *example)
{
    const size_t n = 2 * (size_t)flame->report->profile->n_subs;
    uint32_t n_names = 0;
    for (size_t i = 0; i < n; i++)
        flame->name_ids[i] = NONE;
    for (uint32_t i = 0; i < flame->n; i++) {
        uint32_t *id = name_id(flame, &flame->frames[i]);
        if (!flame->frames[i].listed || *id != NONE)
            continue;
        example[n_names] = i;
        *id = n_names++;
    }
    return n_names;
}

/* Writes the ids of files in library folders, which the script can fold at once. */
static void put_library(struct nytp_report *report)
{
    bool any = false;
    for (uint32_t f = 0; f < report->profile->n_files; f++) {
        const struct nytp_report_file *file = &report->files[f];
        if (file->stem == NULL || file->shown_len == nytp_report_file_name(report, f).len)
            continue;
        nytp_printf(report->out, any ? ",%u" : "%u", (unsigned)report->files[f].id);
        any = true;
    }
}

/* Writes "Foo.pm:12", the place of a sub, or "". */
static void put_place(struct nytp_report *report, uint32_t index)
{
    char place[300];
    const struct nytp_sub *const sub = &report->profile->subs[index];
    const struct nytp_name whole =
        nytp_text_place(report->profile, sub->file, sub->first_line, place, sizeof place);
    const struct nytp_name name =
        sub->first_line > 0 ? nytp_base_name(whole) : (struct nytp_name){"", 0};
    nytp_html_json(report->out, name.ptr, name.len);
}

/* Writes lists by name: name, link, file, place, whether it waits, kind of sub. */
static void put_name_lists(struct nytp_flame *flame, const uint32_t *example, uint32_t n)
{
    struct nytp_report *report = flame->report;
    struct nytp_out *out = report->out;
    nytp_puts(out, "\"names\":[");
    for (uint32_t i = 0; i < n; i++) {
        nytp_puts(out, i > 0 ? ",\n" : "\n");
        put_frame_name(flame, &flame->frames[example[i]], nytp_html_json);
    }
    nytp_puts(out, "],\n\"hrefs\":[");
    for (uint32_t i = 0; i < n; i++) {
        nytp_puts(out, i > 0 ? ",\n\"" : "\n\"");
        put_url(report, flame->frames[example[i]].sub);
        nytp_putc(out, '"');
    }
    nytp_puts(out, "],\n\"fids\":[");
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t on = page_of(report, flame->frames[example[i]].sub);
        nytp_printf(out, i > 0 ? ",%u" : "%u", on == NONE ? 0 : (unsigned)report->files[on].id);
    }
    nytp_puts(out, "],\n\"places\":[");
    for (uint32_t i = 0; i < n; i++) {
        nytp_puts(out, i > 0 ? ",\n" : "\n");
        put_place(report, flame->frames[example[i]].sub);
    }
    nytp_puts(out, "],\n\"waits\":[");
    for (uint32_t i = 0; i < n; i++)
        nytp_printf(out, i > 0 ? ",%d" : "%d", report->waits[flame->frames[example[i]].sub]);
    nytp_puts(out, "],\n\"library\":[");
    put_library(report);
    nytp_puts(out, "],\n\"kinds\":[");
    for (uint32_t i = 0; i < n; i++)
        nytp_printf(out, i > 0 ? ",%u" : "%u",
                    (unsigned)report->profile->subs[flame->frames[example[i]].sub].kind);
    nytp_puts(out, "],\n");
}

/* Writes the small children as one frame: number and width. Returns the frames written. */
static uint32_t put_small(struct nytp_flame *flame, const struct nytp_flame_frame *parent,
                          int64_t *depth_before)
{
    if (parent->small_width == 0)
        return 0;
    nytp_printf(flame->report->out, ",\n%lld,-1,%lld,%u",
                (long long)(*depth_before - parent->depth), (long long)parent->small_width,
                (unsigned)parent->n_small);
    *depth_before = (int64_t)parent->depth + 1;
    return 1;
}

/* ---- data for the script: parts ---- */

/* Writes a part's frames: number minus previous number, width, calls; first the total. */
static bool put_part(const struct nytp_flame *flame, const uint32_t *number,
                     const struct nytp_stacks *stacks, uint32_t first, uint32_t end)
{
    struct nytp_out *const out = flame->report->out;
    struct nytp_flame_part part;
    const bool ok = nytp_flame_part_init(flame, stacks, first, end, &part);
    uint32_t before = 0;
    nytp_printf(out, ":[0,%lld,0", (long long)part.total);
    for (uint32_t i = 0; ok && i < flame->n; i++) {
        const uint32_t at = flame->order[i];
        if (number[at] == 0 || part.width[at] == 0)
            continue;
        nytp_printf(out, ",%u,%lld,%llu", (unsigned)(number[at] - before),
                    (long long)part.width[at], (unsigned long long)part.calls[at]);
        before = number[at];
    }
    nytp_putc(out, ']');
    nytp_flame_part_free(&part);
    return ok;
}

static bool put_process_parts(const struct nytp_flame *flame, const uint32_t *number)
{
    const struct nytp_report *const report = flame->report;
    struct nytp_stacks stacks = {0};
    bool ok = nytp_stacks_init(&stacks, report->profile, report->options);
    for (uint32_t i = 0; ok && i < report->profile->n_processes; i++) {
        if (!nytp_report_process_is_part(report, i))
            continue;
        nytp_printf(report->out, "%s\n\"%up\"", i > 0 ? "," : "", (unsigned)i);
        ok = put_part(flame, number, &stacks, report->profile->processes[i].root,
                      nytp_process_nodes_end(report->profile, i));
    }
    nytp_stacks_free(&stacks);
    return ok;
}

static bool put_label_parts(const struct nytp_flame *flame, const uint32_t *number,
                            bool is_first)
{
    const struct nytp_export_options *const options = flame->report->options;
    bool ok = true;
    for (uint32_t i = 0;
         ok && options->report.label_parts != NULL && i < options->report.n_label_rows; i++) {
        const struct nytp_profile *const profile = options->report.label_parts[i];
        struct nytp_stacks stacks = {0};
        if (profile == NULL)
            continue;
        nytp_printf(flame->report->out, "%s\n\"%ul\"", is_first ? "" : ",", (unsigned)i);
        is_first = false;
        ok = nytp_stacks_init(&stacks, profile, options) &&
             put_part(flame, number, &stacks, 0, profile->n_nodes);
        nytp_stacks_free(&stacks);
    }
    return ok;
}

/* number[i] becomes the number of frame i in the script's list, from 1; 0: it is left out. */
static void put_frames(struct nytp_flame *flame, uint32_t *number)
{
    struct nytp_out *out = flame->report->out;
    int64_t depth_before = -1;
    uint32_t n = 0;
    for (uint32_t i = 0; i < flame->n; i++) {
        const uint32_t at = flame->order[i];
        const struct nytp_flame_frame *frame = &flame->frames[at];
        if (!frame->listed)
            continue;
        number[at] = ++n;
        nytp_printf(out, "%s\n%lld,%u,%lld,%llu", n > 1 ? "," : "",
                    (long long)(depth_before + 1 - frame->depth),
                    (unsigned)*name_id(flame, frame), (long long)frame->width,
                    (unsigned long long)frame->calls);
        depth_before = frame->depth;
        n += put_small(flame, frame, &depth_before);
    }
}

static bool put_data(struct nytp_flame *flame)
{
    struct nytp_report *report = flame->report;
    struct nytp_out *out = report->out;
    uint32_t *example = malloc(((size_t)flame->n + 1) * sizeof *example);
    flame->name_ids = malloc((2 * (size_t)report->profile->n_subs + 1) * sizeof(uint32_t));
    uint32_t *number = calloc((size_t)flame->n + 1, sizeof *number);
    bool ok = example != NULL && flame->name_ids != NULL && number != NULL;
    if (ok) {
        nytp_printf(out, "{\"version\":1,\"unit_ns\":%.17g,\"total\":%lld,\"estimated\":%s,\n",
                    1e9 / (double)report->profile->ticks_per_sec, (long long)flame->total,
                    report->profile->estimated_tree ? "true" : "false");
        put_name_lists(flame, example, number_names(flame, example));
        nytp_puts(out, "\"frames\":[");
        put_frames(flame, number);
        nytp_puts(out, "],\n\"parts\":{");
        ok = put_process_parts(flame, number) &&
             put_label_parts(flame, number, !nytp_report_process_is_part(report, 0));
        nytp_puts(out, "}}");
    }
    free(number);
    free(example);
    return ok;
}

/* ---- folded stacks ---- */

/* A frame of a folded stack ends at ";", and the last blank precedes the number. */
static void put_folded(struct nytp_out *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        const unsigned char c = (unsigned char)text[i];
        nytp_putc(out, c == ';' ? ':' : c < ' ' || c == 0x7f ? '_' : (char)c);
    }
}

/* Writes stacks as nytprofhtml does: without the program below every stack, except for its
 * exclusive time; numbers are ticks. */
static bool put_stacks(struct nytp_flame *flame)
{
    struct nytp_out *out = flame->report->out;
    uint32_t *path = malloc(((size_t)flame->n + 1) * sizeof *path); /* by depth */
    for (uint32_t i = 0; path != NULL && i < flame->n; i++) {
        const struct nytp_flame_frame *frame = &flame->frames[flame->order[i]];
        path[frame->depth] = flame->order[i];
        if (frame->own <= 0)
            continue;
        for (uint32_t d = frame->depth > 0 ? 1 : 0; d <= frame->depth; d++) {
            if (d > 1)
                nytp_putc(out, ';');
            put_frame_name(flame, &flame->frames[path[d]], put_folded);
        }
        nytp_printf(out, " %lld\n", (long long)frame->own);
    }
    free(path);
    return path != NULL;
}

static void put_links(struct nytp_flame *flame)
{
    struct nytp_report *report = flame->report;
    for (uint32_t s = 0; s < report->profile->n_subs; s++) {
        const struct nytp_flame_frame frame = {.sub = s};
        const struct nytp_sub *sub = &report->profile->subs[s];
        if (sub->calls == 0 || sub->kind >= NYTP_SUB_RUNTIME ||
            nytp_first_of_name(report->profile, s) != s || page_of(report, s) == NONE)
            continue;
        put_frame_name(flame, &frame, put_folded);
        nytp_puts(report->out, "\thref=");
        put_url(report, s);
        nytp_putc(report->out, '\n');
    }
}

/* ---- the still picture ---- */

static void put_box(struct nytp_flame *flame, const struct nytp_picture *picture,
                    const struct nytp_flame_frame *frame, double x, double width)
{
    struct nytp_report *report = flame->report;
    struct nytp_out *out = report->out;
    const struct nytp_name name = report->profile->subs[frame->sub].name;
    const bool linked = report->profile->subs[frame->sub].kind < NYTP_SUB_RUNTIME &&
                        page_of(report, frame->sub) != NONE;
    if (linked) {
        nytp_puts(out, "<a href=\"");
        put_url(report, frame->sub);
        nytp_puts(out, "\">");
    }
    nytp_picture_box_begin(picture);
    put_frame_name(flame, frame, nytp_xml_text);
    nytp_puts(out, " (");
    nytp_report_put_time(report, out, frame->width);
    nytp_printf(out, ", %.1f%%)", 100 * (double)frame->width / (double)flame->total);
    char fill[8];
    nytp_picture_colour(name, fill);
    nytp_picture_box_end(picture,
                         &(struct nytp_picture_box){x, width, frame->depth, name, fill, ""});
    nytp_puts(out, linked ? "</a>\n" : "\n");
}

/* Returns the deepest row with a box of half a pixel; `pixel` is the width of a tick. */
static uint32_t picture_depth(const struct nytp_flame *flame, double pixel)
{
    uint32_t depth = 0;
    for (uint32_t i = 0; i < flame->n; i++)
        if ((double)flame->frames[i].width * pixel >= 0.5 && flame->frames[i].depth > depth)
            depth = flame->frames[i].depth;
    return depth < NYTP_PICTURE_MAX_DEPTH ? depth : NYTP_PICTURE_MAX_DEPTH;
}

/* start[i] becomes the left edge of frame i in ticks: children are side by side from their
 * parent's left edge. Returns false if memory is out. */
static bool place_frames(const struct nytp_flame *flame, int64_t *start)
{
    int64_t roots = 0;
    int64_t *used = calloc((size_t)flame->n + 1, sizeof *used);
    for (uint32_t i = 0; used != NULL && i < flame->n; i++) {
        const uint32_t at = flame->order[i];
        const uint32_t parent = flame->frames[at].parent;
        int64_t *left = parent == NONE ? &roots : &used[parent];
        start[at] = (parent == NONE ? 0 : start[parent]) + *left;
        *left += flame->frames[at].width;
    }
    free(used);
    return used != NULL;
}

static bool put_picture(struct nytp_flame *flame, bool inlined)
{
    struct nytp_out *out = flame->report->out;
    const uint32_t asked = flame->report->options->flame_width;
    const uint32_t width = asked > 0 ? asked : NYTP_PICTURE_WIDTH;
    const double pixel = (double)width / (double)flame->total;
    const struct nytp_picture picture = {
        .out = out,
        .width = width,
        .depth = picture_depth(flame, pixel),
        .decimals = 1,
        .attributes = inlined ? " class=\"still\" role=\"img\" aria-label=\"Flame graph\""
                              : " role=\"img\" aria-label=\"Flame graph\"",
    };
    int64_t *start = malloc(((size_t)flame->n + 1) * sizeof *start);
    if (start == NULL || !place_frames(flame, start)) {
        free(start);
        return false;
    }
    if (!inlined)
        nytp_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    nytp_picture_begin(&picture);
    for (uint32_t i = 0; i < flame->n; i++) {
        const struct nytp_flame_frame *frame = &flame->frames[i];
        const double w = (double)frame->width * pixel;
        if (w >= 0.5 && frame->depth <= picture.depth)
            put_box(flame, &picture, frame, (double)start[i] * pixel, w);
    }
    nytp_picture_end(&picture);
    free(start);
    return true;
}

/* ---- sections of pages ---- */

#define MOST_PROCESS_PARTS 100

bool nytp_report_process_is_part(const struct nytp_report *report, uint32_t process)
{
    return report->flame && report->profile->n_processes > 1 && process < MOST_PROCESS_PARTS;
}

void nytp_report_flame_section(struct nytp_report *report, uint32_t file)
{
    struct nytp_out *out = report->out;
    nytp_puts(out, "<section class=\"flame\" aria-label=\"Flame graph\"");
    if (!report->single)
        nytp_puts(out, " data-src=\"flame.js\"");
    if (file != NONE)
        nytp_printf(out, " data-fid=\"%u\"", (unsigned)report->files[file].id);
    nytp_puts(out, ">\n");
    nytp_puts(out, file == NONE ? "<h2>Flame graph</h2>\n" : "");
    nytp_puts(out, "<div class=\"view\"></div>\n");
    struct nytp_flame flame;
    if (file == NONE && !report->single) {
        nytp_puts(out, "<a class=\"still\" href=\"all_stacks_by_time.svg\"><img "
                       "src=\"all_stacks_by_time.svg\" "
                       "alt=\"Time of each stack of calls as boxes; the tables below have the "
                       "figures\"></a>\n");
    } else if (file == NONE) {
        if (!nytp_flame_init(report, &flame) || !put_picture(&flame, true))
            nytp_out_of_memory(&out->error);
        nytp_flame_free(&flame);
    }
    nytp_puts(out, "</section>\n");
}

bool nytp_report_flame_files(struct nytp_report *report)
{
    struct nytp_flame flame;
    bool ok = nytp_flame_init(report, &flame);
    report->page = ""; /* its links are used on any page */
    if (ok) {
        report->out = nytp_output_set_member(report->set, "flame.js");
        nytp_puts(report->out, "nytp.flame(");
        ok = put_data(&flame);
        nytp_puts(report->out, ");\n");
        report->out = nytp_output_set_member(report->set, "all_stacks_by_time.calls");
        ok = ok && put_stacks(&flame);
        report->out = nytp_output_set_member(report->set, "flamegraph_subattr.txt");
        put_links(&flame);
        report->out = nytp_output_set_member(report->set, "all_stacks_by_time.svg");
        ok = ok && put_picture(&flame, false);
    }
    nytp_flame_free(&flame);
    return ok;
}

void nytp_report_flame_inline(struct nytp_report *report)
{
    struct nytp_flame flame;
    nytp_puts(report->out, "<script type=\"application/json\" id=\"flame-data\">");
    if (!nytp_flame_init(report, &flame) || !put_data(&flame))
        nytp_out_of_memory(&report->out->error);
    nytp_flame_free(&flame);
    nytp_puts(report->out, "</script>\n");
}
