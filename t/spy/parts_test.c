/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Streams of threads: each that is written holds a descriptor, of which there are not more than
 * ten thousand; one that has ended holds none, unless it is long.
 */
#define _GNU_SOURCE
#include "spy/record/parts.h"

#include "t/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    MOST = 10000,
    LONG = (1 << 20) + 1,
};

/* The descriptors that are taken by now. */
static int count_descriptors(void)
{
    int n = 0;
    for (int fd = 3; fd < MOST + 100; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static bool may_have_descriptors(void)
{
    struct rlimit limit = {.rlim_cur = 0};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max > MOST + 100;
}

static void test_many(struct nytp_parts *parts)
{
    static struct nytp_part *part[MOST];
    struct nytp_error error = {0};
    bool all = true;
    for (int i = 0; i < MOST; i++)
        all &= (part[i] = nytp_part_new(parts, &error)) != NULL;
    ok(all, "ten thousand streams");
    ok(nytp_part_new(parts, &error) == NULL && error.status == NYTP_ERR_LIMIT, "and no more");
    nytp_part_end(parts, part[0], true);
    ok((part[0] = nytp_part_new(parts, &error)) != NULL, "but one after one that has ended");
    for (int i = 0; i < MOST; i++)
        nytp_part_end(parts, part[i], true);
}

static void put_part(struct nytp_parts *parts, size_t len)
{
    static uint8_t bytes[LONG];
    struct nytp_error error = {0};
    struct nytp_part *const part = nytp_part_new(parts, &error);
    if (part == NULL || !nytp_part_put(part, bytes, len))
        exit(1);
    nytp_part_end(parts, part, true);
}

int main(void)
{
    struct nytp_parts parts = NYTP_NO_PARTS;
    const int before = count_descriptors();
    if (may_have_descriptors())
        test_many(&parts);
    for (int i = 0; i < 100; i++)
        put_part(&parts, 1000);
    ok(count_descriptors() == before + 1, "all that have ended have one descriptor");
    put_part(&parts, LONG);
    ok(count_descriptors() == before + 2, "a long one keeps its own");
    nytp_parts_free(&parts);
    ok(count_descriptors() == before, "which are given back");
    return done_testing();
}
