/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * N core files, each damaged in another way, through all that nytp-spy does with one
 * (t/fuzz/fuzz_core.c, with which this is linked): always the same ones. NYTP_FUZZ_CORE names
 * the whole file.
 *
 *     damaged_cores N
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    MOST_CHANGES = 400,
    CHANGE = 4, /* bytes that say one */
};

static uint64_t state = 1;

static uint32_t random_below(uint32_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 16) % n);
}

int main(int argc, char **argv)
{
    static const uint32_t most[] = {1, 4, 40, MOST_CHANGES};
    uint8_t data[MOST_CHANGES * CHANGE];
    const int n = argc == 2 ? atoi(argv[1]) : 0;
    for (int i = 0; i < n; i++) {
        const size_t len = CHANGE * (1 + (size_t)random_below(most[i % 4]));
        for (size_t at = 0; at < len; at++)
            data[at] = (uint8_t)random_below(256);
        LLVMFuzzerTestOneInput(data, len);
    }
    printf("%d damaged core files\n", n);
    return n == 0;
}
