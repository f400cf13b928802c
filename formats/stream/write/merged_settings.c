/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Attributes and options of a merged stream; see merged_settings.h. A value that differs from
 * the first input's is dropped. A note says so if it changes the meaning of sums.
 */
#include "merged_settings.h"

#include "formats/base/arena.h"
#include "formats/base/printable.h"
#include "formats/base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct nytp_merged_application { /* number of inputs with this name */
    uint32_t name, n;
};

struct nytp_merged_setting { /* an attribute or option that is written once */
    uint32_t key, value;
    bool noted; /* the difference was reported */
    bool is_count;
    double in_count, count; /* of the current input; of earlier ones */
};

void nytp_merged_settings_free(struct nytp_merged_settings *m)
{
    free(m->applications);
    free(m->settings);
}

void nytp_merged_settings_next_input(struct nytp_merged_settings *m, const char *path)
{
    m->thread = (struct nytp_merged_thread){0};
    m->path = path;
    m->in_ticks_per_sec = m->in_overhead_ticks = 0;
}

void nytp_merged_settings_end_input(struct nytp_merged_settings *m)
{
    m->overhead_ticks += nytp_merged_ticks(m, m->in_overhead_ticks);
    for (uint32_t i = 0; i < m->n_settings; i++) {
        m->settings[i].count += m->settings[i].in_count;
        m->settings[i].in_count = 0;
    }
}

uint32_t nytp_merged_intern(struct nytp_merged_settings *m, struct nytp_str text)
{
    const uint32_t id = nytp_strings_intern(m->strings, text.ptr, text.len);
    if (id == UINT32_MAX)
        nytp_out_of_memory(m->error);
    return id;
}

static bool differs(const struct nytp_merged_settings *m, uint32_t id, struct nytp_str text)
{
    const struct nytp_name name = nytp_strings_get(m->strings, id);
    return name.len != text.len || memcmp(name.ptr, text.ptr, text.len) != 0;
}

static double number_of(struct nytp_str text)
{
    char digits[40] = "";
    memcpy(digits, text.ptr, text.len < sizeof digits - 1 ? text.len : sizeof digits - 1);
    return strtod(digits, NULL);
}

static void note_difference(struct nytp_merged_settings *m, const char *what,
                            struct nytp_merged_setting *first, const struct nytp_setting *from)
{
    if (first->noted || m->note == NULL)
        return;
    first->noted = true;
    char text[400];
    const struct nytp_name was = nytp_strings_get(m->strings, first->value);
    snprintf(text, sizeof text, "%s %.*s is %.*s in %.200s and was %.*s before", what,
             (int)(from->key.len < 60 ? from->key.len : 60), from->key.ptr,
             (int)(from->value.len < 40 ? from->value.len : 40), from->value.ptr, m->path,
             (int)(was.len < 40 ? was.len : 40), was.ptr);
    nytp_make_printable(text);
    m->note(m->context, text);
}

/* Finds or adds a setting; *first says if it was added. Returns NULL on failure. */
static struct nytp_merged_setting *setting_of(struct nytp_merged_settings *m,
                                              const struct nytp_setting *from, bool *first)
{
    const uint32_t key_id = nytp_merged_intern(m, from->key),
                   value_id = nytp_merged_intern(m, from->value);
    if (key_id == UINT32_MAX || value_id == UINT32_MAX)
        return NULL;
    *first = false;
    for (uint32_t i = 0; i < m->n_settings; i++)
        if (m->settings[i].key == key_id)
            return &m->settings[i];
    if (!nytp_grow(&m->settings, &m->settings_capacity, m->n_settings, sizeof *m->settings)) {
        nytp_out_of_memory(m->error);
        return NULL;
    }
    *first = true;
    m->settings[m->n_settings] = (struct nytp_merged_setting){.key = key_id, .value = value_id};
    return &m->settings[m->n_settings++];
}

static bool add_application(struct nytp_merged_settings *m, struct nytp_str application)
{
    const uint32_t name = nytp_merged_intern(m, application);
    if (name == UINT32_MAX)
        return false;
    for (uint32_t i = 0; i < m->n_applications; i++)
        if (m->applications[i].name == name) {
            m->applications[i].n++;
            return true;
        }
    if (!nytp_grow(&m->applications, &m->applications_capacity, m->n_applications,
                   sizeof *m->applications))
        return nytp_out_of_memory(m->error);
    m->applications[m->n_applications++] =
        (struct nytp_merged_application){.name = name, .n = 1};
    return true;
}

static bool add_ticks_per_sec(struct nytp_merged_settings *m, struct nytp_str value)
{
    m->in_ticks_per_sec = number_of(value);
    if (!(m->in_ticks_per_sec > 0))
        return nytp_error_set(m->error, NYTP_ERR_FORMAT, "ticks_per_sec is not positive");
    if (m->ticks_per_sec > 0)
        return true;
    m->ticks_per_sec = m->in_ticks_per_sec;
    nytp_write_attribute(m->writer, "ticks_per_sec", value.ptr, value.len);
    return true;
}

/* The last value of an input counts. */
static bool add_count(struct nytp_merged_settings *m, const struct nytp_setting *from)
{
    bool first;
    struct nytp_merged_setting *const setting = setting_of(m, from, &first);
    if (setting == NULL)
        return false;
    setting->is_count = true;
    setting->in_count = (double)nytp_whole(number_of(from->value));
    return true;
}

typedef void write_attribute_fn(struct nytp_writer *writer, const char *key, const char *value,
                                size_t value_len);

