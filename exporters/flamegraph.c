/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A flame graph as one self-contained SVG file. Every browser and picture viewer shows it.
 * With scripts it can be searched and zoomed (report/flame_picture.js).
 *
 * Boxes narrower than a tenth of a pixel are left out, or wider ones if there are too many;
 * the picture says how many. The others keep their places. In a difference the widths are
 * those of the new side. A box is red if a stack's exclusive value grew and blue if it shrank.
 * For several runs it shows their mean.
 */
#include "exporters/compare/diff_formats.h"
#include "exporters/base/asset.h"
#include "exporters/report/flame_picture.h"
#include "exporters/stacks/frames.h"
#include "exporters/base/html.h"
#include "exporters/stacks/stacktree.h"
#include "exporters/base/text.h"

#include "formats/model/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NARROWEST 0.1 /* pixels */
#define MAX_BOXES 20000
#define HEAD      28 /* pixels above the boxes */
#define LEGEND    16 /* added in a difference */
#define PALEST    235

/* The place of a box on one side, in ticks, calls or statements. */
struct extent {
    int64_t start, width, own;
};

struct box {
    struct extent now, base;
    bool shown;
};

struct flamegraph {
    const struct nytp_profile *profile;
    const struct nytp_export_options *options;
    const struct nytp_diff *diff; /* or NULL */
    struct nytp_stacktree *tree;
    struct box *boxes; /* by stack; 0 is the whole picture */
    bool *is_noise;    /* by sub: its difference is not significant */
    double largest;    /* largest change of an exclusive value per run */
    uint32_t n_hidden, depth;
    struct nytp_out *out;
};

/* ---- places and widths ---- */

/* A stack is as wide as itself plus its children, whose indices are higher. */
static void sum_widths(struct flamegraph *flame)
{
    const struct nytp_stacktree *tree = flame->tree;
    for (uint32_t i = tree->n_stacks; i-- > 0;) {
        struct box *box = &flame->boxes[i], *parent = &flame->boxes[tree->stacks[i].parent];
        box->now.own = nytp_not_negative(flame->out, tree->stacks[i].value);
        box->base.own = nytp_not_negative(flame->out, tree->stacks[i].base);
        box->now.width = nytp_ticks_sum(box->now.width, box->now.own);
        box->base.width = nytp_ticks_sum(box->base.width, box->base.own);
        if (i == 0)
            break;
        parent->now.width = nytp_ticks_sum(parent->now.width, box->now.width);
        parent->base.width = nytp_ticks_sum(parent->base.width, box->base.width);
    }
}

/* Entries are sorted by parents, which come first. A stack with children may have two. */
static bool place_boxes(struct flamegraph *flame)
{
    const struct nytp_stacktree *tree = flame->tree;
    struct used {
        int64_t now, base;
    } *used = calloc(tree->n_stacks, sizeof *used);
    if (used == NULL)
        return false;
    uint32_t last = 0;
    for (uint32_t i = 0; i < tree->n_entries; i++) {
        const struct nytp_stack_entry *entry = &tree->entries[i];
        struct box *box = &flame->boxes[entry->stack];
        const struct box *parent = &flame->boxes[entry->parent];
        if (entry->stack == last)
            continue;
        last = entry->stack;
        box->now.start = parent->now.start + used[entry->parent].now;
        box->base.start = parent->base.start + used[entry->parent].base;
        used[entry->parent].now += box->now.width;
        used[entry->parent].base += box->base.width;
    }
    free(used);
    return true;
}

static double pixel(const struct flamegraph *flame, int64_t whole)
{
    const uint32_t asked = flame->options->flame_width;
    return (double)(asked > 0 ? asked : NYTP_PICTURE_WIDTH) / (double)(whole > 0 ? whole : 1);
}

static double pixels_of(const struct flamegraph *flame, const struct box *box)
{
    const double now = (double)box->now.width * pixel(flame, flame->boxes[0].now.width);
    const double base = (double)box->base.width * pixel(flame, flame->boxes[0].base.width);
    return now > base ? now : base;
}

static int compare_widths(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a < b) - (a > b);
}

