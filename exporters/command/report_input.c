/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The input of formats of several files; see report_input.h.
 */
#include "report_input.h"

#include "../../formats/core/merge_streams.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool tee_event(struct nytp_sink *sink, const struct nytp_event *event)
{
    struct nytp_tee *tee = (struct nytp_tee *)sink;
    return tee->first->event(tee->first, event) &&
           (tee->second == NULL || tee->second->event(tee->second, event));
}

void nytp_tee_init(struct nytp_tee *tee, struct nytp_sink *first, struct nytp_sink *second)
{
    *tee = (struct nytp_tee){.sink = {tee_event}, .first = first, .second = second};
}

struct temp_file {
    FILE *stream;
    char *path;
};

static bool put_bytes(void *context, const uint8_t *bytes, size_t len)
{
    struct temp_file *temp = context;
    return fwrite(bytes, 1, len, temp->stream) == len;
}

static bool open_temp(struct temp_file *temp, struct nytp_error *error)
{
    const char *folder = getenv("TMPDIR");
    folder = folder != NULL && *folder != '\0' ? folder : "/tmp";
    const size_t size = strlen(folder) + 32;
    temp->path = malloc(size);
    if (temp->path == NULL)
        return nytp_error_set(error, NYTP_ERR_MEMORY, "out of memory");
    snprintf(temp->path, size, "%s/nytp-export.XXXXXX", folder);
    const int fd = mkstemp(temp->path);
    temp->stream = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (temp->stream != NULL)
        return true;
    nytp_error_set(error, NYTP_ERR_IO, "cannot make a file in %s: %s", folder, strerror(errno));
    if (fd >= 0) {
        close(fd);
        unlink(temp->path);
    }
    free(temp->path);
    return false;
}

char *nytp_merge_inputs(char *const *paths, int n, nytp_bad_input_fn *bad, void *context,
                        struct nytp_error *error)
{
    struct temp_file temp = {0};
    if (!open_temp(&temp, error))
        return NULL;
    struct nytp_merge *merge = nytp_merge_new(put_bytes, NULL, &temp, 1);
    bool ok = merge != NULL;
    if (!ok)
        nytp_error_set(error, NYTP_ERR_MEMORY, "out of memory");
    for (int i = 0; ok && i < n; i++) {
        struct nytp_error input_error = {0};
        if (!nytp_merge_add(merge, paths[i], &input_error))
            bad(context, paths[i], &input_error);
    }
    ok = ok && nytp_merge_finish(merge, error);
    nytp_merge_free(merge);
    if (fclose(temp.stream) != 0 && ok)
        ok = nytp_error_set(error, NYTP_ERR_IO, "cannot write %s: %s", temp.path,
                            strerror(errno));
    if (ok)
        return temp.path;
    unlink(temp.path);
    free(temp.path);
    return NULL;
}
