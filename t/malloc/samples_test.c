/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * libnytp-malloc.so in front of the C library's allocator, jemalloc, tcmalloc and one that
 * calls malloc() as musl's does: this program starts itself with the library loaded, and tells
 * what the started ones say.
 */
#define _GNU_SOURCE
#include "malloc/interface.h"
#include "t/tap.h"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct nytp_malloc *lib;
static bool tells; /* the allocator behind is the one that given_away() asks */

/* Bytes that the C library's allocator gave away; 0 where it does not tell. */
static size_t given_away(void)
{
#if __GLIBC__ * 100 + __GLIBC_MINOR__ >= 233
    return mallinfo2().uordblks;
#else
    return 0;
#endif
}

struct sums {
    int64_t made, freed;   /* events */
    int64_t in_use;        /* bytes */
    uint64_t last_id;
};

static struct sums drained(struct nytp_malloc_queue *queue)
{
    struct sums s = {0};
    struct nytp_malloc_event *const first = lib->take(queue);
    for (const struct nytp_malloc_event *e = first; e != NULL; e = e->next) {
        s.in_use += e->is_free ? -(int64_t)e->size : (int64_t)e->size;
        s.last_id = e->id > s.last_id ? e->id : s.last_id;
        s.freed += e->is_free;
        s.made += !e->is_free;
    }
    lib->done(first);
    return s;
}

static uint64_t next_number(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *state >> 33;
}

enum {
    N_BLOCKS = 512
};

struct blocks {
    void *at[N_BLOCKS];
    size_t size[N_BLOCKS];
};

/* One of the ways to get, to change or to let go of a block. */
static void step(struct blocks *b, uint64_t *random)
{
    const size_t i = next_number(random) % N_BLOCKS;
    const size_t size = next_number(random) % 3000 + 1;
    const unsigned way = (unsigned)next_number(random) % 8;
    if (b->at[i] != NULL && way < 3) {
        free(b->at[i]);
        b->at[i] = NULL;
        b->size[i] = 0;
        return;
    }
    if (b->at[i] != NULL || way < 2) {
        b->at[i] = way % 2 ? realloc(b->at[i], size) : reallocarray(b->at[i], size, 1);
    } else {
        switch (way) {
        case 2:
            b->at[i] = malloc(size);
            break;
        case 3:
            b->at[i] = calloc(1, size);
            break;
        case 4:
            b->at[i] = aligned_alloc(64, size);
            break;
        case 5:
            b->at[i] = memalign(128, size);
            break;
        default:
            if (posix_memalign(&b->at[i], 32, size) != 0)
                abort();
        }
    }
    b->size[i] = size;
}

static int64_t size_of(const struct blocks *b)
{
    int64_t sum = 0;
    for (int i = 0; i < N_BLOCKS; i++)
        sum += (int64_t)b->size[i];
    return sum;
}

static void free_all(struct blocks *b)
{
    for (int i = 0; i < N_BLOCKS; i++) {
        free(b->at[i]);
        b->at[i] = NULL;
        b->size[i] = 0;
    }
}

static void test_exact(void)
{
    static struct blocks b;
    uint64_t random = 1;
    struct nytp_malloc_queue *const queue = lib->open();
    lib->sample(queue, 1);
    bool exact = true;
    int64_t in_use = 0, made = 0;
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 1000; i++)
            step(&b, &random);
        const struct sums s = drained(queue);
        in_use += s.in_use;
        made += s.made;
        exact = exact && in_use == size_of(&b);
    }
    ok(exact && made > 20000, "allocated less freed is what is in use, to the byte");
    free_all(&b);
    in_use += drained(queue).in_use;
    lib->stop(queue);
    ok(in_use == 0, "and nothing when all is freed");
    lib->close(queue);
}

/* The allocator's own sum counts whole blocks with their heads, and would count those that a
 * thread keeps for itself. */
