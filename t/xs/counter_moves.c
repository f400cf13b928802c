/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * For LD_PRELOAD, on x86: a counter and a clock that nothing but the program moves on. Each
 * reading of either is a microsecond after the one before. When the program calls times() the
 * counter moves as NYTP_MOVE says: "back MS", "ahead MS" or "rate FACTOR". A second number is
 * how many milliseconds pass in times() after that.
 *
 * NYTP_READS has the offsets of all instructions in NYTProf.so that read the counter. Each is
 * replaced by an invalid one when perl loads the object. The handler of SIGILL puts the reading
 * into the registers and steps over the instruction. Clocks of the C library read the counter,
 * too, so they are replaced.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum {
    PER_NS = 2,
    STEP_NS = 1000
};

static const uint8_t read_counter[] = {0x0f, 0x31}, invalid[] = {0x0f, 0x0b}; /* rdtsc, ud2 */
static uint64_t now_ns = 1000000000;
static uint64_t base = 1; /* of the counter, at 0 or where it moved */
static double per_ns = PER_NS;
static uint64_t base_ns;

static uint64_t pass(void)
{
    return now_ns += STEP_NS;
}

clock_t times(struct tms *buffer)
{
    const char *const how = getenv("NYTP_MOVE");
    double by = 0, passes_ms = 0;
    const int64_t counted = (int64_t)base + (int64_t)((double)(now_ns - base_ns) * per_ns);
    if (how != NULL)
        sscanf(how, "%*s %lf %lf", &by, &passes_ms);
    const int64_t units = (int64_t)(by * 1e6 * PER_NS);
    *buffer = (struct tms){0};
    if (by != 0) {
        base = (uint64_t)(counted + (how[0] == 'b' ? -units : how[0] == 'a' ? units : 0));
        base_ns = now_ns;
        per_ns = how[0] == 'r' ? by * PER_NS : PER_NS;
    }
    now_ns += (uint64_t)(passes_ms * 1e6);
    return 0;
}

static void on_sigill(int signal, siginfo_t *info, void *context)
{
    greg_t *const registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const uint64_t counter = base + (uint64_t)((double)(pass() - base_ns) * per_ns);
    (void)signal;
    (void)info;
    registers[REG_RAX] = (greg_t)(uint32_t)counter;
    registers[REG_RDX] = (greg_t)(counter >> 32);
    registers[REG_RIP] += sizeof invalid;
}

static void replace(uint8_t *instruction)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t from = (uintptr_t)instruction & -page;
    const size_t len = (uintptr_t)instruction + sizeof invalid - from;
    if (memcmp(instruction, read_counter, sizeof read_counter) != 0 ||
        mprotect((void *)from, len, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        abort();
    memcpy(instruction, invalid, sizeof invalid);
    mprotect((void *)from, len, PROT_READ | PROT_EXEC);
}

void *dlopen(const char *path, int mode)
{
    void *(*const real)(const char *, int) =
        (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    void *const object = real(path, mode);
    if (object == NULL || path == NULL || strstr(path, "/NYTProf.so") == NULL)
        return object;
    const struct sigaction action = {.sa_sigaction = on_sigill,
                                     .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGILL, &action, NULL);
    char *at = getenv("NYTP_READS");
    while (at != NULL && *at != '\0')
        replace((uint8_t *)((struct link_map *)object)->l_addr + strtoul(at, &at, 16));
    return object;
}

int clock_gettime(clockid_t id, struct timespec *now)
{
    const uint64_t ns = pass();
    (void)id;
    now->tv_sec = (time_t)(ns / 1000000000);
    now->tv_nsec = (long)(ns % 1000000000);
    return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    const uint64_t ns = pass();
    (void)zone;
    now->tv_sec = (time_t)(ns / 1000000000);
    now->tv_usec = (suseconds_t)(ns % 1000000000 / 1000);
    return 0;
}

/* The signal must not be blocked where the counter is read. */
static int mask(const char *name, int how, const sigset_t *set, sigset_t *old)
{
    sigset_t others;
    int (*const real)(int, const sigset_t *, sigset_t *) =
        (int (*)(int, const sigset_t *, sigset_t *))dlsym(RTLD_NEXT, name);
    if (set == NULL)
        return real(how, set, old);
    others = *set;
    if (how != SIG_UNBLOCK)
        sigdelset(&others, SIGILL);
    return real(how, &others, old);
}

int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
    return mask("sigprocmask", how, set, old);
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    return mask("pthread_sigmask", how, set, old);
}

/* The kernel's clock source is the counter, whatever it is on this machine. */
static int open_by(const char *name, const char *path, int flags, mode_t mode)
{
    int (*const real)(const char *, int, ...) =
        (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, name);
    if (strstr(path, "/current_clocksource") == NULL)
        return real(path, flags, mode);
    const int fd = memfd_create("clocksource", MFD_CLOEXEC);
    if (write(fd, "tsc\n", 4) != 4)
        abort();
    lseek(fd, 0, SEEK_SET);
    return fd;
}

#define OPEN(name)                                                                             \
    int name(const char *path, int flags, ...)                                                 \
    {                                                                                          \
        va_list list;                                                                          \
        va_start(list, flags);                                                                 \
        const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0;                 \
        va_end(list);                                                                          \
        return open_by(#name, path, flags, mode);                                              \
    }

OPEN(open)
OPEN(open64)
