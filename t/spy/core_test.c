/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Core files, made by hand: such as are cut while they are read, or have more segments than the
 * head can tell.
 */
#define _GNU_SOURCE
#include "spy/target/target.h"

#include "t/tap.h"

#include <elf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    FIRST =
        0x100000, /* the address of the first segment; one page each, the next behind a gap */
    FEW = 10,
    MANY = 100000, /* by default a process may have 65,530 */
    FILE_AT = 0x10000,
};

struct made {
    int fd;
    char path[40];
    uint32_t n;
    uint64_t data_at, end;
};

static void put_at(const struct made *made, uint64_t at, const void *from, size_t len)
{
    if (pwrite(made->fd, from, len, (off_t)at) != (ssize_t)len)
        exit(1);
}

static uint64_t address_of(uint32_t segment)
{
    return FIRST + segment * UINT64_C(2) * PAGE;
}

/* A file of n segments and a note that says which file is mapped at FILE_AT; each segment's
 * first bytes are its number. The number of segments is told as kernels do, which also put the
 * note in front of the segments. */
static struct made make_core(uint32_t n, const char *mapped, bool is_note_first)
{
    struct made made = {.fd = memfd_create("core", 0), .n = n};
    struct {
        Elf64_Nhdr head;
        char name[8];
        uint64_t n_files, page, start, end, offset;
        char path[40];
    } __attribute__((packed))
    note = {{5, 5 * 8 + 40, NT_FILE}, "CORE", 1, PAGE, FILE_AT, FILE_AT + PAGE, 0, ""};
    Elf64_Ehdr head;
    memset(&head, 0, sizeof head);
    memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    head.e_ident[EI_DATA] = ELFDATA2LSB;
    head.e_type = ET_CORE;
    head.e_phoff = sizeof head;
    head.e_phentsize = sizeof(Elf64_Phdr);
    head.e_phnum = n + 1 < PN_XNUM ? (uint16_t)(n + 1) : PN_XNUM;
    const uint64_t headers_end = sizeof head + (n + 1) * sizeof(Elf64_Phdr);
    made.data_at = (headers_end + sizeof note + PAGE - 1) / PAGE * PAGE;
    made.end = made.data_at + n * UINT64_C(4096);
    const uint64_t note_at = is_note_first ? headers_end : made.end + sizeof(Elf64_Shdr);
    if (head.e_phnum == PN_XNUM)
        head.e_shoff = made.end;
    snprintf(made.path, sizeof made.path, "/proc/self/fd/%d", made.fd);
    snprintf(note.path, sizeof note.path, "%s", mapped);
    Elf64_Phdr *const headers = calloc(n + 1, sizeof *headers);
    if (headers == NULL || ftruncate(made.fd, (off_t)made.end) != 0)
        exit(1);
    headers[0] = (Elf64_Phdr){.p_type = PT_NOTE, .p_offset = note_at, .p_filesz = sizeof note};
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t offset = made.data_at + i * UINT64_C(4096), number = i;
        headers[1 + i] = (Elf64_Phdr){
            .p_type = PT_LOAD, .p_offset = offset, .p_vaddr = address_of(i), .p_filesz = PAGE};
        put_at(&made, offset, &number, sizeof number);
    }
    const Elf64_Phdr other = {
        .p_type = PT_LOAD, .p_offset = made.data_at + PAGE, .p_vaddr = FIRST, .p_filesz = PAGE};
    if (!is_note_first) /* what follows the headers looks like one more */
        put_at(&made, headers_end, &other, sizeof other);
    const Elf64_Shdr section = {.sh_info = n + 1};
    put_at(&made, 0, &head, sizeof head);
    put_at(&made, sizeof head, headers, (n + 1) * sizeof *headers);
    put_at(&made, note_at, &note, sizeof note);
    if (head.e_shoff != 0)
        put_at(&made, head.e_shoff, &section, sizeof section);
    free(headers);
    return made;
}

static struct nytp_target opened(const struct made *made)
{
    struct nytp_target target;
    struct nytp_error error = {0};
    if (!nytp_target_of_core(&target, made->path, NULL, &error))
        fprintf(stderr, "# %s\n", error.message);
    return target;
}

static bool has_number(struct nytp_target *target, uint32_t segment)
{
    uint64_t number = UINT64_MAX;
    return nytp_memory_read(&target->memory, address_of(segment), &number, sizeof number) &&
           number == segment;
}

static void test_cut_meanwhile(void)
{
    char mapped[40];
    const int fd = memfd_create("mapped", 0);
    uint8_t byte;
    snprintf(mapped, sizeof mapped, "/proc/self/fd/%d", fd);
    struct made made = make_core(FEW, mapped, true);
    if (ftruncate(fd, PAGE) != 0)
        exit(1);
    struct nytp_target target = opened(&made);
    uint64_t len;
    ok(has_number(&target, 3) && nytp_target_whole_len(&target, &len) == 0, "a whole file");
    ok(nytp_memory_read(&target.memory, FILE_AT + 8, &byte, 1), "and one that was mapped");
    if (ftruncate(made.fd, (off_t)made.data_at) != 0 || ftruncate(fd, 0) != 0)
        exit(1);
    ok(!has_number(&target, 3), "a file that is cut while it is read ends there");
    ok(!nytp_memory_read(&target.memory, FILE_AT + 8, &byte, 1), "so does one that was mapped");
    nytp_target_close(&target);
    close(made.fd);
    close(fd);
}

static bool has_all_numbers(const struct made *made)
{
    struct nytp_target target = opened(made);
    bool all = nytp_mapping_at(&target.mappings, FILE_AT) != NULL;
    for (uint32_t i = 0; i < MANY; i += 97)
        all &= has_number(&target, i);
    nytp_target_close(&target);
    return all;
}

static void test_many_segments(void)
{
    struct made made = make_core(MANY, "/none", false);
    ok(has_all_numbers(&made), "segments that are more than the head can tell");
    close(made.fd);
    made = make_core(MANY, "/none", true);
    ok(has_all_numbers(&made), "also where a note comes first");
    struct nytp_target target;
    if (ftruncate(made.fd, (off_t)(made.end - PAGE)) != 0)
        exit(1);
    target = opened(&made);
    ok(has_number(&target, MANY - 2) && !has_number(&target, MANY - 1),
       "also where the file is cut before it says how many they are");
    nytp_target_close(&target);
    close(made.fd);
}

int main(void)
{
    test_cut_meanwhile();
    test_many_segments();
    return done_testing();
}
