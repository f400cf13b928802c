/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Samples of the bytes that the program allocates and frees; see bytes.h.
 */
#include "bytes.h"

#include "blocks.h"
#include "places.h"

#include "XS/platform/run.h"
#include "XS/output/say.h"
#include "formats/stream/comments/bytes_records.h"

#include <dlfcn.h>
#include <math.h>
#include <string.h>

static bool counts_svs(const struct nytp_recorder *rec)
{
    return rec->options.sample == 0 && rec->options.svs;
}

/* The library is installed beside this one. */
static void say_where_it_is(const struct nytp_recorder *rec)
{
    static const char here;
    Dl_info ours;
    const char *const path = dladdr(&here, &ours) != 0 ? ours.dli_fname : "";
    const char *const name = strrchr(path, '/');
    nytp_say(&rec->options,
             "memory= counts %s; for bytes the program is to be started with "
             "LD_PRELOAD=%.*slibnytp-malloc.so",
             counts_svs(rec) ? "values only" : "nothing",
             name != NULL ? (int)(name + 1 - path) : 0, path);
}

/* Copies a list of libraries (LD_PRELOAD) without ours. */
static void put_others(pTHX_ const char *list, SV *others)
{
    static const char separators[] = ": ", name[] = "libnytp-malloc.so";
    for (const char *end; *list != '\0'; list = end + strspn(end, separators)) {
        end = list + strcspn(list, separators);
        const size_t len = (size_t)(end - list);
        const bool is_ours = len >= strlen(name) &&
                             memcmp(end - strlen(name), name, strlen(name)) == 0 &&
                             (len == strlen(name) || end[-(ptrdiff_t)sizeof name] == '/');
        if (!is_ours)
            sv_catpvf(others, "%s%.*s", SvCUR(others) > 0 ? ":" : "", (int)len, list);
    }
}

void nytp_bytes_take_out_of_environment(pTHX)
{
    static const char variable[] = "LD_PRELOAD";
    const char *const list = getenv(variable);
    if (list == NULL || PL_envgv == NULL || nytp_run_is_handed_down() ||
        dlsym(RTLD_DEFAULT, NYTP_MALLOC_SYMBOL) == NULL)
        return;
    SV *const others = newSVpvs("");
    put_others(aTHX_ list, others);
    HV *const environment = GvHVn(PL_envgv);
    if (SvCUR(others) == 0)
        (void)hv_delete(environment, variable, (I32)strlen(variable), G_DISCARD);
    else if (strcmp(SvPVX(others), list) != 0) {
        SV **const value = hv_fetch(environment, variable, (I32)strlen(variable), 1);
        if (value != NULL)
            sv_setsv_mg(*value, others);
    }
    SvREFCNT_dec(others);
}

void nytp_bytes_prepare(struct nytp_recorder *rec)
{
    if (rec->options.memory < 2 || rec->memory.library != NULL)
        return;
    rec->memory.library = dlsym(RTLD_DEFAULT, NYTP_MALLOC_SYMBOL);
    if (rec->memory.library != NULL)
        return;
    say_where_it_is(rec);
    rec->options.memory = counts_svs(rec);
}

void nytp_bytes_thread(struct nytp_recorder *rec, const struct nytp_recorder *from)
{
    rec->memory.library = from->memory.library;
}

void nytp_bytes_set_look(struct nytp_recorder *rec, const void *(*look)(void *context),
                         void *context)
{
    rec->bytes->look = look;
    rec->bytes->context = context;
}

/* For programs in which no event asks for bytes. */
static const void *have_events_ask(void *context)
{
    nytp_state_note_waiting(context, true);
    return NULL;
}

void nytp_bytes_look_for_freed(struct nytp_recorder *rec)
{
    if (rec->on.memory && nytp_bytes_wait(rec))
        nytp_state_note_waiting(rec, true);
}

