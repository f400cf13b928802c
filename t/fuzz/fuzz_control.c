/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Fuzz target: what a client of the control socket sends. The first byte says in pieces of
 * which length the rest comes; what is made of it must be what is to be made of the whole.
 */
#include "XS/control/request.c"

#include <string.h>

#include "target.h"

static bool is_line(const uint8_t *line, size_t len, enum nytp_command command)
{
    const char *const word = nytp_command_words[command];
    const size_t n = strlen(word);
    return len >= n && memcmp(line, word, n) == 0 &&
           (len == n || line[n] == ' ' || line[n] == '\0');
}

/* By all that came, of which a line takes NYTP_CONTROL_LINE bytes at most. */
static enum nytp_command expected(const uint8_t *data, size_t size)
{
    const size_t most = size < NYTP_CONTROL_LINE ? size : NYTP_CONTROL_LINE;
    const uint8_t *const end = size > 0 ? memchr(data, '\n', most) : NULL;
    if (end == NULL)
        return size < NYTP_CONTROL_LINE ? NYTP_COMMAND_NONE : NYTP_COMMAND_TOO_LONG;
    for (int command = NYTP_COMMAND_ON; command <= NYTP_COMMAND_STACK; command++)
        if (is_line(data, (size_t)(end - data), (enum nytp_command)command))
            return (enum nytp_command)command;
    return NYTP_COMMAND_UNKNOWN;
}

static void check_name(const struct nytp_request *request, const char *name)
{
    must(name >= request->line && name < request->line + sizeof request->line,
         "the name is elsewhere");
    const size_t room = (size_t)(request->line + sizeof request->line - name);
    must(memchr(name, '\0', room) != NULL, "the name has no end");
    must(strchr(name, '\n') == NULL, "the name has two lines");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const size_t piece = 1 + data[0];
    struct nytp_request *const request = calloc(1, sizeof *request);
    enum nytp_command command = NYTP_COMMAND_NONE;
    if (request == NULL)
        return 0;
    data++, size--;
    for (size_t at = 0; at < size && command == NYTP_COMMAND_NONE;) {
        const char *name = NULL;
        const size_t room = sizeof request->line - request->n, left = size - at;
        size_t n = piece < left ? piece : left;
        n = n < room ? n : room;
        must(n > 0, "a line that is not too long has no room");
        memcpy(request->line + request->n, data + at, n);
        at += n;
        command = nytp_request_add(request, n, &name);
        if (command != NYTP_COMMAND_NONE && command <= NYTP_COMMAND_STACK)
            check_name(request, name);
    }
    must(command == expected(data, size), "taken for another command");
    free(request);
    return 0;
}
