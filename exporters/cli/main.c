/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * nytp-export: from the command line to one of the modes (modes.h).
 *
 * Exit status: 0 done, 1 unusable input, 2 usage, 3 partial input exported, 4 output failed,
 * 10 a limit exceeded.
 */
#include "help.h"
#include "inputs.h"
#include "modes.h"
#include "outputs.h"

#include "exporters/base/version.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

/* Arrays from this size on are mapped, and given back when they are freed. glibc raises that
 * size to that of the largest array which was ever freed; then those of many merged profiles,
 * which come and go, leave holes that nobody fills (378 MB instead of 217 MB for 500 recordings
 * of 267 kB). */
#define MAPPED_FROM (1 << 20)

static void give_memory_back(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, MAPPED_FROM);
#endif
}

static void put_version(struct nytp_out *out)
{
#ifdef NYTP_HAVE_ISAL
    const char *inflate = "ISA-L";
#else
    const char *inflate = "zlib";
#endif
    nytp_printf(out, "nytp-export %s (compatible with Devel::NYTProf %s, inflate by %s)\n",
                NYTP_VERSION, NYTP_COMPATIBLE_VERSION, inflate);
}

static void write_about(void *context, struct nytp_out *out)
{
    const enum nytp_mode mode = *(const enum nytp_mode *)context;
    if (mode == NYTP_MODE_HELP)
        nytp_cli_put_help(out);
    else if (mode == NYTP_MODE_VERSION)
        put_version(out);
    else
        nytp_cli_put_formats(out);
}

int main(int argc, char **argv)
{
    struct run run = {0};
    struct nytp_error error = {0};
    const char *folder = NULL;
    enum exit_status status = EXIT_USAGE;
    give_memory_back();
    nytp_cli_set_output_signals();
    if (!nytp_cli_parse(&run.cli, argc, argv, &error))
        nytp_cli_say("%s (--help lists the options)", error.message);
    else if (!nytp_expand_inputs(&run.cli, &folder, &error)) {
        nytp_cli_say_error(folder, &error, "");
        status = EXIT_INPUT;
    } else if (run.cli.output != NULL && nytp_cli_replaces_input(&run.cli, run.cli.output))
        status = EXIT_USAGE;
    else if (run.cli.mode == NYTP_MODE_EXPORT)
        status = nytp_cli_run_export(&run);
    else if (run.cli.mode == NYTP_MODE_BY_LABEL)
        status = nytp_cli_run_by_label(&run);
    else if (run.cli.mode == NYTP_MODE_STATS || run.cli.mode == NYTP_MODE_CHECK ||
             run.cli.mode == NYTP_MODE_DUMP)
        status = nytp_cli_run_inspection(&run);
    else
        status = nytp_cli_write_output("-", write_about, &run.cli.mode);
    nytp_cli_say_partial(&run);
    nytp_cli_free(&run.cli);
    return status;
}
