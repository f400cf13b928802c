/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Attributes and options of a merged stream. The first value of each is written at once. Those
 * of all inputs together (application, basetime, cumulative_overhead_ticks, summed counts) are
 * written at the end. Ticks are those of the first input; nytp_merged_ticks() converts others.
 */
#ifndef NYTP_MERGED_SETTINGS_H
#define NYTP_MERGED_SETTINGS_H

#include "formats/base/error.h"
#include "formats/base/strings.h"
#include "formats/stream/event.h"
#include "writer.h"

/* Receives one line of text for the user about something that the output cannot express. */
typedef void nytp_note_fn(void *context, const char *text);

/* The caller sets the first five members, which are borrowed, and zeroes the rest. */
struct nytp_merged_settings {
    struct nytp_writer *writer;
    struct nytp_strings *strings;
    struct nytp_error *error; /* set by functions that return false */
    nytp_note_fn *note;       /* may be NULL */
    void *context;

    struct nytp_merged_application *applications;
    struct nytp_merged_setting *settings;
    uint32_t n_applications, n_settings, applications_capacity, settings_capacity;
    double ticks_per_sec; /* of the first input and the output */
    double basetime_s;    /* earliest; 0 = none yet */
    double overhead_ticks;

    /* the current input */
    const char *path;
    double in_ticks_per_sec, in_overhead_ticks;

    /* thread of the next process, and the last one written */
    struct nytp_merged_thread {
        uint32_t number, parent;
    } thread, last_thread;
};

void nytp_merged_settings_free(struct nytp_merged_settings *settings);

/* Interns a text. Returns UINT32_MAX with the error set if memory is out. */
uint32_t nytp_merged_intern(struct nytp_merged_settings *settings, struct nytp_str text);

void nytp_merged_settings_next_input(struct nytp_merged_settings *settings, const char *path);
void nytp_merged_settings_end_input(struct nytp_merged_settings *settings);

bool nytp_merged_attribute(struct nytp_merged_settings *settings,
                           const struct nytp_setting *from);
bool nytp_merged_attribute_record(struct nytp_merged_settings *settings,
                                  const struct nytp_setting *from);
bool nytp_merged_option(struct nytp_merged_settings *settings, const struct nytp_setting *from);

/* Call before a process: writes the attributes of this process alone, if they have changed. */
void nytp_merged_process_begins(struct nytp_merged_settings *settings);

/* Writes the attributes of all inputs together. */
bool nytp_merged_settings_finish(struct nytp_merged_settings *settings);

/* Returns true if the current input has the output's ticks. */
static inline bool nytp_merged_ticks_are_equal(const struct nytp_merged_settings *s)
{
    return s->in_ticks_per_sec == s->ticks_per_sec || !(s->in_ticks_per_sec > 0) ||
           !(s->ticks_per_sec > 0);
}

/* Converts ticks of the current input to those of the output. */
static inline double nytp_merged_ticks(const struct nytp_merged_settings *s, double ticks)
{
    return nytp_merged_ticks_are_equal(s) ? ticks
                                          : ticks * (s->ticks_per_sec / s->in_ticks_per_sec);
}

#endif
