/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Conversions of ticks keep their total.
 */
#include "formats/base/units.h"
#include "t/tap.h"

static struct nytp_scale scale_of(const char *unit, int64_t ticks_per_sec)
{
    struct nytp_scale scale;
    nytp_scale_init(&scale, nytp_unit_find(unit), ticks_per_sec);
    return scale;
}

/* Every prefix sum of the converted values is the rounded sum of the ticks. */
static bool keeps_totals(const char *unit, int64_t ticks_per_sec)
{
    struct nytp_scale scale = scale_of(unit, ticks_per_sec);
    const struct nytp_scale fresh = scale;
    int64_t ticks = 0, value = 0;
    for (int64_t i = 0; i < 5000; i++) {
        const int64_t step = i * 7919 % 1009 - (i % 5 == 0 ? 300 : 0);
        ticks += step;
        value += nytp_scale_next(&scale, step);
        if (value != nytp_scale_once(&fresh, ticks))
            return false;
    }
    return true;
}

int main(void)
{
    ok(nytp_unit_find("us") == nytp_unit_find("microseconds") && nytp_unit_find("us"),
       "a unit has a short and a long name");
    ok(nytp_unit_find("fortnights") == NULL, "an unknown unit is none");

    struct nytp_scale scale = scale_of("ns", 10000000);
    ok(nytp_scale_next(&scale, 3) == 300 && nytp_scale_next(&scale, -1) == -100,
       "100 ns ticks to ns are exact");
    scale = scale_of("us", 10000000);
    ok(nytp_scale_once(&scale, 14) == 1 && nytp_scale_once(&scale, 15) == 2 &&
           nytp_scale_once(&scale, -16) == -2,
       "one value alone is rounded to nearest");
    scale = scale_of("ticks", 10000000);
    ok(nytp_scale_next(&scale, 12345) == 12345, "ticks stay ticks");

    ok(keeps_totals("us", 10000000), "100 ns ticks to us keep the total");
    ok(keeps_totals("ns", 2992968000), "TSC ticks to ns keep the total");
    ok(keeps_totals("s", 3), "thirds of a second keep the total");
    ok(keeps_totals("ns", 24000000), "24 MHz ticks to ns keep the total");

    scale = scale_of("ns", 1);
    ok(nytp_scale_once(&scale, INT64_MAX) == INT64_MAX &&
           nytp_scale_once(&scale, INT64_MIN) == INT64_MIN,
       "what does not fit saturates");
    scale = scale_of("ns", INT64_MAX);
    ok(nytp_scale_once(&scale, INT64_MAX) >= 0 && nytp_scale_once(&scale, INT64_MIN) <= 0,
       "an absurd clock overflows nothing");
    return done_testing();
}
