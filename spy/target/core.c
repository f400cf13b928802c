/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Core files; see core.h and core(5). The kernel omits unchanged pages of mapped files. The
 * note NT_FILE lists these files, and the pages are read from them. Everything in the core file
 * is checked against its length before use.
 */
#include "core.h"

#include "file.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_FILES     1000000
#define MOST_OF_NOTES (UINT64_C(1) << 26) /* bytes; the kernel writes 16 MB at most */
#define PAGE          4096
#define WORK_OF_PIECE 500 /* for the system calls of each */

struct segment {
    uint64_t start, len; /* of the memory that the file has */
    uint64_t offset;
};

struct backing { /* a mapped file, opened when needed */
    int fd;
    uint64_t len;
    bool was_tried;
};

struct nytp_core {
    int fd;
    uint64_t len, whole_len; /* of the file; by its segments, or 0 if it is complete */
    const char *exe;
    struct segment *segments;
    uint32_t n_segments;
    struct nytp_mappings mappings;
    struct backing *backings; /* of each mapping whose file differs from the one before */
    pid_t pid;
    uint64_t headers_at; /* address of the program's headers */
    uint64_t work_left;
};

int nytp_core_file(const struct nytp_core *core, const struct nytp_mapping *mapping,
                   uint64_t *len)
{
    const bool is_exe =
        core->mappings.n > 0 && strcmp(mapping->path, core->mappings.list[0].path) == 0;
    return nytp_file_open(is_exe && core->exe != NULL ? core->exe : mapping->path, len);
}

/* Reads dumped memory; returns the number of bytes found. */
static size_t from_segments(const struct nytp_core *core, uint64_t from, uint8_t *to,
                            size_t len)
{
    uint32_t first = 0, end = core->n_segments; /* the segment is before `end` */
    while (first < end) {
        const uint32_t middle = first + (end - first) / 2;
        if (core->segments[middle].start <= from)
            first = middle + 1;
        else
            end = middle;
    }
    if (end == 0)
        return 0;
    const struct segment *const segment = &core->segments[end - 1];
    const uint64_t at = from - segment->start;
    if (at >= segment->len)
        return 0;
    const size_t part = len < segment->len - at ? len : (size_t)(segment->len - at);
    return nytp_file_read(core->fd, segment->offset + at, to, part) ? part : 0;
}

static struct backing *backing_of(struct nytp_core *core, const struct nytp_mapping *mapping)
{
    while (mapping > core->mappings.list && strcmp(mapping[-1].path, mapping->path) == 0)
        mapping--;
    struct backing *const backing = &core->backings[mapping - core->mappings.list];
    if (!backing->was_tried)
        backing->fd = nytp_core_file(core, mapping, &backing->len);
    backing->was_tried = true;
    return backing;
}

static size_t from_files(struct nytp_core *core, uint64_t from, uint8_t *to, size_t len)
{
    const struct nytp_mapping *const mapping = nytp_mapping_at(&core->mappings, from);
    if (mapping == NULL)
        return 0;
    const struct backing *const backing = backing_of(core, mapping);
    const uint64_t at = from - mapping->start + mapping->offset;
    if (backing->fd < 0 || at >= backing->len)
        return 0;
    uint64_t room = mapping->end - from;
    room = room < backing->len - at ? room : backing->len - at;
    const size_t part = len < room ? len : (size_t)room;
    return nytp_file_read(backing->fd, at, to, part) ? part : 0;
}

static bool read_piece(struct nytp_memory *memory, const struct nytp_piece *piece)
{
    struct nytp_core *const core = memory->core;
    size_t done = 0;
    while (done < piece->len) {
        uint8_t *const to = (uint8_t *)piece->to + done;
        size_t part = from_segments(core, piece->from + done, to, piece->len - done);
        if (part == 0)
            part = from_files(core, piece->from + done, to, piece->len - done);
        if (!nytp_memory_spend(memory, WORK_OF_PIECE + part / 8) || part == 0)
            return false;
        done += part;
    }
    return true;
}

