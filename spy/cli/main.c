/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * nytp-spy: looks at a running perl from outside.
 */
#include "cli.h"

#include "exporters/base/version.h"
#include "formats/base/arena.h"

#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: nytp spy COMMAND [OPTION]... PID...\n"
    "\n"
    "    nytp spy dump PID                   what it is doing now: every thread's stack\n"
    "    nytp spy record PID -o FILE         samples, as a profile for nytp export\n"
    "    nytp spy record -o FILE -- COMMAND  start it and record\n"
    "    nytp spy top PID...                 a live table of where they spend their time\n"
    "    nytp spy heap PID [-o FILE]         its values by type, class and size\n"
    "    nytp spy heap BEFORE AFTER          what has grown between two such files\n"
    "\n"
    "The program is neither stopped nor changed. For PID there may stand\n"
    "  -p, --pid PID         the same as PID\n"
    "  -P, --pattern REGEX   every process whose command line matches; record, top:\n"
    "                        also those that begin later\n"
    "      --core FILE       dump, heap: a core file\n"
    "      --exe FILE        the perl of that core file, if it is elsewhere now\n"
    "\n"
    "Options\n"
    "  -o, --output FILE     write FILE; - is standard output; record: FILE.svg and\n"
    "                        others are written by nytp export\n"
    "  -f, --format NAME     record: whatever FILE is called, as nytp export --NAME\n"
    "  -r, --rate HZ         record, top: samples a second, default 100\n"
    "  -d, --duration TIME   record, top: stop after so long, as 30s or 5m\n"
    "  -i, --interval TIME   top: a new table so often, default 1s\n"
    "  -s, --subprocesses    record, top: the processes that it starts, too\n"
    "      --no-idle         record: leave out samples in which it waits\n"
    "      --idle            record: do not, which is the default\n"
    "      --no-source       no lines of source\n"
    "      --no-realtime     record, top: the priority of any program\n"
    "      --objects         heap: classes of objects only\n"
    "  -V, --version         print the version\n"
    "  -h, --help            print this text\n";

enum kind {
    TEXT,
    FORMAT,
    PID,
    RATE,
    SECONDS,
    ON, /* from here on without a value */
    OFF,
    IS_SO, /* always so */
    OTHER, /* of py-spy and rbspy, without a meaning here */
    VERSION,
    HELP,
};

#define AT(member) offsetof(struct nytp_spy, member)

static const struct spy_option {
    const char *name;
    int letter;
    enum kind kind;
    size_t at;        /* the member that takes it */
    const char *text; /* before a wrong value; of OTHER: what there is in its place */
} options[] = {
    {"pid", 'p', PID, 0, "--pid must be a process id, not "},
    {"pattern", 'P', TEXT, AT(pattern), NULL},
    {"core", 0, TEXT, AT(core), NULL},
    {"exe", 0, TEXT, AT(exe), NULL},
    {"output", 'o', TEXT, AT(output), NULL},
    {"rate", 'r', RATE, AT(rate), "--rate must be 1 to 10000, not "},
    {"duration", 'd', SECONDS, AT(duration_s), "--duration must be a time such as 30s, not "},
    {"interval", 'i', SECONDS, AT(interval_s), "--interval must be a time such as 1s, not "},
    {"subprocesses", 's', ON, AT(subprocesses), NULL},
    {"format", 'f', FORMAT, AT(format), NULL},
    {"idle", 0, ON, AT(idle), NULL},
    {"no-idle", 0, OFF, AT(idle), NULL},
    {"no-source", 0, ON, AT(no_source), NULL},
    {"no-realtime", 0, ON, AT(no_realtime), NULL},
    {"objects", 0, ON, AT(objects), NULL},
    {"version", 'V', VERSION, 0, NULL},
    {"help", 'h', HELP, 0, NULL},
    {"nonblocking", 0, IS_SO, 0, NULL},
    {"full-filenames", 0, IS_SO, 0, NULL},
    {"native", 'n', OTHER, 0, "C frames are not seen: perf record -g -p PID shows them"},
    {"locals", 'l', OTHER, 0,
     "values are not shown: nytp spy heap PID counts them by type and class"},
    {"json", 'j', OTHER, 0, "record it: nytp spy record -d 1s -o FILE.json PID"},
    {"gil", 'g', OTHER, 0, "perl has no such lock: --no-idle leaves out samples that wait"},
    {"threads", 't', OTHER, 0, "dump tells each thread, and a profile holds them apart"},
    {"function", 'F', OTHER, 0,
     "a profile holds subs and lines, and nytp export --csv has one row a sub"},
    {"nolineno", 0, OTHER, 0, "nytp export --collapsed has subs alone"},
};

