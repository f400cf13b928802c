/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Common parts of fuzz targets. cc -DNYTP_FUZZ_MAIN makes a program that replays the files it is
 * given, without a fuzzer.
 */
#ifndef NYTP_FUZZ_TARGET_H
#define NYTP_FUZZ_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "fuzz target: %s\n", what);
    abort();
}

#ifdef NYTP_FUZZ_MAIN

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (file == NULL) {
            perror(argv[i]);
            return 1;
        }
        static uint8_t data[1 << 24];
        const size_t size = fread(data, 1, sizeof data, file);
        fclose(file);
        fprintf(stderr, "%s\n", argv[i]);
        /* A copy of just that size, so that a byte read beyond it is found. */
        uint8_t *copy = malloc(size > 0 ? size : 1);
        if (copy == NULL)
            return 1;
        for (size_t at = 0; at < size; at++)
            copy[at] = data[at];
        LLVMFuzzerTestOneInput(copy, size);
        free(copy);
    }
    return 0;
}

#endif

#endif
