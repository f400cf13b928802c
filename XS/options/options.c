/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The user's options; see options.h.
 */
#include "options.h"

#include "file_name.h"
#include "formats/base/edit_distance.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct option_row {
    const char *name;
    size_t offset;
    bool is_text, is_streamed;
    int64_t default_value, lowest, highest;
};

#define ROW(name) #name, offsetof(struct nytp_options, name)
static const struct option_row rows[NYTP_N_OPTIONS] = {
#define NYTP_STREAMED(name, default_value, lowest, highest, doc)                               \
    {ROW(name), false, true, default_value, lowest, highest},
#define NYTP_NUMBER(name, default_value, lowest, highest, doc)                                 \
    {ROW(name), false, false, default_value, lowest, highest},
#define NYTP_TEXT(name, doc) {ROW(name), true, false, 0, 0, 0},
#include "options.def"
};
#undef ROW

_Static_assert(NYTP_N_OPTIONS <= 64, "a bit for each");

static int64_t *number_of(const struct nytp_options *options, const struct option_row *row)
{
    return (int64_t *)((char *)options + row->offset);
}

static char **text_of(const struct nytp_options *options, const struct option_row *row)
{
    return (char **)((char *)options + row->offset);
}

void nytp_options_init(struct nytp_options *options)
{
    memset(options, 0, sizeof *options);
    options->flush_s = NYTP_DEFAULT_FLUSH_S;
    for (size_t i = 0; i < NYTP_N_OPTIONS; i++)
        if (!rows[i].is_text)
            *number_of(options, &rows[i]) = rows[i].default_value;
}

void nytp_options_free(struct nytp_options *options)
{
    for (size_t i = 0; i < NYTP_N_OPTIONS; i++)
        if (rows[i].is_text)
            free(*text_of(options, &rows[i]));
    memset(options, 0, sizeof *options);
}

bool nytp_options_copy(struct nytp_options *options, const struct nytp_options *from)
{
    bool ok = true;
    *options = *from;
    for (size_t i = 0; i < NYTP_N_OPTIONS; i++) {
        char **const text = rows[i].is_text ? text_of(options, &rows[i]) : NULL;
        if (text == NULL || *text == NULL)
            continue;
        *text = strdup(*text_of(from, &rows[i]));
        ok = ok && *text != NULL;
    }
    if (!ok)
        nytp_options_free(options);
    return ok;
}

/* A k or m after a number of bytes multiplies it. Returns the length of that unit. */
static size_t scale_bytes(const char *unit, long long *number)
{
    const int shift = *unit == 'k' || *unit == 'K' ? 10 : *unit == 'm' || *unit == 'M' ? 20 : 0;
    if (shift == 0 || *number < 0 || *number > LLONG_MAX >> shift)
        return 0;
    *number <<= shift;
    return 1;
}

static bool set_number(struct nytp_options *options, const struct option_row *row,
                       const char *value, struct nytp_error *error)
{
    char *end;
    errno = 0;
    long long number = strtoll(value, &end, 0);
    if (end != value && strcmp(row->name, "memory") == 0)
        end += scale_bytes(end, &number);
    if (end == value || *end != '\0' || errno != 0)
        return nytp_error_set(error, NYTP_ERR_FORMAT, "option %s: '%s' is not a number",
                              row->name, value);
    if (number < row->lowest || number > row->highest)
        return nytp_error_set(error, NYTP_ERR_FORMAT,
                              "option %s: %lld is not between %" PRId64 " and %" PRId64,
                              row->name, number, row->lowest, row->highest);
    *number_of(options, row) = number;
    return true;
}

static bool set_flush(struct nytp_options *options, const char *value, struct nytp_error *error)
{
    char *end;
    const double seconds = strtod(value, &end);
    if (end == value || *end != '\0' || !isfinite(seconds) || seconds < 0 || seconds > 86400)
        return nytp_error_set(error, NYTP_ERR_FORMAT,
                              "option flush: '%s' is not a number of seconds", value);
    options->flush_s = seconds;
    return true;
}

static bool is_one_of(const char *value, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcmp(value, *words) == 0)
            return true;
    return false;
}

/* Checks a name with placeholders. A bad file= is also noted: the program runs unprofiled, lest
 * another file be overwritten. For control= every wrong value has that effect. */