static void test_against_allocator(void)
{
    static struct blocks b;
    uint64_t random = 2;
    struct nytp_malloc_queue *const queue = lib->open();
    const size_t before = given_away();
    lib->sample(queue, 1);
    for (int i = 0; i < 20000; i++)
        step(&b, &random);
    lib->stop(queue);
    size_t usable = 0;
    for (int i = 0; i < N_BLOCKS; i++)
        usable += b.at[i] != NULL ? malloc_usable_size(b.at[i]) + sizeof(size_t) : 0;
    ok(drained(queue).in_use == size_of(&b), "a long queue is exact, too");
    const size_t grown = given_away() - before;
    /* Beside them: samples of blocks that are alive, and the set. */
    ok(grown >= usable && grown < usable + 400000,
       "told samples of freed blocks take no memory");
    free_all(&b);
    lib->close(queue);
}

static void test_edges(void)
{
    struct nytp_malloc_queue *const queue = lib->open();
    void *volatile before = malloc(100);
    lib->sample(queue, 1);
    const volatile size_t too_many = (size_t)PTRDIFF_MAX + 1; /* for 32 bits, too */
    void *volatile none = malloc(too_many);
    ok(none == NULL, "a block that cannot be had keeps no other from being sampled:");
    free(before);
    void *volatile block = malloc(0);
    struct sums s = drained(queue);
    ok(s.made == 1 && s.freed == 0,
       "a block of no bytes is one; what was there before is none");
    block = realloc(block, 50);
    drained(queue);
    none = realloc(block, too_many);
    s = drained(queue);
    ok(none == NULL && s.made == 0 && s.freed == 0, "a realloc() that fails changes nothing");
    none = reallocarray(block, too_many, 3);
    ok(none == NULL, "reallocarray() sees an overflow");
    free(block);
    ok(drained(queue).freed == 1, "and the block is freed once");
    free(NULL);
    void *aligned = NULL;
    void *volatile zeros = calloc(3, 5);
    ok(posix_memalign(&aligned, 64, 128) == 0 && drained(queue).made == 2,
       "each is one block, though an allocator may call malloc() for it");
    free(zeros);
    free(aligned);
    drained(queue);
    lib->hold();
    lib->hold();
    block = malloc(1000);
    lib->resume();
    void *volatile held = malloc(1000);
    lib->resume();
    void *volatile sampled = malloc(7);
    ok(drained(queue).in_use == 7, "what is held is not counted");
    lib->stop(queue);
    none = malloc(9);
    free(sampled);
    s = drained(queue);
    ok(s.made == 0 && s.in_use == -7, "after the end only what was sampled is looked for");
    free(none);
    free(held);
    free(block);
    lib->close(queue);
}

static void test_again(void)
{
    struct nytp_malloc_queue *const first = lib->open();
    lib->sample(first, 1);
    void *volatile blocks[50];
    for (int i = 0; i < 50; i++)
        blocks[i] = malloc(40);
    lib->stop(first);
    const size_t before = given_away();
    lib->close(first);
    ok(!tells || before - given_away() >= 50 * sizeof(struct nytp_malloc_event) * 2,
       "a queue that is closed takes its samples with it");
    struct nytp_malloc_queue *const second = lib->open();
    for (int i = 0; i < 50; i++)
        free(blocks[i]);
    ok(drained(second).freed == 0, "and leaves nothing to the next");
    lib->close(second);
}

/* ---- threads */

static void *_Atomic shelf[64];

struct worker {
    pthread_t thread;
    uint64_t random;
    struct nytp_malloc_queue *queue;
};

/* Blocks go to whatever thread finds them on the shelf. */
static void *work(void *argument)
{
    struct worker *const w = argument;
    lib->sample(w->queue, 1);
    for (int i = 0; i < 30000; i++) {
        void *volatile block = malloc(next_number(&w->random) % 200 + 1);
        free(atomic_exchange(&shelf[next_number(&w->random) % 64], block));
    }
    lib->stop(w->queue);
    return NULL;
}

static void test_threads(void)
{
    struct worker workers[4];
    struct sums all = {0};
    for (int i = 0; i < 4; i++) {
        workers[i] = (struct worker){.random = (uint64_t)i + 7, .queue = lib->open()};
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < 64; i++)
        free(atomic_exchange(&shelf[i], NULL));
    for (int i = 0; i < 4; i++) {
        const struct sums s = drained(workers[i].queue);
        all.made += s.made;
        all.freed += s.freed;
        all.in_use += s.in_use;
        lib->close(workers[i].queue);
    }
    ok(all.made == 120000 && all.freed == all.made && all.in_use == 0,
       "each free finds the queue of the thread that had allocated");
}