/* No box is wider than its parent, so the children of a hidden one are hidden, too. */
static bool choose_boxes(struct flamegraph *flame)
{
    const uint32_t n = flame->tree->n_stacks;
    double *widths = malloc((size_t)n * sizeof *widths);
    if (widths == NULL)
        return false;
    for (uint32_t i = 0; i < n; i++)
        widths[i] = pixels_of(flame, &flame->boxes[i]);
    qsort(widths, n, sizeof *widths, compare_widths);
    const double limit = n > MAX_BOXES ? widths[MAX_BOXES] : 0;
    free(widths);
    for (uint32_t i = 1; i < n; i++) {
        struct box *box = &flame->boxes[i];
        const double width = pixels_of(flame, box);
        const uint32_t row = flame->tree->stacks[i].depth - 1;
        box->shown = width >= NARROWEST && width > limit && row <= NYTP_PICTURE_MAX_DEPTH;
        flame->n_hidden += width > 0 && !box->shown;
        if (box->shown && row > flame->depth)
            flame->depth = row;
    }
    return true;
}

/* ---- differences ---- */

/* Marks subs whose difference in time is not significant. Both lists are sorted by name. */
static bool mark_noise(struct flamegraph *flame)
{
    const struct nytp_diff *diff = flame->diff;
    const struct nytp_profile *profile = flame->profile;
    flame->is_noise = calloc((size_t)profile->n_subs + 1, sizeof *flame->is_noise);
    if (flame->is_noise == NULL)
        return false;
    if (!diff->tested || flame->options->weight != NYTP_WEIGHT_TIME)
        return true;
    for (uint32_t sub = 0, row = 0; sub < profile->n_subs; sub++) {
        const struct nytp_name name = profile->subs[sub].name;
        row = sub <= 1 ? 0 : row; /* the first one is not in order */
        while (row < diff->n_rows && nytp_compare_names(diff->rows[row].name, name) < 0)
            row++;
        bool says_something = false;
        for (uint32_t i = row;
             i < diff->n_rows && nytp_compare_names(diff->rows[i].name, name) == 0; i++)
            says_something = says_something || diff->rows[i].significant;
        flame->is_noise[sub] = !says_something;
    }
    return true;
}

static uint32_t sub_of(const struct flamegraph *flame, uint32_t stack)
{
    return flame->tree->frames[flame->tree->stacks[stack].frame].sub;
}

/* Returns the mean of a side's runs. A scaled base has the sum of the new side's. */
static double mean_of(const struct flamegraph *flame, int64_t sum, enum nytp_diff_side side)
{
    if (flame->diff == NULL)
        return (double)sum;
    return (double)sum /
           (double)flame->diff->n_runs[flame->options->normalize ? NYTP_DIFF_NEW : side];
}

static double change(const struct flamegraph *flame, uint32_t stack)
{
    const struct box *box = &flame->boxes[stack];
    if (flame->is_noise[sub_of(flame, stack)])
        return 0;
    return mean_of(flame, box->now.own, NYTP_DIFF_NEW) -
           mean_of(flame, box->base.own, NYTP_DIFF_BASE);
}

static bool compare_boxes(struct flamegraph *flame)
{
    if (flame->diff == NULL)
        return true;
    if (!mark_noise(flame))
        return false;
    for (uint32_t i = 1; i < flame->tree->n_stacks; i++) {
        const double delta = change(flame, i);
        const double size = delta < 0 ? -delta : delta;
        flame->largest = size > flame->largest ? size : flame->largest;
    }
    return true;
}

/* Red is more, blue is less, deeper if larger. Grey is equal or not significant. */
static void change_colour(const struct flamegraph *flame, uint32_t stack, char fill[8])
{
    const double delta = change(flame, stack);
    const double part = flame->largest > 0 ? delta / flame->largest : 0;
    const unsigned pale = (unsigned)(PALEST - (PALEST - 50) * (part < 0 ? -part : part)) & 0xff;
    if (!(delta > 0) && !(delta < 0))
        snprintf(fill, 8, "#dddddd");
    else if (delta > 0)
        snprintf(fill, 8, "#ff%02x%02x", pale, pale);
    else
        snprintf(fill, 8, "#%02x%02xff", pale, pale);
}

