/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The command line of nytp-export as a struct; options.def is the list.
 */
#ifndef NYTP_CLI_H
#define NYTP_CLI_H

#include "formats/stream/format.h"
#include "exporters/base/exporter.h"
#include "exporters/base/substitute.h"
#include "exporters/select/label_where.h"
#include "exporters/select/select.h"

#include <string.h>

enum nytp_mode {
    NYTP_MODE_EXPORT = 0,
    NYTP_MODE_STATS,
    NYTP_MODE_CHECK,
    NYTP_MODE_DUMP,
    NYTP_MODE_BY_LABEL,
    NYTP_MODE_LIST_FORMATS,
    NYTP_MODE_VERSION,
    NYTP_MODE_HELP,
};

#define NYTP_MOST_OPTIONS 128

/* Limits, and where it is told which hold. */
struct nytp_gate_options {
    struct nytp_texts limits, files; /* as given; gate/gate_rules.h reads them */
    const char *annotations, *junit;
    bool tap;
    bool statements; /* a rule counts SQL statements */
};

/* Zeroed before parsing. Texts point into argv. */
struct nytp_cli {
    enum nytp_mode mode;
    bool given[NYTP_MOST_OPTIONS];        /* nytp_option_at(i) is on the command line */
    const struct nytp_exporter *exporter; /* NYTP_MODE_EXPORT: never NULL */
    const char *output;                   /* -o; NULL = not given */
    bool per_process, open, strict, as_recorded, quiet, all_runs;
    uint32_t max_calls; /* 0 = not given */
    struct nytp_export_options export;
    const char *clock; /* of a tmon.out, by its first letter; see struct nytp_read_options */
    struct nytp_selection selection;
    char *selected;         /* owns export.selected */
    const char *source_dir; /* where sources are unpacked, or NULL */
    struct nytp_texts trim_paths;
    struct nytp_texts bases; /* --diff */
    struct nytp_gate_options gate;
    const char *by_key;            /* NYTP_MODE_BY_LABEL: labels of this key; NULL = all */
    struct nytp_label_where where; /* only the time under these labels */
    struct nytp_substitute *group; /* what is done to labels' values first, or NULL */
    bool format_given;             /* the user named a format, or a file whose name tells it */
    char **files;                  /* n_files >= 1 */
    int n_files;
    bool owns_files, owns_bases; /* the names in `files`, in `bases` are cli's own */
    const char *value_option;    /* its value can only be attached (--top=5), or NULL */
    const char *value_file;      /* the FILE that follows it (--top 5), or NULL */
    bool default_file;           /* no file was named: files[0] is nytprof.out */
};

/* Returns how many kinds of answers to limits replace the table on standard output. */
static inline int nytp_cli_n_answers(const struct nytp_cli *cli)
{
    return cli->gate.tap + (cli->gate.annotations != NULL) +
           (cli->gate.junit != NULL && strcmp(cli->gate.junit, "-") == 0);
}

#endif