static const void *_Atomic looked_from;

static const void *look(void *context)
{
    atomic_store(&looked_from, context);
    return context;
}

/* The events of a queue that were made at `where`. */
static int count_at(struct nytp_malloc_queue *queue, const void *where)
{
    struct nytp_malloc_event *const first = lib->take(queue);
    int n = 0;
    for (const struct nytp_malloc_event *e = first; e != NULL; e = e->next)
        n += e->where == where && !e->is_free;
    lib->done(first);
    return n;
}

static void allocate(void)
{
    void *volatile block = malloc(64);
    free(block);
}

static void *take_over(void *queue)
{
    lib->sample(queue, 1);
    allocate();
    return NULL; /* without a word */
}

/* As an interpreter does that goes on in another thread. */
static void test_taken_over(void)
{
    struct nytp_malloc_queue *const queue = lib->open(), *const other = lib->open();
    static const char here;
    pthread_t thread;
    queue->look = look;
    queue->context = (void *)&here;
    lib->sample(queue, 1);
    allocate();
    ok(count_at(queue, &here) == 1, "a sample says where it was taken");
    lib->stop(other);
    allocate();
    ok(count_at(queue, &here) == 1, "another queue is stopped");
    lib->hold();
    pthread_create(&thread, NULL, take_over, queue);
    pthread_join(thread, NULL);
    lib->resume();
    ok(count_at(queue, &here) > 0, "another thread takes the queue over");
    allocate();
    ok(count_at(queue, &here) == 0, "and this one has lost it");
    lib->sample(queue, 1);
    lib->close(queue);
    atomic_store(&looked_from, NULL);
    allocate();
    ok(atomic_load(&looked_from) == NULL, "from a queue that is closed nobody looks");
    lib->close(other);
}

/* ---- the end of a queue in which a thread looks */

static pthread_t looker, closer;
static sem_t looks, may_go_on;
static atomic_bool is_closing;
static bool has_waited;

/* In place of the C library's, as the library calls it while it waits. The thread that looks
 * goes on when it is waited for, and is over afterwards. */
__attribute__((visibility("default"))) int sched_yield(void)
{
    if (is_closing && !has_waited && pthread_equal(pthread_self(), closer)) {
        has_waited = true;
        sem_post(&may_go_on);
        pthread_join(looker, NULL);
    }
    return (int)syscall(SYS_sched_yield);
}

static const void *look_long(void *context)
{
    sem_post(&looks);
    while (sem_wait(&may_go_on) != 0)
        ;
    return context;
}

static void *look_once(void *queue)
{
    lib->sample(queue, 1);
    void *volatile block = malloc(64);
    lib->hold();
    free(block);
    return NULL;
}

static void test_closed_while_looking(void)
{
    struct nytp_malloc_queue *const queue = lib->open();
    queue->look = look_long;
    sem_init(&looks, 0, 0);
    sem_init(&may_go_on, 0, 0);
    closer = pthread_self();
    pthread_create(&looker, NULL, look_once, queue);
    while (sem_wait(&looks) != 0)
        ;
    is_closing = true;
    lib->close(queue);
    is_closing = false;
    ok(has_waited, "who closes a queue waits until nobody looks for it any more");
    if (!has_waited) {
        sem_post(&may_go_on);
        pthread_join(looker, NULL);
    }
}

static atomic_bool stop;

static void *busy(void *argument)
{
    lib->sample(argument, 1);
    while (!atomic_load(&stop))
        free(malloc(64));
    lib->stop(argument);
    return NULL;
}

static void test_fork(void)
{
    struct nytp_malloc_queue *const queue = lib->open(), *const other = lib->open();
    pthread_t thread;
    pthread_create(&thread, NULL, busy, other);
    lib->sample(queue, 1);
    bool good = true;
    for (int i = 0; i < 50; i++) {
        void *volatile block = malloc(100);
        const uint64_t last = drained(queue).last_id;
        const pid_t child = fork();
        if (child == 0) {
            alarm(60);
            void *volatile own = malloc(33);
            free(block);
            const struct sums s = drained(queue);
            free(own);
            _exit(s.made == 1 && s.freed == 1 && s.in_use == 33 - 100 && s.last_id > last ? 0
                                                                                          : 1);
        }
        int status = -1;
        waitpid(child, &status, 0);
        good = good && status == 0;
        free(block);
        good = good && drained(queue).freed == 1;
    }
    ok(good, "a fork's child goes on with what it has, while another thread allocates");
    lib->stop(queue);
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    drained(other);
    lib->close(queue);
    lib->close(other);
}

