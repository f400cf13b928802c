/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * SQL statements that a program sends through DBI, by request: their number and time, and those
 * that are sent again and again.
 *
 * A request is a stretch of the label "request" (DB::label()), of the first label that the
 * profile has if it has none of that name, or a whole process. A statement is a call of a
 * method that sends one (DBI::db::do and select..., DBI::st::execute...), the database's time
 * all calls of methods of DBI's handles; a call within another of them is that one's matter.
 * Texts are those of the label "sql" (option sql=1), normalized (base/sql_text.h).
 *
 * A statement is sent again and again (N+1) when one place sends it NYTP_MANY_QUERIES times
 * in one request and one for all could do (nytp_sql_could_be_one()). Where texts are not known,
 * a prepared statement from which nothing is fetched is taken for one that adds rows.
 */
#ifndef NYTP_QUERIES_H
#define NYTP_QUERIES_H

#include "exporters/base/exporter.h"

/* Calls of one place in one request, from which on it is a loop. */
#define NYTP_MANY_QUERIES 10

/* A call: of what was it made, and where there. */
struct nytp_call_site {
    uint32_t sub, file, line;
};

#define NYTP_SENT_SITES 3

/* One statement as one request sends it, by one way of calls, in all processes. */
struct nytp_sent {
    struct nytp_name text;                        /* "": not known */
    uint32_t node;                                /* of the calls, in one of the processes */
    uint32_t callee;                              /* sub: DBI's method */
    struct nytp_call_site sites[NYTP_SENT_SITES]; /* where it was called, where its caller … */
    uint32_t n_sites;                             /* without what called the program itself */
    uint32_t request; /* index, while requests have not been put in order */
    uint64_t calls;
    int64_t ticks;
};

/* All requests of one value. */
struct nytp_request {
    struct nytp_name value;
    uint64_t n; /* stretches */
    int64_t ticks, database_ticks;
    uint64_t queries;
    uint64_t texts; /* different ones; calling contexts, where texts are not known */
    uint64_t most;  /* statements in one stretch */
    uint32_t first_sent, n_sent; /* into `sent` */
};

/* One statement that was sent again and again by one place, in all processes. */
struct nytp_repeat {
    struct nytp_name request; /* the request that sent it most often */
    struct nytp_name text;    /* "": not known */
    uint32_t node, loop;      /* of the calls; that all of a request were sent within a call of.
                                 In one of the processes */
    uint32_t callee, caller;  /* subs: DBI's method, and who called it … */
    uint32_t file, line;      /* … from here */
    uint32_t loop_sub;        /* where the loop is: the sub, … */
    uint32_t loop_file, loop_line; /* … and the line through which the statement is sent */
    uint64_t loops, calls, most;   /* how often the loop ran; calls in all, in one of them */
    int64_t ticks;                 /* of all */
};

struct nytp_queries {
    struct nytp_name key;          /* label that names requests; "": none */
    struct nytp_request *requests; /* the most time of the database first; the last has what was
                                      outside of all requests (value "", n 0), if anything */
    struct nytp_repeat *repeats;   /* the most calls first */
    struct nytp_sent *sent;        /* of each request those of the most time first */
    uint32_t n_requests, n_repeats, n_sent;
    uint64_t n; /* statements */
    int64_t database_ticks;
    bool has_texts;
    struct nytp_strings *strings; /* owns the texts */
};

/* Returns false if memory is out; nytp_queries_free() in either case. The second looks at the
 * processes of those recordings only for which `only` is true (NULL: at all), and tells
 * requests by the label of that key ("": as the first does). */
bool nytp_queries_init(struct nytp_queries *queries, const struct nytp_profile *profile);
bool nytp_queries_init_of(struct nytp_queries *queries, const struct nytp_profile *profile,
                          const bool *only, struct nytp_name key);

/* Returns whether such a statement is one of those that are sent again and again. */
bool nytp_queries_is_repeated(const struct nytp_queries *queries, const struct nytp_sent *sent);
void nytp_queries_free(struct nytp_queries *queries);

#endif
