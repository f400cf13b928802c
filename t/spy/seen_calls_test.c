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
        nytp_remember_call(&calls, &(struct nytp_call){.info = INFO, .pad = pad, .cv = pad});
    for (uint64_t pad = 1; pad <= NYTP_MOST_SEEN_CALLS; pad++) {
        const struct nytp_call *const call = nytp_seen_call(&calls, pad, INFO);
        are_all_there &= call != NULL && call->cv == pad;
    }
    ok(are_all_there, "32,768 calls are remembered");
    ok(nytp_seen_call(&calls, 1, OTHER_INFO) == NULL, "those of another stack are others");
    nytp_remember_call(&calls, &(struct nytp_call){.info = INFO, .pad = 1, .cv = 7});
    ok(calls.n == NYTP_MOST_SEEN_CALLS && nytp_seen_call(&calls, 1, INFO)->cv == 7,
       "a call of a pad that is known takes the place of the one before");
    nytp_seen_calls_free(&calls);
    for (uint64_t caller = 11; caller <= 12; caller++)
        nytp_remember_call(
            &calls,
            &(struct nytp_call){.info = INFO, .pad = 1, .caller_pad = caller, .cop = caller});
    ok(nytp_seen_call_from(&calls, 1, 11, INFO)->cop == 11 &&
           nytp_seen_call_from(&calls, 1, 12, INFO)->cop == 12,
       "of one pad the last call from each caller");
    ok(nytp_seen_call_from(&calls, 1, 13, INFO) == NULL &&
           nytp_seen_call_from(&calls, 1, 11, OTHER_INFO) == NULL,
       "from no other, and of no other stack");
    ok(nytp_seen_call(&calls, 1, INFO)->cop == 12, "the last of all is the last");
    for (int32_t distance = 1; distance <= 2; distance++)
        nytp_remember_call(&calls, &(struct nytp_call){.info = INFO,
                                                       .pad = 2,
                                                       .caller_pad = 11,
                                                       .cop = (uint64_t)distance,
                                                       .context = 5 + distance,
                                                       .caller_context = 5});
    ok(nytp_seen_call_above(&calls, 2, 11, 1, INFO)->cop == 1 &&
           nytp_seen_call_above(&calls, 2, 11, 2, INFO)->cop == 2,
       "of one caller the last call so far above it");
    ok(nytp_seen_call_above(&calls, 2, 11, 3, INFO) == NULL &&
           nytp_seen_call_above(&calls, 2, 12, 1, INFO) == NULL &&
           nytp_seen_call_above(&calls, 2, 11, 1, OTHER_INFO) == NULL,
       "no further, of no other, in no other stack");
    ok(nytp_seen_call_at(&calls, 2, 6, INFO)->cop == 1 &&
           nytp_seen_call_at(&calls, 2, 7, INFO)->cop == 2,
       "the last call at each place");
    ok(nytp_seen_call_at(&calls, 2, 8, INFO) == NULL &&
           nytp_seen_call_at(&calls, 1, 6, INFO) == NULL &&
           nytp_seen_call_at(&calls, 2, 6, OTHER_INFO) == NULL,
       "at no other, of no other pad, in no other stack");
    nytp_remember_call(
        &calls,
        &(struct nytp_call){.info = INFO, .pad = 1, .caller_pad = 11, .cop = 11, .depth = 2});
    ok(nytp_seen_call(&calls, 1, INFO)->depth == 2 && calls.n == 4, "also where it is known");
    const struct nytp_call other = {
        .info = INFO, .pad = 1, .caller_pad = 11, .cop = 21, .depth = 3};
    ok(nytp_seen_call_same(&calls, &other) == NULL, "another statement is another call");
    nytp_remember_call(&calls, &other);
    ok(nytp_seen_call_same(&calls, &other) != NULL && calls.n == 5 &&
           nytp_seen_call_from(&calls, 1, 11, INFO)->cop == 21,
       "which is remembered beside the first, and is the caller's last");
    nytp_remember_call(&calls, &(struct nytp_call){.info = INFO,
                                                   .pad = 2,
                                                   .caller_pad = 11,
                                                   .cop = 1,
                                                   .context = 9,
                                                   .caller_context = 8});
    ok(nytp_seen_call_at(&calls, 2, 9, INFO) != NULL &&
           nytp_seen_call_at(&calls, 2, 6, INFO)->cop == 1,
       "a call that lies elsewhere now has been where it lay");
    const struct nytp_call likely = {.info = INFO, .pad = 3, .caller_pad = 11, .cop = 31};
    const struct nytp_call half = {.info = INFO, .pad = 3, .caller_pad = 11, .cop = 32};
    uint64_t look = 1;
    nytp_note_likely_call(&calls, &likely, look++);
    nytp_note_likely_call(&calls, &likely, look++);
    nytp_note_likely_call(&calls, &half, look++);
    nytp_note_likely_call(&calls, &likely, look++);
    nytp_note_likely_call(&calls, &likely, look++);
    ok(nytp_seen_call(&calls, 3, INFO) == NULL, "a likely call is not remembered at once");
    nytp_note_likely_call(&calls, &likely, look += 501);
    nytp_note_likely_call(&calls, &likely, look += 500);
    ok(nytp_seen_call(&calls, 3, INFO) == NULL, "nor where it is seen too seldom");
    nytp_note_likely_call(&calls, &likely, look += 500);
    ok(nytp_seen_call_same(&calls, &likely) != NULL &&
           nytp_seen_call_same(&calls, &half) == NULL,
       "but when it comes a third time in a row");
    const struct nytp_call in_eval = {
        .info = INFO, .pad = 4, .caller_pad = 13, .line = 2, .context = 2, .caller_context = 1};
    struct nytp_call from_line_3 = in_eval;
    from_line_3.line = 3;
    nytp_remember_call(&calls, &in_eval);
    ok(nytp_seen_call_same(&calls, &in_eval) != NULL &&
           nytp_seen_call_same(&calls, &from_line_3) == NULL,
       "an eval's call from another line is another call");
    bool is_there = true, is_bounded = true;
    for (uint64_t pad = NYTP_MOST_SEEN_CALLS + 1; pad <= 3 * NYTP_MOST_SEEN_CALLS; pad++) {
        nytp_remember_call(&calls, &(struct nytp_call){.info = INFO, .pad = pad, .cv = pad});
        const struct nytp_call *const call = nytp_seen_call(&calls, pad, INFO);
        is_there &= call != NULL && call->cv == pad;
        is_bounded &=
            calls.n <= NYTP_MOST_SEEN_CALLS && calls.capacity <= 2 * NYTP_MOST_SEEN_CALLS;
    }
    ok(is_there, "each one more is remembered");
    ok(is_bounded, "and never more than 32,768 at once");
    nytp_seen_calls_free(&calls);
    return done_testing();
}
