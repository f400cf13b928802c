/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Memory of which sub a CV is and which place a statement is. perl frees subs and statements
 * and uses their memory again, so what is remembered holds only as long as all the memory that
 * it was read from is the same: for all frames of a stack one system call tells.
 */
#ifndef NYTP_SPY_NAMES_H
#define NYTP_SPY_NAMES_H

#include "values.h"
#include "words.h"

#include "formats/base/strings.h"

/* A sub by its name and where it begins. */
struct nytp_spied_sub {
    uint32_t name, file; /* strings */
    uint32_t first_line; /* of its first statement; 0: it has none */
    bool is_xsub;
    bool is_begin;     /* a BEGIN block: its name ends in "@" and first_line */
    bool is_anonymous; /* its name ends in "[", the file, ":", first_line and "]" */
};

/* So many string evals have names of their own in one recording. */
#define NYTP_MOST_EVALS 1000

/* An address is looked up as one of these. */
enum nytp_named {
    NYTP_NAMED_SUB,
    NYTP_NAMED_PLACE, /* a statement */
    NYTP_NAMED_ROOT,  /* a statement's code; see nytp_root_of() */
};

struct nytp_remembered;

enum {
    NYTP_RECENT = 1024,
};

struct nytp_names {
    struct nytp_perl *perl;
    struct nytp_words *words; /* for those who ask about stacks */
    struct nytp_strings *strings;
    struct nytp_spied_sub *subs; /* never fewer: their numbers stay */
    uint32_t n_subs, subs_capacity;
    struct nytp_table sub_numbers, by_address, evals;
    uint32_t n_evals, folded_evals; /* the name of those behind the first ones; 0: none yet */
    struct nytp_remembered *known;
    uint32_t n_known, known_capacity;
    uint32_t recent[NYTP_RECENT]; /* the one of `known` that was asked for last, by hash */
    uint64_t sample;              /* number of the sample: answers of the same sample hold */
    int64_t now_ns;               /* set at each look; 0: nothing is believed unread */
    struct nytp_piece *pieces;
    uint32_t n_pieces, pieces_capacity;
    uint8_t *bytes; /* of the pieces */
    uint32_t n_bytes, bytes_capacity;
    uint32_t *asked; /* entries of `known` to read again */
    uint32_t n_asked, asked_capacity;
};

/* Returns false if memory is out. Free in any case. */
bool nytp_name_cache_init(struct nytp_names *names, struct nytp_perl *perl);
void nytp_name_cache_free(struct nytp_names *names);

/* Call these for one stack: begin, expect all that will be asked, look, then ask by the number
 * that the expectation returned. UINT32_MAX: memory is out. A sub may always last, a statement
 * if its code does. */
void nytp_name_cache_begin(struct nytp_names *names);
uint32_t nytp_name_cache_expect(struct nytp_names *names, uint64_t address, enum nytp_named as,
                                bool may_last);
void nytp_name_cache_look(struct nytp_names *names);

/* Returns whether a sub is a named one of a file; closures and subs of evals are not. */
bool nytp_sub_may_last(const struct nytp_names *names, uint32_t expected);

/* The sub's number in `subs`; UINT32_MAX: there is none at this address. */
uint32_t nytp_sub_at(const struct nytp_names *names, uint32_t expected);

/* Where a statement is. False: there is none at this address. */
bool nytp_place_at(const struct nytp_names *names, uint32_t expected, uint32_t *file,
                   uint32_t *line);

/* Look at subs and places that may be asked for and are known, and read the words that were
 * asked for (words.h), all in one system call: of those that come to be asked for none is read
 * again. Returns whether it may last. */
bool nytp_name_cache_recall(struct nytp_names *names, uint64_t address, enum nytp_named as,
                            bool may_last);
void nytp_name_cache_look_ahead(struct nytp_names *names);

/* Returns whether an answer needs no reading now: it is believed as long again as it had been
 * known when it was last read. */
bool nytp_may_be_believed(const struct nytp_names *names, int64_t found_ns, int64_t read_ns);

/* Returns whether a sub, or the code of a statement, is believed unchanged. */
bool nytp_is_believed(struct nytp_names *names, uint64_t address, enum nytp_named as);

/* Returns whether a file, a string of names, is a string eval. */
bool nytp_is_of_eval(const struct nytp_names *names, uint32_t file);

/* nytp_root_ask() adds the words that it needs to this look's reads. Then nytp_root_of()
 * returns the op that ends the code of a statement, such as "leavesub", and its type; 0: not
 * known. */
void nytp_root_ask(struct nytp_names *names, uint64_t cop);
uint64_t nytp_root_of(struct nytp_names *names, uint64_t cop, unsigned *type);

#endif
