/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Detects the input format and reads the source with it; see format.h. For an unknown format
 * the message names the program that unpacks the file, if it is a known compression.
 */
#include "format.h"

#include <string.h>

#define HEAD_SIZE 64

/* Compressions that we do not unpack. */
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

/* Beginnings of nytp-export's outputs. */
static const struct {
    const char *head, *message;
} outputs[] = {
    {"{\"nytp_totals\"", "this is what --json wrote, not a recording"},
    {"{\"nytp_diff\"", "this is a comparison that --json wrote, not a recording"},
    {"{\"nytp_counts\"",
     "this is what --save-base wrote: a base, which --diff takes from a file, not from a pipe"},
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
    const char *message = "this is not a profile in any known format (Devel::NYTProf's since "
                          "July 2008, Devel::DProf's)";
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        if (len >= strlen(outputs[i].head) &&
            memcmp(head, outputs[i].head, strlen(outputs[i].head)) == 0)
            message = outputs[i].message;
    return nytp_error_at(error, NYTP_ERR_FORMAT, nytp_source_offset(source), false, "%s",
                         message);
}

static const struct nytp_format *detect(struct nytp_source *source, size_t len)
{
    for (const struct nytp_format *const *format = nytp_formats; *format != NULL; format++)
        if ((*format)->detect(source->at, len))
            return *format;
    return NULL;
}

/* The recorder writes a comment behind the zlib stream. */
static bool skip_comment(struct nytp_source *source)
{
    const size_t len = nytp_source_fill(source, NYTP_SOURCE_MAX_NEED);
    const uint8_t *const end =
        len > 0 && *source->at == '#' ? memchr(source->at, '\n', len) : NULL;
    if (end != NULL)
        source->at = end + 1;
    return end != NULL;
}

bool nytp_read_another(struct nytp_source *source)
{
    do
        nytp_source_leave_inflate(source);
    while (skip_comment(source));
    const size_t len = nytp_source_fill(source, HEAD_SIZE);
    return len > 0 && detect(source, len) != NULL;
}

bool nytp_read(struct nytp_source *source, const struct nytp_read_options *options,
               struct nytp_sink *sink, struct nytp_error *error)
{
    const size_t len = nytp_source_fill(source, HEAD_SIZE);
    const struct nytp_format *const format = detect(source, len);
    if (format == NULL)
        return fail_undetected(source, source->at, len, error);
    if (!format->read(source, options, sink, error))
        return false;
    if ((options != NULL && options->one_of_several) || !nytp_read_another(source))
        return true;
    return nytp_error_at(
        error, NYTP_ERR_TRUNCATED, nytp_source_offset(source), nytp_source_inflating(source),
        "another recording begins here, and one only is read (nytprofmerge makes one of them)");
}