static size_t read_core(struct nytp_memory *memory, const struct nytp_piece *pieces, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!read_piece(memory, &pieces[i]))
            return i;
    return n;
}

/* NT_FILE: the number of entries, the page size, three numbers for each, then the names. */
static void take_files(struct nytp_core *core, const uint8_t *note, uint64_t len)
{
    uint64_t head[2], entry[3];
    if (len < sizeof head)
        return;
    memcpy(head, note, sizeof head);
    if (head[0] > MAX_FILES || len - sizeof head < head[0] * sizeof entry)
        return;
    const uint8_t *name = note + sizeof head + head[0] * sizeof entry;
    const uint8_t *const end = note + len;
    for (uint64_t i = 0; i < head[0]; i++) {
        memcpy(entry, note + sizeof head + i * sizeof entry, sizeof entry);
        const uint8_t *const stop = memchr(name, '\0', (size_t)(end - name));
        if (stop == NULL)
            return;
        if (entry[0] < entry[1] && entry[2] < UINT64_MAX / 65536)
            nytp_mappings_add(&core->mappings, entry[0], entry[1], entry[2] * head[1],
                              (const char *)name, (size_t)(stop - name));
        name = stop + 1;
    }
}

/* Returns the program headers of a file, for free(), or NULL. */
static Elf64_Phdr *read_headers(int fd, const Elf64_Ehdr *head, uint32_t n)
{
    Elf64_Phdr *const headers =
        head->e_phentsize != sizeof *headers || n == 0 ? NULL : calloc(n, sizeof *headers);
    if (headers != NULL && nytp_file_read(fd, head->e_phoff, headers, n * sizeof *headers))
        return headers;
    free(headers);
    return NULL;
}

/* Maps the program's segments; the first of them has the headers. */
static void map_program(struct nytp_core *core, const Elf64_Phdr *headers, uint16_t n,
                        uint64_t bias)
{
    for (uint16_t i = 0; i < n; i++)
        if (headers[i].p_type == PT_LOAD && headers[i].p_offset == 0)
            bias -= headers[i].p_vaddr;
    for (uint16_t i = 0; i < n; i++) {
        const Elf64_Phdr *const header = &headers[i];
        const uint64_t in_page = header->p_vaddr % PAGE;
        if (header->p_type == PT_LOAD && header->p_offset >= in_page)
            nytp_mappings_add(&core->mappings, bias + header->p_vaddr - in_page,
                              bias + header->p_vaddr + header->p_filesz,
                              header->p_offset - in_page, core->exe, strlen(core->exe));
    }
}

/* Without NT_FILE (qemu-user writes none) maps at least the program's file: NT_AUXV has the
 * address of its program headers. */
static void take_program(struct nytp_core *core)
{
    Elf64_Ehdr head;
    uint64_t len;
    const int fd =
        core->exe == NULL || core->headers_at == 0 ? -1 : nytp_file_open(core->exe, &len);
    if (fd < 0)
        return;
    Elf64_Phdr *const headers = nytp_file_read(fd, 0, &head, sizeof head)
                                    ? read_headers(fd, &head, head.e_phnum)
                                    : NULL;
    if (headers != NULL)
        map_program(core, headers, head.e_phnum, core->headers_at - head.e_phoff);
    free(headers);
    close(fd);
}

static uint64_t program_headers(const uint8_t *note, uint64_t len)
{
    Elf64_auxv_t entry;
    for (uint64_t at = 0; at + sizeof entry <= len; at += sizeof entry) {
        memcpy(&entry, note + at, sizeof entry);
        if (entry.a_type == AT_PHDR)
            return entry.a_un.a_val;
    }
    return 0;
}

/* struct elf_prpsinfo of 64 bits: the pid follows state, flags, uid and gid. */
#define PRPSINFO_PID 24

