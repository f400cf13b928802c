/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Fuzz target: any bytes as inputs of nytprofmerge, twice the same or cut in two. Whatever the
 * bytes are, what comes out is a whole stream that makes a sound profile.
 */
#include "exporters/base/out.h"
#include "formats/build/build.h"
#include "formats/stream/format.h"
#include "formats/stream/write/merge_streams.h"
#include "formats/model/model.h"
#include "formats/model/profile.h"

#include <string.h>
#include <unistd.h>

#include "target.h"

/* The merger reads files: one that is there for this process only. */
static const char *input_file(const uint8_t *data, size_t size)
{
    static char path[] = "/tmp/nytp-fuzz-XXXXXX", name[40];
    static int fd = -1;
    if (fd < 0) {
        fd = mkstemp(path);
        unlink(path);
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    }
    if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
        abort();
    return name;
}

static bool put_bytes(void *context, const uint8_t *bytes, size_t len)
{
    nytp_put(context, bytes, len);
    return true;
}

static void check_merged(const uint8_t *data, size_t size)
{
    struct nytp_error error = {0};
    const struct nytp_build_options options = {.sources = true};
    struct nytp_source *source = nytp_source_memory(data, size, &error);
    struct nytp_builder *builder = nytp_builder_new(&options, "merged", &error);
    if (source == NULL || builder == NULL)
        abort();
    must(nytp_read(source, &(struct nytp_read_options){0}, nytp_builder_sink(builder), &error),
         error.message);
    nytp_source_free(source);
    struct nytp_profile *profile = nytp_builder_finish(builder, NULL, &error);
    if (profile != NULL)
        must(nytp_profile_adds_up(profile, &error), error.message);
    nytp_profile_free(profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nytp_error error = {0};
    struct nytp_out *out = nytp_out_memory(true);
    if (out == NULL)
        abort();
    struct nytp_merge *merge = nytp_merge_new(put_bytes, NULL, out, size % 3 == 0);
    if (merge == NULL)
        abort();
    const size_t half = size % 2 == 0 ? size : size / 2;
    bool any = nytp_merge_add(merge, input_file(data, half), &error);
    any |= nytp_merge_add(merge, input_file(data + size - half, half), &error);
    const bool finished = nytp_merge_finish(merge, &error);
    nytp_merge_free(merge);
    size_t len;
    const uint8_t *bytes = nytp_out_bytes(out, &len);
    if (finished && any)
        check_merged(bytes, len);
    nytp_out_close(out, &error);
    return 0;
}
