/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A process that embeds perl: `embedded ARGUMENT… -- ARGUMENT… -- …` runs one
 * interpreter after another, each with the arguments of perl up to the next "--".
 */
#include <EXTERN.h>
#include <perl.h>

#include <stdlib.h>
#include <string.h>

EXTERN_C void boot_DynaLoader(pTHX_ CV *cv);

static void boot(pTHX)
{
    newXS("DynaLoader::boot_DynaLoader", boot_DynaLoader, __FILE__);
}

static int run(int n, char **arguments, char **env)
{
    PerlInterpreter *const my_perl = perl_alloc();
    perl_construct(my_perl);
    PL_exit_flags |= PERL_EXIT_DESTRUCT_END;
    PL_perl_destruct_level = 1;
    if (perl_parse(my_perl, boot, n, arguments, env) == 0)
        perl_run(my_perl);
    const int status = perl_destruct(my_perl);
    perl_free(my_perl);
    return status;
}

int main(int argc, char **argv, char **env)
{
    int status = 0;
    PERL_SYS_INIT3(&argc, &argv, &env);
    for (int from = 1, to; from < argc && status == 0; from = to + 1) {
        for (to = from; to < argc && strcmp(argv[to], "--") != 0;)
            to++;
        char **const arguments = calloc((size_t)(to - from) + 2, sizeof *arguments);
        arguments[0] = argv[0];
        memcpy(arguments + 1, argv + from, (size_t)(to - from) * sizeof *arguments);
        status = run(to - from + 1, arguments, env);
        free(arguments);
    }
    PERL_SYS_TERM();
    return status;
}
