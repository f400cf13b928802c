/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The table of waiting system calls; see wait_calls.h. Calls that a machine or older headers do
 * not have are left out; those of a group come and go together.
 */
#include "wait_calls.h"

#include <stddef.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

#define CALL(name, subject, reason)                                                            \
    {                                                                                          \
        SYS_##name, #name, NYTP_WAITS_##subject, NYTP_WAIT_##reason                            \
    }

const struct nytp_wait_call nytp_wait_calls[] = {
#ifdef __linux__
    CALL(rt_sigsuspend, NOTHING, FOR_SLEEP),
    CALL(flock, LOCK, FOR_LOCK),
    CALL(waitid, CHILD, FOR_CHILD),
    CALL(epoll_pwait, EPOLL, FOR_EVENTS),
    CALL(read, FILE, UNKNOWN),
    CALL(write, FILE, UNKNOWN),
    CALL(readv, FILE, UNKNOWN),
    CALL(writev, FILE, UNKNOWN),
    CALL(pread64, FILE, UNKNOWN),
    CALL(pwrite64, FILE, UNKNOWN),
    CALL(preadv, FILE, UNKNOWN),
    CALL(pwritev, FILE, UNKNOWN),
    CALL(fsync, FILE, FOR_DISK),
    CALL(fdatasync, FILE, FOR_DISK),
    CALL(sync, NOTHING, FOR_DISK),
    CALL(openat, NOTHING, FOR_DISK),
    CALL(getdents64, NOTHING, FOR_DISK),
    CALL(unlinkat, NOTHING, FOR_DISK),
    CALL(mkdirat, NOTHING, FOR_DISK),
    CALL(ioctl, FILE, UNKNOWN),
#ifdef SYS_futex
    CALL(nanosleep, NOTHING, FOR_SLEEP),
    CALL(clock_nanosleep, NOTHING, FOR_SLEEP),
    CALL(rt_sigtimedwait, NOTHING, FOR_SLEEP),
    CALL(futex, NOTHING, FOR_LOCK),
    CALL(wait4, CHILD, FOR_CHILD),
    CALL(pselect6, SELECT, UNKNOWN),
    CALL(ppoll, POLL, UNKNOWN),
#endif
#ifdef SYS_recvfrom
    CALL(recvfrom, FILE, UNKNOWN),
    CALL(recvmsg, FILE, UNKNOWN),
    CALL(sendto, FILE, UNKNOWN),
    CALL(sendmsg, FILE, UNKNOWN),
    CALL(connect, FILE, UNKNOWN),
    CALL(accept4, FILE, UNKNOWN),
#endif
#ifdef SYS_sendfile
    CALL(fcntl, LOCK, UNKNOWN),
    CALL(sendfile, FILE, UNKNOWN),
    CALL(ftruncate, FILE, FOR_DISK),
    CALL(truncate, NOTHING, FOR_DISK),
#endif
#ifdef SYS_open
    CALL(poll, POLL, UNKNOWN),
    CALL(epoll_wait, EPOLL, FOR_EVENTS),
    CALL(open, NOTHING, FOR_DISK),
    CALL(stat, NOTHING, FOR_DISK),
    CALL(lstat, NOTHING, FOR_DISK),
    CALL(unlink, NOTHING, FOR_DISK),
    CALL(rename, NOTHING, FOR_DISK),
    CALL(mkdir, NOTHING, FOR_DISK),
    CALL(readlink, NOTHING, FOR_DISK),
    CALL(access, NOTHING, FOR_DISK),
#endif
#ifdef SYS_pause
    CALL(pause, NOTHING, FOR_SLEEP),
#endif
#ifdef SYS_vfork
    CALL(vfork, NOTHING, FOR_CHILD),
#endif
#ifdef SYS_select
    CALL(select, SELECT, UNKNOWN),
#endif
#ifdef SYS_accept
    CALL(accept, FILE, UNKNOWN),
#endif
#ifdef SYS_semop
    CALL(semop, NOTHING, FOR_LOCK),
#endif
#ifdef SYS_semtimedop
    CALL(semtimedop, NOTHING, FOR_LOCK),
#endif
#ifdef SYS_msgrcv
    CALL(msgrcv, NOTHING, UNKNOWN),
#endif
#ifdef SYS_renameat
    CALL(renameat, NOTHING, FOR_DISK),
#endif
#ifdef SYS_renameat2
    CALL(renameat2, NOTHING, FOR_DISK),
#endif
#ifdef SYS_statx
    CALL(statx, NOTHING, FOR_DISK),
#endif
#ifdef SYS_newfstatat
    CALL(newfstatat, NOTHING, FOR_DISK),
#endif
#ifdef SYS_syncfs
    CALL(syncfs, FILE, FOR_DISK),
#endif
#endif
    {.name = NULL},
};