static bool check_name(struct nytp_options *options, const char *option, const char *name,
                       struct nytp_error *error)
{
    const int unknown = nytp_file_name_unknown(name);
    const bool is_file = strcmp(option, "file") == 0;
    if (is_file)
        options->has_bad_file = unknown >= 0;
    if (unknown < 0)
        return true;
    const char letter[] = {(char)unknown, '\0'};
    return nytp_error_set(error, NYTP_ERR_FORMAT,
                          "option %s: '%%%s' in '%s' is none of %%p, %%h, %%t, %%s and %%%%%s",
                          option, letter, name, is_file ? "; the program runs unprofiled" : "");
}

static bool check_text(struct nytp_options *options, const struct option_row *row,
                       const char *value, struct nytp_error *error)
{
    static const char *const phases[] = {"begin", "init", "end", "no", NULL};
    static const char *const clocks[] = {"wall", "cpu", NULL};
    if (strcmp(row->name, "flush") == 0)
        return set_flush(options, value, error);
    if (strcmp(row->name, "start") == 0 && !is_one_of(value, phases))
        return nytp_error_set(error, NYTP_ERR_FORMAT,
                              "option start: '%s' is not begin, init, end or no", value);
    if (strcmp(row->name, "sample_clock") == 0 && !is_one_of(value, clocks))
        return nytp_error_set(error, NYTP_ERR_FORMAT,
                              "option sample_clock: '%s' is not wall or cpu", value);
    if (strcmp(row->name, "file") == 0 && value[0] == '\0')
        return nytp_error_set(error, NYTP_ERR_FORMAT, "option file: the name is empty");
    const bool has_placeholders =
        strcmp(row->name, "file") == 0 || strcmp(row->name, "control") == 0;
    return !has_placeholders || check_name(options, row->name, value, error);
}

static bool set_text(struct nytp_options *options, const struct option_row *row,
                     const char *value, struct nytp_error *error)
{
    if (!check_text(options, row, value, error))
        return false;
    const bool is_log = strcmp(row->name, "log") == 0; /* it is reopened for each message */
    char *const copy = is_log ? nytp_absolute_path(value) : strdup(value);
    if (copy == NULL)
        return nytp_error_set(error, NYTP_ERR_MEMORY, "option %s: out of memory", row->name);
    free(*text_of(options, row));
    *text_of(options, row) = copy;
    return true;
}

/* Returns the option that an unknown name is probably meant for, or NULL. */
static const char *nearest_option(const char *name)
{
    const size_t len = strlen(name);
    unsigned least = len >= 4 ? 3 : 2;
    const char *nearest = NULL;
    for (size_t i = 0; i < NYTP_N_OPTIONS; i++) {
        const unsigned distance =
            nytp_edit_distance(name, len, rows[i].name, strlen(rows[i].name));
        if (distance >= least || distance >= len)
            continue;
        least = distance;
        nearest = rows[i].name;
    }
    return nearest;
}

bool nytp_option_decides(const char *name)
{
    static const char *const decisive[] = {
        "sample", "sample_budget", "sample_clock", "start", "control", "sigcontrol", NULL};
    const char *const nearest = nearest_option(name);
    return nearest != NULL && is_one_of(nearest, decisive);
}

static bool set_option(struct nytp_options *options, const char *name, const char *value,
                       struct nytp_error *error)
{
    for (size_t i = 0; i < NYTP_N_OPTIONS; i++) {
        if (strcmp(name, rows[i].name) != 0)
            continue;
        const bool is_set = rows[i].is_text ? set_text(options, &rows[i], value, error)
                                            : set_number(options, &rows[i], value, error);
        options->given |= (uint64_t)is_set << i;
        return is_set;
    }
    if (strcmp(name, "instructions") == 0)
        return nytp_error_set(error, NYTP_ERR_FORMAT,
                              "option 'instructions' is gone; limit or compare ops, which "
                              "are statements and calls");
    const char *const nearest = nearest_option(name);
    return nearest == NULL
               ? nytp_error_set(error, NYTP_ERR_FORMAT, "unknown option '%s'", name)
               : nytp_error_set(error, NYTP_ERR_FORMAT, "unknown option '%s'; did you mean %s?",
                                name, nearest);
}