/* ---- texts ---- */

static void put_value(const struct flamegraph *flame, double mean)
{
    const int64_t value = llround(mean);
    if (nytp_weight_is_time(flame->options->weight)) {
        nytp_text_time(flame->out, value, flame->profile->ticks_per_sec, flame->options->unit,
                       0);
        return;
    }
    const enum nytp_weight weight = flame->options->weight;
    nytp_printf(flame->out, "%lld %s", (long long)value,
                weight == NYTP_WEIGHT_STATEMENTS ? nytp_text_statements(flame->profile)
                : nytp_weight_is_space(weight)   ? "bytes"
                : nytp_weight_is_bytes(weight)   ? "blocks"
                                                 : nytp_measures[weight].title);
}

static void put_share(const struct flamegraph *flame, int64_t value)
{
    const int64_t whole = flame->boxes[0].now.width;
    nytp_printf(flame->out, ", %.1f%%", whole > 0 ? 100 * (double)value / (double)whole : 0.0);
}

static void put_frame_name(const struct flamegraph *flame, const struct nytp_stack_frame *frame)
{
    const struct nytp_sub *sub = &flame->profile->subs[frame->sub];
    nytp_xml_text(flame->out, sub->name.ptr, sub->name.len);
    if (frame->line != 0 && frame->file != sub->file) {
        struct nytp_name file = flame->profile->files[frame->file].name;
        if (file.len > 0 && file.ptr[0] != '(') /* evals keep their numbers */
            file = nytp_base_name(file);
        nytp_putc(flame->out, ':');
        nytp_xml_text(flame->out, file.ptr, file.len);
    }
    if (frame->line != 0)
        nytp_printf(flame->out, ":%lu", (unsigned long)frame->line);
    nytp_puts(flame->out, frame->unreturned ? " " NYTP_UNRETURNED_MARK : "");
}

/* "Foo::bar (12.3 ms, 4.5%, own 3 ms)", in a difference "…, base 10 ms, own +2 ms)". The
 * script takes the text before the last " (" as the name. */
static void put_title(const struct flamegraph *flame, uint32_t stack)
{
    const struct box *box = &flame->boxes[stack];
    put_frame_name(flame, &flame->tree->frames[flame->tree->stacks[stack].frame]);
    nytp_puts(flame->out, " (");
    put_value(flame, mean_of(flame, box->now.width, NYTP_DIFF_NEW));
    put_share(flame, box->now.width);
    if (flame->diff != NULL) {
        const double delta = mean_of(flame, box->now.own, NYTP_DIFF_NEW) -
                             mean_of(flame, box->base.own, NYTP_DIFF_BASE);
        nytp_puts(flame->out, ", base ");
        put_value(flame, mean_of(flame, box->base.width, NYTP_DIFF_BASE));
        nytp_puts(flame->out, delta > 0 ? ", own +" : ", own ");
        put_value(flame, delta);
    } else if (box->now.own != box->now.width) {
        nytp_puts(flame->out, ", own ");
        put_value(flame, (double)box->now.own);
    }
    nytp_putc(flame->out, ')');
}

static void put_subject(const struct flamegraph *flame)
{
    const struct nytp_profile *profile = flame->profile;
    char title[200];
    if (flame->options->title != NULL) {
        nytp_html_puts(flame->out, flame->options->title);
    } else if (flame->diff != NULL) {
        nytp_diff_title(flame->diff, title, sizeof title);
        nytp_html_puts(flame->out, title);
    } else if (profile->n_recordings > 0) {
        const struct nytp_name name = nytp_base_name(profile->recordings[0].application);
        nytp_xml_text(flame->out, name.ptr, name.len);
        if (profile->n_recordings > 1)
            nytp_printf(flame->out, " and %lu more", (unsigned long)profile->n_recordings - 1);
    }
}