enum {
    N_OPTIONS = sizeof options / sizeof *options,
    FIRST_LONG = 256, /* behind all letters */
};

/* The next option of the command line, or NULL at their end. `is_known` is false, and it was
 * reported, for one that is not in the table. */
static const struct spy_option *next_option(int argc, char **argv, bool *is_known)
{
    struct option all[N_OPTIONS + 1] = {{0}};
    char letters[2 * N_OPTIONS + 1] = "", *end = letters;
    for (int i = 0; i < N_OPTIONS; i++) {
        const bool has_value = options[i].kind < ON;
        all[i] = (struct option){options[i].name, has_value, NULL, FIRST_LONG + i};
        if (options[i].letter != 0)
            end += sprintf(end, has_value ? "%c:" : "%c", options[i].letter);
    }
    const int found = getopt_long(argc, argv, letters, all, NULL);
    *is_known = found != '?';
    if (found == -1 || found == '?')
        return NULL;
    int i = found < FIRST_LONG ? 0 : found - FIRST_LONG;
    while (found < FIRST_LONG && options[i].letter != found)
        i++;
    return &options[i];
}

/* Returns nytp-export's name for a format of py-spy. */
static const char *format_of(const char *name)
{
    static const char *const names[][2] = {{"raw", "collapsed"},
                                           {"chrometrace", "chrome-trace"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], name) == 0)
            return names[i][1];
    return name;
}

static enum nytp_spy_status wrong(const char *text, const char *value)
{
    nytp_spy_say("%s%s (--help tells more)", text, value);
    return SPY_USAGE;
}

/* Returns 0 if it is no possible rate. */
static uint32_t rate_of(const char *text)
{
    const unsigned long number = strtoul(text, NULL, 10);
    return text[strspn(text, "0123456789")] == '\0' && number <= 10000 ? (uint32_t)number : 0;
}

/* Parses "30", "30s", "5m", "1h", "500ms"; returns -1 for others. */
static double seconds_of(const char *text)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}, {"h", 3600}};
    char *end;
    const double number = strtod(text, &end);
    if (strspn(text, "0123456789.") != (size_t)(end - text)) /* as "0x1", "1e3" or "inf" */
        return -1;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (end != text && number > 0 && number < 1e9 && strcmp(end, units[i].unit) == 0)
            return number * units[i].seconds;
    return -1;
}

static void add_pid(struct nytp_spy *spy, pid_t pid)
{
    for (uint32_t i = 0; i < spy->n_pids; i++)
        if (spy->pids[i] == pid)
            return;
    if (nytp_grow(&spy->pids, &spy->pids_capacity, spy->n_pids, sizeof *spy->pids))
        spy->pids[spy->n_pids++] = pid;
}

static bool take_pid(struct nytp_spy *spy, const char *text)
{
    char *end;
    const long pid = strtol(text, &end, 10);
    if (*end != '\0' || end == text || pid <= 0 || pid >= INT32_MAX)
        return false;
    add_pid(spy, (pid_t)pid);
    return true;
}

static enum nytp_spy_status print(const char *text)
{
    fputs(text, stdout);
    if (fflush(stdout) == 0)
        return SPY_DONE;
    nytp_spy_say("standard output: cannot write: %s", strerror(errno));
    return SPY_OUTPUT;
}

static enum nytp_spy_status take_option(struct nytp_spy *spy, const struct spy_option *option)
{
    void *const at = (char *)spy + option->at;
    bool ok = true;
    switch (option->kind) {
    case TEXT:
    case FORMAT:
        *(const char **)at = option->kind == FORMAT ? format_of(optarg) : optarg;
        break;
    case PID:
        ok = take_pid(spy, optarg);
        break;
    case RATE:
        ok = (*(uint32_t *)at = rate_of(optarg)) > 0;
        break;
    case SECONDS:
        ok = (*(double *)at = seconds_of(optarg)) > 0;
        break;
    case OTHER:
        nytp_spy_say("--%s: %s", option->name, option->text);
        return SPY_USAGE;
    default:
        if (option->kind != IS_SO)
            *(bool *)at = option->kind == ON;
    }
    return ok ? SPY_DONE : wrong(option->text, optarg);
}

static enum nytp_spy_status find_processes(struct nytp_spy *spy)
{
    struct nytp_error error = {0};
    uint32_t n;
    if (!nytp_patterns_add(&spy->patterns, "--pattern", spy->pattern, &error))
        return wrong(error.message, "");
    pid_t *const found = nytp_spy_matches(&spy->patterns, &n, &error);
    for (uint32_t i = 0; i < n; i++)
        add_pid(spy, found[i]);
    free(found);
    if (error.status != NYTP_OK)
        return wrong(error.message, "");
    if (spy->n_pids == 0)
        nytp_spy_say("no process's command line matches %s", spy->pattern);
    return spy->n_pids == 0 ? SPY_REFUSED : SPY_DONE;
}

