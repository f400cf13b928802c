/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The modes that look at each input by itself: --stats (what is in it), --check (whether it
 * adds up) and --dump (every record of it).
 */
#include "load.h"
#include "modes.h"
#include "outputs.h"

#include "exporters/base/text.h"
#include "exporters/select/one_process.h"

#include "formats/model/profile.h"

static void stats_of(struct run *run, const char *path, struct nytp_out *out, bool first)
{
    struct nytp_count count;
    struct nytp_profile *profile = nytp_cli_load_one(run, path, &count);
    if (profile == NULL)
        return;
    if (!first)
        nytp_putc(out, '\n');
    nytp_put_stats(out, profile, &count);
    nytp_profile_free(profile);
}

/* With --per-process each process by itself. */
static bool check_profile(const struct nytp_cli *cli, struct nytp_profile *profile,
                          struct nytp_error *error)
{
    if (!nytp_select(profile, &cli->selection, error) || !nytp_profile_check(profile, error))
        return false;
    if (!cli->per_process)
        return true;
    struct nytp_arcs_before calls;
    if (!nytp_arcs_before_init(&calls, profile))
        return nytp_out_of_memory(error);
    bool ok = true;
    for (uint32_t i = 0; ok && i < profile->n_processes; i++) {
        struct nytp_profile *one = nytp_select_processes(profile, &calls, i, 1, error);
        ok = one != NULL && nytp_profile_check(one, error);
        nytp_profile_free(one);
    }
    nytp_arcs_before_free(&calls);
    return ok;
}

static void check_of(struct run *run, const char *path, struct nytp_out *out)
{
    struct nytp_profile *profile = nytp_cli_load_one(run, path, NULL);
    if (profile == NULL)
        return;
    struct nytp_error error = {0};
    if (check_profile(&run->cli, profile, &error)) {
        nytp_text_put(out, nytp_name_of_text(path), 0);
        nytp_puts(out, profile->partial ? ": adds up, but partial\n" : ": ok\n");
    } else {
        nytp_cli_say_unusable(run, path, &error);
    }
    nytp_profile_free(profile);
}

static void dump_of(struct run *run, const char *path, struct nytp_out *out)
{
    struct nytp_dump dump;
    struct nytp_error error = {0};
    nytp_dump_init(&dump, out);
    const uint64_t n_before = out->n_bytes;
    const bool is_read = nytp_cli_read(run, path, &dump.sink, &error);
    if (out->error.status != NYTP_OK || (is_read && nytp_dump_is_whole(&dump, &error)))
        return;
    if (out->n_bytes == n_before)
        nytp_cli_say_unusable(run, path, &error);
    else
        nytp_cli_note_partial(run, path, &error);
}

static void inspect_inputs(void *context, struct nytp_out *out)
{
    struct run *run = context;
    const struct nytp_cli *cli = &run->cli;
    for (int i = 0; i < cli->n_files && out->error.status == NYTP_OK; i++) {
        if (cli->mode == NYTP_MODE_STATS)
            stats_of(run, cli->files[i], out, i == 0);
        else if (cli->mode == NYTP_MODE_CHECK)
            check_of(run, cli->files[i], out);
        else
            dump_of(run, cli->files[i], out);
    }
}

enum exit_status nytp_cli_run_inspection(struct run *run)
{
    const char *output = run->cli.output != NULL ? run->cli.output : "-";
    enum exit_status status = nytp_cli_write_output(output, inspect_inputs, run);
    if (status == EXIT_DONE)
        status = nytp_cli_done(run);
    return status == EXIT_PARTIAL && run->failed ? EXIT_INPUT : status;
}
