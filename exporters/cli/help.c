/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Prints --help and --list-formats; see options.h. Both are made from the tables of options and
 * exporters, so they cannot go out of date.
 */
#include "options.h"


#include <stdio.h>
#include <string.h>

#define HELP_COLUMN 26
#define HELP_WIDTH  100

/* A row whose right side is continued below itself where it is too long. */
static void put_row(struct nytp_out *out, const char *left, const char *right)
{
    size_t column = strlen(left) < HELP_COLUMN ? strlen(left) : HELP_WIDTH;
    nytp_printf(out, "  %s", left);
    for (const char *end; *right != '\0'; right = end + strspn(end, " ")) {
        end = right + strcspn(right, " ");
        const size_t len = (size_t)(end - right);
        const bool fits = column + 1 + len <= HELP_WIDTH - 2;
        if (!fits)
            nytp_puts(out, "\n  ");
        const size_t from = fits ? column : 0;
        const size_t gap = from < HELP_COLUMN ? HELP_COLUMN - from : 1;
        nytp_printf(out, "%*s%.*s", (int)gap, "", (int)len, right);
        column = from + gap + len;
    }
    nytp_putc(out, '\n');
}

static void put_option(struct nytp_out *out, const struct nytp_option *option)
{
    char left[80];
    snprintf(left, sizeof left, "%s%c%s--%s%s%s", option->letter != 0 ? "-" : "",
             option->letter != 0 ? option->letter : ' ', option->letter != 0 ? ", " : "   ",
             option->name,
             nytp_has_optional_value(option) || option->value[0] == '\0' ? "" : " ",
             option->value);
    char right[512], places[256];
    nytp_option_places(option, places, sizeof places);
    snprintf(right, sizeof right, "%s%s%s%s", option->help, *places != '\0' ? " [" : "", places,
             *places != '\0' ? "]" : "");
    put_row(out, left, right);
}

void nytp_cli_put_help(struct nytp_out *out)
{
    nytp_puts(
        out,
        "usage: nytp-export [FORMAT] [OPTION]... [FILE]...\n"
        "Turn profiles of Perl programs into files for other viewers, or answer in the\n"
        "terminal. FILE is nytprof.out by default; - is standard input. Several are merged.\n"
        "Without FORMAT the -o suffix tells it, without -o it is --top.\n\n"
        "Formats:\n");
    for (size_t i = 0; nytp_exporters[i] != NULL; i++) {
        char left[80];
        snprintf(left, sizeof left, "    --%s", nytp_exporters[i]->name);
        put_row(out, left, nytp_exporters[i]->title);
    }
    const struct nytp_option *option;
    for (size_t i = 0; (option = nytp_option_at(i)) != NULL; i++) {
        if (option->name == NULL)
            nytp_printf(out, "\n%s:\n", option->help);
        else
            put_option(out, option);
    }
    nytp_puts(out,
              "\nExit status: 0 done, 1 unusable input, 2 usage, 3 partial input exported,\n"
              "4 output failed, 10 a limit exceeded.\n");
}

void nytp_cli_put_formats(struct nytp_out *out)
{
    nytp_puts(out, "Output:\n");
    for (size_t i = 0; nytp_exporters[i] != NULL; i++) {
        const struct nytp_exporter *exporter = nytp_exporters[i];
        const bool has_suffix = exporter->suffixes != NULL && exporter->suffixes[0] != '\0';
        nytp_printf(out, "  %-14s %s%s%s%s\n", exporter->name, exporter->title,
                    has_suffix ? " (" : "", has_suffix ? exporter->suffixes : "",
                    has_suffix ? ")" : "");
    }
    nytp_puts(out, "Input:\n");
    for (size_t i = 0; nytp_formats[i] != NULL; i++)
        nytp_printf(out, "  %-14s %s\n", nytp_formats[i]->name, nytp_formats[i]->title);
}