static void take_note(struct nytp_core *core, uint32_t type, const uint8_t *content,
                      uint64_t len)
{
    int32_t pid;
    if (type == NT_FILE && core->mappings.n == 0)
        take_files(core, content, len);
    if (type == NT_AUXV)
        core->headers_at = program_headers(content, len);
    if (type == NT_PRPSINFO && len >= PRPSINFO_PID + sizeof pid) {
        memcpy(&pid, content + PRPSINFO_PID, sizeof pid);
        core->pid = pid;
    }
}

static bool take_notes(struct nytp_core *core, const struct segment *of,
                       struct nytp_error *error)
{
    const uint64_t end = of->len < MOST_OF_NOTES ? of->len : MOST_OF_NOTES;
    uint8_t *const notes = malloc(end + 1);
    Elf64_Nhdr note;
    if (notes == NULL)
        return nytp_out_of_memory(error);
    const bool is_read = nytp_file_read(core->fd, of->offset, notes, end);
    for (uint64_t at = 0; is_read && at + sizeof note <= end;) {
        memcpy(&note, notes + at, sizeof note);
        const uint64_t content =
            at + sizeof note + ((note.n_namesz + UINT64_C(3)) & ~UINT64_C(3));
        if (content + note.n_descsz > end)
            break;
        take_note(core, note.n_type, notes + content, note.n_descsz);
        at = content + ((note.n_descsz + UINT64_C(3)) & ~UINT64_C(3));
    }
    free(notes);
    return true;
}

/* Returns the part of a segment that is in the file, which may be cut. */
static struct segment in_file(struct nytp_core *core, const Elf64_Phdr *header)
{
    const uint64_t there = header->p_offset < core->len ? core->len - header->p_offset : 0;
    const uint64_t end = header->p_offset + header->p_filesz;
    if (header->p_filesz > there && end > core->whole_len)
        core->whole_len = end;
    return (struct segment){
        header->p_vaddr, header->p_filesz < there ? header->p_filesz : there, header->p_offset};
}

/* Both begin with their address. */
_Static_assert(offsetof(struct segment, start) == 0 &&
                   offsetof(struct nytp_mapping, start) == 0,
               "by_start() sorts both");

