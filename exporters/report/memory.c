/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The curve of a process's memory over time; see report.h and README.md. The picture has no
 * text and may be stretched. A sentence above it has the figures and the labels under which
 * memory grew most.
 */
#include "report.h"

#include "exporters/base/html.h"
#include "exporters/base/text.h"

#include "formats/model/profile.h"

enum {
    WIDTH = 1000, /* of the picture's coordinates */
    HEIGHT = 100,
    LEAST_POINTS = 4, /* fewer are no curve */
    MOST_LABELS = 3,  /* shown, with the largest growth */
};

/* Growth under a label. */
struct growth {
    const struct nytp_stretch *under;
    int64_t bytes;
};

struct curve {
    const struct nytp_memory_point *points;
    uint32_t n;
    const struct nytp_memory_point *highest;
    int64_t most_in_use, top;           /* top: the height of the picture in bytes */
    struct growth growths[MOST_LABELS]; /* the largest first */
    uint32_t n_growths;
};

/* Returns the last known memory in core at that time. */
static int64_t resident_at(const struct curve *curve, int64_t ticks)
{
    uint32_t first = 0, end = curve->n;
    while (end - first > 1) {
        const uint32_t middle = first + (end - first) / 2;
        if (curve->points[middle].at_ticks <= ticks)
            first = middle;
        else
            end = middle;
    }
    return curve->points[first].resident;
}

/* Keeps the largest growths, each at least a hundredth of the picture's height. */
static void add_growth(struct curve *curve, const struct nytp_stretch *under)
{
    const struct growth added = {under, resident_at(curve, under->end_ticks) -
                                            resident_at(curve, under->start_ticks)};
    uint32_t at = curve->n_growths;
    while (at > 0 && curve->growths[at - 1].bytes < added.bytes)
        at--;
    if (at == MOST_LABELS || added.bytes <= curve->top / 100)
        return;
    if (curve->n_growths < MOST_LABELS)
        curve->n_growths++;
    for (uint32_t i = curve->n_growths - 1; i > at; i--)
        curve->growths[i] = curve->growths[i - 1];
    curve->growths[at] = added;
}

static struct curve curve_of(const struct nytp_profile *profile)
{
    uint32_t most = 0;
    for (uint32_t i = 1; i < profile->n_memory_points; i++)
        if (profile->memory_points[i].resident > profile->memory_points[most].resident)
            most = i;
    if (profile->n_memory_points == 0)
        return (struct curve){0};
    const uint32_t process = profile->memory_points[most].process;
    const struct nytp_slice points = nytp_memory_points_of(profile, process, 1),
                            labels = nytp_stretches_of(profile, process, 1);
    struct curve curve = {.points = &profile->memory_points[points.first],
                          .n = points.n,
                          .highest = &profile->memory_points[most]};
    for (uint32_t i = 0; i < curve.n; i++)
        if (curve.points[i].in_use > curve.most_in_use)
            curve.most_in_use = curve.points[i].in_use;
    curve.top = curve.highest->resident > curve.most_in_use ? curve.highest->resident
                                                            : curve.most_in_use;
    for (uint32_t i = labels.first; i < labels.first + labels.n; i++)
        add_growth(&curve, &profile->stretches[i]);
    return curve;
}

static int64_t scaled(int64_t value, int64_t of, int64_t to)
{
    return of > 0 ? (int64_t)((double)value / (double)of * (double)to) : 0;
}

/* Writes corners x,y: the highest for each column. */
static void put_line(struct nytp_out *out, const struct curve *curve, bool in_use,
                     const char *look)
{
    const int64_t end = curve->points[curve->n - 1].at_ticks;
    nytp_printf(out, "<polyline %s vector-effect=non-scaling-stroke points=\"", look);
    for (uint32_t i = 0, next; i < curve->n; i = next) {
        const int64_t x = scaled(curve->points[i].at_ticks, end, WIDTH);
        int64_t most = 0;
        for (next = i; next < curve->n && scaled(curve->points[next].at_ticks, end, WIDTH) == x;
             next++) {
            const struct nytp_memory_point *const point = &curve->points[next];
            const int64_t bytes = in_use ? point->in_use : point->resident;
            if (bytes > most)
                most = bytes;
        }
        nytp_printf(out, "%s%lld,%lld", i > 0 ? " " : "", (long long)x,
                    (long long)(HEIGHT - scaled(most, curve->top, HEIGHT)));
    }
    nytp_puts(out, "\"></polyline>");
}

