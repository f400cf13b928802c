/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A process that is made to be looked at without end (hostile.h).
 *
 *     hostile N [WORD...]
 *
 * It has N mappings of that kind, says "ready" and waits until its standard input ends.
 */
#include "hostile.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
    char byte;
    const int n = argc < 2 ? 1 : atoi(argv[1]);
    printf(be_hostile(n) == n ? "ready\n" : "there are fewer mappings\n");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
    return 0;
}