static const struct command {
    const char *name;
    enum nytp_spy_status (*run)(const struct nytp_spy *spy);
    bool starts_programs, reads_cores, goes_on;
} commands[] = {
    {"dump", nytp_spy_dump, .reads_cores = true},
    {"record", nytp_spy_record, .starts_programs = true, .goes_on = true},
    {"top", nytp_spy_top, .goes_on = true},
    {"heap", nytp_spy_heap, .reads_cores = true},
    {0},
};

/* Takes the words after the options: pids, or files to compare. */
static enum nytp_spy_status take_rest(struct nytp_spy *spy, const struct command *command,
                                      int n, char **rest)
{
    const bool is_heap = command->run == nytp_spy_heap;
    if (spy->argv != NULL && !command->starts_programs)
        return wrong("only record starts a program, not ", command->name);
    if (spy->interval_s > 0 && command->run != nytp_spy_top)
        return wrong("--interval is for top, not for ", command->name);
    if (spy->format != NULL && (command->run != nytp_spy_record || spy->output == NULL))
        return wrong("--format is for record, with -o FILE", "");
    if (spy->core != NULL && (!command->reads_cores || n > 0 || spy->pattern != NULL))
        return wrong("--core is for dump and heap, in place of a PID", "");
    for (int i = 0; i < n; i++) {
        if (take_pid(spy, rest[i]))
            continue;
        if (is_heap && spy->n_files < 2)
            spy->files[spy->n_files++] = rest[i];
        else
            return wrong("this is no process id: ", rest[i]);
    }
    if (spy->pattern != NULL)
        return find_processes(spy);
    if (spy->n_files == 1 || (spy->n_files > 0 && spy->n_pids > 0))
        return wrong("two files are compared, or one process is looked at", "");
    if (spy->n_pids == 0 && spy->n_files == 0 && spy->core == NULL && spy->argv == NULL)
        return wrong("which process? ", "give its PID, or -P REGEX");
    return SPY_DONE;
}

static void stop(int signal)
{
    (void)signal;
    nytp_spy_stop = 1;
}

/* Commands that run until stopped end with their result. nohup leaves SIGHUP ignored. */
static void stop_on_signals(void)
{
    const struct sigaction on_stop = {.sa_handler = stop};
    struct sigaction before;
    sigaction(SIGINT, &on_stop, NULL);
    sigaction(SIGTERM, &on_stop, NULL);
    sigaction(SIGQUIT, &on_stop, NULL);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &on_stop, NULL);
}

static enum nytp_spy_status run(struct nytp_spy *spy, int n, char **words)
{
    const struct command *command = commands;
    while (command->name != NULL && strcmp(command->name, words[0]) != 0)
        command++;
    if (command->name == NULL)
        return wrong("there is no command ", words[0]);
    const enum nytp_spy_status status = take_rest(spy, command, n - 1, words + 1);
    if (status != SPY_DONE)
        return status;
    if (spy->interval_s == 0)
        spy->interval_s = 1;
    if (command->goes_on)
        stop_on_signals();
    return command->run(spy);
}

int main(int argc, char **argv)
{
    static const char *files[2];
    struct nytp_spy spy = {.rate = 100, .idle = true, .files = files};
    enum nytp_spy_status status = SPY_DONE;
    /* The words after -- are a program to start. */
    for (int i = 1; i < argc && spy.argv == NULL; i++) {
        if (strcmp(argv[i], "--") != 0)
            continue;
        spy.argv = argv[i + 1] == NULL ? NULL : argv + i + 1;
        argc = i;
    }
    const struct spy_option *option;
    bool is_known = true;
    while (status == SPY_DONE && (option = next_option(argc, argv, &is_known)) != NULL) {
        if (option->kind == HELP || option->kind == VERSION)
            return print(option->kind == HELP ? usage : "nytp-spy " NYTP_VERSION "\n");
        status = take_option(&spy, option);
    }
    if (!is_known)
        status = SPY_USAGE;
    if (status == SPY_DONE && optind >= argc) {
        fputs(usage, stderr);
        status = SPY_USAGE;
    }
    if (status == SPY_DONE)
        status = run(&spy, argc - optind, argv + optind);
    free(spy.pids);
    nytp_patterns_free(&spy.patterns);
    return status;
}
