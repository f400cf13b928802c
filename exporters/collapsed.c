/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Collapsed (folded) stacks: one line per distinct stack, outermost frame first, for
 * flamegraph.pl, inferno, speedscope, the Firefox Profiler and Perfetto:
 *
 *     main::RUNTIME;Foo::run;Foo::parse 1234
 *
 * Readers split at `;` and at the last blank, some at every blank. A second number at the end
 * makes a differential profile. So names are escaped: `;` becomes `:`, blanks and control
 * characters become `_`. A name that collides with another gets `~2`, `~3` … Lines are sorted
 * bytewise (LC_ALL=C sort). Stacks of weight 0 are left out.
 */
#include "exporters/compare/diff.h"
#include "exporters/stacks/frames.h"
#include "exporters/stacks/stacktree.h"

#include "formats/base/arena.h"
#include "formats/base/strings.h"
#include "formats/base/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A text under construction; reused. */
struct text {
    char *bytes;
    uint32_t len, capacity;
    bool no_memory;
};

struct collapsed {
    const struct nytp_profile *profile;
    const struct nytp_export_options *options;
    struct nytp_stacktree *tree;
    const struct nytp_diff *diff; /* two sides, or NULL */
    struct nytp_strings *strings; /* escaped names and frames */
    uint32_t *sub_texts;          /* per sub its string id, UINT32_MAX = none yet */
    struct nytp_table last_of;    /* escaped name -> the last number appended to it */
    struct nytp_name *frame_texts;
};

static void text_add(struct text *text, const char *bytes, size_t len)
{
    if (text->no_memory || !nytp_reserve(&text->bytes, &text->capacity, text->len + len, 1)) {
        text->no_memory = true;
        return;
    }
    memcpy(text->bytes + text->len, bytes, len);
    text->len += (uint32_t)len;
}

/* Returns the length of the C1 control or line separator (U+2028, U+2029) here, or 0. */
static size_t wide_control(const unsigned char *bytes, size_t left)
{
    if (left >= 2 && bytes[0] == 0xc2 && bytes[1] < 0xa0)
        return 2;
    return left >= 3 && bytes[0] == 0xe2 && bytes[1] == 0x80 && (bytes[2] & 0xfe) == 0xa8 ? 3
                                                                                          : 0;
}

static void text_add_escaped(struct text *text, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len;) {
        const unsigned char *at = (const unsigned char *)bytes + i;
        size_t n = 1;
        if (*at == ';')
            text_add(text, ":", 1);
        else if (*at <= ' ' || *at == 0x7f)
            text_add(text, "_", 1);
        else if ((n = wide_control(at, len - i)) > 0)
            text_add(text, "_", 1);
        else
            text_add(text, bytes + i, n = 1);
        i += n;
    }
    if (len == 0)
        text_add(text, "_", 1);
}

static uint32_t intern_text(struct collapsed *c, struct text *text)
{
    const uint32_t id =
        text->no_memory ? UINT32_MAX : nytp_strings_intern(c->strings, text->bytes, text->len);
    text->len = 0;
    return id;
}

/* Returns the string id of the escaped name, with "~2", "~3" and so on if it is used already.
 * Returns UINT32_MAX if memory is out. */
static uint32_t unique_text(struct collapsed *c, const struct nytp_name *name,
                            struct text *text)
{
    uint32_t before = nytp_strings_count(c->strings);
    text_add_escaped(text, name->ptr, name->len);
    const struct nytp_key escaped = {.a = intern_text(c, text)};
    uint32_t id = escaped.a, n = nytp_table_get(&c->last_of, escaped);
    if (n == NYTP_TABLE_NONE)
        n = 1;
    while (id != UINT32_MAX && id < before) {
        char suffix[16];
        const int len = snprintf(suffix, sizeof suffix, "~%u", (unsigned)++n);
        before = nytp_strings_count(c->strings);
        text_add_escaped(text, name->ptr, name->len);
        text_add(text, suffix, (size_t)len);
        id = intern_text(c, text);
    }
    const bool is_noted = n == 1 || nytp_table_put(&c->last_of, escaped, n);
    return is_noted ? id : UINT32_MAX;
}

static bool needs_escape(const struct nytp_name *name, struct text *text)
{
    text->len = 0;
    text_add_escaped(text, name->ptr, name->len);
    const bool same = text->len == name->len && memcmp(text->bytes, name->ptr, name->len) == 0;
    text->len = 0;
    return !same;
}

