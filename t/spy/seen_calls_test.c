/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What is remembered of calls does not grow for as long as a program is looked at.
 */
#include "spy/perl/seen_calls.h"

#include "t/tap.h"

#include <stdbool.h>

enum {
    INFO = 1000,
    OTHER_INFO,
};

int main(void)
{
    struct nytp_seen_calls calls = {0};
    bool are_all_there = true;
    for (uint64_t pad = 1; pad <= NYTP_MOST_SEEN_CALLS; pad++)
        nytp_remember_call(&calls, INFO, &(struct nytp_call){.pad = pad, .cv = pad});
    for (uint64_t pad = 1; pad <= NYTP_MOST_SEEN_CALLS; pad++) {
        const struct nytp_call *const call = nytp_seen_call(&calls, pad, INFO);
        are_all_there &= call != NULL && call->cv == pad;
    }
    ok(are_all_there, "65,536 calls are remembered");
    ok(nytp_seen_call(&calls, 1, OTHER_INFO) == NULL, "those of another stack are others");
    nytp_remember_call(&calls, INFO, &(struct nytp_call){.pad = 1, .cv = 7});
    ok(calls.n == NYTP_MOST_SEEN_CALLS && nytp_seen_call(&calls, 1, INFO)->cv == 7,
       "a call of a pad that is known takes the place of the one before");
    nytp_seen_calls_free(&calls);
    for (uint64_t caller = 11; caller <= 12; caller++)
        nytp_remember_call(&calls, INFO,
                           &(struct nytp_call){.pad = 1, .caller_pad = caller, .cop = caller});
    ok(nytp_seen_call_from(&calls, 1, 11, INFO)->cop == 11 &&
           nytp_seen_call_from(&calls, 1, 12, INFO)->cop == 12,
       "of one pad the last call from each caller");
    ok(nytp_seen_call_from(&calls, 1, 13, INFO) == NULL &&
           nytp_seen_call_from(&calls, 1, 11, OTHER_INFO) == NULL,
       "from no other, and of no other stack");
    ok(nytp_seen_call(&calls, 1, INFO)->cop == 12, "the last of all is the last");
    nytp_remember_call(&calls, INFO,
                       &(struct nytp_call){.pad = 1, .caller_pad = 11, .cop = 21});
    ok(nytp_seen_call(&calls, 1, INFO)->cop == 21 && calls.n == 2, "also where it is known");
    bool is_there = true, is_bounded = true;
    for (uint64_t pad = NYTP_MOST_SEEN_CALLS + 1; pad <= 3 * NYTP_MOST_SEEN_CALLS; pad++) {
        nytp_remember_call(&calls, INFO, &(struct nytp_call){.pad = pad, .cv = pad});
        const struct nytp_call *const call = nytp_seen_call(&calls, pad, INFO);
        is_there &= call != NULL && call->cv == pad;
        is_bounded &=
            calls.n <= NYTP_MOST_SEEN_CALLS && calls.capacity <= 2 * NYTP_MOST_SEEN_CALLS;
    }
    ok(is_there, "each one more is remembered");
    ok(is_bounded, "and never more than 65,536 at once");
    nytp_seen_calls_free(&calls);
    return done_testing();
}