/* Writes the answer to "faster?", or both medians (means, if only stacks have the weight). */
static void put_difference(const struct flamegraph *flame)
{
    const enum nytp_weight weight = flame->options->weight;
    const struct nytp_diff_cell *median = flame->diff->total.median;
    char answer[240];
    if (weight == NYTP_WEIGHT_TIME) {
        nytp_diff_answer(flame->diff, answer, sizeof answer);
        nytp_html_puts(flame->out, answer);
    } else if (nytp_weight_is_of_stacks(weight)) {
        put_value(flame, mean_of(flame, flame->boxes[0].now.width, NYTP_DIFF_NEW));
        nytp_puts(flame->out, ", base ");
        put_value(flame, mean_of(flame, flame->boxes[0].base.width, NYTP_DIFF_BASE));
    } else {
        put_value(flame, (double)nytp_diff_value(&median[NYTP_DIFF_NEW], weight));
        nytp_puts(flame->out, ", base ");
        put_value(flame, (double)nytp_diff_value(&median[NYTP_DIFF_BASE], weight));
    }
    if (flame->options->normalize)
        nytp_puts(flame->out, "; the base is scaled to the same sum");
}

static void put_legend(const struct flamegraph *flame)
{
    const struct nytp_diff *diff = flame->diff;
    int64_t ticks = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < diff->n_rows; i++) {
        const enum nytp_diff_status status = diff->rows[i].status;
        if (status != NYTP_DIFF_GONE && status != NYTP_DIFF_UNCALLED)
            continue;
        n++;
        ticks -= diff->rows[i].median[NYTP_DIFF_BASE].ticks;
    }
    nytp_puts(
        flame->out,
        "<text x=\"3\" y=\"36\" class=\"legend\"><tspan fill=\"#f33\">\xe2\x96\xa0</tspan> "
        "more <tspan fill=\"#33f\">\xe2\x96\xa0</tspan> less <tspan fill=\"#ccc\">"
        "\xe2\x96\xa0</tspan> equal, or nothing can be said");
    if (diff->n_runs[NYTP_DIFF_BASE] > 1 || diff->n_runs[NYTP_DIFF_NEW] > 1)
        nytp_puts(flame->out, "; boxes: the mean of a run");
    if (n > 0) {
        char time[40];
        nytp_diff_time(diff, ticks, true, time, sizeof time);
        nytp_printf(flame->out, "; %lu sub%s (%s) only in the base", (unsigned long)n,
                    n == 1 ? "" : "s", time);
    }
    nytp_puts(flame->out, " <tspan class=\"side\" font-weight=\"bold\"/></text>\n");
}

static void put_head(const struct flamegraph *flame)
{
    struct nytp_out *out = flame->out;
    nytp_puts(out, "<title>");
    put_subject(flame);
    nytp_puts(
        out, "</title>\n<style>g.boxes>g{cursor:pointer}g.boxes>g:hover>rect{stroke:#000}"
             ".outside{opacity:.5}.hit>rect{fill:#d6f}text{pointer-events:none}"
             "input{width:100%;height:100%;box-sizing:border-box;font:11px monospace}</style>\n"
             "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
             "<text x=\"3\" y=\"18\" font-size=\"13\">");
    put_subject(flame);
    nytp_puts(out, ": ");
    if (flame->diff != NULL)
        put_difference(flame);
    else
        put_value(flame, (double)flame->boxes[0].now.width);
    if (flame->n_hidden > 0)
        nytp_printf(out, "; %lu too narrow to be seen", (unsigned long)flame->n_hidden);
    nytp_puts(out, " <tspan class=\"found\" font-weight=\"bold\"/>");
    nytp_puts(out, "</text>\n");
    if (flame->diff != NULL)
        put_legend(flame);
}

/* ---- the picture ---- */

