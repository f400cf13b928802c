/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Messages; see say.h. A message goes to the program's STDERR or to the file of option log=; $!
 * stays. The file is opened for each message: a descriptor could be closed by the program.
 */
#include "say.h"

#include "descriptor.h"

#include "XS/perl/perl_compat.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <unistd.h>

/* Returns the descriptor of the program's STDERR, or -1 if closed, even if 2 is reused. */
static int standard_error(void)
{
    dTHX;
    const GV *const gv = PL_stderrgv;
    const IO *const io = gv != NULL && isGV_with_GP(gv) ? GvIO(gv) : NULL;
    return io == NULL || IoOFP(io) == NULL ? -1 : PerlIO_fileno(IoOFP(io));
}

enum {
    MOST = 512
};

static size_t format_line(char line[MOST], const char *format, va_list args)
{
    int len = snprintf(line, MOST, "Devel::NYTProf: ");
    len += vsnprintf(line + len, MOST - (size_t)len, format, args);
    if (len > MOST - 2)
        len = MOST - 2;
    line[len++] = '\n';
    return (size_t)len;
}

/* A reader of standard error may have ended or be busy: then the message is dropped. */
static void put_to_standard_error(const char *line, size_t len)
{
    const int fd = standard_error();
    if (fd >= 0)
        nytp_fd_write(fd, line, len, -1);
}

static const char *put_to_log(const char *path, const char *line, size_t len)
{
    struct stat now;
    const int fd = nytp_fd_open(path, O_WRONLY | O_CREAT | O_APPEND, &now);
    if (fd == NYTP_FD_FOREIGN)
        return "a link, or another user's file, where others may write";
    if (fd < 0)
        return nytp_fd_why(errno);
    const struct nytp_file_id id = nytp_file_id_of(&now);
    const bool ok = nytp_fd_is(fd, &id) && nytp_fd_write(fd, line, len, -1) == len;
    const char *const why = ok ? NULL : nytp_fd_why(errno);
    nytp_fd_close(fd, &id);
    return why;
}

/* A log that cannot be written is tried only once. */
static atomic_bool has_no_log;

static void say_no_log(const char *path, const char *why)
{
    char line[MOST];
    const int len = snprintf(line, sizeof line,
                             "Devel::NYTProf: cannot write %.300s: %s; "
                             "messages go to standard error\n",
                             path, why);
    put_to_standard_error(line, (size_t)len);
}

static void say(const struct nytp_options *options, const char *format, va_list args)
{
    char line[MOST];
    const int saved = errno;
    const size_t len = format_line(line, format, args);
    const bool to_log = options->log != NULL && !atomic_load(&has_no_log);
    const char *const why = to_log ? put_to_log(options->log, line, len) : "";
    if (why != NULL && to_log && !atomic_exchange(&has_no_log, true))
        say_no_log(options->log, why);
    if (why != NULL)
        put_to_standard_error(line, len);
    errno = saved;
}

void nytp_say(const struct nytp_options *options, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(options, format, args);
    va_end(args);
}

void nytp_trace(const struct nytp_options *options, long level, const char *format, ...)
{
    if (LIKELY(options->trace < level))
        return;
    va_list args;
    va_start(args, format);
    say(options, format, args);
    va_end(args);
}

bool nytp_say_has_reader(const struct nytp_options *options)
{
    return (options->log != NULL && !atomic_load(&has_no_log)) || isatty(standard_error());
}
