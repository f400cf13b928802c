/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Rights of threads; see rights.h.
 *
 * On Linux a process changes its users and groups by capabilities, and loses these when it
 * stops being root. capget(2) reads those of any thread, even after chroot() without /proc.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "rights.h"

#include "kernel.h"

#include <string.h>
#include <stdlib.h>
#include <unistd.h>

static uint64_t hash_of_groups(void)
{
    const int n = getgroups(0, NULL);
    gid_t *const groups = n > 0 ? calloc((size_t)n, sizeof *groups) : NULL;
    uint64_t hash = (uint64_t)n;
    const int n_read = groups == NULL ? 0 : getgroups(n, groups);
    for (int i = 0; i < n_read; i++)
        hash = (hash ^ groups[i]) * 0x100000001b3;
    free(groups);
    return hash;
}

#ifdef __linux__

#include <linux/capability.h>
#include <sys/syscall.h>

struct capabilities {
    uint32_t effective, permitted, inheritable;
};

struct capabilities_head {
    uint32_t version;
    int32_t thread; /* 0: the calling one */
};

static bool read_capabilities(long thread, struct capabilities to[2])
{
    const struct capabilities_head head = {_LINUX_CAPABILITY_VERSION_3, (int32_t)thread};
    return syscall(SYS_capget, &head, to) == 0;
}

bool nytp_rights_are_given_up(void)
{
    const long program = getpid();
    struct capabilities its[2] = {{0}},
                        own[2] = {{0}}; /* valgrind takes capget() to fill one */
    return read_capabilities(program, its) && read_capabilities(0, own) &&
           ((own[0].permitted & ~its[0].permitted) | (own[1].permitted & ~its[1].permitted)) !=
               0;
}

static void set_effective(const struct capabilities from[2], uint32_t more)
{
    const struct capabilities_head head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct capabilities own[2];
    if (!read_capabilities(0, own))
        return;
    own[0].effective = (from[0].effective | more) & own[0].permitted;
    own[1].effective = from[1].effective & own[1].permitted;
    syscall(SYS_capset, &head, own);
}

/* glibc ends a program if one thread may do a setuid() and another may not. So the signal by
 * which it has a thread do that waits meanwhile. */
void nytp_rights_use_on_files(void (*act)(void))
{
    const uint32_t files =
        1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH | 1u << CAP_FOWNER;
    struct capabilities before[2];
    const uint64_t mask = nytp_kernel_set_signal_mask(UINT64_MAX);
    const bool is_read = read_capabilities(0, before);
    if (is_read)
        set_effective(before, files);
    act();
    if (is_read)
        set_effective(before, 0);
    nytp_kernel_set_signal_mask(mask);
}

static bool has_capabilities(void)
{
    struct capabilities own[2];
    return !read_capabilities(0, own) || own[0].permitted != 0 || own[1].permitted != 0;
}

#else

/* The system makes all threads alike. */
bool nytp_rights_are_given_up(void)
{
    return false;
}

void nytp_rights_use_on_files(void (*act)(void))
{
    act();
}

static bool has_capabilities(void)
{
    return geteuid() == 0;
}

#endif

struct nytp_rights nytp_rights_now(void)
{
    struct nytp_rights now;
    memset(&now, 0, sizeof now);
#ifdef __linux__
    getresuid(&now.uids[0], &now.uids[1], &now.uids[2]);
    getresgid(&now.gids[0], &now.gids[1], &now.gids[2]);
#else
    now.uids[0] = getuid();
    now.uids[1] = now.uids[2] = geteuid();
    now.gids[0] = getgid();
    now.gids[1] = now.gids[2] = getegid();
#endif
    now.groups = hash_of_groups();
    now.may_change = has_capabilities();
    for (int i = 1; i < 3; i++)
        now.may_change =
            now.may_change || now.uids[i] != now.uids[0] || now.gids[i] != now.gids[0];
    return now;
}

bool nytp_rights_are_same(const struct nytp_rights *a, const struct nytp_rights *b)
{
    return memcmp(a->uids, b->uids, sizeof a->uids) == 0 &&
           memcmp(a->gids, b->gids, sizeof a->gids) == 0 && a->groups == b->groups;
}

bool nytp_rights_are_of(const struct nytp_rights *rights, uid_t user)
{
    return rights->uids[0] == user || rights->uids[1] == user;
}
