/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Endings that perl's END blocks do not see: signals (sigexit=), the C library's exit()
 * (libcexit=1), POSIX::_exit without the subroutine profiler (posix_exit=1).
 *
 * A signal may come in the middle of malloc() or of perl's own structures, so what runs here
 * allocates nothing and asks perl nothing: it writes what the recorder already knows. When
 * the signal interrupted the writing of a block, it is put off until the block is out.
 *
 * With PERL_SIGNALS=unsafe perl runs the program's handlers inside signals; then the
 * recorder's own work is done with signals blocked.
 */
#include "recorder.h"

#include <signal.h>
#include <strings.h>

static const struct {
    const char *name;
    int number;
} signals[] = {
    {"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT}, {"ILL", SIGILL},
    {"ABRT", SIGABRT}, {"FPE", SIGFPE},   {"SEGV", SIGSEGV}, {"BUS", SIGBUS},
    {"PIPE", SIGPIPE}, {"ALRM", SIGALRM}, {"TERM", SIGTERM}, {"USR1", SIGUSR1},
    {"USR2", SIGUSR2}, {"XCPU", SIGXCPU}, {"VTALRM", SIGVTALRM},
};

static const char usual_signals[] = "INT,HUP,PIPE,BUS,SEGV";

/* The program dies of the signal as it would have without us. */
static void die_of(int number)
{
    signal(number, SIG_DFL);
    raise(number);
}

static bool is_a_fault(int number)
{
    return number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE;
}

static void on_signal(int number)
{
    struct nytp_recorder *const rec = nytp_recorder;
    if (rec->in_flush && !is_a_fault(number)) {
        rec->pending_signal = number;
        return;
    }
    if (!rec->in_flush)
        nytp_finish_without_perl(rec);
    die_of(number);
}

void nytp_signal_now(struct nytp_recorder *rec)
{
    const int number = rec->pending_signal;
    rec->pending_signal = 0;
    nytp_finish_without_perl(rec);
    die_of(number);
}

/* A signal that is ignored stays so; one that the program handles later is its own. */
static void catch_signal(int number)
{
    struct sigaction now;
    if (sigaction(number, NULL, &now) != 0 || now.sa_handler != SIG_DFL)
        return;
    now.sa_handler = on_signal;
    now.sa_flags = 0;
    sigemptyset(&now.sa_mask);
    sigaction(number, &now, NULL);
}

static bool catch_named(const char *name, size_t len)
{
    if (len > 3 && strncasecmp(name, "SIG", 3) == 0) {
        name += 3;
        len -= 3;
    }
    for (size_t i = 0; i < C_ARRAY_LENGTH(signals); i++)
        if (strlen(signals[i].name) == len && strncasecmp(name, signals[i].name, len) == 0) {
            catch_signal(signals[i].number);
            return true;
        }
    return false;
}

static void catch_signals(struct nytp_recorder *rec, const char *names)
{
    if (strEQ(names, "0") || *names == '\0')
        return;
    if (strEQ(names, "1"))
        names = usual_signals;
    while (*names != '\0') {
        const size_t len = strcspn(names, ",");
        if (len > 0 && !catch_named(names, len))
            nytp_say(rec, "option sigexit: '%.*s' is no signal", (int)len, names);
        names += len + (names[len] == ',');
    }
}

void nytp_block_signals(struct nytp_recorder *rec)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (rec->guards++ == 0)
        rec->unguarded = before;
}

void nytp_unblock_signals(struct nytp_recorder *rec)
{
    if (--rec->guards == 0) {
        const sigset_t before = rec->unguarded;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
}

static void on_libc_exit(void)
{
    if (nytp_recorder != NULL)
        nytp_finish_without_perl(nytp_recorder);
}

void nytp_exits_watch(struct nytp_recorder *rec)
{
    if (rec->options.sigexit != NULL)
        catch_signals(rec, rec->options.sigexit);
    if (rec->options.libcexit)
        atexit(on_libc_exit);
}

void nytp_exits_before_call(pTHX_ struct nytp_recorder *rec)
{
    const SV *const sv = *PL_stack_sp;
    CV *const cv = SvTYPE(sv) == SVt_PVCV       ? (CV *)sv
                   : isGV_with_GP(sv)           ? GvCV((const GV *)sv)
                   : SvROK(sv) && !SvAMAGIC(sv) ? (CV *)SvRV(sv)
                                                : NULL;
    if (cv != NULL && SvTYPE((SV *)cv) == SVt_PVCV && CvISXSUB(cv) &&
        nytp_sub_of_cv(aTHX_ rec, cv)->special == NYTP_SUB_EXITS)
        nytp_finish(aTHX);
}