static int by_start(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

static bool take_segments(struct nytp_core *core, const Elf64_Phdr *headers, uint32_t n,
                          struct nytp_error *error)
{
    bool has_notes = false;
    core->segments = calloc(n, sizeof *core->segments);
    if (core->segments == NULL)
        return nytp_out_of_memory(error);
    for (uint32_t i = 0; i < n; i++) {
        const struct segment segment = in_file(core, &headers[i]);
        if (headers[i].p_type == PT_LOAD && segment.len > 0)
            core->segments[core->n_segments++] = segment;
        if (headers[i].p_type != PT_NOTE || has_notes)
            continue;
        has_notes = true;
        if (!take_notes(core, &segment, error))
            return false;
    }
    if (core->mappings.n == 0)
        take_program(core);
    if (core->mappings.n > 0)
        qsort(core->mappings.list, core->mappings.n, sizeof *core->mappings.list, by_start);
    if (core->n_segments > 0)
        qsort(core->segments, core->n_segments, sizeof *core->segments, by_start);
    core->backings = calloc(core->mappings.n + 1, sizeof *core->backings);
    return core->backings != NULL || nytp_out_of_memory(error);
}

/* The head cannot hold 65,535 or more; then the first section header has the number. It is at
 * the file's end. If the file was cut, the first segment, which follows the headers, gives the
 * number. */
static uint32_t count_headers(const struct nytp_core *core, const Elf64_Ehdr *head)
{
    Elf64_Shdr section;
    Elf64_Phdr first;
    if (head->e_phnum != PN_XNUM)
        return head->e_phnum;
    if (head->e_shoff != 0 && nytp_file_read(core->fd, head->e_shoff, &section, sizeof section))
        return section.sh_info;
    if (!nytp_file_read(core->fd, head->e_phoff, &first, sizeof first) ||
        first.p_offset < head->e_phoff)
        return 0;
    const uint64_t n = (first.p_offset - head->e_phoff) / sizeof first;
    return n < UINT32_MAX ? (uint32_t)n : 0;
}

static const struct {
    const char *magic, *command;
} packers[] = {
    {"\x1f\x8b", "gzip"},
    {"\xfd"
     "7zXZ",
     "xz"},
    {"\x28\xb5\x2f\xfd", "zstd"},
    {"\x04\x22\x4d\x18", "lz4"},
    {"BZh", "bzip2"},
};

static bool refuse_other(const Elf64_Ehdr *head, struct nytp_error *error)
{
    for (size_t i = 0; i < sizeof packers / sizeof *packers; i++)
        if (memcmp(head, packers[i].magic, strlen(packers[i].magic)) == 0)
            return nytp_error_set(error, NYTP_ERR_FORMAT,
                                  "compressed by %s, and only a plain core file can be read: "
                                  "%s -dc FILE >core, or coredumpctl dump -o core PID",
                                  packers[i].command, packers[i].command);
    return nytp_error_set(error, NYTP_ERR_FORMAT, "this is no core file");
}

static bool take_core(struct nytp_core *core, struct nytp_error *error)
{
    Elf64_Ehdr head;
    memset(&head, 0, sizeof head);
    const bool is_read = nytp_file_read(
        core->fd, 0, &head, core->len < sizeof head ? (size_t)core->len : sizeof head);
    if (!is_read || core->len < sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
        return refuse_other(&head, error);
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB)
        return nytp_error_set(error, NYTP_ERR_FORMAT,
                              "only core files of 64 bits, little-endian, can be read");
    if (head.e_type != ET_CORE)
        return nytp_error_set(error, NYTP_ERR_FORMAT, "an ELF file, but no core file (type=%u)",
                              (unsigned)head.e_type);
    const uint32_t n = count_headers(core, &head);
    Elf64_Phdr *const headers =
        n <= core->len / sizeof *headers ? read_headers(core->fd, &head, n) : NULL;
    if (headers == NULL)
        return nytp_error_set(error, NYTP_ERR_TRUNCATED,
                              "the core file has no segments, or ends before their list does");
    const bool ok = take_segments(core, headers, n, error);
    free(headers);
    return ok;
}

struct nytp_core *nytp_core_open(const char *path, const char *exe, struct nytp_error *error)
{
    struct nytp_core *const core = calloc(1, sizeof *core);
    if (core == NULL) {
        nytp_out_of_memory(error);
        return NULL;
    }
    core->exe = exe;
    core->fd = nytp_file_open(path, &core->len);
    core->work_left = nytp_memory_work_of(core->len);
    if (core->fd < 0)
        nytp_error_set(error, NYTP_ERR_IO, "%s",
                       errno == EINVAL ? "a core file is read here and there: this is no file, "
                                         "but a pipe, a folder or a device"
                                       : strerror(errno));
    else if (take_core(core, error))
        return core;
    nytp_core_close(core);
    return NULL;
}

void nytp_core_close(struct nytp_core *core)
{
    if (core == NULL)
        return;
    for (uint32_t i = 0; core->backings != NULL && i < core->mappings.n; i++)
        if (core->backings[i].was_tried && core->backings[i].fd >= 0)
            close(core->backings[i].fd);
    if (core->fd >= 0)
        close(core->fd);
    nytp_mappings_free(&core->mappings);
    free(core->backings);
    free(core->segments);
    free(core);
}

pid_t nytp_core_pid(const struct nytp_core *core)
{
    return core->pid;
}

uint64_t nytp_core_whole_len(const struct nytp_core *core, uint64_t *len)
{
    *len = core->len;
    return core->whole_len;
}

void nytp_core_memory(struct nytp_core *core, struct nytp_memory *memory,
                      struct nytp_mappings *mappings)
{
    *memory = (struct nytp_memory){
        .read = read_core, .core = core, .fd = -1, .work_left = &core->work_left};
    *mappings = core->mappings;
}