/* Names that need no escape come first, so that no other takes theirs. */
static bool name_subs(struct collapsed *c, struct text *text)
{
    const struct nytp_stacktree *tree = c->tree;
    for (uint32_t i = 0; i < c->profile->n_subs; i++)
        c->sub_texts[i] = UINT32_MAX;
    for (int escaped = 0; escaped <= 1; escaped++) {
        for (uint32_t i = 0; i < tree->n_frames; i++) {
            const uint32_t sub = tree->frames[i].sub;
            if (c->sub_texts[sub] != UINT32_MAX)
                continue;
            const struct nytp_name *name = &c->profile->subs[sub].name;
            if (needs_escape(name, text) != (escaped == 1))
                continue;
            c->sub_texts[sub] = unique_text(c, name, text);
            if (c->sub_texts[sub] == UINT32_MAX)
                return false;
        }
    }
    return true;
}

/* Adds a file's name without folders. A string eval keeps its number: "(eval 3)[/x/a.pl:7]"
 * becomes "(eval 3)[a.pl:7]". */
static void text_add_base(struct text *text, struct nytp_name file)
{
    const char *const end = file.ptr + file.len;
    const char *inner = end;
    while (inner > file.ptr && inner[-1] != '[')
        inner--;
    const bool is_eval = inner > file.ptr && memcmp(file.ptr, "(", 1) == 0;
    const char *base = end;
    while (base > (is_eval ? inner : file.ptr) && base[-1] != '/')
        base--;
    if (is_eval)
        text_add_escaped(text, file.ptr, (size_t)(inner - file.ptr));
    text_add_escaped(text, base, (size_t)(end - base));
}

/* Adds ":12", or ":Other.pm:12" if the line is not in the sub's file. */
static void text_add_line(const struct collapsed *c, struct text *text,
                          const struct nytp_stack_frame *frame)
{
    if (frame->line == 0)
        return;
    if (frame->file != c->profile->subs[frame->sub].file) {
        text_add(text, ":", 1);
        text_add_base(text, c->profile->files[frame->file].name);
    }
    char line[16];
    text_add(text, line, (size_t)snprintf(line, sizeof line, ":%u", frame->line));
}

static uint32_t frame_text(struct collapsed *c, const struct nytp_stack_frame *frame,
                           struct text *text)
{
    const struct nytp_name name = nytp_strings_get(c->strings, c->sub_texts[frame->sub]);
    text_add(text, name.ptr, name.len);
    text_add_line(c, text, frame);
    if (frame->unreturned)
        text_add(text, "_" NYTP_UNRETURNED_MARK, sizeof NYTP_UNRETURNED_MARK);
    return intern_text(c, text);
}

/* A frame in a line, followed by the blank that ends the stack, or by `;`. */
struct ranked {
    struct nytp_name text;
    char end;
    uint32_t index;
};

static int compare_ranked(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    const uint32_t common = a->text.len < b->text.len ? a->text.len : b->text.len;
    const int order = memcmp(a->text.ptr, b->text.ptr, common);
    if (order != 0)
        return order;
    const unsigned char next_a = common < a->text.len ? a->text.ptr[common] : a->end;
    const unsigned char next_b = common < b->text.len ? b->text.ptr[common] : b->end;
    return (int)next_a - (int)next_b;
}

/* Sorts stacks in the order of their lines. Each frame has one rank at the end of a line,
 * before a blank, and another one before the ";" of a longer stack. */
static bool sort_bytewise(struct collapsed *c)
{
    const uint32_t n = 2 * c->tree->n_frames;
    struct ranked *order = malloc(((size_t)n + 1) * sizeof *order);
    uint32_t *ranks = malloc(((size_t)n + 1) * sizeof *ranks);
    bool ok = order != NULL && ranks != NULL;
    if (ok) {
        for (uint32_t i = 0; i < n; i++)
            order[i] = (struct ranked){c->frame_texts[i / 2], i % 2 == 0 ? ' ' : ';', i};
        qsort(order, n, sizeof *order, compare_ranked);
        for (uint32_t i = 0; i < n; i++)
            ranks[order[i].index] = i;
        ok = nytp_stacktree_sort(c->tree, ranks);
    }
    free(order);
    free(ranks);
    return ok;
}

/* Returns a stack's weight in the output's unit; 0 = left out. */
static int64_t line_weight(const struct collapsed *c, struct nytp_scale *scale, int64_t value,
                           struct nytp_out *out)
{
    const int64_t shown = nytp_not_negative(out, value);
    return nytp_weight_is_time(c->options->weight) ? nytp_scale_next(scale, shown) : shown;
}

static void put_stack(const struct collapsed *c, const struct nytp_stack_walk *walk,
                      struct nytp_out *out)
{
    for (uint32_t i = 0; i < walk->stack->depth; i++) {
        const struct nytp_name *text = &c->frame_texts[walk->path[i]];
        if (i > 0)
            nytp_putc(out, ';');
        nytp_put(out, text->ptr, text->len);
    }
}

