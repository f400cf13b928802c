/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Exits that perl's END blocks miss: signals (sigexit=), the C library's exit() (libcexit=1),
 * POSIX::_exit.
 *
 * A signal may interrupt malloc() or perl's own structures, so this code allocates nothing and
 * does not call perl: it writes what the recorder already knows. It cannot wait for the next
 * op, since perl may be busy or asleep in C for long. A signal inside a guard (guard.h) is
 * delayed until the guard is left, a moment later. A second signal is not delayed: if the
 * recorder hangs while writing, the program can still be stopped.
 */
#include "exits.h"

#include "XS/platform/memory.h"
#include "XS/names/builtins.h"
#include "XS/output/say.h"
#include "XS/perl/stash.h"

#include <signal.h>
#include <strings.h>

static const struct {
    const char *name;
    int number;
} signals[] = {
    {"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT},     {"ILL", SIGILL},
    {"ABRT", SIGABRT}, {"FPE", SIGFPE},   {"SEGV", SIGSEGV},     {"BUS", SIGBUS},
    {"PIPE", SIGPIPE}, {"ALRM", SIGALRM}, {"TERM", SIGTERM},     {"USR1", SIGUSR1},
    {"USR2", SIGUSR2}, {"XCPU", SIGXCPU}, {"VTALRM", SIGVTALRM},
};

enum {
    SIGNAL_STACK = 256 * 1024,
    MOST_TOLD = 30, /* innermost open calls */
    MOST_TEXT = 6000,
};

static nytp_finish_fn *finish; /* NULL: nothing is watched yet */

static void (*leave_first)(void); /* these two are NULL without a control socket */
static void (*leave_killed)(void);

static const char usual_signals[] = "INT,HUP,TERM,PIPE,BUS,SEGV";

/* Lets the program die of the signal as it would without us. */
static void die_of(int number)
{
    if (leave_killed != NULL)
        leave_killed();
    signal(number, SIG_DFL);
    raise(number);
}

static bool is_a_fault(int number)
{
    return number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE;
}

static const char *signal_name(int number)
{
    for (size_t i = 0; i < C_ARRAY_LENGTH(signals); i++)
        if (signals[i].number == number)
            return signals[i].name;
    return "?";
}

/* Records the signal and the open calls, for a program that hangs. perl may be in the middle of
 * a change, so it is read as from outside. */
static void emit_end(struct nytp_recorder *rec, int number)
{
    static struct nytp_open_stack stack;
    char bytes[MOST_TEXT];
    struct nytp_fixed_text text = {.to = bytes, .size = sizeof bytes};
    if (!nytp_file_is_open(rec) || rec->run.is_ended || getpid() != rec->run.pid)
        return;
    const char *const name = signal_name(number);
    nytp_write_attribute_record(rec->writer, "ended_by", name, strlen(name));
    nytp_memory_begin(); /* uses only system calls allowed in signals */
    if (!nytp_open_stack_look(&stack, rec->interpreter, (long)rec->run.pid))
        return;
    const unsigned n = stack.n < MOST_TOLD ? stack.n : MOST_TOLD;
    if (n < stack.n || !stack.is_whole)
        nytp_fixed_put(&text, "... > ");
    else
        nytp_fixed_put(&text, "main::RUNTIME");
    for (unsigned i = n + (n == stack.n && stack.is_whole); i > 0; i--) {
        if (i <= n)
            nytp_open_stack_put_sub(&text, &stack, stack.calls[i - 1].code);
        nytp_fixed_put(&text, " ");
        const COP *const cop = i > 1 ? stack.calls[i - 2].site : stack.cop;
        const uint32_t line = nytp_open_stack_put_file(&text, &stack, cop);
        nytp_fixed_put(&text, ":");
        nytp_fixed_put_number(&text, line);
        if (i > 1)
            nytp_fixed_put(&text, " > ");
    }
    nytp_open_stack_put_leaf(&text, &stack, " > ");
    nytp_write_attribute_record(rec->writer, "ended_in", bytes, text.n);
}

/* Other threads' recorders may be in any state: their profiles end with the last flush. A fault
 * raised by an instruction cannot be delayed: the instruction would run again. */
static void on_signal(int number, siginfo_t *info, void *context)
{
    struct nytp_recorder *const rec = nytp_recorder_of_thread();
    const bool is_ours = rec != NULL && pthread_equal(pthread_self(), rec->guards.thread);
    const bool can_wait = !is_a_fault(number) || info->si_code <= 0;
    PERL_UNUSED_VAR(context);
    if (is_ours && can_wait && rec->guards.depth > 0 && rec->guards.pending_signal == 0) {
        rec->guards.pending_signal = number;
        return;
    }
    if (is_ours && rec->guards.depth == 0) {
        rec->file.in_signal = true;
        emit_end(rec, number);
        finish(rec);
    }
    die_of(number);
}

/* Gives handlers their own stack, for overflows of the program's stack. */
static void use_own_stack(void)
{
    static char *room;
    stack_t stack;
    if (room != NULL || sigaltstack(NULL, &stack) != 0 || !(stack.ss_flags & SS_DISABLE))
        return;
    room = malloc(SIGNAL_STACK);
    stack = (stack_t){.ss_sp = room, .ss_size = SIGNAL_STACK};
    if (room != NULL)
        sigaltstack(&stack, NULL);
}

/* Catches the signal unless the program ignores it. A later handler of the program wins. */
static void catch_signal(int number)
{
    struct sigaction now;
    if (sigaction(number, NULL, &now) != 0 || now.sa_handler != SIG_DFL)
        return;
    now.sa_sigaction = on_signal;
    now.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigfillset(&now.sa_mask);
    sigaction(number, &now, NULL);
}

int nytp_signal_number(const char *name, size_t len)
{
    if (len > 3 && strncasecmp(name, "SIG", 3) == 0) {
        name += 3;
        len -= 3;
    }
    for (size_t i = 0; i < C_ARRAY_LENGTH(signals); i++)
        if (strlen(signals[i].name) == len && strncasecmp(name, signals[i].name, len) == 0)
            return signals[i].number;
    return 0;
}

static bool catch_named(const char *name, size_t len)
{
    const int number = nytp_signal_number(name, len);
    if (number != 0)
        catch_signal(number);
    return number != 0;
}

static void catch_signals(struct nytp_recorder *rec, const char *names)
{
    if (strEQ(names, "0") || *names == '\0')
        return;
    if (strEQ(names, "1"))
        names = usual_signals;
    use_own_stack();
    while (*names != '\0') {
        const size_t len = strcspn(names, ",");
        if (len > 0 && !catch_named(names, len))
            nytp_say(&rec->options, "option sigexit: '%.*s' is no signal", (int)len, names);
        names += len + (names[len] == ',');
    }
}

static void on_libc_exit(void)
{
    struct nytp_recorder *const rec = nytp_recorder_of_thread();
    if (rec == NULL)
        return;
    nytp_guard(rec);
    finish(rec);
    nytp_unguard(rec);
}

void nytp_exits_watch_libc(void)
{
    static bool is_watching; /* once for the process */
    if (!is_watching && finish != NULL)
        is_watching = atexit(on_libc_exit) == 0;
}

void nytp_exits_watch(struct nytp_recorder *rec, nytp_finish_fn *finish_profile)
{
    finish = finish_profile;
    if (rec->options.sigexit != NULL)
        catch_signals(rec, rec->options.sigexit);
    if (rec->options.libcexit)
        nytp_exits_watch_libc();
}

/* ---- POSIX::_exit ---- */

void nytp_exits_leave_first(void (*leave)(void), void (*in_signal)(void))
{
    leave_first = leave;
    leave_killed = in_signal;
}

void nytp_exits_leave(void)
{
    if (leave_first != NULL)
        leave_first();
}

static XSUBADDR_t real_posix_exit; /* NULL: never watched */
static void (*finish_before_exit)(pTHX_ struct nytp_recorder *rec);

static void on_posix_exit(pTHX_ CV *cv)
{
    struct nytp_recorder *const rec = nytp_recorder_of(aTHX);
    if (rec != NULL)
        finish_before_exit(aTHX_ rec);
    nytp_exits_leave();
    real_posix_exit(aTHX_ cv);
}

void nytp_exits_watch_posix(pTHX_ void (*finish_first)(pTHX_ struct nytp_recorder *rec))
{
    finish_before_exit = finish_first;
    nytp_xsub_redirect(aTHX_ "POSIX::_exit", on_posix_exit, &real_posix_exit);
}
