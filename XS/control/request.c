/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Requests of a client; see request.h.
 */
#include "request.h"

const char *const nytp_command_words[] = {
    [NYTP_COMMAND_NONE] = "",         [NYTP_COMMAND_ON] = "on",
    [NYTP_COMMAND_OFF] = "off",       [NYTP_COMMAND_CHECKPOINT] = "checkpoint",
    [NYTP_COMMAND_ROTATE] = "rotate", [NYTP_COMMAND_HEAP] = "heap",
    [NYTP_COMMAND_STATUS] = "status", [NYTP_COMMAND_CANCEL] = "cancel",
    [NYTP_COMMAND_STACK] = "stack",
};

/* Returns the rest of `line` after the word and a space, or NULL for another word. */
static const char *after_word(const char *line, const char *word)
{
    while (*word != '\0' && *line == *word)
        line++, word++;
    if (*word != '\0' || (*line != '\0' && *line != ' '))
        return NULL;
    return *line == ' ' ? line + 1 : line;
}

static enum nytp_command parse(const char *line, const char **name)
{
    for (int command = NYTP_COMMAND_ON; command <= NYTP_COMMAND_STACK; command++) {
        const char *const rest = after_word(line, nytp_command_words[command]);
        if (rest == NULL)
            continue;
        *name = rest;
        return (enum nytp_command)command;
    }
    return NYTP_COMMAND_UNKNOWN;
}

enum nytp_command nytp_request_add(struct nytp_request *request, size_t n_more,
                                   const char **name)
{
    const unsigned end = request->n + (unsigned)n_more;
    while (request->n < end && request->line[request->n] != '\n')
        request->n++;
    if (request->n < end) {
        request->line[request->n] = '\0';
        return parse(request->line, name);
    }
    return end < NYTP_CONTROL_LINE ? NYTP_COMMAND_NONE : NYTP_COMMAND_TOO_LONG;
}
