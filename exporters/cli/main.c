/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * nytp-export: from the command line to one of the modes (modes.h).
 *
 * Exit status: 0 done, 1 unusable input, 2 usage, 3 partial input exported, 4 output failed,
 * 10 a limit exceeded.
 */
#define _DEFAULT_SOURCE /* madvise(): must come before any header */

#include "inputs.h"
#include "option_table.h"
#include "options.h"
#include "modes.h"
#include "outputs.h"

#include "exporters/base/version.h"

#ifdef __GLIBC__
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

/* Arrays from this size on are mapped, and given back when they are freed. glibc raises that
 * size to that of the largest array which was ever freed; then those of many merged profiles,
 * which come and go, leave holes that nobody fills (378 MB instead of 217 MB for 500 recordings
 * of 267 kB). The heap gives its free end back only when that is larger than any array in it:
 * where brk() has failed once, glibc takes a new heap for an array, gives its end back at once
 * if it may, and then finds the array too large for it: malloc() returns NULL. */
#define MAPPED_FROM (1 << 20)

static void give_memory_back(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, MAPPED_FROM);
    mallopt(M_TRIM_THRESHOLD, MAPPED_FROM + (MAPPED_FROM >> 2));
#endif
}

/* The profile of one large recording is new memory, each page touched for the first time: a
 * fifth of the time of an export was the kernel's for so many page faults. What such a
 * recording will need is therefore asked for at once, in large pages, of which the kernel gives
 * those that are used: up to MEMORY_PER_BYTE of the file, by formats with a time line.
 * Recordings below LARGE_FROM need less than a large page or two; many at once come and go, see
 * above; and where address space is limited, it is not ours to reserve. */
#define LARGE_FROM      ((size_t)512 << 10)
#define MOST_RESERVED   ((size_t)64 << 20)
#define MEMORY_PER_BYTE 16

static void reserve_large_pages(const struct nytp_cli *cli)
{
#if defined(__GLIBC__) && defined(MADV_HUGEPAGE)
    struct stat input;
    struct rlimit space, data;
    if (cli->n_files != 1 || cli->bases.n > 0 || stat(cli->files[0], &input) != 0 ||
        !S_ISREG(input.st_mode) || (uintmax_t)input.st_size < LARGE_FROM ||
        getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur != RLIM_INFINITY ||
        getrlimit(RLIMIT_DATA, &data) != 0 || data.rlim_cur != RLIM_INFINITY)
        return;
    const size_t size = (uintmax_t)input.st_size < MOST_RESERVED / MEMORY_PER_BYTE
                            ? (size_t)input.st_size * MEMORY_PER_BYTE
                            : MOST_RESERVED;
    mallopt(M_MMAP_MAX, 0); /* from the heap, where it stays when it is freed */
    mallopt(M_TRIM_THRESHOLD, 2 * MOST_RESERVED);
    char *heap = malloc(size);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), skipped = page - (uintptr_t)heap % page;
    if (heap != NULL)
        madvise(heap + skipped, size - skipped, MADV_HUGEPAGE);
    free(heap);
    mallopt(M_MMAP_MAX, 65536); /* as before */
#else
    (void)cli;
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
    else if (run.cli.mode == NYTP_MODE_EXPORT) {
        nytp_leave_out_earlier_runs(&run.cli);
        reserve_large_pages(&run.cli);
        status = nytp_cli_run_export(&run);
    } else if (run.cli.mode == NYTP_MODE_BY_LABEL) {
        nytp_leave_out_earlier_runs(&run.cli);
        status = nytp_cli_run_by_label(&run);
    } else if (run.cli.mode == NYTP_MODE_STATS || run.cli.mode == NYTP_MODE_CHECK ||
               run.cli.mode == NYTP_MODE_DUMP)
        status = nytp_cli_run_inspection(&run);
    else
        status = nytp_cli_write_output("-", write_about, &run.cli.mode);
    nytp_cli_say_partial(&run);
    nytp_cli_free(&run.cli);
    return status;
}
