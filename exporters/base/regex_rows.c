/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Regular expressions by place and pattern; see regex_rows.h.
 *
 * How time grows with the subject is the median slope from one point to the next, of the
 * logarithms of mean lengths and mean times, one point for each power of two. The longest call
 * of a point is left out, which may have been interrupted. A line through all points would be
 * steeper than the pattern where time jumps once: perl keeps what it can go back to in memory
 * that is new from some length on, and what takes longer than a turn of a busy processor waits
 * for the next one.
 */
#include "regex_rows.h"

#include "formats/base/units.h"
#include "formats/base/wide.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    LEAST_CALLS = 3,       /* calls of a point */
    LEAST_NS = 1000,       /* mean of a point: any call costs about this */
    LEAST_LAST_NS = 10000, /* mean of the longest subjects: below it growth harms nobody */
    LEAST_POINTS = 3,
};
#define LEAST_SPAN 1.3863 /* log(4): from the shortest subjects to the longest */

struct point {
    double length, time; /* logarithms */
};

static bool make_point(const struct nytp_regex_size *size, struct point *point)
{
    if (size->calls < LEAST_CALLS || size->bytes == 0 || size->max_ns > size->ns)
        return false;
    const double ns = (double)(size->ns - size->max_ns) / (double)(size->calls - 1);
    if (ns < LEAST_NS)
        return false;
    *point = (struct point){log((double)size->bytes / (double)size->calls), log(ns)};
    return true;
}

static int by_size(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* The median of the slopes between neighbours; there are two points or more. */
static double median_slope(const struct point *points, uint32_t n)
{
    double slopes[NYTP_REGEX_SIZES];
    const uint32_t n_slopes = n - 1;
    for (uint32_t i = 0; i < n_slopes; i++)
        slopes[i] =
            (points[i + 1].time - points[i].time) / (points[i + 1].length - points[i].length);
    qsort(slopes, n_slopes, sizeof *slopes, by_size);
    return (slopes[(n_slopes - 1) / 2] + slopes[n_slopes / 2]) / 2;
}

static double growth(const struct nytp_regex_size sizes[NYTP_REGEX_SIZES])
{
    struct point points[NYTP_REGEX_SIZES];
    uint32_t n = 0;
    for (uint32_t i = 0; i < NYTP_REGEX_SIZES; i++)
        n += make_point(&sizes[i], &points[n]) &&
             (n == 0 || points[n].length > points[n - 1].length);
    if (n < LEAST_POINTS || points[n - 1].length - points[0].length < LEAST_SPAN ||
        points[n - 1].time < log(LEAST_LAST_NS))
        return 0;
    const double power = median_slope(points, n);
    return power > 0 ? power : 0;
}

static int compare_places(const struct nytp_regex_row *a, const struct nytp_regex_row *b)
{
    NYTP_RETURN_ORDER(a->sums.kind, b->sums.kind);
    const int order = nytp_compare_names(a->file, b->file);
    return order != 0 ? order : (a->sums.line > b->sums.line) - (a->sums.line < b->sums.line);
}

static int by_place_and_pattern(const void *x, const void *y)
{
    const struct nytp_regex_row *a = x, *b = y;
    const int order = compare_places(a, b);
    return order != 0 ? order : nytp_compare_names(a->sums.pattern, b->sums.pattern);
}

static int by_time(const void *x, const void *y)
{
    const struct nytp_regex_row *a = x, *b = y;
    NYTP_RETURN_ORDER(b->sums.total_ns, a->sums.total_ns);
    return by_place_and_pattern(x, y);
}

static void add(struct nytp_regex_row *to, const struct nytp_regex_row *row)
{
    to->sums.calls += row->sums.calls;
    to->sums.matches += row->sums.matches;
    to->sums.compiled += row->sums.compiled;
    to->sums.total_ns += row->sums.total_ns;
    if (row->sums.max_ns <= to->sums.max_ns)
        return;
    to->sums.max_ns = row->sums.max_ns;
    to->sums.max_len = row->sums.max_len;
}

static void add_sizes(struct nytp_regex_size sizes[NYTP_REGEX_SIZES],
                      const struct nytp_regex_size *more)
{
    for (uint32_t i = 0; i < NYTP_REGEX_SIZES; i++) {
        sizes[i].calls += more[i].calls;
        sizes[i].ns += more[i].ns;
        sizes[i].bytes += more[i].bytes;
        if (more[i].max_ns > sizes[i].max_ns)
            sizes[i].max_ns = more[i].max_ns;
    }
}

/* One of those of several processes, which are sorted. */
static uint32_t join_processes(struct nytp_regex_row *rows, uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t i = 0, next; i < n; i = next) {
        struct nytp_regex_size sizes[NYTP_REGEX_SIZES] = {{0}};
        struct nytp_regex_row row = rows[i];
        add_sizes(sizes, row.sums.sizes);
        for (next = i + 1; next < n && by_place_and_pattern(&row, &rows[next]) == 0; next++) {
            add(&row, &rows[next]);
            add_sizes(sizes, rows[next].sums.sizes);
        }
        row.growth = row.sums.kind != NYTP_REGEX_COMPILE ? growth(sizes) : 0;
        row.sums.sizes = NULL;
        row.n_patterns = 1;
        rows[kept++] = row;
    }
    return kept;
}

/* And one of all that are compiled at a place. */
static uint32_t join_compilations(struct nytp_regex_row *rows, uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t i = 0, next; i < n; i = next) {
        struct nytp_regex_row row = rows[i];
        uint64_t most_ns = row.sums.total_ns;
        for (next = i + 1; row.sums.kind == NYTP_REGEX_COMPILE && next < n &&
                           compare_places(&row, &rows[next]) == 0;
             next++) {
            add(&row, &rows[next]);
            row.n_patterns++;
            if (rows[next].sums.total_ns > most_ns) {
                most_ns = rows[next].sums.total_ns;
                row.sums.pattern = rows[next].sums.pattern;
            }
        }
        rows[kept++] = row;
    }
    return kept;
}

bool nytp_regex_rows_init(struct nytp_regex_rows *rows, const struct nytp_profile *profile)
{
    const uint32_t n = profile->n_regexes;
    *rows = (struct nytp_regex_rows){.rows = calloc((size_t)n + 1, sizeof *rows->rows)};
    if (rows->rows == NULL)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        rows->rows[i].sums = profile->regexes[i];
        rows->rows[i].file = profile->files[profile->regexes[i].file].name;
    }
    qsort(rows->rows, n, sizeof *rows->rows, by_place_and_pattern);
    rows->n = join_compilations(rows->rows, join_processes(rows->rows, n));
    qsort(rows->rows, rows->n, sizeof *rows->rows, by_time);
    return true;
}

void nytp_regex_rows_free(struct nytp_regex_rows *rows)
{
    free(rows->rows);
}

void nytp_regex_remark(const struct nytp_regex_row *row, char text[100])
{
    const struct nytp_regex *const sums = &row->sums;
    *text = '\0';
    if (row->growth > NYTP_REGEX_STEEP)
        snprintf(text, 100, "time grows as length^%.1f", row->growth);
    else if (sums->compiled >= 10 && sums->compiled >= 2 * row->n_patterns)
        snprintf(text, 100, "compiled %llu times for %llu pattern%s: hoist it with qr//",
                 (unsigned long long)sums->compiled, (unsigned long long)row->n_patterns,
                 row->n_patterns == 1 ? "" : "s");
}

int64_t nytp_total_ns(const struct nytp_profile *profile)
{
    return nytp_mul_div_signed(profile->total.ticks, NYTP_NS_PER_SEC, profile->ticks_per_sec);
}