void nytp_bytes_start(struct nytp_recorder *rec)
{
    if (rec->memory.library == NULL || !(rec->on.memory || rec->on.samples))
        return;
    if (rec->memory.queue == NULL)
        rec->memory.queue = rec->memory.library->open();
    if (rec->memory.queue == NULL)
        return;
    rec->memory.queue->look = rec->on.samples ? rec->bytes->look : have_events_ask;
    rec->memory.queue->context = rec->on.samples ? rec->bytes->context : rec;
    rec->memory.library->sample(rec->memory.queue, (uint64_t)rec->options.memory);
}

void nytp_bytes_pause(struct nytp_recorder *rec)
{
    if (rec->memory.queue != NULL)
        rec->memory.library->stop(rec->memory.queue);
}

struct nytp_malloc_event *nytp_bytes_take(struct nytp_recorder *rec)
{
    return nytp_bytes_wait(rec) ? rec->memory.library->take(rec->memory.queue) : NULL;
}

void nytp_bytes_done(struct nytp_recorder *rec, struct nytp_malloc_event *first)
{
    if (first != NULL && !rec->run.without_perl)
        rec->memory.library->done(first);
}

void nytp_bytes_drop(struct nytp_recorder *rec)
{
    struct nytp_malloc_event *const first = nytp_bytes_take(rec);
    for (const struct nytp_malloc_event *e = first; e != NULL; e = e->next)
        if (e->is_free)
            nytp_blocks_freed(rec, e->id);
    nytp_bytes_done(rec, first);
}

void nytp_bytes_fork(struct nytp_recorder *rec)
{
    nytp_bytes_pause(rec);
    nytp_bytes_drop(rec);
}

void nytp_bytes_free(struct nytp_recorder *rec)
{
    nytp_bytes_pause(rec);
    if (rec->memory.queue != NULL)
        rec->memory.library->close(rec->memory.queue);
    rec->memory.queue = NULL;
}

/* A block of s bytes is sampled with a probability of 1 - exp(-s/R), so it stands for the
 * inverse of that. The fraction of a block is carried to the next sample. */
static void weigh(struct nytp_rec_bytes *bytes, const struct nytp_malloc_event *event,
                  struct nytp_bytes_record *record)
{
    const double size = event->size > 0 ? (double)event->size : 1;
    const double chance = event->mean > 1 ? -expm1(-size / (double)event->mean) : 1;
    const double most = (double)NYTP_MOST_SAMPLE_BYTES;
    const double objects = 1 / chance + bytes->objects_over;
    record->objects = (uint64_t)fmin(floor(objects), most);
    bytes->objects_over = objects - floor(objects);
    record->space = (uint64_t)fmin(nearbyint((double)event->size / chance), most);
}

void nytp_bytes_emit(struct nytp_recorder *rec, const struct nytp_malloc_event *event,
                     const struct nytp_place *place)
{
    struct nytp_bytes_record record = {.id = event->id, .is_free = event->is_free};
    char text[NYTP_BYTES_LONGEST];
    if (!event->is_free) {
        if (place == NULL)
            return;
        weigh(rec->bytes, event, &record);
        record.fid = place->fid;
        record.line = nytp_line_of_stmt(place->line);
        if (!rec->run.without_perl)
            nytp_blocks_add(rec, &record);
    } else if (!rec->run.without_perl) {
        nytp_blocks_freed(rec, record.id);
    }
    nytp_bytes_record_format(&record, text);
    nytp_write_comment(rec->writer, text);
}

void nytp_bytes_emit_waiting(struct nytp_recorder *rec)
{
    nytp_bytes_hold(rec);
    struct nytp_malloc_event *const first = nytp_bytes_take(rec);
    if (!rec->on.svs)
        nytp_blocks_find_place(rec);
    for (const struct nytp_malloc_event *e = first; e != NULL; e = e->next)
        nytp_bytes_emit(rec, e, rec->stmt.place);
    nytp_bytes_done(rec, first);
    nytp_bytes_resume(rec);
}