static void put_box(const struct flamegraph *flame, const struct nytp_picture *picture,
                    uint32_t stack)
{
    const struct box *box = &flame->boxes[stack];
    const double now = pixel(flame, flame->boxes[0].now.width);
    const double base = pixel(flame, flame->boxes[0].base.width);
    char fill[8], attributes[80] = "";
    if (flame->diff != NULL) {
        change_colour(flame, stack, fill);
        snprintf(attributes, sizeof attributes, " data-base=\"%.6f %.6f\"",
                 (double)box->base.start * base, (double)box->base.width * base);
    } else {
        nytp_picture_colour(flame->profile->subs[sub_of(flame, stack)].name, fill);
    }
    nytp_picture_box_begin(picture);
    put_title(flame, stack);
    nytp_picture_box_end(picture, &(struct nytp_picture_box){
                                      .x = (double)box->now.start * now,
                                      .width = (double)box->now.width * now,
                                      .depth = flame->tree->stacks[stack].depth - 1,
                                      .name = flame->profile->subs[sub_of(flame, stack)].name,
                                      .fill = fill,
                                      .attributes = attributes,
                                  });
    nytp_putc(flame->out, '\n');
}

static void put_boxes(const struct flamegraph *flame, const struct nytp_picture *picture)
{
    uint32_t last = 0;
    nytp_puts(flame->out, "<g class=\"boxes\">\n");
    for (uint32_t i = 0; i < flame->tree->n_entries; i++) {
        const uint32_t stack = flame->tree->entries[i].stack;
        if (stack != last && flame->boxes[stack].shown)
            put_box(flame, picture, stack);
        last = stack;
    }
    nytp_puts(flame->out, "</g>\n");
}

static void put_picture(const struct flamegraph *flame)
{
    const uint32_t asked = flame->options->flame_width;
    const struct nytp_picture picture = {
        .out = flame->out,
        .width = asked > 0 ? asked : NYTP_PICTURE_WIDTH,
        .depth = flame->depth,
        .head = HEAD + (flame->diff != NULL ? LEGEND : 0),
        .decimals = 6, /* a zoom makes a box up to 12 000 times as wide */
        .attributes = "",
    };
    nytp_puts(flame->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    nytp_picture_begin(&picture);
    put_head(flame);
    put_boxes(flame, &picture);
    nytp_puts(flame->out, "<script><![CDATA[\n");
    nytp_put(flame->out, (const char *)nytp_flame_picture_js.bytes, nytp_flame_picture_js.len);
    nytp_puts(flame->out, "]]></script>\n");
    nytp_picture_end(&picture);
}

static bool write_picture(struct flamegraph *flame)
{
    bool ok = flame->tree != NULL && nytp_stacktree_sort(flame->tree, NULL);
    if (ok)
        flame->boxes = calloc(flame->tree->n_stacks, sizeof *flame->boxes);
    ok = ok && flame->boxes != NULL;
    if (ok)
        sum_widths(flame);
    ok = ok && place_boxes(flame) && choose_boxes(flame) && compare_boxes(flame);
    if (ok)
        put_picture(flame);
    else
        nytp_error_set(&flame->out->error, NYTP_ERR_MEMORY,
                       "out of memory for the flame graph");
    nytp_stacktree_free(flame->tree);
    free(flame->boxes);
    free(flame->is_noise);
    return flame->out->error.status == NYTP_OK;
}

static bool write_flamegraph(const struct nytp_profile *profile,
                             const struct nytp_export_options *options, struct nytp_out *out)
{
    struct flamegraph flame = {.profile = profile, .options = options, .out = out};
    flame.tree = nytp_stacktree_new(profile, options, NYTP_ALL_PROCESSES, true);
    return write_picture(&flame);
}

static bool write_flamegraph_diff(const struct nytp_diff *diff,
                                  const struct nytp_export_options *options,
                                  struct nytp_out *out)
{
    struct flamegraph flame = {
        .profile = diff->profile, .options = options, .diff = diff, .out = out};
    flame.tree = nytp_stacktree_of_sides(diff->profile, options, diff->side_of_recording);
    return write_picture(&flame);
}

const struct nytp_exporter nytp_exporter_flamegraph = {
    .name = "flamegraph",
    .title = "a flame graph as one SVG file: browsers",
    .suffixes = ".svg",
    .shows_counts = true,
    .needs = NYTP_HAS_CALLS,
    .viewer = NYTP_BROWSERS,
    .viewer_leaves = true,
    .write = write_flamegraph,
    .write_diff = write_flamegraph_diff,
    .shows_stacks = true,
    .takes = "flame-width lines open title unit weight",
    .takes_diff = "flame-width lines normalize open title unit weight",
};
