/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Words of memory, many at once; see words.h.
 */
#include "words.h"

#include <stdlib.h>

struct nytp_words *nytp_words_new(struct nytp_memory *memory)
{
    struct nytp_words *const words = calloc(1, sizeof *words);
    if (words != NULL)
        words->memory = memory;
    return words;
}

void nytp_words_free(struct nytp_words *words)
{
    free(words);
}

void nytp_words_begin(struct nytp_words *words)
{
    words->look++;
    words->n_asked = 0;
}

/* Where the word is; else where it is to be, instead of one that was wanted longest ago: none
 * of this look, as two words that take each other's place are never both there. */
static uint32_t slot_of(const struct nytp_words *words, uint64_t address)
{
    const uint64_t hash = address * UINT64_C(0x9e3779b97f4a7c15) >> 40;
    const uint32_t first = (uint32_t)(hash % (NYTP_WORDS / NYTP_WORD_WAYS)) * NYTP_WORD_WAYS;
    uint32_t oldest = first;
    for (uint32_t slot = first; slot < first + NYTP_WORD_WAYS; slot++) {
        if (words->all[slot].address == address)
            return slot;
        if (words->all[slot].asked < words->all[oldest].asked)
            oldest = slot;
    }
    return oldest;
}

void nytp_words_ask(struct nytp_words *words, uint64_t address)
{
    struct nytp_word *const word = &words->all[slot_of(words, address)];
    if (address == 0 || (word->address == address && word->asked == words->look) ||
        words->n_asked == NYTP_ASKED)
        return;
    if (word->address != address)
        *word = (struct nytp_word){.address = address};
    word->asked = words->look;
    words->asked[words->n_asked++] = address;
}

static void put(struct nytp_words *words, uint64_t address, uint64_t value)
{
    words->all[slot_of(words, address)] =
        (struct nytp_word){address, value, .asked = words->look, .read = words->look};
}

bool nytp_words_read(struct nytp_words *words, const struct nytp_piece *others, size_t n)
{
    static struct nytp_piece pieces[NYTP_ASKED];
    static uint64_t values[NYTP_ASKED];
    const uint32_t n_words = words->n_asked;
    const size_t n_others = n <= NYTP_ASKED - n_words ? n : 0, n_all = n_words + n_others;
    bool has_others = n_others == n;
    for (uint32_t i = 0; i < n_words; i++)
        pieces[i] = (struct nytp_piece){words->asked[i], &values[i], sizeof values[i]};
    for (size_t i = 0; i < n_others; i++)
        pieces[n_words + i] = others[i];
    for (size_t done = 0; done < n_all; done++) { /* and past each that cannot be read */
        done += nytp_memory_scattered(words->memory, pieces + done, n_all - done);
        if (done < n_words)
            values[done] = 0;
        else if (done < n_all)
            has_others = false;
        if (!has_others && done >= n_words)
            break;
    }
    for (uint32_t i = 0; i < n_words; i++)
        put(words, words->asked[i], values[i]);
    words->n_asked = 0;
    return has_others;
}

uint64_t nytp_word_guess(const struct nytp_words *words, uint64_t address)
{
    const struct nytp_word *const word = &words->all[slot_of(words, address)];
    return word->address == address ? word->value : 0;
}

bool nytp_words_has(const struct nytp_words *words, uint64_t address, uint64_t *value)
{
    const struct nytp_word *const word = &words->all[slot_of(words, address)];
    if (word->address != address || word->read != words->look)
        return false;
    *value = word->value;
    return true;
}

uint64_t nytp_word(struct nytp_words *words, uint64_t address)
{
    uint64_t value = 0;
    if (address != 0 && !nytp_words_has(words, address, &value)) {
        value = nytp_memory_u64(words->memory, address);
        put(words, address, value);
    }
    return value;
}