static void put_label(struct nytp_out *out, const struct nytp_stretch *stretch)
{
    nytp_html_text(out, stretch->key.ptr, stretch->key.len);
    nytp_putc(out, '=');
    nytp_html_text(out, stretch->value.ptr, stretch->value.len);
}

/* Writes the time of each of these labels behind the curve; the pointer shows its name. */
static void put_bands(struct nytp_out *out, const struct curve *curve)
{
    const int64_t end = curve->points[curve->n - 1].at_ticks;
    for (uint32_t i = 0; i < curve->n_growths; i++) {
        const struct nytp_stretch *const under = curve->growths[i].under;
        const int64_t x = scaled(under->start_ticks, end, WIDTH);
        const int64_t width = scaled(under->end_ticks, end, WIDTH) - x;
        nytp_printf(out,
                    "<rect x=%lld width=%lld height=%d fill=currentColor opacity=.15><title>",
                    (long long)x, (long long)(width > 0 ? width : 1), HEIGHT);
        put_label(out, under);
        nytp_puts(out, "</title></rect>");
    }
}

static void put_bytes(struct nytp_out *out, int64_t bytes, const char *then)
{
    nytp_puts(out, "<b>");
    nytp_text_bytes(out, bytes, 0);
    nytp_puts(out, "</b>");
    nytp_puts(out, then);
}

static void put_figures(struct nytp_report *report, const struct curve *curve)
{
    const struct nytp_profile *const profile = report->profile;
    struct nytp_out *const out = report->out;
    nytp_puts(out, "<p class=sentence>");
    if (profile->n_processes > 1)
        nytp_printf(out, "Process %u, the largest. ",
                    (unsigned)profile->processes[curve->highest->process].pid);
    nytp_puts(out, "In core ");
    put_bytes(out, curve->points[0].resident, " at first, ");
    put_bytes(out, curve->highest->resident, " at most (after ");
    nytp_report_put_time(report, out, curve->highest->at_ticks);
    nytp_puts(out, "), ");
    put_bytes(out, curve->points[curve->n - 1].resident, " in the end");
    if (curve->most_in_use > 0) {
        nytp_puts(out, "; in orange what was in use of the memory it allocated, at most ");
        put_bytes(out, curve->most_in_use, ", by samples");
    }
    for (uint32_t i = 0; i < curve->n_growths; i++) {
        const struct growth *const growth = &curve->growths[i];
        nytp_puts(out, i > 0 ? ", " : ". It grew most under ");
        put_label(out, growth->under);
        nytp_puts(out, " (");
        put_bytes(out, growth->bytes, " from ");
        nytp_report_put_time(report, out, growth->under->start_ticks);
        nytp_puts(out, " on)");
    }
    nytp_puts(out, ".</p>\n");
}

void nytp_report_memory_curve(struct nytp_report *report)
{
    const struct curve curve = curve_of(report->profile);
    struct nytp_out *const out = report->out;
    if (curve.n < LEAST_POINTS)
        return;
    nytp_puts(out, "<section id=memory><h2>Memory over time</h2>\n");
    put_figures(report, &curve);
    nytp_printf(out,
                "<svg role=img aria-label=\"Memory over time\" width=\"100%%\" height=120 "
                "viewBox=\"0 -2 %d %d\" preserveAspectRatio=none fill=none stroke-width=2>",
                WIDTH, HEIGHT + 4);
    put_bands(out, &curve);
    put_line(out, &curve, false, "stroke=currentColor");
    if (curve.most_in_use > 0)
        put_line(out, &curve, true, "stroke=orange");
    nytp_puts(out, "</svg></section>\n");
}
