/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Where the variables of a program or library are in a process's memory: the ELF image there
 * has what the dynamic linker needs, so that neither the file nor a tool is wanted, in a
 * container as well as after an upgrade. A program that is linked statically may have them in
 * its file.
 */
#ifndef NYTP_SPY_SYMBOLS_H
#define NYTP_SPY_SYMBOLS_H

#include "memory.h"

struct nytp_image {
    struct nytp_memory *memory;
    uint64_t start, bias; /* what is added to addresses of the file */
    uint16_t machine;     /* EM_X86_64, EM_AARCH64, ... */
    uint64_t symbols, strings, strings_len, gnu_hash, hash;
    uint8_t *table, *names; /* symbols out of the program's file, or NULL */
    uint64_t table_len, names_len;
};

/* The ELF image that begins at this address. False: there is none of 64 bits and this machine's
 * byte order. */
bool nytp_image_at(struct nytp_image *image, struct nytp_memory *memory, uint64_t start);

/* Reads the symbols that the program's file has. Returns false if it has none that can be read.
 * They are freed by nytp_image_free(). */
bool nytp_image_take_file(struct nytp_image *image, int fd);
void nytp_image_free(struct nytp_image *image);

/* Address of a variable in memory; 0: it has none of this name. */
uint64_t nytp_symbol(const struct nytp_image *image, const char *name);

#endif
