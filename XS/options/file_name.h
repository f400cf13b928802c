/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Names of profiles with placeholders, as option file= takes them: %p process id, %h host, %t
 * epoch second at which the process was first profiled, %s base name of the program, %% a
 * percent sign.
 */
#ifndef NYTP_FILE_NAME_H
#define NYTP_FILE_NAME_H

#include <stdbool.h>

/* What stands behind the first percent sign that is no placeholder's ('\0': nothing does), or
 * -1 if all are. */
int nytp_file_name_unknown(const char *name);

/* Whether each process gets a name of its own. */
bool nytp_file_name_has_pid(const char *name);

struct nytp_file_name_values {
    long pid;
    long long started; /* epoch second */
    const char *program;
};

/* The name with all filled in; free() it. NULL when out of memory. */
char *nytp_file_name_expand(const char *name, const struct nytp_file_name_values *values);

/* The path from the root, so that it leads there after a chdir, too; free() it. NULL when out
 * of memory. */
char *nytp_absolute_path(const char *path);

/* The host's name, cut to `size`; "" if it has none. */
void nytp_host_name(char *name, unsigned size);

#endif
