/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The processes that match --pattern.
 */
#include "cli.h"

#include "formats/base/arena.h"
#include "spy/target/process.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MOST_ANCESTORS = 1000 /* a changing list may lead back to itself */
};

/* Returns whether this is nytp-spy or an ancestor, such as sudo, timeout or a shell: their
 * command lines contain the pattern. */
static bool is_ours(pid_t pid)
{
    pid_t at = getpid();
    for (int i = 0; i < MOST_ANCESTORS && at > 0; i++) {
        if (at == pid)
            return true;
        at = nytp_process_status(at).parent;
    }
    return false;
}

pid_t *nytp_spy_matches(const struct nytp_patterns *patterns, uint32_t *n,
                        struct nytp_error *error)
{
    char command[4096];
    uint32_t n_all;
    pid_t *const all = nytp_processes(&n_all);
    *n = 0;
    for (uint32_t i = 0; i < n_all; i++)
        if (nytp_process_command(all[i], command, sizeof command) &&
            nytp_patterns_match(
                patterns, (struct nytp_name){command, (uint32_t)strlen(command)}, error) &&
            !is_ours(all[i]))
            all[(*n)++] = all[i];
    return all;
}
