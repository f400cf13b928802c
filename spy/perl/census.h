/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * All values of interpreters, counted by type and class, while the program runs on. What it
 * makes and frees meanwhile may be counted or not.
 */
#ifndef NYTP_SPY_CENSUS_H
#define NYTP_SPY_CENSUS_H

#include "values.h"

#include "formats/base/strings.h"

/* In a leak that goes on some objects are not in their place yet, or lie where perl is moving
 * elements at that moment. */
#define NYTP_EXAMPLES 8

struct nytp_census_row {
    const char *type; /* "hash" and so on */
    uint32_t class;   /* a string of the census; 0: not an object */
    uint64_t n, bytes;
    uint64_t examples[NYTP_EXAMPLES]; /* addresses of some objects, spread over all of them */
    uint32_t n_examples, stride;      /* every how many-th one is among them */
    uint32_t holder;                  /* a string: what holds one of these; 0: not known */
};

struct nytp_census {
    struct nytp_strings *strings;
    struct nytp_census_row *rows;
    uint32_t n_rows, capacity;
    struct nytp_table by_kind;
    uint64_t n, bytes;                 /* values; their heads, bodies, buffers and elements */
    uint64_t key_bytes;                /* of keys of hashes: each once */
    int64_t count_before, count_after; /* as perl counts them (PL_sv_count) */
    bool holders_given_up;             /* the search was too long: holders may be missing */
};

/* Called now and then with the number of values counted so far. */
typedef void nytp_census_progress_fn(uint64_t n);

/* Count. False with *error set. Free in any case. */
bool nytp_census_take(struct nytp_census *census, struct nytp_perl *perl,
                      const struct nytp_interpreter *of, uint32_t n_of,
                      nytp_census_progress_fn *progress, struct nytp_error *error);
void nytp_census_free(struct nytp_census *census);

/* Find the holder of one of the examples of each class that has some objects: the way to it
 * from a variable that has a name, as %My::App::sessions{...}[...]. What neither a package's
 * variables, subs and constants nor lexical variables lead to is "itself{...}" where it leads
 * to itself, else it stays without. Returns false if memory is out. */
bool nytp_find_holders(struct nytp_census *census, struct nytp_perl *perl,
                       const struct nytp_interpreter *of, uint32_t n_of,
                       nytp_census_progress_fn *progress);

#endif
