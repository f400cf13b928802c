/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The lifecycle's parts of a recorder: the open profile, loading, the process. The file of a
 * struct's name writes it; the other files of this folder read it.
 */
#ifndef NYTP_LIFECYCLE_H
#define NYTP_LIFECYCLE_H

#include "XS/output/outfile.h"
#include "XS/perl/perl_compat.h"
#include "XS/state/states.h"
#include "XS/state/stream.h"

#include "formats/deflate/deflate.h"

#include <sys/types.h>
#include <time.h>

/* The state to return to when an end is taken back. */
struct nytp_before_end {
    enum nytp_state state;
    pid_t pid;
    uint64_t wake_raw;
    uint64_t size;                     /* of the file, in bytes */
    int64_t call_point;                /* of rec->writer->calls */
    struct nytp_deflate_point deflate; /* level 0: a plain file */
};

struct nytp_rec_life {
    unsigned n_forks;                  /* generations of processes since the first */
    struct nytp_before_end before_end; /* valid while rec->run.is_ended */
    unsigned n_thread_ends;            /* times that a thread seemed to have ended */
};

struct nytp_rec_profile {
    uint32_t n_opened;     /* profile files so far */
    int64_t overhead_base; /* clock.overhead_ticks at the begin of this file */
    char *base_path;       /* absolute, with nothing appended */
    bool is_template;      /* it has placeholders (file_name.h) */
    bool is_default_path;
    bool is_round;          /* base_path is the sampled profile's whole name plus ".exact" */
    unsigned n_of_rounds;   /* exact profiles completed beside the sampled one */
    bool is_child;          /* child of the process that base_path belongs to */
    time_t started;         /* time of this process's first profile; 0: none yet */
    int64_t memory_start;   /* bytes in core at the file's begin; 0: unknown */
    int64_t processor_ns;   /* of this thread at the file's begin */
    time_t began_s;         /* the file's begin */
    unsigned n_finished;    /* profile files completed under base_path */
    bool is_thread;         /* not the process's first interpreter: its number is in the name */
    unsigned thread;        /* its number; 0: the first */
    unsigned parent_thread; /* number of the cloned interpreter; 0: the first */
    bool said_end;          /* the messages at a program's end were written */
};

struct nytp_rec_load {
    U32 perldb;         /* $^P as we set it */
    bool is_planned;    /* phases and fork handler are set up */
    pid_t loader;       /* process that loaded us; 0: options may still come */
    bool is_debugger;   /* loaded by -d */
    bool switches_main; /* our INIT block will switch the program */
    unsigned waits;     /* safe points left to wait for import(); 0: no wait */
    int64_t loaded_ns;  /* processor time at the begin of the wait */
    char hash_seed[40]; /* PERL_HASH_SEED, or "random" */
};

/* Data of the suspended sampled file. */
struct nytp_rec_pause_for_exact {
    bool is_there;
    pid_t pid; /* of the process that suspended it */
    struct nytp_outfile file;
    struct nytp_writer *writer;
    struct nytp_before_end before_end;
    struct nytp_rec_profile profile;
    struct nytp_rec_stream stream;
    uint32_t generation;
    int64_t overhead_ticks; /* of the clock at the suspension */
};

#endif
