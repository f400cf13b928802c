/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Writes what the command says to standard error; see messages.h.
 */
#include "messages.h"

#include "formats/base/printable.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Writes one line by one write, so that other writers to the terminal do not split it. */
void nytp_cli_say(const char *format, ...)
{
    char line[4096 + 512];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (n < 0)
        return;
    nytp_make_printable(line);
    fprintf(stderr, "nytp-export: %s\n", line);
}

void nytp_cli_say_error(const char *path, const struct nytp_error *error, const char *outcome)
{
    char place[64] = "";
    if (error->has_offset)
        snprintf(place, sizeof place, "byte %llu%s: ", (unsigned long long)error->offset,
                 error->inflated ? " (inflated)" : "");
    nytp_cli_say("%s: %s%s%s", path, place, error->message, outcome);
}

const char *nytp_cli_output_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard output" : path;
}

const char *nytp_cli_input_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

enum exit_status nytp_cli_output_failed(const char *path, const struct nytp_error *error)
{
    if (error->status != NYTP_ERR_STOPPED)
        nytp_cli_say_error(nytp_cli_output_name(path), error, "");
    return EXIT_OUTPUT;
}

void nytp_cli_say_miss(const char *text)
{
    nytp_cli_say("%s", text);
}

enum exit_status nytp_cli_no_memory(void)
{
    nytp_cli_say("out of memory");
    return EXIT_INPUT;
}
