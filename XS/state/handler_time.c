/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The two ends of a timed run; see handler_time.h.
 */
#include "handler_time.h"

void nytp_handler_begin(struct nytp_handler_times *times, const struct nytp_clock *clock,
                        const void *perls, size_t size)
{
    if (size > 0) {
        (void)*(const volatile char *)perls;
        (void)((const volatile char *)perls)[size - 1];
    }
    times->base_raw = clock->base_raw;
    nytp_finish_ops();
    times->begun = nytp_clock_cycles(clock);
}

void nytp_handler_end(struct nytp_handler_times *times, enum nytp_handler handler,
                      const struct nytp_clock *clock)
{
    nytp_finish_ops();
    const uint64_t raw = nytp_clock_cycles(clock) - times->begun;
    struct nytp_handler_time *const time = &times->of[handler];
    int16_t *const until = &times->until[handler];
    if (*until == -1)
        return;
    *until = (int16_t)(time->period - 1);
    if (raw >= NYTP_HANDLER_LONGEST_RAW)
        return;
    time->raw += raw;
    time->raw2 += raw * raw;
    time->n++;
    if (clock->base_raw != times->base_raw) {
        time->raw_rare += raw;
        time->n_rare++;
    }
}
