/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Fuzz target, in a perl: any bytes as a profile that Devel::NYTProf::Data loads, whole or in
 * part, with its string evals merged or not. A profile or an error comes of it, and no memory
 * stays behind.
 */
#include <EXTERN.h>
#include <perl.h>

#include "XS/glue/glue.h"
#include "target.h"

#include <sys/mman.h>
#include <unistd.h>

static PerlInterpreter *begin(void)
{
    static char *words[] = {(char *)"fuzz", (char *)"-e", (char *)"1", NULL};
    static int n_words = 3;
    static char **argv = words;
    PERL_SYS_INIT3(&n_words, &argv, &environ);
    PerlInterpreter *const my_perl = perl_alloc();
    perl_construct(my_perl);
    if (perl_parse(my_perl, NULL, 3, words, NULL) != 0)
        abort();
    return my_perl;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static PerlInterpreter *my_perl;
    if (my_perl == NULL)
        my_perl = begin();
    const int fd = memfd_create("profile", 0);
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    must(fd >= 0 && write(fd, data, size) == (ssize_t)size, "a file in memory");
    SV *const profile = nytp_glue_load(aTHX_ path, size % 2 == 0, size % 7, size % 3 != 0);
    must(SvROK(profile) || SvPOK(profile), "a profile or an error");
    SvREFCNT_dec(profile);
    close(fd);
    return 0;
}
