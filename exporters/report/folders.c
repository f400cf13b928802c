/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The files of the program as a tree of folders with their times. See report.h.
 *
 * Files sorted by name come folder by folder; the folders of the file before that are no longer
 * those of this one are closed, the new ones are opened.
 */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#define MAX_FOLDERS 24 /* one inside another; what is deeper is told as one name */

/* A file of the tree; `name` is the report's. */
struct leaf {
    const char *name; /* as shown */
    uint32_t len, file;
};

static int compare_leaves(const void *left, const void *right)
{
    const struct leaf *a = left, *b = right;
    const uint32_t len = a->len < b->len ? a->len : b->len;
    const int order = len > 0 ? memcmp(a->name, b->name, len) : 0;
    if (order != 0 || a->len == b->len)
        return order != 0 ? order : (a->file > b->file) - (a->file < b->file);
    return a->len < b->len ? -1 : 1;
}

/* Bytes of the first `depth` folders of a name, slashes included. */
static uint32_t prefix_len(const struct leaf *leaf, uint32_t depth)
{
    uint32_t len = 0;
    for (uint32_t i = 0; i < leaf->len && depth > 0; i++)
        if (leaf->name[i] == '/') {
            len = i + 1;
            depth--;
        }
    return len;
}

/* In how many folders a file is. */
static uint32_t depth_of(const struct leaf *leaf)
{
    uint32_t depth = 0;
    for (uint32_t i = 0; i < leaf->len && depth < MAX_FOLDERS; i++)
        depth += leaf->name[i] == '/';
    return depth;
}

/* How many folders two names have in common, at most `depth`. */
static uint32_t common_depth(const struct leaf *a, const struct leaf *b, uint32_t depth)
{
    uint32_t common = 0;
    for (uint32_t i = 0; i < a->len && i < b->len && a->name[i] == b->name[i] && common < depth;
         i++)
        common += a->name[i] == '/';
    return common;
}

/* Open folder number `depth` of the first leaf, counted from 0, with the time of all files in
 * it: they are at the beginning of the `n` leaves. */
static void open_folder(struct nytp_report *report, const struct leaf *leaves, uint32_t n,
                        uint32_t depth)
{
    const uint32_t from = prefix_len(leaves, depth), to = prefix_len(leaves, depth + 1);
    int64_t ticks = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (leaves[i].len < to || memcmp(leaves[i].name, leaves[0].name, to) != 0)
            break;
        ticks += report->files[leaves[i].file].all_ticks;
    }
    const double seconds = nytp_report_seconds(report, ticks);
    nytp_printf(report->out, "<li data-n=%lld><details%s><summary>",
                (long long)nytp_report_ns(seconds), depth == 0 ? " open" : "");
    nytp_html_text(report->out, leaves->name + from, to - from);
    nytp_putc(report->out, ' ');
    nytp_report_put_time(report, report->out, seconds);
    nytp_puts(report->out, "</summary><ul>\n");
}

static void put_leaf(struct nytp_report *report, const struct leaf *leaf, uint32_t depth)
{
    const uint32_t from = prefix_len(leaf, depth);
    const double seconds = nytp_report_seconds(report, report->files[leaf->file].all_ticks);
    nytp_printf(report->out, "<li data-n=%lld><a href=", (long long)nytp_report_ns(seconds));
    char page[NYTP_REPORT_NAME];
    nytp_report_page_name(report, leaf->file, nytp_report_link_level(report, leaf->file), page);
    nytp_report_put_url(report, page, "");
    nytp_putc(report->out, '>');
    nytp_html_text(report->out, leaf->name + from, leaf->len - from);
    nytp_puts(report->out, "</a> ");
    nytp_report_put_time(report, report->out, seconds);
    nytp_putc(report->out, '\n');
}

static void close_folders(struct nytp_report *report, uint32_t n)
{
    while (n-- > 0)
        nytp_puts(report->out, "</ul></details>\n");
}

static void put_tree(struct nytp_report *report, const struct leaf *leaves, uint32_t n)
{
    uint32_t open = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t depth = depth_of(&leaves[i]);
        const uint32_t common =
            i > 0 ? common_depth(&leaves[i], &leaves[i - 1], depth < open ? depth : open) : 0;
        close_folders(report, open - common);
        for (open = common; open < depth; open++)
            open_folder(report, leaves + i, n - i, open);
        put_leaf(report, &leaves[i], depth);
    }
    close_folders(report, open);
}

/* The files by path, report->n_ranked of them; NULL: out of memory. */
static struct leaf *sorted_leaves(struct nytp_report *report)
{
    struct leaf *leaves = malloc(((size_t)report->n_ranked + 1) * sizeof *leaves);
    if (leaves == NULL) {
        nytp_error_set(&report->out->error, NYTP_ERR_MEMORY, "out of memory");
        return NULL;
    }
    for (uint32_t i = 0; i < report->n_ranked; i++) {
        const uint32_t f = report->files_by_time[i];
        leaves[i] = (struct leaf){report->files[f].shown, report->files[f].shown_len, f};
    }
    qsort(leaves, report->n_ranked, sizeof *leaves, compare_leaves);
    return leaves;
}

void nytp_report_folder_tree(struct nytp_report *report)
{
    struct leaf *leaves = sorted_leaves(report);
    if (leaves == NULL)
        return;
    nytp_puts(report->out, "<details class=\"folders\"><summary>Files by folder</summary>\n"
                           "<ul class=\"tree\">\n");
    put_tree(report, leaves, report->n_ranked);
    nytp_puts(report->out, "</ul></details>\n");
    free(leaves);
}

/* With so few files the table is at hand. */
#define MIN_JUMP_FILES 10

/* A list in a <details>: a <select> would do nothing without script. */
void nytp_report_jump_list(struct nytp_report *report)
{
    struct nytp_out *out = report->out;
    if (report->n_ranked < MIN_JUMP_FILES)
        return;
    struct leaf *leaves = sorted_leaves(report);
    if (leaves == NULL)
        return;
    nytp_printf(out,
                "<nav aria-label=\"Source files\"><details class=\"folders\"><summary>Jump to "
                "one of %u source files</summary><ul>\n",
                (unsigned)report->n_ranked);
    for (uint32_t i = 0; i < report->n_ranked; i++) {
        const uint32_t f = leaves[i].file;
        char name[NYTP_REPORT_NAME];
        nytp_report_page_name(report, f, nytp_report_link_level(report, f), name);
        nytp_puts(out, "<li><a href=");
        nytp_report_put_url(report, name, "");
        nytp_putc(out, '>');
        nytp_report_put_file(report, f);
        nytp_puts(out, "</a>\n");
    }
    nytp_puts(out, "</ul></details></nav>\n");
    free(leaves);
}
