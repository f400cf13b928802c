/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Words of the target's memory, eight bytes each, many in one system call. Who follows a chain
 * of pointers first asks for all of its words, at the addresses where they were the last time,
 * and then follows it as it is: where it has changed it costs calls more, and no more.
 */
#ifndef NYTP_SPY_WORDS_H
#define NYTP_SPY_WORDS_H

#include "spy/target/memory.h"

enum {
    NYTP_WORDS = 4096,  /* a power of two */
    NYTP_WORD_WAYS = 8, /* places for a word */
    NYTP_ASKED = 4000,  /* in one look; more are read one by one */
};

struct nytp_words {
    struct nytp_memory *memory;
    struct nytp_word {
        uint64_t address, value;
        uint64_t asked, read; /* in which look; 0: never */
    } all[NYTP_WORDS];        /* by hash of the address, of several the newest */
    uint64_t asked[NYTP_ASKED];
    uint32_t n_asked;
    uint64_t look;
};

/* Returns NULL if memory is out. */
struct nytp_words *nytp_words_new(struct nytp_memory *memory);
void nytp_words_free(struct nytp_words *words); /* accepts NULL */

/* Begins a new look: bytes read before are only a guess from now on. */
void nytp_words_begin(struct nytp_words *words);

/* Have a word read, unless this look has it. */
void nytp_words_ask(struct nytp_words *words, uint64_t address);

/* Reads all that were asked for, with other pieces in the same system call. False: not all of
 * those can be read. */
bool nytp_words_read(struct nytp_words *words, const struct nytp_piece *others, size_t n);

/* Returns the word last read there, or 0 if none is known. */
uint64_t nytp_word_guess(const struct nytp_words *words, uint64_t address);

/* Returns whether this look has read the word, and sets it. 0: nothing is read. */
bool nytp_words_has(const struct nytp_words *words, uint64_t address, uint64_t *value);

/* Returns the word in this look. Reads it now if it was not asked for. */
uint64_t nytp_word(struct nytp_words *words, uint64_t address);

#endif
