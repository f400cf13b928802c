/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Finds the place at which a sampled process waited, by the records before a time record
 * (sample_records.h).
 *
 * A sample that hit a builtin or an xsub is in the stream as a call that is entered and left at
 * once, in its statement. The wait is that call's, as far as its time goes; what is left, or a
 * sample that hit none, waited on the line.
 */
#ifndef NYTP_SAMPLE_WAITS_H
#define NYTP_SAMPLE_WAITS_H

#include "formats/build/tree/callstack.h"
#include "formats/model/model.h"
#include "formats/stream/event.h"

struct nytp_sample_waits {
    int64_t recorded;      /* processor time of the next time record, if is_recorded */
    int64_t recorded_seen; /* sum of what was recorded */
    bool is_recorded;
    bool is_ready; /* the program never slept in that sample */
    bool goes_on;  /* the time record before was too short for its time: the next goes on */
    enum nytp_wait_reason reason; /* of the next time record, or of the one that goes on */
    uint32_t peer;                /* string id, if so */

    struct nytp_table by_what;  /* index in `waited` */
    NYTP_LIST(struct nytp_waited)
    waited; /* their peer.len is a string id, their ns are ticks */

    /* the builtin or xsub that the sample hit, which returned since the last statement */
    struct nytp_sampled_leaf {
        bool is_there, is_entered;
        uint32_t sub, file, line;
        int64_t ticks;
    } leaf;
};

/* A comment was read. False: it tells something else. */
bool nytp_sample_waits_note(struct nytp_sample_waits *waits, const struct nytp_str *comment);

/* A time record was read; `goes_on` it goes on with the statement of the one before. What of
 * its ticks was no processor time; negative where the clocks differ. */
int64_t nytp_sample_waits_of(struct nytp_sample_waits *waits, int64_t ticks, bool goes_on);

/* A call is about to return from the top frame. Returns false, as below, if memory is out. */
bool nytp_sample_waits_return(struct nytp_sample_waits *waits, struct nytp_callstack *stack,
                              uint32_t sub, int64_t ticks);

/* Call it before the statement is booked: puts its wait, `ticks` of `all_ticks`, into
 * stack->tree.waits. If a builtin or xsub waited for most of a sample, it waited when it was
 * seen: the processor time before belongs to other code, and all of its time is the wait. But
 * if the program never slept, it only lacked a processor. */
bool nytp_sample_waits_book(struct nytp_sample_waits *waits, struct nytp_callstack *stack,
                            uint32_t file, uint32_t line, int64_t ticks, int64_t all_ticks);

/* Adds up the wait if a reason was recorded. Returns false if memory is out. */
bool nytp_sample_waits_reason(struct nytp_sample_waits *waits, uint32_t process, uint32_t file,
                              uint32_t line, int64_t ticks);
void nytp_sample_waits_free(struct nytp_sample_waits *waits);

#endif
