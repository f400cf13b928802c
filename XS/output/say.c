/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Messages; see say.h. A message goes where the program's STDERR goes, or to the file of option
 * log=; it never changes $!.
 */
#include "say.h"

#include "XS/perl/perl_compat.h"

#include <fcntl.h>
#include <unistd.h>

/* The descriptor of the program's STDERR; -1 when that is closed, even if something else has
 * descriptor 2 since. */
static int standard_error(void)
{
    dTHX;
    const GV *const gv = PL_stderrgv;
    const IO *const io = gv != NULL && isGV_with_GP(gv) ? GvIO(gv) : NULL;
    return io == NULL || IoOFP(io) == NULL ? -1 : PerlIO_fileno(IoOFP(io));
}

static void say(const struct nytp_options *options, const char *format, va_list args)
{
    char line[512];
    const int saved = errno;
    int len = snprintf(line, sizeof line, "Devel::NYTProf: ");
    len += vsnprintf(line + len, sizeof line - (size_t)len, format, args);
    if (len > (int)sizeof line - 2)
        len = (int)sizeof line - 2;
    line[len++] = '\n';
    const bool to_log = options->log != NULL;
    const int fd = to_log ? open(options->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)
                          : standard_error();
    if (fd >= 0 && write(fd, line, (size_t)len) < 0)
        len = 0; /* there is nobody left to tell */
    if (fd >= 0 && to_log)
        close(fd);
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
    return options->log != NULL || isatty(standard_error());
}
