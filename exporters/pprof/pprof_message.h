/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The pprof message of a profile (profile.proto), field by field, in the order of field
 * numbers. An encoder turns the calls into bytes. It makes no decision about the content, so
 * the binary and the text form are the same message.
 */
#ifndef NYTP_PPROF_MESSAGE_H
#define NYTP_PPROF_MESSAGE_H

#include "exporters/base/exporter.h"

enum nytp_pprof_field {
#define PPROF_FIELD(message, name, number) NYTP_PPROF_##message##_##name,
#include "pprof_fields.def"
    NYTP_PPROF_FIELD_COUNT
};

/* By field, from pprof_fields.def. */
extern const char *const nytp_pprof_names[NYTP_PPROF_FIELD_COUNT];
extern const uint8_t nytp_pprof_numbers[NYTP_PPROF_FIELD_COUNT];

/* The binary form (pprof.c) and the text form (pprof_text.c) have one of these as the first
 * member of their struct. Errors go to the output's error. */
struct nytp_pprof_encoder {
    /* Fields up to the matching close() are of a message inside the current one. */
    void (*open)(struct nytp_pprof_encoder *encoder, enum nytp_pprof_field field);
    void (*close)(struct nytp_pprof_encoder *encoder);
    /* A single value. Never called with 0, which an absent field means. */
    void (*integer)(struct nytp_pprof_encoder *encoder, enum nytp_pprof_field field,
                    int64_t value);
    void (*flag)(struct nytp_pprof_encoder *encoder, enum nytp_pprof_field field);
    /* All values of a repeated (packed) field; n is at least 1. */
    void (*integers)(struct nytp_pprof_encoder *encoder, enum nytp_pprof_field field,
                     const int64_t *values, size_t n);
    void (*text)(struct nytp_pprof_encoder *encoder, enum nytp_pprof_field field,
                 struct nytp_name text);
};

/* Writes the whole message with the encoder. With `side_of_recording` (compare/diff.h; else
 * NULL) it is a difference like pprof's own: samples of the base count negatively and have the
 * label pprof::base. Returns false with out->error set. */
bool nytp_pprof_message(const struct nytp_profile *profile, const uint8_t *side_of_recording,
                        const struct nytp_export_options *options, struct nytp_out *out,
                        struct nytp_pprof_encoder *encoder);

#endif