/* Writes "STACK NEW" or, for two sides, "STACK BASE NEW", as difffolded.pl does. */
static bool write_lines(const struct collapsed *c, struct nytp_out *out)
{
    struct nytp_scale scale, base_scale;
    const struct nytp_unit *unit = c->options->unit;
    nytp_scale_init(&scale, unit != NULL ? unit : nytp_unit_find("us"),
                    c->profile->ticks_per_sec);
    base_scale = scale;
    struct nytp_stack_walk walk;
    if (!nytp_stack_walk_begin(&walk, c->tree))
        return false;
    while (nytp_stack_walk_next(&walk)) {
        const int64_t weight = line_weight(c, &scale, walk.stack->value, out);
        const int64_t base = line_weight(c, &base_scale, walk.stack->base, out);
        if (weight == 0 && base == 0)
            continue;
        put_stack(c, &walk, out);
        if (c->diff != NULL)
            nytp_printf(out, " %lld", (long long)base);
        nytp_printf(out, " %lld\n", (long long)weight);
    }
    nytp_stack_walk_end(&walk);
    return true;
}

/* Makes the frames' texts. Frames with equal texts (lines of files with one name) become one
 * frame: readers expect one line for each distinct text. */
static bool make_frames(struct collapsed *c, struct text *text, uint32_t *same)
{
    struct nytp_table frame_of = {0}; /* text -> frame */
    bool ok = name_subs(c, text);
    for (uint32_t i = 0; i < c->tree->n_frames && ok; i++) {
        const struct nytp_key key = {.a = frame_text(c, &c->tree->frames[i], text)};
        ok = key.a != UINT32_MAX;
        if (!ok)
            break;
        c->frame_texts[i] = nytp_strings_get(c->strings, key.a);
        same[i] = nytp_table_get(&frame_of, key);
        if (same[i] == NYTP_TABLE_NONE) {
            same[i] = i;
            ok = nytp_table_put(&frame_of, key, i);
        }
    }
    nytp_table_free(&frame_of);
    return ok && nytp_stacktree_merge_frames(c->tree, same);
}

static bool make_texts(struct collapsed *c)
{
    const uint32_t n_frames = c->tree->n_frames;
    uint32_t *same = calloc((size_t)n_frames + 1, sizeof *same);
    c->strings = nytp_strings_new();
    c->sub_texts = malloc(((size_t)c->profile->n_subs + 1) * sizeof *c->sub_texts);
    c->frame_texts = calloc((size_t)n_frames + 1, sizeof *c->frame_texts);
    struct text text = {0};
    const bool ok = same != NULL && c->strings != NULL && c->sub_texts != NULL &&
                    c->frame_texts != NULL && make_frames(c, &text, same);
    free(text.bytes);
    free(same);
    return ok;
}

static bool write_tree(struct collapsed *c, struct nytp_out *out)
{
    const bool ok = c->tree != NULL && make_texts(c) && sort_bytewise(c) && write_lines(c, out);
    if (!ok)
        nytp_error_set(&out->error, NYTP_ERR_MEMORY, "out of memory for collapsed stacks");
    nytp_stacktree_free(c->tree);
    nytp_strings_free(c->strings);
    nytp_table_free(&c->last_of);
    free(c->sub_texts);
    free(c->frame_texts);
    return out->error.status == NYTP_OK;
}

static bool write_collapsed(const struct nytp_profile *profile,
                            const struct nytp_export_options *options, struct nytp_out *out)
{
    struct collapsed c = {.profile = profile, .options = options};
    c.tree = nytp_stacktree_new(profile, options, NYTP_ALL_PROCESSES, true);
    return write_tree(&c, out);
}

static bool write_collapsed_diff(const struct nytp_diff *diff,
                                 const struct nytp_export_options *options,
                                 struct nytp_out *out)
{
    struct collapsed c = {.profile = diff->profile, .options = options, .diff = diff};
    c.tree = nytp_stacktree_of_sides(diff->profile, options, diff->side_of_recording);
    return write_tree(&c, out);
}

const struct nytp_exporter nytp_exporter_collapsed = {
    .name = "collapsed",
    .title = "collapsed stacks: flamegraph.pl, inferno, speedscope, Firefox Profiler",
    .suffixes = ".folded .collapsed",
    .shows_counts = true,
    .needs = NYTP_HAS_CALLS,
    .write = write_collapsed,
    .write_diff = write_collapsed_diff,
    .shows_stacks = true,
    .sums_runs = true,
    .takes = "lines unit weight",
    .takes_diff = "lines normalize unit weight",
};
