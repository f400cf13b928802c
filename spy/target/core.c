/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Core files; see core.h and core(5). The kernel leaves out what it can read again, pages of
 * mapped files that nobody changed; the note NT_FILE says which file lies where, and they are
 * read from there. Everything in the file is checked against its length before it is used.
 */
#include "core.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MAX_FILES 100000
#define PAGE      4096

/* How much reading a file may take: that of a large program takes a sixth of it, but in what is
 * damaged many hashes may have the same million buckets. */
#define LEAST_WORK    UINT64_C(1000000000)
#define WORK_OF_BYTE  300
#define WORK_OF_PIECE 64

struct segment {
    uint64_t start, len; /* of the memory that is in the file */
    uint64_t offset;
};

struct backing { /* a mapped file's bytes, once they were wanted */
    const uint8_t *bytes;
    size_t len;
    bool was_tried;
};

struct nytp_core {
    const uint8_t *bytes;
    size_t len;
    const char *exe;
    struct segment *segments;
    uint32_t n_segments;
    struct nytp_mappings mappings;
    struct backing *backings; /* one for each mapping */
    pid_t pid;
    uint64_t headers_at; /* of the program, in memory */
    uint64_t work_left;
};

static bool is_inside(const struct nytp_core *core, uint64_t offset, uint64_t len)
{
    return offset <= core->len && len <= core->len - offset;
}

const uint8_t *nytp_core_file(const struct nytp_core *core, const struct nytp_mapping *mapping,
                              size_t *len)
{
    const bool is_exe =
        core->mappings.n > 0 && strcmp(mapping->path, core->mappings.list[0].path) == 0;
    return nytp_map_file(is_exe && core->exe != NULL ? core->exe : mapping->path, len);
}

/* From the dumped memory; how many bytes were there. */
static size_t from_segments(const struct nytp_core *core, uint64_t from, uint8_t *to,
                            size_t len)
{
    for (uint32_t i = 0; i < core->n_segments; i++) {
        const struct segment *const segment = &core->segments[i];
        if (from < segment->start || from - segment->start >= segment->len)
            continue;
        const uint64_t at = from - segment->start, room = segment->len - at;
        const size_t part = len < room ? len : (size_t)room;
        memcpy(to, core->bytes + segment->offset + at, part);
        return part;
    }
    return 0;
}

static size_t from_files(struct nytp_core *core, uint64_t from, uint8_t *to, size_t len)
{
    const struct nytp_mapping *const mapping = nytp_mapping_at(&core->mappings, from);
    if (mapping == NULL)
        return 0;
    struct backing *const backing = &core->backings[mapping - core->mappings.list];
    if (!backing->was_tried) {
        backing->bytes = nytp_core_file(core, mapping, &backing->len);
        backing->was_tried = true;
    }
    const uint64_t at = from - mapping->start + mapping->offset;
    if (backing->bytes == NULL || at >= backing->len)
        return 0;
    uint64_t room = mapping->end - from;
    room = room < backing->len - at ? room : backing->len - at;
    const size_t part = len < room ? len : (size_t)room;
    memcpy(to, backing->bytes + at, part);
    return part;
}

