/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * perl's values in the target's memory: names of subs, packages and files. What is read may be
 * anything, as the target goes on meanwhile: whoever asks gets "no" or bytes; types and lengths
 * are checked here.
 *
 * A `watch` notes all that was read for one answer, so that later one system call can tell
 * whether the answer still holds.
 */
#ifndef NYTP_SPY_VALUES_H
#define NYTP_SPY_VALUES_H

#include "running.h"

#include "formats/base/table.h"

#include <string.h>

#define NYTP_WATCHED_PIECES 32 /* of a sub of a perl without threads 26 */
#define NYTP_WATCHED_BYTES  1024
#define NYTP_LONGEST_NAME   1024 /* of a sub, package or file; longer ones are cut */

struct nytp_watch {
    uint16_t n, len;
    bool overflowed; /* more was read: the answer never holds for long */
    struct {
        uint64_t from;
        uint16_t at, len;
    } pieces[NYTP_WATCHED_PIECES];
    uint8_t bytes[NYTP_WATCHED_BYTES];
};

struct nytp_reader {
    const struct nytp_perl *perl;
    const struct nytp_layout *layout;
    struct nytp_watch *watch; /* or NULL */
};

/* A text that grows up to its room; longer ones are cut. */
struct nytp_label {
    char text[NYTP_LONGEST_NAME];
    uint32_t len;
};
void nytp_label_add(struct nytp_label *label, const char *bytes, size_t len);
void nytp_label_printf(struct nytp_label *label, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* An address as a key, with what it is looked up as. */
static inline struct nytp_key nytp_address_key(uint64_t address, uint32_t as)
{
    return (struct nytp_key){(uint32_t)address, (uint32_t)(address >> 32), as, 0};
}

/* Read, and note it. */
bool nytp_look(struct nytp_reader *reader, uint64_t from, void *to, size_t len);
uint64_t nytp_look_u64(struct nytp_reader *reader, uint64_t from); /* 0: nothing to read */

/* Numbers in what was read. */
static inline uint64_t nytp_u64(const void *bytes, int32_t offset)
{
    uint64_t value;
    memcpy(&value, (const uint8_t *)bytes + offset, sizeof value);
    return value;
}

static inline uint32_t nytp_u32(const void *bytes, int32_t offset)
{
    uint32_t value;
    memcpy(&value, (const uint8_t *)bytes + offset, sizeof value);
    return value;
}

/* The head of a value. */
struct nytp_value {
    uint64_t address, body, u;
    uint32_t flags;
    int32_t type;
};
bool nytp_value_at(struct nytp_reader *reader, uint64_t address, struct nytp_value *value);
struct nytp_value nytp_value_of(const struct nytp_layout *layout, const uint8_t *head,
                                uint64_t address);

/* Append a text that perl counts (HEK), a C string, the name of a package, or one of a glob
 * with its package. False: there is none. */
bool nytp_add_hek(struct nytp_reader *reader, uint64_t hek, struct nytp_label *to);
bool nytp_add_text(struct nytp_reader *reader, uint64_t from, struct nytp_label *to);
bool nytp_add_stash(struct nytp_reader *reader, uint64_t stash, struct nytp_label *to);
bool nytp_add_glob(struct nytp_reader *reader, uint64_t glob, struct nytp_label *to);

/* Returns whether the type of an op is that of a statement. */
bool nytp_is_statement(const struct nytp_layout *layout, unsigned op_type);
unsigned nytp_op_type(const struct nytp_layout *layout, const uint8_t *op);

/* Returns whether it is PL_compiling, a statement without a type: its place is where perl
 * compiles now. */
bool nytp_is_compiling(const struct nytp_perl *perl, uint64_t cop);

/* A statement: its file appended to `file`, its line. False: this is no statement. */
bool nytp_statement_at(struct nytp_reader *reader, uint64_t cop, struct nytp_label *file,
                       uint32_t *line);

/* A hash's elements, one after the other. */
struct nytp_elements {
    struct nytp_reader *reader;
    uint64_t array, n_buckets, bucket, next;
    uint32_t in_chain; /* elements of this bucket so far */
};
bool nytp_elements_begin(struct nytp_elements *elements, struct nytp_reader *reader,
                         uint64_t hash);
/* False: there are no more, or the buckets that follow cannot be read. */
bool nytp_elements_next(struct nytp_elements *elements, uint64_t *hek, uint64_t *value);

#endif
