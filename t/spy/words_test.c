/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Words that are asked for together are there together: the pads of a deep recursion are some
 * hundred words, and a sample whose words took each other's place was left for a later one.
 */
#include "spy/perl/words.h"

#include "t/tap.h"

#include <unistd.h>

enum {
    N = 400,
    APART = 7 * 3, /* of words */
};

static uint64_t values[N * APART];

int main(void)
{
    struct nytp_memory memory;
    nytp_memory_of_process(&memory, getpid());
    struct nytp_words *const words = nytp_words_new(&memory);
    size_t n_there = 0;
    if (words == NULL)
        return 1;
    nytp_words_begin(words);
    for (size_t i = 0; i < N; i++) {
        values[i * APART] = i + 1;
        nytp_words_ask(words, (uint64_t)(uintptr_t)&values[i * APART]);
    }
    nytp_words_read(words, NULL, 0);
    for (size_t i = 0; i < N; i++) {
        uint64_t value = 0;
        n_there += nytp_words_has(words, (uint64_t)(uintptr_t)&values[i * APART], &value) &&
                   value == i + 1;
    }
    ok(n_there == N, "words that were read at once are all there");
    nytp_words_free(words);
    nytp_memory_close(&memory);
    return done_testing();
}
