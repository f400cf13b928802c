/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Names of profiles with placeholders, as in option file=: %p process id, %h host, %t epoch
 * second of the process's first profiling, %s base name of the program, %% a percent sign.
 */
#ifndef NYTP_FILE_NAME_H
#define NYTP_FILE_NAME_H

#include <stdbool.h>

/* Returns the character after the first percent sign that is not a placeholder ('\0' at the
 * end), or -1 if all are. */
int nytp_file_name_unknown(const char *name);

/* Returns whether each process gets a different name. */
bool nytp_file_name_has_pid(const char *name);

struct nytp_file_name_values {
    long pid;
    long long started;
    const char *program;
};

/* Returns the name with placeholders replaced, for free(), or NULL if memory is out. */
char *nytp_file_name_expand(const char *name, const struct nytp_file_name_values *values);

/* Returns the absolute path, valid after a chdir, for free(), or NULL if memory is out. */
char *nytp_absolute_path(const char *path);

/* Writes the host's name, cut to `size`, or "" if it has none. */
void nytp_host_name(char *name, unsigned size);

#endif
