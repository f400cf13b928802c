/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Addresses of the variables of a program or library in a process. The ELF image in memory has
 * the dynamic linker's tables, so neither the file nor a tool is needed, even in a container or
 * after an upgrade. A statically linked program may have them in its file.
 */
#ifndef NYTP_SPY_SYMBOLS_H
#define NYTP_SPY_SYMBOLS_H

#include "memory.h"

struct nytp_image {
    struct nytp_memory *memory;
    uint64_t start, bias; /* added to addresses of the file */
    uint16_t machine;     /* EM_X86_64, EM_AARCH64, ... */
    uint64_t symbols, strings, strings_len, gnu_hash, hash;
    uint8_t *table, *names; /* symbols from the program's file, or NULL */
    uint64_t table_len, names_len;
};

/* Opens the ELF image at this address. Returns false if there is none of 64 bits and this
 * machine's byte order. */
bool nytp_image_at(struct nytp_image *image, struct nytp_memory *memory, uint64_t start);

/* Reads the symbols of the program's file; nytp_image_free() frees them. Returns false if it
 * has none that can be read. */
bool nytp_image_take_file(struct nytp_image *image, int fd);
void nytp_image_free(struct nytp_image *image);

/* Returns the address of a variable in memory, or 0 if there is none of this name. */
uint64_t nytp_symbol(const struct nytp_image *image, const char *name);

#endif
