/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Finds out by the first bytes which input format a source is in, and has it read; see
 * format.h. Where no format knows the bytes, the message says so, and which program unpacks
 * the file if it is one that another program packed.
 */
#include "format.h"

#include <string.h>

#define HEAD_SIZE 64

/* What compressed a file that is read only after something else has unpacked it. */
static const struct {
    const char *magic;
    size_t len;
    const char *name, *command;
} compressions[] = {
    {"\xfd"
     "7zXZ",
     6, "xz", "xz -dc"}, /* with the NUL that ends the string */
    {"\x28\xb5\x2f\xfd", 4, "zstd", "zstd -dc"},
    {"BZh", 3, "bzip2", "bzip2 -dc"},
};

static bool fail_undetected(struct nytp_source *source, const uint8_t *head, size_t len,
                            struct nytp_error *error)
{
    const struct nytp_error *source_error = nytp_source_error(source);
    if (source_error->status != NYTP_OK) {
        *error = *source_error;
        return false;
    }
    if (len == 0)
        return nytp_error_set(error, NYTP_ERR_FORMAT, "the input is empty");
    for (size_t i = 0; i < sizeof compressions / sizeof *compressions; i++)
        if (len >= compressions[i].len &&
            memcmp(head, compressions[i].magic, compressions[i].len) == 0)
            return nytp_error_set(error, NYTP_ERR_FORMAT,
                                  "this is compressed with %s; unpack it on the way: %s FILE | "
                                  "nytp-export -",
                                  compressions[i].name, compressions[i].command);
    return nytp_error_at(error, NYTP_ERR_FORMAT, nytp_source_offset(source), false,
                         "this is not a profile in any known format");
}

bool nytp_read(struct nytp_source *source, const struct nytp_read_options *options,
               struct nytp_sink *sink, struct nytp_error *error)
{
    const size_t len = nytp_source_fill(source, HEAD_SIZE);
    for (const struct nytp_format *const *format = nytp_formats; *format != NULL; format++)
        if ((*format)->detect(source->at, len))
            return (*format)->read(source, options, sink, error);
    return fail_undetected(source, source->at, len, error);
}