static bool add_attribute(struct nytp_merged_settings *m, const struct nytp_setting *from,
                          write_attribute_fn *write)
{
    bool first;
    struct nytp_merged_setting *setting = setting_of(m, from, &first);
    if (setting == NULL)
        return false;
    if (first)
        write(m->writer, nytp_strings_get(m->strings, setting->key).ptr, from->value.ptr,
              from->value.len);
    else if (nytp_str_is(from->key, "clock_id") && differs(m, setting->value, from->value))
        note_difference(m, "attribute", setting, from);
    return true;
}

bool nytp_merged_attribute(struct nytp_merged_settings *m, const struct nytp_setting *from)
{
    if (nytp_str_is(from->key, "application"))
        return add_application(m, from->value);
    if (nytp_str_is(from->key, "ticks_per_sec"))
        return add_ticks_per_sec(m, from->value);
    if (nytp_str_is(from->key, "cumulative_overhead_ticks")) {
        m->in_overhead_ticks += number_of(from->value);
        return true;
    }
    if (nytp_str_is(from->key, "basetime")) {
        const double time_s = number_of(from->value);
        if (m->basetime_s == 0 || time_s < m->basetime_s)
            m->basetime_s = time_s;
        return true;
    }
    if (nytp_str_is(from->key, "nv_size"))
        return true;
    if (nytp_attribute_is_count(from->key.ptr, from->key.len))
        return add_count(m, from);
    if (nytp_str_is(from->key, "thread") || nytp_str_is(from->key, "parent_thread")) {
        *(nytp_str_is(from->key, "thread") ? &m->thread.number : &m->thread.parent) =
            (uint32_t)nytp_whole(number_of(from->value));
        return true;
    }
    return add_attribute(m, from, nytp_write_attribute);
}

bool nytp_merged_attribute_record(struct nytp_merged_settings *m,
                                  const struct nytp_setting *from)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n_applications; i++)
        n += m->applications[i].n;
    bool is_new = nytp_str_is(from->key, "counts");
    for (uint32_t i = 0; i < m->n_settings && is_new; i++)
        is_new = strcmp(nytp_strings_get(m->strings, m->settings[i].key).ptr, "counts") != 0;
    if (is_new && n > 1)
        return nytp_error_set(m->error, NYTP_ERR_FORMAT,
                              "counts only (counts=1), but recordings before it have times");
    return add_attribute(m, from, nytp_write_attribute_record);
}

static void write_number(struct nytp_merged_settings *m, const char *key, double value)
{
    char text[64];
    const int len = snprintf(text, sizeof text, "%.0f", value);
    nytp_write_attribute(m->writer, key, text, (size_t)len);
}

void nytp_merged_process_begins(struct nytp_merged_settings *m)
{
    if (m->thread.number == m->last_thread.number && m->thread.parent == m->last_thread.parent)
        return;
    write_number(m, "thread", m->thread.number);
    write_number(m, "parent_thread", m->thread.parent);
    m->last_thread = m->thread;
}

static bool shapes_the_data(struct nytp_str key)
{
    static const char *const keys[] = {"stmts", "subs",    "blocks",     "leave",
                                       "calls", "slowops", "use_db_sub", "findcaller"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (nytp_str_is(key, keys[i]))
            return true;
    return false;
}

bool nytp_merged_option(struct nytp_merged_settings *m, const struct nytp_setting *from)
{
    bool first;
    struct nytp_merged_setting *setting = setting_of(m, from, &first);
    if (setting == NULL)
        return false;
    if (first)
        nytp_write_option(m->writer, nytp_strings_get(m->strings, setting->key).ptr,
                          nytp_whole(number_of(from->value)));
    else if (shapes_the_data(from->key) && differs(m, setting->value, from->value))
        note_difference(m, "option", setting, from);
    return true;
}

/* "a.pl (3 recordings), b.pl and c.pl". A recording may be a run, a child or a thread. Which
 * one began a run is unknown, since pids are reused. */
static bool write_application(struct nytp_merged_settings *m)
{
    size_t size = 1;
    for (uint32_t i = 0; i < m->n_applications; i++)
        size += nytp_strings_get(m->strings, m->applications[i].name).len + 60;
    char *text = malloc(size);
    if (text == NULL)
        return nytp_out_of_memory(m->error);
    size_t len = 0;
    for (uint32_t i = 0; i < m->n_applications; i++) {
        const struct nytp_name name = nytp_strings_get(m->strings, m->applications[i].name);
        if (i > 0)
            len += (size_t)snprintf(text + len, size - len, "%s",
                                    i + 1 == m->n_applications ? " and " : ", ");
        memcpy(text + len, name.ptr, name.len);
        len += name.len;
        if (m->applications[i].n > 1)
            len += (size_t)snprintf(text + len, size - len, " (%lu recordings)",
                                    (unsigned long)m->applications[i].n);
    }
    if (m->n_applications > 0)
        nytp_write_attribute(m->writer, "application", text, len);
    free(text);
    return true;
}

bool nytp_merged_settings_finish(struct nytp_merged_settings *m)
{
    if (!write_application(m))
        return false;
    if (m->basetime_s != 0)
        write_number(m, "basetime", m->basetime_s);
    write_number(m, "cumulative_overhead_ticks", m->overhead_ticks);
    for (uint32_t i = 0; i < m->n_settings; i++)
        if (m->settings[i].is_count)
            write_number(m, nytp_strings_get(m->strings, m->settings[i].key).ptr,
                         m->settings[i].count);
    return true;
}
