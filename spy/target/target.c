/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Opens a process or core file; see target.h. Which processes may be read is told by ptrace(2),
 * "Ptrace access mode checking", and by Documentation/admin-guide/LSM/Yama.rst of the kernel.
 */
#define _GNU_SOURCE
#include "target.h"

#include "apart.h"
#include "core.h"
#include "file.h"
#include "process.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- rights ---- */

static int yama_scope(void)
{
    int scope = 0;
    FILE *const file = fopen("/proc/sys/kernel/yama/ptrace_scope", "r");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%d", &scope) != 1)
        scope = 0;
    fclose(file);
    return scope;
}

static bool in_container(void)
{
    return access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0 ||
           access("/var/run/secrets/kubernetes.io", F_OK) == 0;
}

/* Root owns the files in /proc of a process that is not dumpable. */
static bool is_undumpable(pid_t pid, uid_t owner)
{
    char path[40];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    return stat(path, &status) == 0 && status.st_uid == 0 && owner != 0;
}

/* CAP_SYS_PTRACE in our own user namespace. */
static bool has_right(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
    return syscall(SYS_capget, &head, data) == 0 &&
           (data[CAP_TO_INDEX(CAP_SYS_PTRACE)].effective & CAP_TO_MASK(CAP_SYS_PTRACE)) != 0;
}

/* `reason` is the system call's errno: ESRCH for a process without memory. */
static bool refuse(pid_t pid, int reason, struct nytp_error *error)
{
    const struct nytp_process_state process = nytp_process_status(pid);
    const uid_t mine = geteuid();
    if (process.state == '\0')
        return nytp_error_set(error, NYTP_ERR_IO, "there is no process %d", (int)pid);
    if (nytp_is_kernel_thread(pid))
        return nytp_error_set(error, NYTP_ERR_IO,
                              "process %d is a thread of the kernel: there is no perl in it",
                              (int)pid);
    if (process.state == 'Z' || reason == ESRCH)
        return nytp_error_set(error, NYTP_ERR_IO, "process %d has ended", (int)pid);
    if (has_right())
        return nytp_error_set(
            error, NYTP_ERR_IO,
            "process %d may not be looked at, although nytp-spy has CAP_SYS_PTRACE: it is of "
            "another user namespace, or a security module (SELinux, AppArmor, yama) forbids it",
            (int)pid);
    if (mine != 0 && process.uid != mine)
        return nytp_error_set(error, NYTP_ERR_IO,
                              "process %d is of user %u, you are %u: use sudo, or be that user",
                              (int)pid, (unsigned)process.uid, (unsigned)mine);
    if (mine != 0 && is_undumpable(pid, process.uid))
        return nytp_error_set(error, NYTP_ERR_IO,
                              "process %d has changed its user or is set-uid, and so is closed "
                              "to its own user: use sudo",
                              (int)pid);
    if (in_container())
        return nytp_error_set(
            error, NYTP_ERR_IO,
            "this container may not read its processes' memory: start it with "
            "--cap-add SYS_PTRACE (Kubernetes: SYS_PTRACE in securityContext, "
            "or an ephemeral container that shares the pid namespace)");
    if (yama_scope() > 0)
        return nytp_error_set(
            error, NYTP_ERR_IO,
            "yama allows only parents to look (kernel.yama.ptrace_scope=%d): "
            "use sudo, or sysctl kernel.yama.ptrace_scope=0, or start it with "
            "nytp spy record -- COMMAND",
            yama_scope());
    if (process.tracer != 0)
        return nytp_error_set(error, NYTP_ERR_IO,
                              "process %d may not be looked at: process %d traces it, and you "
                              "are not its user, nor have CAP_SYS_PTRACE",
                              (int)pid, (int)process.tracer);
    return nytp_error_set(error, NYTP_ERR_IO,
                          "process %d may not be looked at; it takes the same user or "
                          "CAP_SYS_PTRACE",
                          (int)pid);
}

/* Returns whether pids in /proc are those of system calls. Not if nytp-spy has its own pid
 * namespace but another's /proc. */
static bool is_our_proc(void)
{
    char text[20];
    const ssize_t len = readlink("/proc/self", text, sizeof text - 1);
    text[len < 0 ? 0 : len] = '\0';
    return atoi(text) == (int)getpid();
}

bool nytp_may_read(struct nytp_memory *memory, struct nytp_error *error)
{
    if (!is_our_proc())
        return nytp_error_set(error, NYTP_ERR_IO,
                              "/proc is not there, or tells of another pid namespace than that "
                              "of nytp-spy: mount -t proc proc /proc, or use nsenter -t PID -p "
                              "-m");
    /* Nothing is mapped at address 1: EFAULT means that reading is allowed. */
    char byte;
    struct iovec to = {&byte, 1}, from = {(void *)1, 1};
    const int reason = process_vm_readv(memory->pid, &to, 1, &from, 1, 0) < 0 ? errno : 0;
    if (reason == EFAULT)
        return true;
    /* An old kernel or a filter of system calls lacks it. */
    if ((reason == ENOSYS || reason == EPERM) && nytp_memory_by_file(memory))
        return true;
    return refuse(memory->pid, reason, error);
}

/* ---- targets ---- */

bool nytp_target_of_process(struct nytp_target *target, pid_t pid, struct nytp_error *error)
{
    *target = (struct nytp_target){.pid = pid};
    nytp_memory_of_process(&target->memory, pid);
    if (!nytp_may_read(&target->memory, error))
        return false;
    if (nytp_mappings_of_process(&target->mappings, pid, error))
        return true;
    nytp_target_close(target);
    return false;
}

bool nytp_target_of_core(struct nytp_target *target, const char *path, const char *exe,
                         struct nytp_error *error)
{
    *target = (struct nytp_target){0};
    target->core = nytp_core_open(path, exe, error);
    if (target->core == NULL)
        return false;
    target->pid = nytp_core_pid(target->core);
    nytp_core_memory(target->core, &target->memory, &target->mappings);
    return true;
}

uint64_t nytp_target_whole_len(const struct nytp_target *target, uint64_t *len)
{
    return target->core == NULL ? 0 : nytp_core_whole_len(target->core, len);
}

void nytp_target_close(struct nytp_target *target)
{
    nytp_memory_close(&target->memory);
    if (target->core == NULL)
        nytp_mappings_free(&target->mappings);
    nytp_core_close(target->core);
    *target = (struct nytp_target){.memory = {.fd = -1}};
}

struct mapped { /* a file, by its place in a process's memory */
    pid_t pid;
    const struct nytp_mapping *mapping;
};

/* The mapped file itself, even if removed or replaced; not every user may open it this way. */
static int open_mapped(const void *context, int *verdict)
{
    const struct mapped *const mapped = context;
    char path[4200];
    uint64_t len;
    snprintf(path, sizeof path, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)mapped->pid,
             mapped->mapping->start, mapped->mapping->end);
    const int fd = nytp_file_open(path, &len);
    if (fd >= 0)
        return fd;
    snprintf(path, sizeof path, "/proc/%d/root%.4000s", (int)mapped->pid,
             mapped->mapping->path);
    (void)verdict;
    return nytp_file_open(path, &len);
}

int nytp_target_file(const struct nytp_target *target, const struct nytp_mapping *mapping)
{
    const struct mapped mapped = {target->pid, mapping};
    uint64_t len;
    int verdict;
    return target->core != NULL ? nytp_core_file(target->core, mapping, &len)
                                : nytp_open_apart(open_mapped, &mapped, &verdict);
}
