/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The user's options, from NYTPROF or DB::set_option(). options.def lists them with default,
 * range and meaning. Each recorder has a copy (rec->options), set by load.c and read by
 * everybody.
 */
#ifndef NYTP_OPTIONS_H
#define NYTP_OPTIONS_H

#include "formats/base/error.h"
#include "formats/stream/write/writer.h"

struct nytp_options {
#define NYTP_STREAMED(name, default_value, lowest, highest, doc) int64_t name;
#define NYTP_NUMBER(name, default_value, lowest, highest, doc)   int64_t name;
#define NYTP_TEXT(name, doc)                                     char *name;
#include "options.def"
    uint64_t given;    /* a bit for each option given: 1 << NYTP_OPTION_name */
    uint64_t reported; /* a bit for each row of unfit.def reported */
    bool has_bad_file; /* option file= has an unknown placeholder */
    bool is_refused;   /* an error in a deciding option: the program runs unprofiled */
    double flush_s;
};

enum nytp_option {
#define NYTP_STREAMED(name, default_value, lowest, highest, doc) NYTP_OPTION_##name,
#define NYTP_NUMBER(name, default_value, lowest, highest, doc)   NYTP_OPTION_##name,
#define NYTP_TEXT(name, doc)                                     NYTP_OPTION_##name,
#include "options.def"
    NYTP_N_OPTIONS
};

static inline bool nytp_option_is_given(const struct nytp_options *options,
                                        enum nytp_option option)
{
    return (options->given >> option & 1) != 0;
}

/* Returns whether statements and calls are only counted. */
static inline bool nytp_options_count(const struct nytp_options *options)
{
    return options->counts && options->sample == 0;
}

/* Longest time until the profile is on disk, unless `flush` is given. */
#define NYTP_DEFAULT_FLUSH_S 0.25

void nytp_options_init(struct nytp_options *options);
/* Copies into an uninitialised struct. Returns false, nothing to free, if memory is out. */
bool nytp_options_copy(struct nytp_options *options, const struct nytp_options *from);
void nytp_options_free(struct nytp_options *options);

/* Returns whether an option of this name, or the one it is probably meant for, decides if, when
 * and how a program is recorded. An error in it leaves the program unprofiled: an exact
 * profile, or one from the start, is not what was requested. */
bool nytp_option_decides(const char *name);

/* Sets one option from text. For an unknown name or invalid value returns false with *error set
 * and changes nothing. */
bool nytp_options_set(struct nytp_options *options, const char *name, const char *value,
                      struct nytp_error *error);

/* Finds a given option that has no effect beside the others (unfit.def) and was not reported.
 * Returns true with the message in *error. The option gets its default, unless an exact profile
 * beside samples may need it. */
bool nytp_options_find_unfit(struct nytp_options *options, struct nytp_error *error);

/* Writes the option records, with the clock actually used. */
void nytp_options_write(const struct nytp_options *options, int64_t clock_id,
                        struct nytp_writer *writer);

#endif
