/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What the user asked for, by NYTPROF or DB::set_option(). options.def lists every option with
 * its default, its range and what it does. A recorder has its own copy (rec->options); load.c
 * sets it, everybody reads it.
 */
#ifndef NYTP_OPTIONS_H
#define NYTP_OPTIONS_H

#include "formats/base/error.h"
#include "formats/stream/write/writer.h"

struct nytp_options {
#define NYTP_STREAMED(name, default_value, lowest, highest, doc) int64_t name;
#define NYTP_NUMBER(name, default_value, lowest, highest, doc)   int64_t name;
#define NYTP_TEXT(name, doc)                                     char *name; /* or NULL */
#include "options.def"
    uint64_t given;    /* a bit for each option that was: 1 << NYTP_OPTION_name */
    uint64_t told;     /* and for each row of unfit.def that was told */
    bool has_bad_file; /* option file= has an unknown placeholder */
    bool is_refused;   /* what decides how the program is recorded was wrong: it is not */
    double flush_s;    /* from `flush` */
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

/* How often the profile reaches the disk unless `flush` says otherwise. */
#define NYTP_DEFAULT_FLUSH_S 0.25

void nytp_options_init(struct nytp_options *options);
/* Into one that is not initialised; false, and nothing to free, when out of memory. */
bool nytp_options_copy(struct nytp_options *options, const struct nytp_options *from);
void nytp_options_free(struct nytp_options *options);

/* Whether an option of this name, or one that it may be meant for, decides if, when and how a
 * program is recorded. A mistake in it leaves the program unprofiled: an exact profile, or one
 * from the start, is not what was asked for. */
bool nytp_option_decides(const char *name);

/* Set one option from text. On an unknown name or a value that is none, nothing is changed
 * and false is returned with *error set. */
bool nytp_options_set(struct nytp_options *options, const char *name, const char *value,
                      struct nytp_error *error);

/* Finds an option that was given and can do nothing beside the others (unfit.def), and has not
 * been told. Returns true with *error set to the line that tells it. The option has its default
 * again, unless an exact profile beside samples may need it. */
bool nytp_options_find_unfit(struct nytp_options *options, struct nytp_error *error);

/* Write the option records, the clock as the one that is really used. */
void nytp_options_write(const struct nytp_options *options, int64_t clock_id,
                        struct nytp_writer *writer);

#endif
