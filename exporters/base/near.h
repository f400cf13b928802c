/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Finds names near one that was typed, for messages that end in "did you mean".
 */
#ifndef NYTP_NEAR_H
#define NYTP_NEAR_H

#include "formats/base/edit_distance.h"
#include "formats/model/model.h"

#include <stddef.h>

struct nytp_near_name {
    struct nytp_name name;
    unsigned distance;
};

/* The names of subs that come nearest to a text, best first. */
struct nytp_near {
    char word[NYTP_EDIT_LONGEST +
              1]; /* what is compared: the longest name in the text, in lower case */
    size_t word_len;
    unsigned limit; /* names whose distance is above it are not near */
    struct nytp_near_name best[3];
    uint32_t n;
};

/* Begins with the text typed, a regular expression or a name. Names are compared with its
 * longest run of characters that names consist of. */
void nytp_near_begin(struct nytp_near *near, const char *text);

/* Compares a sub's name, and the part after its last "::", in any case. If one of them is near
 * enough the name joins `best`. Call it for every sub; names are borrowed. */
void nytp_near_consider(struct nytp_near *near, struct nytp_name name);

#endif