static bool read_piece(struct nytp_memory *memory, const struct nytp_piece *piece)
{
    struct nytp_core *const core = memory->core;
    const uint64_t work = WORK_OF_PIECE + core->n_segments + core->mappings.n;
    size_t done = 0;
    while (done < piece->len) {
        uint8_t *const to = (uint8_t *)piece->to + done;
        size_t part = from_segments(core, piece->from + done, to, piece->len - done);
        if (part == 0)
            part = from_files(core, piece->from + done, to, piece->len - done);
        if (!nytp_memory_spend(memory, work + part / 8) || part == 0)
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

/* NT_FILE: how many, the page size, then three numbers for each, then the names. */
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

/* Without NT_FILE (qemu-user writes none) at least the program's file can be mapped: NT_AUXV
 * says where its program headers are. */
static void take_program(struct nytp_core *core, uint64_t headers_at)
{
    Elf64_Ehdr head;
    Elf64_Phdr header;
    size_t len;
    const uint8_t *const file =
        core->exe == NULL || headers_at == 0 ? NULL : nytp_map_file(core->exe, &len);
    if (file == NULL)
        return;
    if (len >= sizeof head) {
        memcpy(&head, file, sizeof head);
        uint64_t bias = headers_at - head.e_phoff; /* they are in the first segment */
        const bool fits = head.e_phentsize == sizeof header && head.e_phoff <= len &&
                          head.e_phnum <= (len - head.e_phoff) / sizeof header;
        for (uint16_t i = 0; fits && i < head.e_phnum; i++) {
            memcpy(&header, file + head.e_phoff + i * sizeof header, sizeof header);
            if (header.p_type == PT_LOAD && header.p_offset == 0)
                bias -= header.p_vaddr;
        }
        for (uint16_t i = 0; fits && i < head.e_phnum; i++) {
            memcpy(&header, file + head.e_phoff + i * sizeof header, sizeof header);
            const uint64_t in_page = header.p_vaddr % PAGE;
            if (header.p_type == PT_LOAD && header.p_offset >= in_page)
                nytp_mappings_add(&core->mappings, bias + header.p_vaddr - in_page,
                                  bias + header.p_vaddr + header.p_filesz,
                                  header.p_offset - in_page, core->exe, strlen(core->exe));
        }
    }
    munmap((void *)file, len);
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

/* struct elf_prpsinfo of 64 bits: the pid stands behind state, flags, uid and gid. */
#define PRPSINFO_PID 24

static void take_notes(struct nytp_core *core, const Elf64_Phdr *header)
{
    uint64_t at = header->p_offset;
    const uint64_t end = at + header->p_filesz;
    Elf64_Nhdr note;
    int32_t pid;
    while (at + sizeof note <= end) {
        memcpy(&note, core->bytes + at, sizeof note);
        const uint64_t content =
            at + sizeof note + ((note.n_namesz + UINT64_C(3)) & ~UINT64_C(3));
        const uint64_t next = content + ((note.n_descsz + UINT64_C(3)) & ~UINT64_C(3));
        if (content + note.n_descsz > end)
            return;
        if (note.n_type == NT_FILE && core->mappings.n == 0)
            take_files(core, core->bytes + content, note.n_descsz);
        if (note.n_type == NT_AUXV)
            core->headers_at = program_headers(core->bytes + content, note.n_descsz);
        if (note.n_type == NT_PRPSINFO && note.n_descsz >= PRPSINFO_PID + sizeof pid) {
            memcpy(&pid, core->bytes + content + PRPSINFO_PID, sizeof pid);
            core->pid = pid;
        }
        at = next;
    }
}

static bool take_segments(struct nytp_core *core, const Elf64_Ehdr *head,
                          struct nytp_error *error)
{
    Elf64_Phdr header;
    core->segments = calloc(head->e_phnum, sizeof *core->segments);
    if (core->segments == NULL)
        return nytp_out_of_memory(error);
    for (uint16_t i = 0; i < head->e_phnum; i++) {
        memcpy(&header, core->bytes + head->e_phoff + i * sizeof header, sizeof header);
        if (!is_inside(core, header.p_offset, header.p_filesz))
            return nytp_error_set(error, NYTP_ERR_TRUNCATED,
                                  "the core file ends early: segment %u lies behind its end",
                                  (unsigned)i);
        if (header.p_type == PT_NOTE)
            take_notes(core, &header);
        if (header.p_type == PT_LOAD && header.p_filesz > 0)
            core->segments[core->n_segments++] =
                (struct segment){header.p_vaddr, header.p_filesz, header.p_offset};
    }
    if (core->mappings.n == 0)
        take_program(core, core->headers_at);
    core->backings = calloc(core->mappings.n + 1, sizeof *core->backings);
    return core->backings != NULL || nytp_out_of_memory(error);
}

static bool take_core(struct nytp_core *core, struct nytp_error *error)
{
    Elf64_Ehdr head;
    if (core->len < sizeof head || memcmp(core->bytes, ELFMAG, SELFMAG) != 0)
        return nytp_error_set(error, NYTP_ERR_FORMAT, "this is no core file");
    memcpy(&head, core->bytes, sizeof head);
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB)
        return nytp_error_set(error, NYTP_ERR_FORMAT,
                              "only core files of 64 bits, little-endian, can be read");
    if (head.e_type != ET_CORE)
        return nytp_error_set(error, NYTP_ERR_FORMAT, "an ELF file, but no core file (type=%u)",
                              (unsigned)head.e_type);
    if (head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phnum == 0 ||
        !is_inside(core, head.e_phoff, (uint64_t)head.e_phnum * sizeof(Elf64_Phdr)))
        return nytp_error_set(error, NYTP_ERR_TRUNCATED, "the core file has no segments");
    return take_segments(core, &head, error);
}

struct nytp_core *nytp_core_open(const char *path, const char *exe, struct nytp_error *error)
{
    struct nytp_core *const core = calloc(1, sizeof *core);
    if (core == NULL) {
        nytp_out_of_memory(error);
        return NULL;
    }
    core->exe = exe;
    core->bytes = nytp_map_file(path, &core->len);
    core->work_left = LEAST_WORK + core->len * WORK_OF_BYTE;
    if (core->bytes == NULL)
        nytp_error_set(error, NYTP_ERR_IO, "%s", strerror(errno));
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
        if (core->backings[i].bytes != NULL)
            munmap((void *)core->backings[i].bytes, core->backings[i].len);
    if (core->bytes != NULL)
        munmap((void *)core->bytes, core->len);
    nytp_mappings_free(&core->mappings);
    free(core->backings);
    free(core->segments);
    free(core);
}

pid_t nytp_core_pid(const struct nytp_core *core)
{
    return core->pid;
}

void nytp_core_memory(struct nytp_core *core, struct nytp_memory *memory,
                      struct nytp_mappings *mappings)
{
    *memory = (struct nytp_memory){
        .read = read_core, .core = core, .fd = -1, .work_left = &core->work_left};
    *mappings = core->mappings;
}
