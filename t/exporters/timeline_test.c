/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Where processes begin on the axis of all: behind the first of them, by one look at all.
 */
#include "exporters/stacks/timeline.h"
#include "t/tap.h"

int main(void)
{
    struct nytp_process processes[] = {
        {.start_s = 1000.5}, {.start_s = 0}, {.start_s = 1000}, {.start_s = 9e6}};
    const struct nytp_profile profile = {.processes = processes, .n_processes = 4};
    const double first_s = nytp_first_start_s(&profile);
    ok(first_s == 1000, "the first start is the earliest that is known");
    ok(nytp_process_offset_ns(&processes[0], first_s) == 500000000,
       "a process begins as long after the first as the clock of the day says");
    ok(nytp_process_offset_ns(&processes[1], first_s) == 0, "one of unknown start with it");
    ok(nytp_process_offset_ns(&processes[2], first_s) == 0, "as the first does");
    ok(nytp_process_offset_ns(&processes[3], first_s) == 0,
       "and one that began more than 92 days later");
    ok(nytp_process_offset_remark(&processes[3], first_s)[0] != '\0', "which its remark says");
    ok(nytp_process_offset_remark(&processes[0], first_s)[0] == '\0', "others have none");

    const struct nytp_profile unknown = {.processes = &processes[1], .n_processes = 1};
    ok(nytp_first_start_s(&unknown) == 0, "without any known start there is no first");
    ok(nytp_first_start_s(&(struct nytp_profile){0}) == 0, "nor without a process");

    return done_testing();
}