/* By which an allocator is known. */
static const char *own_function(const char *what)
{
    return strcmp(what, "jemalloc") == 0       ? "mallctl"
           : strcmp(what, "tcmalloc") == 0     ? "tc_malloc"
           : strcmp(what, "calls-malloc") == 0 ? "nytp_calls_malloc"
                                               : NULL;
}

static int loaded_main(const char *what)
{
    setvbuf(stdout, NULL, _IOLBF, 0); /* what is said before it dies is heard */
    void *volatile block = malloc(10);
    block = realloc(block, 100);
    free(block);
    const char *const own = own_function(what);
    ok(own == NULL || dlsym(RTLD_DEFAULT, own) != NULL,
       "the allocator behind is the one that was asked for");
    tells = strcmp(what, "glibc") == 0 && given_away() > 0;
    test_exact();
    if (tells)
        test_against_allocator();
    test_edges();
    test_again();
    test_threads();
    test_taken_over();
    test_closed_while_looking();
    test_fork();
    return done_testing();
}

/* Runs this program again, with these libraries before all others, and tells what it says. */
static void test_with(const char *program, const char *what, const char *libraries)
{
    char command[8192], line[512], name[600];
    snprintf(command, sizeof command,
             "GLIBC_TUNABLES=glibc.malloc.tcache_count=0 LD_PRELOAD='%s' '%s' %s", libraries,
             program, what);
    FILE *const said = popen(command, "r");
    int n = 0;
    while (said != NULL && fgets(line, sizeof line, said) != NULL) {
        const char *const text = strstr(line, " - ");
        if (text == NULL)
            continue;
        n++;
        snprintf(name, sizeof name, "%s: %.*s", what, (int)strcspn(text + 3, "\n"), text + 3);
        ok(strncmp(line, "ok", 2) == 0, name);
    }
    snprintf(name, sizeof name, "%s: ran to the end", what);
    ok(said != NULL && pclose(said) == 0 && n > 10, name);
}

/* The loader complains of what it cannot load. */
static bool is_there(const char *library)
{
    char command[200];
    snprintf(command, sizeof command, "LD_PRELOAD=%s sh -c : 2>&1", library);
    FILE *const said = popen(command, "r");
    const bool complains = said == NULL || fgetc(said) != EOF;
    return said != NULL && pclose(said) == 0 && !complains;
}

static void test_allocator(const char *program, const char *ours, const char *what,
                           const char *library)
{
    char both[4200];
    if (!is_there(library)) {
        snprintf(both, sizeof both, "%s # SKIP not installed", what);
        ok(true, both);
        return;
    }
    snprintf(both, sizeof both, "%s:%s", ours, library);
    test_with(program, what, both);
}

int main(int argc, char **argv)
{
    lib = dlsym(RTLD_DEFAULT, NYTP_MALLOC_SYMBOL);
    if (argc == 2)
        return lib != NULL ? loaded_main(argv[1]) : 1;
    char ours[4096], calls_malloc[4096], both[8193];
    const char *const build = strstr(argv[0], "/t/malloc/");
    snprintf(ours, sizeof ours, "%.*s/libnytp-malloc.so", (int)(build - argv[0]), argv[0]);
    snprintf(calls_malloc, sizeof calls_malloc, "%.*s/libcalls-malloc.so",
             (int)(strrchr(argv[0], '/') - argv[0]), argv[0]);
    snprintf(both, sizeof both, "%s:%s", ours, calls_malloc);
    test_with(argv[0], "glibc", ours);
    test_with(argv[0], "calls-malloc", both);
    test_allocator(argv[0], ours, "jemalloc", "libjemalloc.so.2");
    test_allocator(argv[0], ours, "tcmalloc", "libtcmalloc_minimal.so.4");
    return done_testing();
}
