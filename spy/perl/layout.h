/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * How the structures of a perl lie in its memory: a row of layouts.def, whose values are those
 * of fields.def.
 */
#ifndef NYTP_SPY_LAYOUT_H
#define NYTP_SPY_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/* Variables of an interpreter. */
enum nytp_variable {
#define NYTP_VARIABLE(name) NYTP_PL_##name,
#include "fields.def"
    NYTP_VARIABLES
};

struct nytp_layout {
    uint8_t version; /* 36 of 5.36 */
    const char *machine, *option;
    bool has_threads;
    int32_t variables[NYTP_VARIABLES]; /* offsets in struct interpreter */
#define NYTP_FIELD(name, value) int32_t name;
#include "fields.def"
};

/* The rows, ended by one of version 0. */
extern const struct nytp_layout nytp_layouts[];

/* Returns whether it is that of a perl with assertions. */
bool nytp_layout_is_debugging(const struct nytp_layout *layout);

#endif
