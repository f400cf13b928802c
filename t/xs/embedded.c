/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A process that embeds perl: `embedded ARGUMENT… -- ARGUMENT… -- …` runs one
 * interpreter after another, each with the arguments of perl up to the next "--". With
 * --together in front all are made first, each runs in a thread of its own, and the first
 * thread destroys them.
 */
#include <EXTERN.h>
#include <perl.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

EXTERN_C void boot_DynaLoader(pTHX_ CV *cv);

static void boot(pTHX)
{
    newXS("DynaLoader::boot_DynaLoader", boot_DynaLoader, __FILE__);
}

static PerlInterpreter *make(int n, char **arguments, char **env)
{
    PerlInterpreter *const my_perl = perl_alloc();
    perl_construct(my_perl);
    PL_exit_flags |= PERL_EXIT_DESTRUCT_END;
    PL_perl_destruct_level = 1;
    if (perl_parse(my_perl, boot, n, arguments, env) == 0)
        return my_perl;
    perl_destruct(my_perl);
    perl_free(my_perl);
    return NULL;
}

static int destroy(PerlInterpreter *my_perl)
{
    PERL_SET_CONTEXT(my_perl);
    const int status = perl_destruct(my_perl);
    perl_free(my_perl);
    return status;
}

static int run(int n, char **arguments, char **env)
{
    PerlInterpreter *const my_perl = make(n, arguments, env);
    if (my_perl == NULL)
        return 1;
    perl_run(my_perl);
    return destroy(my_perl);
}

/* Returns a copy of the arguments from `from` up to the next "--", with the program's name in
 * front. */
static char **list(int argc, char **argv, int from, int *to)
{
    for (*to = from; *to < argc && strcmp(argv[*to], "--") != 0;)
        ++*to;
    char **const arguments = calloc((size_t)(*to - from) + 2, sizeof *arguments);
    arguments[0] = argv[0];
    memcpy(arguments + 1, argv + from, (size_t)(*to - from) * sizeof *arguments);
    return arguments;
}

static int run_in_turn(int argc, char **argv, char **env)
{
    int status = 0;
    for (int from = 1, to; from < argc && status == 0; from = to + 1) {
        char **const arguments = list(argc, argv, from, &to);
        status = run(to - from + 1, arguments, env);
        free(arguments);
    }
    return status;
}

static void *run_in_thread(void *interpreter)
{
    PERL_SET_CONTEXT(interpreter);
    perl_run(interpreter);
    return NULL;
}

enum {
    MOST = 16
};

static int run_together(int argc, char **argv, char **env)
{
    PerlInterpreter *made[MOST];
    char **arguments[MOST];
    pthread_t threads[MOST];
    int n = 0, status = 0;
    for (int from = 2, to; from < argc && n < MOST; from = to + 1, n++) {
        arguments[n] = list(argc, argv, from, &to);
        made[n] = make(to - from + 1, arguments[n], env);
        if (made[n] == NULL)
            return 1;
    }
    for (int i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, run_in_thread, made[i]) != 0)
            return 1;
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < n; i++) {
        status |= destroy(made[i]);
        free(arguments[i]);
    }
    return status;
}

int main(int argc, char **argv, char **env)
{
    PERL_SYS_INIT3(&argc, &argv, &env);
    const int status = argc > 1 && strcmp(argv[1], "--together") == 0
                           ? run_together(argc, argv, env)
                           : run_in_turn(argc, argv, env);
    PERL_SYS_TERM();
    return status;
}