bool nytp_options_set(struct nytp_options *options, const char *name, const char *value,
                      struct nytp_error *error)
{
    if (set_option(options, name, value, error))
        return true;
    const bool decides = nytp_option_decides(name);
    options->is_refused |= decides;
    const struct nytp_error cause = *error;
    *error = (struct nytp_error){0};
    return nytp_error_set(error, cause.status, "%s%s%s", cause.message,
                          strchr(value, ',') != NULL ? " (options are separated by ':')" : "",
                          decides ? "; the program runs unprofiled" : "");
}

/* ---- options without effect beside others ---- */

enum mode {
    ALWAYS,
    EXACT,
    COUNTS,
    SAMPLED,
    ONLY_SAMPLED,
    NO_STMTS,
    NO_SUBS,
    NO_ENTRIES,
    DB_SUB,
    NO_SVS,
    NO_MEMORY
};

struct unfit {
    enum nytp_option option;
    int64_t lowest, highest;
    enum mode mode;
    const char *why;
};

static const struct unfit unfits[] = {
#define NYTP_UNFIT(option, lowest, highest, mode, why)                                         \
    {NYTP_OPTION_##option, lowest, highest, mode, why},
#include "unfit.def"
};

_Static_assert(sizeof unfits / sizeof unfits[0] <= 64, "a bit for each");

static bool is_mode(const struct nytp_options *options, enum mode mode)
{
    const bool is_steered = options->control != NULL || options->sigcontrol != NULL;
    const bool modes[] = {
        [ALWAYS] = true,
        [EXACT] = options->sample == 0,
        [COUNTS] = nytp_options_count(options),
        [SAMPLED] = options->sample > 0,
        [ONLY_SAMPLED] = options->sample > 0 && !is_steered,
        [NO_STMTS] = !options->stmts,
        [NO_SUBS] = !options->subs,
        [NO_ENTRIES] = options->calls < 2,
        [DB_SUB] = options->use_db_sub,
        [NO_SVS] = !options->svs,
        [NO_MEMORY] = !options->memory,
    };
    return modes[mode];
}

static bool is_unfit(const struct nytp_options *options, const struct unfit *unfit)
{
    const struct option_row *const row = &rows[unfit->option];
    const int64_t value = row->is_text ? 0 : *number_of(options, row);
    return nytp_option_is_given(options, unfit->option) && value >= unfit->lowest &&
           value <= unfit->highest && is_mode(options, unfit->mode);
}

static void set_default(struct nytp_options *options, enum nytp_option option)
{
    const struct option_row *const row = &rows[option];
    options->given &= ~((uint64_t)1 << option);
    if (!row->is_text) {
        *number_of(options, row) = row->default_value;
    } else {
        free(*text_of(options, row));
        *text_of(options, row) = NULL;
    }
}

static void report_unfit(const struct nytp_options *options, const struct unfit *unfit,
                         struct nytp_error *error)
{
    const struct option_row *const row = &rows[unfit->option];
    if (row->is_text)
        nytp_error_set(error, NYTP_ERR_FORMAT, "option %s=%s does nothing: %s", row->name,
                       *text_of(options, row), unfit->why);
    else
        nytp_error_set(error, NYTP_ERR_FORMAT, "option %s=%" PRId64 " does nothing: %s",
                       row->name, *number_of(options, row), unfit->why);
}

bool nytp_options_find_unfit(struct nytp_options *options, struct nytp_error *error)
{
    for (size_t i = 0; i < sizeof unfits / sizeof unfits[0]; i++) {
        if ((options->reported >> i & 1) != 0 || !is_unfit(options, &unfits[i]))
            continue;
        options->reported |= (uint64_t)1 << i;
        report_unfit(options, &unfits[i], error);
        if (unfits[i].mode != ONLY_SAMPLED)
            set_default(options, unfits[i].option);
        return true;
    }
    return false;
}

void nytp_options_write(const struct nytp_options *options, int64_t clock_id,
                        struct nytp_writer *writer)
{
    for (size_t i = 0; i < NYTP_N_OPTIONS; i++)
        if (rows[i].is_streamed)
            nytp_write_option(
                writer, rows[i].name,
                strcmp(rows[i].name, "clock") == 0 ? clock_id : *number_of(options, &rows[i]));
}
