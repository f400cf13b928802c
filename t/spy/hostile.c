/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A process that is made to be looked at for as long as it likes: many mappings begin with an
 * ELF header, and the hash chain in which a symbol of each is looked for has a million links.
 *
 *     hostile N [WORD...]
 *
 * It has N mappings of that kind, says "ready" and waits until its standard input ends.
 */
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LINKS UINT64_C(0x700000000000) /* behind all headers */
#define FIRST UINT64_C(0x100000000)

enum {
    CHAIN = 1 << 20,
    STEP = 8192,
};

struct head {
    Elf64_Ehdr head;
    Elf64_Phdr headers[2];
    Elf64_Dyn dynamic[5];
};

static int make_file(void)
{
    struct head all;
    FILE *const file = tmpfile();
    memset(&all, 0, sizeof all);
    memcpy(all.head.e_ident, ELFMAG, SELFMAG);
    all.head.e_ident[EI_CLASS] = ELFCLASS64;
    all.head.e_ident[EI_DATA] = ELFDATA2LSB;
    all.head.e_machine = EM_X86_64;
    all.head.e_phentsize = sizeof *all.headers;
    all.head.e_phnum = 2;
    all.head.e_phoff = offsetof(struct head, headers);
    all.headers[0].p_type = PT_LOAD;
    all.headers[1] = (Elf64_Phdr){.p_type = PT_DYNAMIC,
                                  .p_vaddr = offsetof(struct head, dynamic),
                                  .p_memsz = sizeof all.dynamic};
    all.dynamic[0] = (Elf64_Dyn){DT_SYMTAB, {LINKS}};
    all.dynamic[1] = (Elf64_Dyn){DT_STRTAB, {LINKS}};
    all.dynamic[2] = (Elf64_Dyn){DT_STRSZ, {CHAIN}};
    all.dynamic[3] = (Elf64_Dyn){DT_GNU_HASH, {LINKS}};
    if (file == NULL || ftruncate(fileno(file), 4096) != 0 ||
        pwrite(fileno(file), &all, sizeof all, 0) < 0)
        return -1;
    return fileno(file);
}

/* Makes so many mappings. Returns false if the system allows fewer. */
static bool be_hostile(int n)
{
    const int fd = make_file();
    uint32_t *const links =
        mmap((void *)LINKS, (CHAIN + 64) * sizeof *links, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (fd < 0 || links == MAP_FAILED)
        return false;
    for (int i = 4; i < CHAIN + 64; i++)
        links[i] = 2; /* of another name, and not the last */
    links[0] = 1;     /* bucket, from symbol 0 on */
    for (int i = 0; i < n; i++)
        if (mmap((void *)(FIRST + (uint64_t)i * STEP), 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED,
                 fd, 0) == MAP_FAILED)
            return false;
    return true;
}

int main(int argc, char **argv)
{
    char byte;
    const int n = argc < 2 ? 1 : atoi(argv[1]);
    printf(be_hostile(n) ? "ready\n" : "there are fewer mappings\n");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
    return 0;
}
